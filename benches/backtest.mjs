// Measures a back-test in wasm: a draft of two steps, each with a limit of a day, over 10,000 orders of two months as JSON Lines, with the existing
// promotions of a shop. It takes the CPU time of this process.
import { backTest } from "../pkg/backtest.js";

const ORDERS = Number(process.env.BENCH_ORDERS ?? 10_000);
const PRODUCTS = 500;
const SHOPS = [12, 100];
const now = "2026-03-01T00:00:00Z";
const percent = (share) => ({ type: "PERCENT", percent_off: share });

export async function measureBackTest() {
  const results = {};
  for (const promotions of SHOPS) results[`${promotions} promotions`] = await timeOf(promotions);
  return results;
}

async function timeOf(promotions) {
  const begin = process.cpuUsage();
  const { orders, touched, better_elsewhere } = await backTest({ rules: rulesOf(promotions), draft: draft(), orders: past(), now });
  const { user, system } = process.cpuUsage(begin);
  return { s: (user + system) / 1_000_000, orders, touched, better_elsewhere: better_elsewhere.orders };
}

/** Returns orders of one to five lines. */
function past() {
  const line = (order, at) => ({ product_id: `prod_${(order * 7 + at * 13) % PRODUCTS}`, quantity: 1 + ((order + at) % 3), price: 500 + ((order * 37) % 4_000) });
  const items = (at) => Array.from({ length: 1 + (at % 5) }, (_, place) => line(at, place));
  const created = (at) => new Date(Date.parse("2026-01-01T00:00:00Z") + at * 500_000).toISOString();
  const order = (_, at) => JSON.stringify({ id: `ord_${at}`, created_at: created(at), customer: { source_id: `customer ${at % 900}` }, items: items(at) });
  return Array.from({ length: ORDERS }, order).join("\n");
}

function tiersOf(name, tests) {
  return {
    campaigns: [{ id: `camp_${name}`, name, campaign_type: "PROMOTION" }],
    promotion_tiers: tests.map(([share], at) => (
      { id: `promo_${name}_${at}`, name: "t", campaign_id: `camp_${name}`, action: { discount: percent(share) } })),
    validation_rules: tests.map(([, test], at) => ({ id: `val_${name}_${at}`, name: "r", rules: { 1: test, logic: "1" } })),
    validation_rules_assignments: tests.map((_, at) => (
      { id: `asgm_${name}_${at}`, rule_id: `val_${name}_${at}`, related_object_id: `promo_${name}_${at}`, related_object_type: "promotion_tier" })),
  };
}

const above = (amount) => ({ name: "order.amount", conditions: { $more_than: [amount] } });
const draft = () => {
  const made = tiersOf("draft", [[10, above(5_000)], [15, above(20_000)]]);
  const daily = { name: "redemption.count.daily", conditions: { $less_than_or_equal: [100] } };
  return { ...made, validation_rules: made.validation_rules.map(({ rules, ...rule }) => ({ ...rule, rules: { ...rules, 2: daily, logic: "1 and 2" } })) };
};

function rulesOf(promotions) {
  const bought = (at) => ({ name: "product.id", conditions: { $is: [{ object: "product", id: `prod_${(at * 31) % PRODUCTS}` }] } });
  return {
    complete: true, counted: true, transfers: [], time_zone: "UTC", stacking_rules: {}, case_sensitive_codes: true,
    skus: [], vouchers: [], promotion_stacks: [], customers: [],
    products: Array.from({ length: PRODUCTS }, (_, at) => ({ id: `prod_${at}`, name: "p", price: 900 })),
    ...tiersOf("shop", Array.from({ length: promotions }, (_, at) => [5 + (at % 20), at % 4 ? bought(at) : above(1_000 * at)])),
  };
}
