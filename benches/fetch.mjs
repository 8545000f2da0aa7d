// Measures what a new page fetches before its first verdict: head, core and the goods buckets of a cart with ten lines, as the package requests
// them from plain workerd. Everything is on 127.0.0.1 and ends by itself.
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync } from "node:zlib";
import { boot, caller } from "../tests/workerd/harness.mjs";
import { credentials } from "../worker/tools/setup.mjs";

const PRODUCTS = 40;
const LINES = 10;
/** Campaigns of a shop, with the bytes of its bundle before format 2, after brotli. */
const SHOPS = [{ campaigns: 0, before: 5_000 }, { campaigns: 100, before: 10_300 }, { campaigns: 1_000, before: 60_000 }];
const ORIGIN = "http://localhost:3000";

export async function measureFetch() {
  const rows = [];
  for (const shop of SHOPS) {
    const service = await boot({ testHooks: false });
    try {
      await fill(caller(service.url), shop.campaigns);
      rows.push({ products: PRODUCTS, lines: LINES, ...shop, ...(await firstFetch(service.url)) });
    } finally {
      await service.stop();
    }
  }
  return rows;
}

/** Creates the products, and campaigns of one promotion tier with a rule that they share. */
export async function fill(call, campaigns) {
  const made = async (path, body) => {
    const { status, body: answer } = await call("POST", path, body);
    if (status !== 200) throw new Error(`${path} answered ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  for (let n = 0; n < PRODUCTS; n += 1) await made("/v1/products", { name: `Product ${n}`, source_id: `product-${n}`, price: 100 + n });
  const rules = { 1: { name: "order.amount", conditions: { $more_than: [5_000] } }, logic: "1" };
  const { id: rule } = await made("/v1/validation-rules", { name: "Large carts", rules });
  for (let n = 0; n < campaigns; n += 1) {
    const tier = { name: `Tier ${n}`, banner: `Save ${n} on large carts`, action: { discount: { type: "AMOUNT", amount_off: 100 + n } }, validation_rules: [rule] };
    await made("/v1/campaigns", { name: `Campaign ${n}`, campaign_type: "PROMOTION", promotion: { tiers: [tier] } });
  }
}

/** Returns lines of different products. */
export const itemsOf = (lines) => Array.from({ length: lines }, (_, n) => ({ source_id: `product-${n}`, related_object: "product", quantity: 1 }));

async function firstFetch(url) {
  return fetchAndCount(url, (shop) => shop.qualify({ scenario: "ALL", order: { items: itemsOf(LINES) } }));
}

/** Opens a shop and lets it decide, again until the verdict is final; returns the bytes that a new page fetched for that, each after brotli. */
export async function fetchAndCount(url, decide) {
  const { scrip } = await import("../tests/support/package.mjs");
  for (;;) {
    const fetched = new Map();
    const fetchCounted = async (address, init) => {
      const reply = await fetch(address, init);
      fetched.set(String(address), brotliCompressSync(Buffer.from(await reply.clone().arrayBuffer())).length);
      return reply;
    };
    const shop = await scrip.open({ url, key: credentials.client, origin: ORIGIN, store: "memory", poll: false, fetch: fetchCounted });
    const verdict = await decide(shop);
    shop.close();
    if (verdict.kind === "final") return sizesOf(fetched);
    await sleep(500);
  }
}

function sizesOf(fetched) {
  const sum = (isOne) => [...fetched].filter(([address]) => isOne(address)).reduce((total, [, bytes]) => total + bytes, 0);
  const isGoods = (address) => address.includes("/goods/");
  return { rules: sum((address) => !isGoods(address)), goods: sum(isGoods), whole: sum(() => true), requests: fetched.size };
}
