// Measures a shop that a page opens: how long `open` takes from a store while no service answers, and what a verdict takes more than the engine
// alone. Everything is on 127.0.0.1 and ends by itself.
import { fill } from "./fetch.mjs";
import { boot, caller } from "../tests/workerd/harness.mjs";
import { waitUntil } from "../tests/wait.mjs";
import { credentials } from "../worker/tools/setup.mjs";

const OFFERS = 1_000;
const OPENED = 21;
const VERDICTS = 400;
const ORIGIN = "http://localhost:3000";

/** Returns medians: milliseconds of `open` and of the first verdict after it, and the times of `checkNow` against those of the engine. */
export async function measureOpen() {
  const { pieces, scrip } = await import("../tests/support/package.mjs");
  const service = await boot({ testHooks: false });
  const key = credentials.client;
  // Without lines: the store has no goods, which a browser keeps as immutable files.
  const request = JSON.stringify({ order: { amount: 10_000 }, redeemables: [{ object: "voucher", id: "OPEN-CODE" }] });
  const store = memoryStore();
  let bundle;
  try {
    const call = caller(service.url);
    await fill(call, OFFERS);
    const config = { name: "Open", campaign_type: "DISCOUNT_COUPONS", type: "STANDALONE", visibility: "public",
      voucher: { discount: { type: "PERCENT", percent_off: 10 }, code_config: { pattern: "OPEN-CODE" } } };
    const made = await call("POST", "/v1/campaigns", config);
    if (made.status !== 200) throw new Error(JSON.stringify(made.body));
    const shop = await scrip.open({ url: service.url, key, origin: ORIGIN, store, poll: false });
    await waitUntil(async () => { await shop.refresh(); return (await shop.check(request)).kind === "final"; }, "a final verdict");
    shop.close();
    bundle = await pieces.fetchBundle(service.url, key, undefined, { origin: ORIGIN });
  } finally {
    await service.stop();
  }
  const opened = [];
  const first = [];
  for (let turn = 0; turn < OPENED; turn += 1) {
    const startedAt = performance.now();
    const shop = await scrip.open({ url: service.url, key, origin: ORIGIN, store, poll: false });
    opened.push(performance.now() - startedAt);
    const verdict = shop.checkNow(request);
    first.push(performance.now() - startedAt);
    if (verdict.kind !== "final") throw new Error(`without the service the verdict is ${JSON.stringify(verdict)}`);
    shop.close();
  }
  const shop = await scrip.open({ url: service.url, key, origin: ORIGIN, store, poll: false });
  const ratios = [];
  for (let turn = 0; turn < VERDICTS; turn += 1) {
    const now = Date.now();
    const checked = took(() => shop.checkNow(request));
    const validated = took(() => bundle.prepared.validate(request, { now }));
    if (turn > VERDICTS / 10) ratios.push(checked / validated);
  }
  shop.close();
  bundle.prepared.free();
  return { offers: OFFERS, open_ms: median(opened), first_ms: median(first), check_now: median(ratios) };
}

function memoryStore() {
  const kept = new Map();
  return { get: async (key) => kept.get(key), put: async (key, value) => void kept.set(key, value), delete: async (key) => void kept.delete(key) };
}

function took(body) {
  const startedAt = performance.now();
  body();
  return performance.now() - startedAt;
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
