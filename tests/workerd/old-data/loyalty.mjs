// Fills programs of both loyalty interfaces: cards, earning rules, tiers, rewards, members, and points that expire or are pending for long.
const PAID = { event: "customer.order.paid" };
const V2 = "/v2/loyalties";

/** Fills both; returns names that the recorded requests need. */
export async function fillLoyalty(shop, { mug }) {
  await fillFirst(shop, mug);
  return await fillSecond(shop, mug);
}

/** The first interface: a campaign of cards. */
async function fillFirst({ get, post, until }, mug) {
  await post("/v1/loyalties", {
    name: "Club", type: "AUTO_UPDATE", vouchers_count: 3, loyalty_tiers_expiration: { qualification_type: "BALANCE" },
    voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 100, expiration_rules: { period_type: "MONTH", period_value: 24 } }, code_config: { pattern: "CLUB-#", charset: "123" } },
  });
  await post("/v1/loyalties/Club/earning-rules", [
    { event: "order.paid", loyalty: { type: "FIXED", points: 15 }, source: { banner: "15 for each" } },
    { event: "order.paid", loyalty: { type: "PROPORTIONAL", calculation_type: "ORDER_AMOUNT", order: { amount: { every: 100, points: 1 } } } },
    { event: "order.paid", pending_points: { period_type: "DAY", period_value: 90 }, loyalty: { type: "FIXED", points: 7 } },
  ]);
  const coin = await post("/v1/rewards", { name: "Money off", parameters: { coin: { exchange_ratio: "1", points_ratio: "1" } }, metadata: { a: 1 } });
  const pen = await post("/v1/rewards", { name: "Mug", parameters: { product: { id: mug } } });
  await post(`/v1/rewards/${coin.id}/assignments`, { campaign: "Club" });
  await post(`/v1/rewards/${pen.id}/assignments`, { campaign: "Club", parameters: { loyalty: { points: 8 } } });
  await post("/v1/loyalties/Club/tiers", [{ name: "Silver", points: { from: 20, to: 199 }, metadata: { colour: "grey" } }, { name: "Gold", points: { from: 200 } }]);
  await until(async () => (await get("/v1/vouchers?campaign=Club")).total === 3, "the cards of Club");
  for (const [number, name] of ["anna", "bert", "carl"].entries()) await post("/v1/loyalties/Club/members", { voucher: `CLUB-${number + 1}`, customer: { source_id: name } });
  await post("/v1/orders", { source_id: "club-1", status: "PAID", amount: 6_000, customer: { source_id: "anna" } });
  await post("/v1/loyalties/members/CLUB-1/balance", { points: 50, expiration_type: "CUSTOM_DATE", expiration_date: "2034-03-05T08:00:00Z", source_id: "crm", reason: "well done" });
  await post("/v1/loyalties/members/CLUB-2/balance", { points: -5 });
  await post("/v1/loyalties/Club/members/CLUB-1/transfers", [{ code: "CLUB-3", points: 6, reason: "a present", source_id: "gift-1" }]);
  await post("/v1/redemptions", { redeemables: [{ object: "voucher", id: "CLUB-1", reward: { id: coin.id, points: 30 } }], order: { amount: 5_000 }, customer: { source_id: "anna" } });
  await post("/v1/loyalties/members/CLUB-2/redemption", { reward: { id: pen.id } });
}

async function fillSecond(shop, mug) {
  const { post, manage } = shop;
  const definition = (name, more) => post(`${V2}/card-definitions`, { name, type: "INDIVIDUAL", status: "ACTIVE", ...more });
  const points = await definition("Points", {
    code_config: { pattern: "POINTS-####" }, pay_with_points: { type: "EXCHANGE_RATIO", exchange_ratio: { formula: "1" } },
    points_expiration: { type: "ROLLING_EXPIRATION", rolling_expiration: { period: { value: 24, unit: "MONTH" }, rounding: { type: "END_OF_MONTH" } } },
    refunds: { spent_points: { type: "REFUNDABLE", methods: [{ type: "RETURN_POINTS", mode: "REFUND_ALL" }] }, earned_points: { type: "REFUNDABLE", methods: [{ type: "REVOKE_FROM_BALANCE", mode: "REVOKE_TO_ZERO" }] } },
  });
  const stars = await definition("Stars", { pending_points: { type: "PERIOD_BASED", period_based: { period: { value: 60, unit: "DAY" } } } });
  const reviewed = await manage("/custom-event-schemas", { name: "written", schema: { properties: { stars: { type: "number", optional: true } } } });
  const rules = await fillEarningRules(post, { points: points.id, stars: stars.id, schema: reviewed.id });
  const levels = await fillTiers(post, points.id);
  const rewards = await fillRewards(post, points.id, mug);
  const program = await post(`${V2}/programs`, {
    name: "Program", status: "ACTIVE", metadata: { country: "DE" }, card_definitions: [{ id: points.id }, { id: stars.id }], earning_rules: rules.map((id) => ({ id })),
    tier_structures: [{ id: levels }], rewards: [{ id: rewards.mug, stock: { type: "LIMITED", limited: { quantity: 100 } } }, { id: rewards.code, stock: { type: "UNLIMITED" } }],
  });
  const members = [];
  for (const source_id of ["anna", "bert", "carl", "dora"]) {
    const { id } = await shop.get(`/v1/customers/${source_id}`);
    members.push(await post(`${V2}/programs/${program.id}/members`, { customer_id: id, metadata: { tier: "low" } }));
  }
  await useCards(shop, { program: program.id, members, rewards });
  return { program: program.id, member: members[0].id, points: points.id };
}

