"use client";
// Entry for React: a shop and its verdicts as hooks. While a component renders, nothing is opened, fetched or decided.
import { useEffect, useMemo, useRef, useState } from "react";
import { open } from "@scrip-edge/page";

const UNOPENED = { shop: undefined, state: undefined, asOf: { revision: undefined, at: undefined }, problem: undefined };
const UNDECIDED = {};

/** Opens a shop with the component and closes it with it; opens another one for another address or key. */
export function useShop(options) {
  const [current, setCurrent] = useState(UNOPENED);
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const { url, key } = options;
  useEffect(() => {
    let shop;
    let isEnded = false;
    const opening = open({ ...latest.current, customer: () => latest.current.customer?.() });
    opening.then((opened) => {
      if (isEnded) return opened.close();
      shop = opened;
      return shop.subscribe((state, details) => setCurrent({ shop, state, ...details }));
    }).catch((problem) => {
      if (!isEnded) setCurrent({ ...UNOPENED, state: "broken", problem });
    });
    return () => {
      isEnded = true;
      shop?.close();
      setCurrent(UNOPENED);
    };
  }, [String(url), key?.id, key?.token]);
  return current;
}

/**
 * Returns the verdict on a request: first what is known at once, then what `check` finds, and again after each change of the rules. Undefined
 * until this very request was decided: the verdict on an earlier one is never shown.
 */
export function useVerdict(shop, request) {
  const text = useMemo(() => textOf(request), [request]);
  const [found, setFound] = useState(UNDECIDED);
  useEffect(() => {
    if (!shop || text === undefined) return undefined;
    let isEnded = false;
    let last;
    const end = shop.subscribe(() => {
      if (isEnded) return;
      setFound({ shop, text, verdict: shop.checkNow(text) });
      const checking = (last = shop.check(text));
      checking.then((verdict) => {
        if (!isEnded && checking === last) setFound({ shop, text, verdict });
      });
    });
    return () => {
      isEnded = true;
      end();
    };
  }, [shop, text]);
  return found.shop === shop && found.text === text ? found.verdict : undefined;
}

/** Returns a request as text, so that equal requests are one; one that cannot be written is answered as one that cannot be read. */
function textOf(request) {
  if (request === undefined || request === null || typeof request === "string") return request ?? undefined;
  try {
    return JSON.stringify(request);
  } catch {
    return "null";
  }
}
