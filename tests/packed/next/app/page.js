"use client";

import { useEffect } from "react";
import * as scrip from "@scrip-edge/page";
import { useShop, useVerdict } from "@scrip-edge/page/react";
import basket from "../basket.json";
import { scenario } from "../scenario.mjs";

// No service is there.
const options = { url: "http://127.0.0.1:1", key: { id: "app", token: "secret" }, store: "memory", poll: false };
const cart = { redeemables: [{ object: "voucher", id: "A" }], order: { amount: 100 } };

export default function Page() {
  const { shop, state } = useShop(options);
  const verdict = useVerdict(shop, cart);
  useEffect(() => {
    window.result = scenario(scrip, basket);
  }, []);
  return <p>{state ?? "unopened"} {verdict?.kind ?? "undecided"}</p>;
}