async function fillEarningRules(post, { points, stars, schema }) {
  const rule = async (name, trigger, earnings, more) => (await post(`${V2}/earning-rules`, { name, status: "ACTIVE", trigger, earnings, ...more })).id;
  const perEuro = { calculation_type: "POST_DISCOUNT_ORDER_AMOUNT", card_definition_id: points, order: { total_amount: { every: 100, value: 1 } } };
  return [
    await rule("A paid order", PAID, [{ effects: [{ points_proportional: perEuro }] }]),
    await rule("A large order", PAID, [{ rules: { 1: { name: "order.amount", conditions: { $more_than: [5_000] } } }, effects: [{ points: { value: 25, card_definition_id: points } }, { points: { value: 5, card_definition_id: stars } }] }]),
    await rule("A review", { event: "customer.custom_event", custom_event: { schema_id: schema } }, [{ effects: [{ points: { value: 10, card_definition_id: stars } }] }]),
  ];
}

async function fillTiers(post, points) {
  const { id } = await post(`${V2}/tier-structures`, { name: "Levels", type: "POINT_BALANCE", card_definition_id: points, downgrade: { type: "MULTI_LEVEL" } });
  for (const [name, qualification] of [["Bronze", { min_value: 0, max_value: 99 }], ["Silver", { min_value: 100, max_value: 299 }], ["Gold", { min_value: 300 }]]) {
    await post(`${V2}/tier-structures/${id}/tiers`, { name, qualification_rules: { type: "POINTS", ...qualification } });
  }
  await post(`${V2}/tier-structures/${id}/activate`);
  return id;
}

async function fillRewards(post, points, mug) {
  const costs = (value) => [{ spending: [{ points: value, card_definition_id: points }] }];
  const { id: campaign } = await post("/v1/campaigns", { name: "Club coupons", campaign_type: "DISCOUNT_COUPONS", type: "AUTO_UPDATE", voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 500 }, redemption: { quantity: 1 }, code_config: { pattern: "COUPON-####" } } });
  const material = await post(`${V2}/rewards`, { name: "Mug", type: "MATERIAL", status: "ACTIVE", material: { type: "PRODUCT", product: { id: mug } }, refunds: { type: "REFUNDABLE" }, costs: costs(10) });
  const digital = await post(`${V2}/rewards`, { name: "Five off", type: "DIGITAL", status: "ACTIVE", digital: { type: "DISCOUNT_COUPONS", discount_coupons: { campaign_id: campaign } }, costs: costs(20) });
  await post(`${V2}/incentives`, { name: "Welcome", type: "POINTS", stock: 5, points: { value: 10, card_definition_id: points } });
  await post(`${V2}/benefits`, { name: "Benefit", type: "POINTS", status: "ACTIVE", stock: { type: "LIMITED", limited: { quantity: 30 } }, points: { value: 25, card_definition_id: points } });
  return { mug: material.id, code: digital.id };
}

/** Earned, given, spent and refunded points, and points that pay for an order. */
async function useCards({ post, get, put }, { program, members, rewards }) {
  for (const [name, amount] of [["anna", 12_000], ["bert", 3_000], ["carl", 40_000]]) {
    await post("/v1/orders", { source_id: `earned-${name}`, status: "PAID", amount, customer: { source_id: name } });
  }
  await post("/v1/events", { event: "written", customer: { source_id: "anna" }, metadata: { stars: 5 } });
  const path = (member) => `${V2}/programs/${program}/members/${member.id}`;
  const cardOf = async (member) => (await get(path(member))).cards[0].card.id;
  const [anna, , , dora] = members;
  await post(`${path(dora)}/cards/${await cardOf(dora)}/points`, { points: 500 });
  await post(`${path(anna)}/rewards/purchases`, { reward_id: rewards.mug });
  const { data: [{ id }] } = await get(`${path(anna)}/rewards/purchases`);
  await post(`${path(dora)}/rewards/purchases`, { reward_id: rewards.code });
  await post(`${V2}/programs/${program}/rewards/purchases/${id}/refund`, {});
  const order = await post("/v1/orders", { source_id: "paid-with-points", amount: 4_000, customer: { source_id: "dora" } });
  await post(`${path(dora)}/orders/payments`, { card_id: await cardOf(dora), order: { id: order.id } });
  await put("/v1/orders/earned-bert", { status: "CANCELED" });
}
