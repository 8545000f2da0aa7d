// Selects the codes of a cart for one request. A project may want all of them to apply or none; this cart keeps the valid ones. A refused
// code is left out of the request and shown next to the others.
import { perCode, undecided } from "./verdict.js";

const bodyOf = (codes, items) => JSON.stringify({ redeemables: codes.map((id) => ({ object: "voucher", id })), order: { items } });

/**
 * Decides about the codes without those that are refused, by `check`, which returns the verdict on the text of a request. Returns these codes, that
 * text, its verdict, and the items of the refused codes. Where every code is refused, all of them are sent.
 */
export async function decide(codes, items, check) {
  const refused = [];
  let left = codes;
  for (;;) {
    const text = bodyOf(left, items);
    const verdict = await check(text);
    const isWhole = verdict.valid || verdict.kind === "unreadable";
    const wrong = isWhole ? [] : perCode(verdict.answer, left).filter((item) => item.status === "INAPPLICABLE" && !undecided(item));
    if (wrong.length === 0) return { codes: left, text, verdict, refused };
    if (wrong.length === left.length) return left === codes ? { codes, text, verdict, refused } : decideAll(codes, items, check);
    refused.push(...wrong);
    left = left.filter((code) => !wrong.some(({ id }) => id === code));
  }
}

async function decideAll(codes, items, check) {
  const text = bodyOf(codes, items);
  return { codes, text, verdict: await check(text), refused: [] };
}
