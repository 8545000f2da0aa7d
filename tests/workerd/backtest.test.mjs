// Tests back-tests against the service: the cost of a draft is that of redeeming the same orders one after the other, at their times.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { developmentText } from "../../worker/tools/setup.mjs";
import { backTest, fromCsv } from "../../pkg/backtest.js";
import { createRandom } from "../soak/random.mjs";
import { waitUntil } from "../wait.mjs";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("back-tests");
const ZONE = "Europe/Berlin";
const HOUR = 3_600_000;
const SEED = Number(process.env.SEED ?? 7);
const DRAFTS = 6;
const ORDERS = 80;
const PERIODS = ["daily", "weekly", "monthly"];
const COUNTERS = ["redemption.count", "redemption.count.per_customer", "campaign.redemptions.count", "campaign.redemptions.customers_count"];
let service;
let call;

before(async () => {
  const setup = JSON.parse(developmentText());
  setup.projects[0].time_zone = ZONE;
  service = await boot({ setup: JSON.stringify(setup) });
  call = caller(service.url);
  for (const [source_id, price] of [["mug", 1_000], ["tea", 400]]) await made("POST", "/v1/products", { source_id, name: source_id, price });
});
after(() => service?.stop());

/** Calls the service, at a time by the clock of the test if there is one, and returns the body of a success. */
async function made(method, path, body, time) {
  const reply = await call(method, path, body, time === undefined ? {} : { "scrip-test-now": String(time) });
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** Stores a promotion with two tiers, whose rules have limits of periods; returns its documents. */
async function storeDraft(name, random) {
  const campaign = await made("POST", "/v1/campaigns", { name, campaign_type: "PROMOTION" });
  const documents = { campaigns: [await made("GET", `/v1/campaigns/${campaign.id}`)], promotion_tiers: [], validation_rules: [], validation_rules_assignments: [] };
  for (const percent_off of [10, 15]) {
    const period = random.pick(PERIODS);
    const limit = { name: `${random.pick(COUNTERS)}.${period}`, conditions: { $less_than_or_equal: [random.int(1, period === "daily" ? 2 : 6)] } };
    const above = { name: "order.amount", conditions: { $more_than: [random.int(0, 3) * 1_000] } };
    const rule = await made("POST", "/v1/validation-rules", { name, rules: { 1: limit, 2: above, logic: "1 and 2" } });
    const windows = random.pick([{}, { validity_day_of_week: [1, 2, 3, 4, 6] }, { validity_hours: { daily: [{ start_time: "06:00", expiration_time: "20:00", days_of_week: [0, 1, 2, 3, 4, 5, 6] }] } }]);
    const tier = await made("POST", `/v1/promotions/${campaign.id}/tiers`, { name, action: { discount: { type: "PERCENT", percent_off } }, validation_rules: [rule.id], ...windows });
    documents.promotion_tiers.push(await made("GET", `/v1/promotions/tiers/${tier.id}`));
    documents.validation_rules.push(await made("GET", `/v1/validation-rules/${rule.id}`));
    documents.validation_rules_assignments.push(...(await made("GET", `/v1/validation-rules/${rule.id}/assignments`)).data);
  }
  return documents;
}

/** Stores an order at a time, and redeems the tier with the largest discount for it; returns the order as stored, and the discount. */
async function place(order, tiers, time) {
  const { id, customer_id } = await made("POST", "/v1/orders", order, time);
  const customer = customer_id ? { id: customer_id } : undefined;
  let best = { discount: 0 };
  for (const tier of tiers) {
    const request = { redeemables: [{ object: "promotion_tier", id: tier }], order: { id }, customer };
    const { valid, order: discounted } = await made("POST", "/v1/validations", request, time);
    const discount = valid ? discounted.total_applied_discount_amount : 0;
    if (discount > best.discount) best = { request, discount };
  }
  if (best.request) await made("POST", "/v1/redemptions", best.request, time);
  return { stored: await made("GET", `/v1/orders/${id}`), discount: best.discount };
}

/** Returns orders at times within six weeks, several on most days, the last ones of a day at its end. */
function ordersOf(name, random, begin) {
  let time = begin;
  return Array.from({ length: ORDERS }, (_, at) => {
    time += 1 + random.int(0, random.pick([1, 11, 29])) * HOUR;
    const customer = random.withProbability(0.2) ? undefined : { source_id: `customer ${random.int(1, 4)}` };
    const items = random.pick([["mug"], ["tea", "mug"], ["tea"]]).map((source_id) => ({ source_id, related_object: "product", quantity: random.int(1, 4) }));
    const lines = random.withProbability(0.2) ? { amount: random.int(500, 5_000) } : { items };
    return { time, order: { source_id: `${name} ${at}`, customer, status: "PAID", ...lines } };
  });
}

async function rulesOf() {
  const all = async (path, list) => (await made("GET", `${path}?limit=100`))[list];
  const none = Object.fromEntries(["vouchers", "campaigns", "promotion_tiers", "promotion_stacks", "skus"].map((name) => [name, []]));
  return {
    ...none, complete: true, counted: true, transfers: [], time_zone: ZONE, stacking_rules: {}, case_sensitive_codes: true,
    products: await all("/v1/products", "products"), customers: await all("/v1/customers", "customers"),
  };
}

check("a draft costs what redemptions of the orders by the service took off, one after the other", async () => {
  let refused = 0;
  for (let at = 0; at < DRAFTS; at += 1) {
    const name = `draft ${at}`;
    const random = createRandom(SEED, name);
    const draft = await storeDraft(name, random);
    const placed = [];
    for (const { time, order } of ordersOf(name, random, Date.parse("2026-03-01T22:00:00Z"))) {
      placed.push(await place(order, draft.promotion_tiers.map(({ id }) => id), time));
    }
    const discounts = placed.map(({ discount }) => discount).filter((discount) => discount > 0);
    const found = await backTest({ rules: await rulesOf(), draft, orders: placed.map(({ stored }) => stored).toReversed() });
    const cost = discounts.reduce((sum, discount) => sum + discount, 0);
    assert.deepEqual(
      [found.touched, found.cost, found.uncounted, found.provisional.missing, found.unreadable.lines], [discounts.length, cost, 0, [], []],
      `${name} of SEED=${SEED}: ${JSON.stringify(draft.validation_rules.map(({ rules }) => rules))}`,
    );
    refused += ORDERS - discounts.length;
  }
  assert.ok(refused > ORDERS && refused < (DRAFTS - 1) * ORDERS, `limits have refused ${refused} orders`);
});

check("an export of orders by the service is read as it stands", async () => {
  const random = createRandom(SEED, "export");
  const draft = await storeDraft("of the export", random);
  const placed = [];
  const begin = Date.parse("2026-08-01T22:00:00Z");
  for (const { time, order } of ordersOf("=export; 'of \"orders\",\n", random, begin)) {
    placed.push(await place({ ...order, metadata: { note: "a;=b\n'c", gift: true } }, draft.promotion_tiers.map(({ id }) => id), time));
  }
  const filters = { junction: "and", created_at: { conditions: { $after: [new Date(begin).toISOString()] } } };
  const fields = ["id", "source_id", "created_at", "updated_at", "status", "amount", "discount_amount", "total_amount", "customer_id", "metadata"];
  const { id } = await made("POST", "/v1/exports", { exported_object: "order", parameters: { fields, filters } });
  const done = await waitUntil(async () => {
    const body = await made("GET", `/v1/exports/${id}`);
    return body.status === "DONE" && body;
  }, "the export");
  const csv = await (await fetch(done.result.url)).text();
  const orders = fromCsv(csv);
  const read = [...orders].toSorted((one, other) => one.created_at.localeCompare(other.created_at));
  assert.deepEqual(read.map(({ source_id }) => source_id), placed.map(({ stored }) => stored.source_id));
  assert.deepEqual(read[0].metadata, placed[0].stored.metadata);
  const { touched, cost, unreadable, orders: count } = await backTest({ rules: await rulesOf(), draft, orders });
  const discounts = placed.map(({ discount }) => discount).filter((discount) => discount > 0);
  assert.deepEqual([count, touched, cost, unreadable.lines], [ORDERS, discounts.length, discounts.reduce((sum, one) => sum + one, 0), []]);
  // Their default columns have no amounts.
  assert.throws(() => fromCsv("id,source_id,status\n"), /must have the column `amount`.*\(actual columns are `id,source_id,status`\)/);
});
