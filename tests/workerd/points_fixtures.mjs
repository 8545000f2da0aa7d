// Creates the fixtures of the tests of points: a program, a member with points, a reward. Only the documented API is used.
import assert from "node:assert/strict";
import { fresh } from "./redemption_fixtures.mjs";

/** Makes a call that must succeed; returns its body. */
export async function made(call, method, path, body) {
  const answer = await call(method, path, body);
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
}

/** Creates a program in which a paid order earns points, and a reward that costs `cost` points, with a stock of `quantity`. */
export async function club(call, { earns = 0, cost = 1, quantity = 10, definition = {} } = {}) {
  const post = (path, body) => made(call, "POST", path, body);
  const points = await post("/v2/loyalties/card-definitions", {
    name: "Points",
    type: "INDIVIDUAL",
    status: "ACTIVE",
    ...definition,
  });
  const rule = await post("/v2/loyalties/earning-rules", {
    name: "Rule",
    status: "ACTIVE",
    trigger: { event: "customer.order.paid" },
    earnings: [{ effects: [{ points: { value: earns, card_definition_id: points.id } }] }],
  });
  const product = await post("/v1/products", { source_id: fresh("prod-"), name: "Mug" });
  const reward = await post("/v2/loyalties/rewards", {
    name: "Mug",
    type: "MATERIAL",
    status: "ACTIVE",
    material: { type: "PRODUCT", product: { id: product.id } },
    costs: [{ spending: [{ points: cost, card_definition_id: points.id }] }],
  });
  const program = await post("/v2/loyalties/programs", {
    name: "Club",
    status: "ACTIVE",
    card_definitions: [{ id: points.id }],
    earning_rules: [{ id: rule.id }],
    rewards: [{ id: reward.id, stock: { type: "LIMITED", limited: { quantity } } }],
  });
  return { program: program.id, reward: reward.id };
}

/** Creates a member of a program with a number of points; returns the customer, the card, and the path. */
export async function member(call, program, points) {
  const post = (path, body) => made(call, "POST", path, body);
  const customer = await post("/v1/customers", { source_id: fresh("cust-") });
  const all = `/v2/loyalties/programs/${program}/members`;
  const identification = { type: "customer_id", customer_id: customer.id };
  const { id, cards } = await post(all, { customer_identification: identification });
  const path = `${all}/${id}`;
  const card = cards[0].card.id;
  await post(`${path}/cards/${card}/points`, { points });
  return { path, card, customer: customer.id };
}

/** Returns the current card of a member. */
export async function cardOf(call, { path }) {
  const { cards } = await made(call, "GET", path);
  return cards[0].card;
}

/** Returns the number of transactions of each type of a card. */
export async function countTransactions(call, { path, card }) {
  const types = {};
  let next = "";
  do {
    const page = await made(call, "GET", `${path}/cards/${card}/transactions?limit=100${next}`);
    for (const { type } of page.data) types[type] = (types[type] ?? 0) + 1;
    next = page.cursor ? `&cursor=${page.cursor.next}` : "";
  } while (next);
  return types;
}
