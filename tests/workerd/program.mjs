// Decides the few steps that every test of points takes: a program in which a paid order earns, a member with a card, and what is on it.
// Only the documented interface is used.
import assert from "node:assert/strict";
import { fresh } from "./shop.mjs";

const V2 = "/v2/loyalties";

/** Sends what must be accepted, and gives the answer's body. */
export async function ask(call, method, path, body, headers) {
  const answer = await call(method, path, body, headers);
  assert.ok(answer.status >= 200 && answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** A new program that acts: a point for each unit of money, given back when the order is called off. `more` goes into the card definition. */
export async function program(call, more = {}) {
  const name = fresh("club-");
  const refunds = { earned_points: { type: "REFUNDABLE", methods: [{ type: "REVOKE_FROM_BALANCE", mode: "REVOKE_TO_ZERO" }] } };
  const definition = await ask(call, "POST", `${V2}/card-definitions`, { name, type: "INDIVIDUAL", status: "ACTIVE", refunds, ...more });
  const points_proportional = {
    calculation_type: "PRE_DISCOUNT_ORDER_AMOUNT", card_definition_id: definition.id, order: { amount: { every: 100, value: 1 } },
  };
  const rule = await ask(call, "POST", `${V2}/earning-rules`, {
    name, status: "ACTIVE", trigger: { event: "customer.order.paid" }, earnings: [{ effects: [{ points_proportional }] }],
  });
  const { id } = await ask(call, "POST", `${V2}/programs`, {
    name, status: "ACTIVE", card_definitions: [{ id: definition.id }], earning_rules: [{ id: rule.id }],
  });
  return { id, definition: definition.id };
}

/** A new customer as a member of a program, with the paths of the member and of the card. */
export async function member(call, { id }) {
  const source = fresh("member-");
  const { id: customer_id } = await ask(call, "POST", "/v1/customers", { source_id: source });
  const made = await ask(call, "POST", `${V2}/programs/${id}/members`, { customer_id });
  const path = `${V2}/programs/${id}/members/${made.id}`;
  return { source, path, card_id: made.cards[0].card.id, card: `${path}/cards/${made.cards[0].card.id}` };
}

/** The card of a member, as it stands. */
export async function cardOf(call, { path }) {
  return (await ask(call, "GET", path)).cards[0].card;
}

/** How many transactions of each type a card has. */
export async function told(call, { card }) {
  const types = new Map();
  let next = "";
  do {
    const page = await ask(call, "GET", `${card}/transactions?limit=100${next}`);
    for (const { type } of page.data) types.set(type, (types.get(type) ?? 0) + 1);
    next = page.cursor ? `&cursor=${page.cursor.next}` : "";
  } while (next);
  return types;
}
