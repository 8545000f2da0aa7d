// Prepares the requests whose rows and statements are counted: a shop, and for each kind of request how it is sent once.
import assert from "node:assert/strict";
import { made } from "../points_fixtures.mjs";
import { waitUntil } from "../../wait.mjs";

/** The number of requests of a kind in a row, and the largest number of codes of one campaign. */
export const IN_A_ROW = 200;
export const CODES = 10_000;

const PERCENT = { type: "PERCENT", percent_off: 10, effect: "APPLY_TO_ORDER" };
const order = { amount: 10_000 };
const anna = { source_id: "anna" };
const discount = (more = {}) => ({ type: "DISCOUNT_VOUCHER", discount: PERCENT, redemption: { quantity: null }, ...more });
const redeemable = (id, more = {}) => ({ object: "voucher", id, ...more });

/**
 * Creates the shop. Returns `[{ name, send, before?, each? }]`: `send(number)` makes the request of a number, below `IN_A_ROW`, once
 * `before()` has run; it stands for `each` things, such as the codes of a campaign.
 */
export async function prepare(call) {
  const post = (path, body) => made(call, "POST", path, body);
  await post("/v1/customers", { ...anna, email: "anna@example.com" });
  for (const code of ["PLAIN", "FIRST", "SECOND", "THIRD"]) await post(`/v1/vouchers/${code}`, discount());
  return [
    ...(await redemptions(post)),
    ...(await rollback(post)),
    ...(await orders(post)),
    ...(await entities(call, post)),
  ];
}

async function redemptions(post) {
  const limit = await post("/v1/validation-rules", {
    name: "Often enough", rules: { 1: { name: "redemption.count.per_customer", conditions: { $less_than_or_equal: [1_000_000] } }, logic: "1" },
  });
  await campaign(post, { name: "Sale", count: 1, pattern: "SALE", validation_rules: [limit.id], voucher: discount({ redemption: { quantity: 1_000_000 } }) });
  await campaign(post, { name: "Club", campaign_type: "LOYALTY_PROGRAM", count: 1, pattern: "CLUB", voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 1_000_000 } } });
  await post("/v1/publications", { voucher: "CLUB", customer: anna });
  const reward = await post("/v1/rewards", { name: "Money off", parameters: { coin: { exchange_ratio: "1", points_ratio: "1" } } });
  await post(`/v1/rewards/${reward.id}/assignments`, { campaign: "Club" });
  const redeem = (redeemables, more = {}) => () => post("/v1/redemptions", { redeemables, order, ...more });
  const customer = { customer: anna };
  return [
    { name: "redemption, plain", send: redeem([redeemable("PLAIN")]) },
    { name: "redemption, customer", send: redeem([redeemable("PLAIN")], customer) },
    { name: "redemption, campaign, customer and limit", send: redeem([redeemable("SALE")], customer) },
    { name: "redemption, three stacked, customer", send: redeem(["FIRST", "SECOND", "THIRD"].map((code) => redeemable(code)), customer) },
    { name: "redemption, loyalty points", send: redeem([redeemable("CLUB", { reward: { id: reward.id, points: 10 } })], customer) },
  ];
}

async function rollback(post) {
  const ids = [];
  return [{
    name: "rollback, customer",
    async before() {
      for (let number = 0; number < IN_A_ROW; number += 1) {
        ids.push((await post("/v1/redemptions", { redeemables: [redeemable("PLAIN")], order, customer: anna })).redemptions[0].id);
      }
    },
    send: (number) => post(`/v1/redemptions/${ids[number]}/rollback`, {}),
  }];
}

/** Paid orders of customers in programs with fifty rules, of which none, one or ten fire. */
async function orders(post) {
  const items = Array.from({ length: 10 }, (_, place) => ({ source_id: `goods-${place}`, related_object: "product", quantity: 1, price: 1_000 }));
  const rows = [];
  for (const [name, firing] of [["order paid", undefined], ["order paid, one rule fires", 1], ["order paid, ten rules fire", 10]]) {
    const { id } = await post("/v1/customers", { source_id: name, email: `${name.replaceAll(/\W/g, "-")}@example.com` });
    if (firing !== undefined) await enrol(post, id, firing);
    rows.push({ name, send: () => post("/v1/orders", { status: "PAID", customer: { id }, items }) });
  }
  return rows;
}

async function enrol(post, customer, firing) {
  for (let number = 0; number < 10; number += 1) {
    const card = await post("/v2/loyalties/card-definitions", { name: `Card ${number}`, type: "INDIVIDUAL", status: "ACTIVE" });
    const rules = [];
    for (let place = 0; place < 5; place += 1) {
      const least = place === 0 && number < firing ? 0 : 1_000_000;
      rules.push(await post("/v2/loyalties/earning-rules", {
        name: `Rule ${place}`, status: "ACTIVE", trigger: { event: "customer.order.paid" },
        earnings: [{
          rules: { 1: { name: "order.amount", conditions: { $more_than: [least] } } },
          effects: [{ points_proportional: { calculation_type: "PRE_DISCOUNT_ORDER_AMOUNT", card_definition_id: card.id, order: { amount: { every: 100, value: 1 } } } }],
        }],
      }));
    }
    const program = await post("/v2/loyalties/programs", {
      name: `Program ${number}`, status: "ACTIVE", card_definitions: [{ id: card.id }], earning_rules: rules.map(({ id }) => ({ id })),
    });
    await post(`/v2/loyalties/programs/${program.id}/members`, { customer_id: customer });
  }
}

async function entities(call, post) {
  await post("/management/v1/projects/proj_dev/custom-event-schemas", { name: "viewed", schema: { properties: {} } });
  const given = await campaign(post, { name: "Given", count: 2 * IN_A_ROW, pattern: "GIVEN-########" });
  await waitUntil(async () => (await made(call, "GET", `/v1/campaigns/${given.id}`)).vouchers_count === 2 * IN_A_ROW, "the codes");
  return [
    { name: "code, of 10,000", each: CODES, send: () => campaign(post, { name: "Many", count: CODES, pattern: "MANY-########" }) },
    { name: "voucher", send: (number) => post(`/v1/vouchers/OWN-${number}`, discount({ redemption: { quantity: 1 } })) },
    { name: "customer", send: (number) => post("/v1/customers", { source_id: `customer-${number}`, name: `Customer ${number}`, email: `customer-${number}@example.com` }) },
    { name: "publication", send: () => post("/v1/publications", { campaign: { name: "Given" }, customer: anna }) },
    { name: "event", send: () => post("/v1/events", { event: "viewed", customer: anna }) },
    { name: "list of 100 vouchers", send: () => page(call, "/v1/vouchers?limit=100") },
    { name: "list of 100 vouchers of a campaign", send: () => page(call, "/v1/vouchers?limit=100&campaign=Many") },
  ];
}

async function page(call, path) {
  const { vouchers } = await made(call, "GET", path);
  assert.equal(vouchers.length, 100);
}

async function campaign(post, { name, count, pattern, voucher = discount(), ...more }) {
  return post("/v1/campaigns", {
    name, campaign_type: "DISCOUNT_COUPONS", type: "STATIC", ...more, vouchers_count: count, voucher: { ...voucher, code_config: { pattern } },
  });
}
