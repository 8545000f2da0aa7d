// Creates the points program of a first local start, which the demo's second page shows: two kinds of cards, earning rules, tiers and
// rewards. An object whose name exists already stays.
import { PROGRAM } from "../../www-demo/server_calls.js";
import { Remedy } from "./console.mjs";
import { managementHeaders, serverHeaders } from "./setup.mjs";

export const PROJECT = "proj_dev";
const V2 = "/v2/loyalties";

const points = {
  name: "Club points",
  type: "INDIVIDUAL",
  status: "ACTIVE",
  code_config: { pattern: "CLUB-####-####" },
  points_expiration: {
    type: "ROLLING_EXPIRATION",
    rolling_expiration: { period: { value: 12, unit: "MONTH" }, rounding: { type: "END_OF_MONTH" } },
  },
  refunds: {
    spent_points: { type: "REFUNDABLE", methods: [{ type: "RETURN_POINTS", mode: "REFUND_ALL" }] },
    earned_points: { type: "REFUNDABLE", methods: [{ type: "REVOKE_FROM_BALANCE", mode: "REVOKE_TO_ZERO" }] },
  },
  // A point pays one cent.
  pay_with_points: { type: "EXCHANGE_RATIO", exchange_ratio: { formula: "1" } },
};

const stars = {
  name: "Thank-you stars",
  type: "INDIVIDUAL",
  status: "ACTIVE",
  code_config: { pattern: "STAR-####-####" },
  pending_points: { type: "PERIOD_BASED", period_based: { period: { value: 1, unit: "DAY" } } },
};

const events = { review_written: { stars: { type: "number", optional: true } }, friend_joined: {} };

/** Returns the earning rules: a point for each euro of a paid order, expiring points and stars for a review, stars for a friend. */
function rules({ pointsCard, starsCard, schemas }) {
  const perEuro = { calculation_type: "POST_DISCOUNT_ORDER_AMOUNT", card_definition_id: pointsCard, order: { total_amount: { every: 100, value: 1 } } };
  const soon = { type: "ROLLING_EXPIRATION", rolling_expiration: { period: { value: 14, unit: "DAY" } } };
  const give = (value, card_definition_id, more) => ({ type: "POINTS", points: { value, card_definition_id, ...more } });
  const on = (event) => ({ event: "customer.custom_event", custom_event: { schema_id: schemas[event] } });
  return [
    { name: "A paid order", trigger: { event: "customer.order.paid" }, earnings: [{ effects: [{ type: "POINTS_PROPORTIONAL", points_proportional: perEuro }] }] },
    { name: "A review", trigger: on("review_written"), earnings: [{ effects: [give(15, pointsCard, { points_expiration: soon }), give(30, starsCard)] }] },
    { name: "A friend", trigger: on("friend_joined"), earnings: [{ effects: [give(50, starsCard)] }] },
  ];
}

const tiers = [
  { name: "Bronze", qualification_rules: { type: "POINTS", min_value: 0, max_value: 99 } },
  { name: "Silver", qualification_rules: { type: "POINTS", min_value: 100, max_value: 499 } },
  { name: "Gold", qualification_rules: { type: "POINTS", min_value: 500 } },
];

const structure = (card) => ({
  name: "Club tiers",
  type: "POINT_EARNED",
  card_definition_id: card,
  point_earned: { period: { value: 1, unit: "YEAR" }, type: "IMMEDIATELY" },
  expiration: { type: "ROLLING_EXPIRATION", rolling_expiration: { period: { value: 12, unit: "MONTH" } } },
  downgrade: { type: "SINGLE_LEVEL" },
});

const rewards = (card, product) => [
  {
    body: { name: "Enamel mug", type: "MATERIAL", material: { type: "PRODUCT", product: { id: product } }, ...cost(80, card) },
    stock: { type: "LIMITED", limited: { quantity: 100 } },
  },
  {
    body: { name: "5 euros off", type: "DIGITAL", digital: { type: "DISCOUNT_COUPONS", discount_coupons: { campaign_id: "Club coupons" } }, ...cost(50, card) },
    stock: { type: "UNLIMITED" },
  },
];

const cost = (points, card) => ({
  status: "ACTIVE", refunds: { type: "REFUNDABLE" }, costs: [{ spending: [{ name: "Club points", points, card_definition_id: card }] }],
});

/** Creates the program and all its parts. */
export async function seedLoyaltyProgram(url) {
  const ensure = (path, body) => ensureAt(url, path, body);
  const pointsCard = (await ensure(`${V2}/card-definitions`, points)).id;
  const starsCard = (await ensure(`${V2}/card-definitions`, stars)).id;
  const schemas = await ensureEvents(url);
  const product = await callServer("POST", `${url}/v1/products`, { source_id: "club-mug", name: "Enamel mug" });
  const entries = [];
  for (const rule of rules({ pointsCard, starsCard, schemas })) entries.push(await ensure(`${V2}/earning-rules`, { status: "ACTIVE", ...rule }));
  const tierStructure = await ensure(`${V2}/tier-structures`, structure(pointsCard));
  for (const tier of tiers) await ensureTier(`${url}${V2}/tier-structures/${tierStructure.id}`, tier);
  await activate(url, "tier-structures", tierStructure);
  const gifts = [];
  for (const { body, stock } of rewards(pointsCard, product.id)) gifts.push({ id: (await ensure(`${V2}/rewards`, body)).id, stock });
  const program = await ensure(`${V2}/programs`, {
    name: PROGRAM, card_definitions: [{ id: pointsCard }, { id: starsCard }], earning_rules: entries.map(({ id }) => ({ id })),
    tier_structures: [{ id: tierStructure.id }], rewards: gifts,
  });
  await activate(url, "programs", program);
}

/** Returns the document of a name, and creates it when it is missing. */
async function ensureAt(url, path, body) {
  const found = await callServer("GET", `${url}${path}?limit=1&filters[name][conditions][$is]=${encodeURIComponent(body.name)}`);
  return found.data[0] ?? callServer("POST", `${url}${path}`, body);
}

async function ensureTier(structure, tier) {
  const { data } = await callServer("GET", `${structure}/tiers?limit=100`);
  if (!data.some(({ name }) => name === tier.name)) await callServer("POST", `${structure}/tiers`, tier);
}

async function activate(url, kind, { id, status }) {
  if (status !== "ACTIVE") await callServer("POST", `${url}${V2}/${kind}/${id}/activate`);
}

/** Returns the ids of the event schemas by their names, and creates missing ones. */
async function ensureEvents(url) {
  const schemas = `${url}/management/v1/projects/${PROJECT}/custom-event-schemas`;
  for (const [name, properties] of Object.entries(events)) await send("POST", schemas, managementHeaders, { name, schema: { properties } });
  const { data } = await (await send("GET", schemas, managementHeaders)).json();
  return Object.fromEntries(data.map(({ id, name }) => [name, id]));
}

async function callServer(method, url, body) {
  return (await send(method, url, serverHeaders, body)).json();
}

/** Calls the service; a conflict with an existing object is no error. */
export async function send(method, url, headers, body) {
  const reply = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  if (reply.ok || reply.status === 409) return reply;
  throw new Remedy(`seeding failed: ${method} ${new URL(url).pathname} answered ${reply.status} ${await reply.text()}`);
}
