// Measures the prices of a listing page in wasm: 1,000 products, with the promotions that apply to each. CPU time of this process, so that a busy
// machine changes little.
import { load, prepare } from "../pkg/node.js";
import { median } from "./contender.mjs";

const PRODUCTS = 1_000;
const RUNS = 9;
const CONTEXT = { now: "2026-03-01T00:00:00Z", seed: "01" };
const productId = (at) => `prod_${at}`;
const percent = (share) => ({ type: "PERCENT", percent_off: share });
const test = (name, conditions, property) => ({ 1: { name, property, conditions }, logic: "1" });
const scopeOf = (brand) => test("product.metadata", { $is: [`brand ${brand}`] }, "brand");

/** Promotions of each kind of shop, as discount and rules. `prices` is the number of different prices of the catalogue. */
const SHOPS = {
  "one share of everything": { prices: PRODUCTS, tiers: [[percent(10)]] },
  "12 promotions of 20 brands": { prices: PRODUCTS, tiers: Array.from({ length: 12 }, (_, at) => [percent(5 + at), scopeOf(at)]) },
  "3 that stack, 100 prices": { prices: 100, tiers: [[percent(10)], [percent(5)], [{ type: "AMOUNT", amount_off: 100 }]] },
  "3 that stack, 1,000 prices": { prices: PRODUCTS, tiers: [[percent(10)], [percent(5)], [{ type: "AMOUNT", amount_off: 100 }]] },
  "100 brands' promotions, 3 of large orders": {
    prices: PRODUCTS,
    tiers: [
      ...Array.from({ length: 100 }, (_, at) => [percent(5 + (at % 20)), scopeOf(at)]),
      ...[10_000, 20_000, 50_000].map((amount) => [{ type: "AMOUNT", amount_off: amount / 10 }, test("order.amount", { $more_than: [amount] })]),
    ],
  },
};

export async function measurePrices() {
  await load();
  return Object.fromEntries(Object.entries(SHOPS).map(([name, shop]) => [name, timeOf(shop)]));
}

function timeOf({ prices, tiers }) {
  const rules = prepare(rulesOf(prices, tiers));
  const request = JSON.stringify({ ids: Array.from({ length: PRODUCTS }, (_, at) => productId(at)) });
  // The first runs compile the binary.
  for (let run = 0; run < RUNS; run += 1) rules.prices(request, CONTEXT);
  const found = JSON.parse(rules.prices(request, CONTEXT)).prices;
  const times = Array.from({ length: RUNS }, () => {
    const begin = process.cpuUsage();
    rules.prices(request, CONTEXT);
    const { user, system } = process.cpuUsage(begin);
    return (user + system) / 1_000;
  });
  rules.free();
  const count = (is) => found.filter(is).length;
  return { ms: median(times), discounted: count(({ price, discounted_price }) => discounted_price < price), from: count(({ from }) => from) };
}

function rulesOf(prices, tiers) {
  const id = (kind, at) => `${kind}_${at}`;
  return {
    complete: true, counted: true, transfers: [], time_zone: "UTC", stacking_rules: {}, skus: [], vouchers: [], customers: [],
    products: Array.from({ length: PRODUCTS }, (_, at) => (
      { id: productId(at), name: "p", price: 500 + 9 * (at % prices), metadata: { brand: `brand ${at % 20}` } })),
    campaigns: [{ id: "camp_1", name: "c", campaign_type: "PROMOTION" }],
    promotion_tiers: tiers.map(([discount], at) => ({ id: id("promo", at), name: "t", campaign_id: "camp_1", action: { discount } })),
    validation_rules: tiers.map(([, rules = { logic: "" }], at) => ({ id: id("val", at), name: "r", rules })),
    validation_rules_assignments: tiers.map((_, at) => (
      { id: id("asgm", at), rule_id: id("val", at), related_object_id: id("promo", at), related_object_type: "promotion_tier" })),
  };
}
