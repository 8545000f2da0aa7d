// Tests back-tests: the sums, every form of a file of orders, orders and drafts that cannot be read, and that the page stays free.
import assert from "node:assert/strict";
import { countTests } from "../browser/test_report.mjs";
import { backTest, toCsv } from "../../pkg/backtest.js";
import { prepare } from "../../pkg/node.js";

const check = countTests("packaging");

const NOW = "2026-03-01T12:00:00Z";
const tier = (id, discount, more) => ({ id, name: id, action: { discount }, active: true, object: "promotion_tier", ...more });
const over = (id, amount) => ({ id, name: id, rules: { 1: { name: "order.amount", conditions: { $more_than: [amount] } }, logic: "1" } });
const assigned = (rule_id, related_object_id) => ({ id: `asgm_${rule_id}`, rule_id, related_object_id, related_object_type: "promotion_tier" });

/** A shop with one promotion: 15 % of orders with a mug. */
const RULES = {
  complete: true, counted: true, transfers: [], time_zone: "UTC", stacking_rules: {}, case_sensitive_codes: true, vouchers: [], promotion_stacks: [], skus: [],
  customers: [{ id: "cust_1", object: "customer" }, { id: "cust_2", object: "customer" }],
  products: [{ id: "mug", name: "Mug", price: 1_000 }, { id: "tea", name: "Tea", price: 400 }],
  campaigns: [{ id: "camp_old", name: "old", campaign_type: "PROMOTION" }],
  promotion_tiers: [tier("promo_old", { type: "PERCENT", percent_off: 15 }, { campaign_id: "camp_old" })],
  validation_rules: [{ id: "val_old", name: "r", rules: { 1: { name: "product.id", conditions: { $is: [{ object: "product", id: "mug" }] } }, logic: "1" } }],
  validation_rules_assignments: [assigned("val_old", "promo_old")],
};
/** A draft with two steps: 10 % above 20, 20 % above 50. */
const DRAFT = {
  campaigns: [{ id: "camp_new", name: "new", campaign_type: "PROMOTION" }],
  promotion_tiers: [
    tier("promo_10", { type: "PERCENT", percent_off: 10 }, { campaign_id: "camp_new" }), tier("promo_20", { type: "PERCENT", percent_off: 20 }, { campaign_id: "camp_new" }),
  ],
  validation_rules: [over("val_10", 2_000), over("val_20", 5_000)],
  validation_rules_assignments: [assigned("val_10", "promo_10"), assigned("val_20", "promo_20")],
};
const orderOf = (customer, ...lines) => ({ customer: customer && { id: customer }, items: lines.map(([product_id, quantity]) => ({ product_id, quantity })) });
const ORDERS = [
  orderOf("cust_1", ["tea", 2]), // 800: nothing
  orderOf("cust_1", ["tea", 6]), // 2,400: 240
  orderOf("cust_1", ["mug", 3]), // 3,000: 300, elsewhere 450
  orderOf("cust_1", ["mug", 4]), // 4,000: 400, elsewhere 600
  orderOf("cust_2", ["mug", 3]), // 3,000: 300, elsewhere 450
  orderOf(undefined, ["mug", 3]), // likewise, without a customer
  orderOf("cust_2", ["mug", 6]), // 6,000: 1,200, elsewhere 900
];
const EXPECTED = {
  orders: 7, canceled: 0, touched: 6, cost: 2_740, uncounted: 0, better_elsewhere: { orders: 4, customers: 3 },
  not_in_force: { orders: 0 }, provisional: { orders: 0, cost: 0, missing: [] }, unreadable: { orders: 0, lines: [] },
};
const run = (orders, more) => backTest({ rules: RULES, draft: DRAFT, orders, now: NOW, ...more });
const lines = (orders) => orders.map((order) => JSON.stringify(order)).join("\n");
/** Returns bytes in pieces of this size, which cut characters. */
const pieces = (text, size) => {
  const bytes = new TextEncoder().encode(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
};

check("a draft costs what it takes off, and another offer that gives more is better", async () => {
  assert.deepEqual(await run(ORDERS), EXPECTED);
  const voucher = { id: "v_new", code: "NEW", type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 500 }, active: true };
  const ofCode = await run(ORDERS, { draft: { vouchers: [voucher] } });
  assert.deepEqual([ofCode.touched, ofCode.cost, ofCode.better_elsewhere], [7, 3_500, { orders: 2, customers: 2 }]);
});

const day = (at, order) => ({ ...order, created_at: `2025-06-${String(at).padStart(2, "0")}T12:00:00.000Z` });
const found = ({ touched, cost }) => [touched, cost];

check("a quantity counts across orders, in the order of time", async () => {
  const voucher = { id: "v_two", code: "TWO", type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 }, redemption: { quantity: 2 }, active: true };
  const newestFirst = [day(4, { amount: 1_000 }), day(3, { amount: 2_000 }), day(2, { amount: 9_000, status: "CANCELED" }), day(1, { amount: 3_000 })];
  assert.deepEqual(found(await run(newestFirst, { draft: { vouchers: [voucher] } })), [2, 500]);
  const undated = newestFirst.map(({ created_at, ...order }) => order);
  assert.deepEqual(found(await run(undated, { draft: { vouchers: [voucher] } })), [2, 300]);
});

/** A draft of 10 % with one test. */
const limited = (name, condition, applicable_to) => ({
  campaigns: DRAFT.campaigns, promotion_tiers: [DRAFT.promotion_tiers[0]],
  validation_rules: [{ id: "val_10", name: "r", rules: name ? { 1: { name, conditions: condition }, logic: "1" } : { logic: "" }, applicable_to }],
  validation_rules_assignments: [assigned("val_10", "promo_10")],
});

check("limits for each customer count across orders, of known and of new customers", async () => {
  const by = (customer, amount) => ({ customer, amount });
  const orders = [
    by({ id: "cust_1" }, 1_000), by({ id: "cust_1" }, 1_000), by({ source_id: "ann" }, 2_000), by({ source_id: "bob" }, 4_000), by({ source_id: "ann" }, 2_000),
    by({ id: "cust_2" }, 8_000), by({ id: "cust_gone" }, 20_000), by({ id: "cust_gone" }, 20_000),
  ];
  const draft = limited("redemption.count.per_customer", { $less_than_or_equal: [1] });
  assert.deepEqual(found(await run(orders, { draft })), [4, 1_500], "an id that no customer has names none");
  const daily = limited("redemption.count.per_customer.daily", { $less_than_or_equal: [1] });
  assert.deepEqual(found(await run(orders, { draft: daily })), [4, 1_500], "orders without a time are all of one day");
});

const atTime = (created_at, order) => ({ amount: 1_000, ...order, created_at });

check("limits of a day, a week and a month count the earlier orders of their period", async () => {
  const by = { customer: { source_id: "ann" } };
  // From Monday, 31 March, to Sunday, 6 April 2025: two days each in a row.
  const times = ["2025-03-31T08:00:00Z", "2025-03-31T21:00:00Z", "2025-04-01T08:00:00+02:00", "2025-04-01T23:30:00Z", "2025-04-06T08:00:00Z", "2025-04-07T00:00:00Z"];
  const orders = times.map((time) => atTime(time, by)).reverse();
  for (const [period, touched] of [["daily", 4], ["weekly", 2], ["monthly", 2]]) {
    for (const name of ["redemption.count", "redemption.count.per_customer", "campaign.redemptions.count", "campaign.redemptions.customers_count"]) {
      const draft = limited(`${name}.${period}`, { $less_than_or_equal: [1] });
      assert.deepEqual(found(await run(orders, { draft })), [touched, touched * 100], `${name}.${period}`);
    }
  }
  const others = orders.map((order, at) => ({ ...order, customer: { source_id: `customer ${at}` } }));
  assert.equal((await run(others, { draft: limited("redemption.count.per_customer.monthly", { $less_than_or_equal: [1] }) })).touched, 6);
  assert.equal((await run(others, { draft: limited("redemption.count.daily", { $less_than_or_equal: [1] }) })).touched, 4);
});

check("a day is one of the project's time zone", async () => {
  const draft = limited("redemption.count.daily", { $less_than_or_equal: [1] });
  const orders = [atTime("2025-06-01T21:30:00Z"), atTime("2025-06-01T22:30:00Z")];
  assert.equal((await run(orders, { draft })).touched, 1);
  assert.equal((await run(orders, { draft, rules: { ...RULES, time_zone: "Europe/Berlin" } })).touched, 2);
});

check("redemptions of the rules count in the period of an order, up to its time", async () => {
  const moved = (id, at) => ({ id, at, debit: "campaign/camp_old/redeemed", credit: "project/redeemed", amount: 1 });
  const rules = { ...RULES, transfers: [moved("t_1", "2025-06-01T08:00:00Z"), moved("t_2", "2025-06-01T20:00:00Z"), moved("t_3", "2025-06-02T08:00:00Z")] };
  const draft = limited("campaign.redemptions.count.daily", { $less_than_or_equal: [2] });
  const joined = { ...draft, campaigns: [], promotion_tiers: [{ ...draft.promotion_tiers[0], campaign_id: "camp_old" }] };
  const touched = async (...times) => (await run(times.map((time) => atTime(time)), { rules, draft: joined })).touched;
  assert.equal(await touched("2025-06-01T07:00:00Z", "2025-06-01T07:30:00Z"), 2, "before both");
  assert.equal(await touched("2025-06-01T12:00:00Z", "2025-06-01T13:00:00Z"), 1, "after one");
  assert.equal(await touched("2025-06-01T21:00:00Z"), 0, "after both");
  assert.equal(await touched("2025-06-02T21:00:00Z", "2025-06-02T22:00:00Z"), 1, "on the next day");
});

check("redemptions of the rules count in totals up to the time of an order", async () => {
  const moved = (id, at, more) => ({ id, at, debit: "promotion_tier/promo_old/redemptions", credit: "campaign/camp_old/redeemed", amount: 1, ...more });
  const undone = { debit: "campaign/camp_old/redeemed", credit: "promotion_tier/promo_old/redemptions", reverses: "t_2" };
  const rules = { ...RULES, transfers: [moved("t_1", "2025-06-01T08:00:00Z"), moved("t_2", "2025-06-01T20:00:00Z"), moved("t_3", "2025-06-02T08:00:00Z", undone)] };
  const draft = limited("campaign.redemptions.count", { $less_than_or_equal: [2] });
  const joined = { ...draft, campaigns: [], promotion_tiers: [{ ...draft.promotion_tiers[0], campaign_id: "camp_old" }] };
  const touched = async (...times) => (await run(times.map((time) => atTime(time)), { rules, draft: joined })).touched;
  assert.equal(await touched("2025-06-01T06:00:00Z", "2025-06-01T07:00:00Z", "2025-06-01T07:30:00Z"), 2, "before both");
  assert.equal(await touched("2025-06-01T12:00:00Z", "2025-06-01T13:00:00Z"), 1, "after one");
  assert.equal(await touched("2025-06-01T21:00:00Z"), 0, "after both");
  assert.equal(await touched("2025-06-02T21:00:00Z", "2025-06-02T22:00:00Z"), 1, "after one was undone");
});

check("orders are decided at their own time, offers by their dates at `now`", async () => {
  const [morning, evening] = [atTime("2025-06-02T08:00:00Z"), atTime("2025-06-02T20:00:00Z")];
  const withTier = (more) => ({ ...DRAFT, promotion_tiers: [{ ...DRAFT.promotion_tiers[0], ...more }], validation_rules: [], validation_rules_assignments: [] });
  const touched = async (more, options) => (await run([morning, evening], { draft: withTier(more), ...options })).touched;
  const hours = { daily: [{ start_time: "07:00", expiration_time: "09:00", days_of_week: [1] }] };
  assert.equal(await touched({ validity_hours: hours }), 1, "hours of the order's day");
  assert.equal(await touched({ validity_day_of_week: [2] }), 0, "both are of a Monday");
  assert.equal(await touched({ start_date: "2026-02-01T00:00:00Z", expiration_date: "2026-04-01T00:00:00Z" }), 2, "in force at `now`, after the orders");
  assert.equal(await touched({ start_date: "2026-04-01T00:00:00Z" }), 0, "not yet in force at `now`");
  assert.equal(await touched({ expiration_date: "2026-02-01T00:00:00Z" }), 0, "over at `now`");
  assert.equal(await touched({ start_date: "2999-12-24T00:00:00Z", expiration_date: "2999-12-27T00:00:00Z" }, { now: undefined }), 2, "by default from its start");
  const frame = { validity_timeframe: { interval: "P7D", duration: "P1D" } };
  assert.equal(await touched({ ...frame, start_date: "2025-06-02T12:00:00Z" }), 1, "windows begin with the start");
  // Other offers likewise.
  const others = (more) => ({ ...RULES, validation_rules: [], validation_rules_assignments: [], promotion_tiers: [{ ...RULES.promotion_tiers[0], ...more }] });
  const better = async (more) => (await run([morning, evening], { draft: withTier(), rules: others(more) })).better_elsewhere.orders;
  assert.deepEqual([await better({ start_date: "2026-01-01T00:00:00Z" }), await better({ expiration_date: "2026-01-01T00:00:00Z" }), await better({ validity_hours: hours })], [2, 0, 1]);
});

check("a draft that is in force for no order says so, with the dates", async () => {
  const withTier = (more) => ({ ...DRAFT, promotion_tiers: [{ ...DRAFT.promotion_tiers[0], ...more }], validation_rules: [], validation_rules_assignments: [] });
  const orders = [atTime("2025-06-02T08:00:00Z"), atTime("2025-06-04T20:00:00Z"), atTime("2025-06-03T20:00:00Z", { status: "CANCELED" })];
  const result = async (more, options) => {
    const { touched, cost, not_in_force } = await run(orders, { draft: withTier(more), now: undefined, ...options });
    return [touched, cost, not_in_force];
  };
  const frame = { validity_timeframe: { interval: "P7D", duration: "P1D" } };
  assert.deepEqual(await result({ ...frame, start_date: "2999-12-24T00:00:00Z" }), [0, 0, {
    orders: 2,
    message: "the draft is in force for none of the orders, which are from 2025-06-02T08:00:00.000Z to 2025-06-04T20:00:00.000Z: it has start_date 2999-12-24T00:00:00Z, "
      + "and offers are tried that are in force at 2999-12-24T00:00:00.000Z",
  }]);
  const [, , ended] = await result({ expiration_date: "2025-01-01" }, { now: NOW });
  assert.match(ended.message, /: it has expiration_date 2025-01-01, and offers are tried that are in force at 2026-03-01T12:00:00.000Z$/);
  const [, , disabled] = await result({ active: false });
  assert.match(disabled.message, /: it has no dates, /);
  assert.deepEqual(await result({ validity_hours: { daily: [{ start_time: "07:00", expiration_time: "09:00", days_of_week: [1] }] } }), [1, 100, { orders: 1 }], "of one order");
  assert.match(toCsv(await run(orders, { draft: withTier({ active: false }) })), /\r\nnot_in_force.orders,2,"the draft is in force for none/);
});

check("a start date without a clock begins in the time zone of the rules, west and east of UTC", async () => {
  const draft = { ...DRAFT, promotion_tiers: [{ ...DRAFT.promotion_tiers[0], start_date: "2999-01-24", expiration_date: "2999-01-24" }], validation_rules: [], validation_rules_assignments: [] };
  for (const [name, hours] of [["America/New_York", -5], ["Pacific/Niue", -11], ["Asia/Tokyo", 9], ["UTC", 0], ["Pacific/Kiritimati", 14]]) {
    // As a project has it, and as the rules of a shop.
    for (const time_zone of [name, { name, offset: hours * 3_600, transitions: [] }]) {
      const { touched, not_in_force } = await run([atTime("2025-06-02T08:00:00Z")], { draft, rules: { ...RULES, time_zone }, now: undefined });
      assert.deepEqual([touched, not_in_force], [1, { orders: 0 }], name);
    }
  }
});

check("without a time zone of the rules a start date is one of UTC, in every zone of the host", async () => {
  const draft = { ...DRAFT, promotion_tiers: [{ ...DRAFT.promotion_tiers[0], start_date: "2999-01-24" }], validation_rules: [], validation_rules_assignments: [] };
  const { time_zone, ...rules } = RULES;
  const { TZ } = process.env;
  try {
    for (const zone of ["Asia/Tokyo", "America/New_York"]) {
      process.env.TZ = zone;
      const { touched, not_in_force } = await run([atTime("2025-06-02T08:00:00Z")], { draft, rules, now: undefined });
      assert.deepEqual([touched, not_in_force], [1, { orders: 0 }], zone);
    }
  } finally {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  }
});

check("a code of a draft that has ended is in force for no order by rules of a client, which conceal why", async () => {
  const draft = { vouchers: [{ id: "v_draft", code: "DRAFT", type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 }, active: true, expiration_date: "2025-01-01T00:00:00Z" }] };
  const { touched, not_in_force } = await run([atTime("2025-06-02T08:00:00Z")], { draft, rules: { ...RULES, client: {} }, now: NOW });
  assert.deepEqual([touched, not_in_force.orders], [0, 1]);
  assert.match(not_in_force.message, /: it has expiration_date 2025-01-01T00:00:00Z, /);
});

check("an order without a time has that of the order before it, and the first ones `now`", async () => {
  const draft = limited("redemption.count.daily", { $less_than_or_equal: [1] });
  const orders = [{ amount: 1_000 }, atTime("2025-06-01T12:00:00Z"), { amount: 2_000 }, atTime("2025-06-02T12:00:00Z"), { amount: 4_000, created_at: null }, atTime(NOW)];
  assert.deepEqual(found(await run(orders, { draft })), [3, 300]);
});

check("a time that cannot be read is named, and the order is not decided", async () => {
  const bad = ["yesterday", "2025-02-30T12:00:00Z", "2025-06-01T24:00:00Z", "1969-12-31T23:59:59Z", "", 1_748_779_200_000, {}, "2025-06-01T12:00:00+1"];
  const { unreadable, touched } = await run([...bad.map((time) => atTime(time, { amount: 3_000 })), atTime("2025-06-01T12:00:00Z", { amount: 3_000 })]);
  assert.deepEqual([unreadable.orders, touched, unreadable.lines.map(({ line }) => line).toSorted((a, b) => a - b)], [bad.length, 1, bad.map((_, at) => at + 1)]);
  assert.deepEqual(unreadable.lines.map(({ message }) => message).toSorted()[0], "created_at must be a date and time in ISO 8601 (actual value is `\"\"`)");
  const good = ["2025-06-01", "2025-06-01T12:00", "2025-06-01 12:00:00", "2025-06-01T12:00:00.123456Z", "2025-06-01T12:00:00+0200", new Date(0), "2024-02-29T00:00:00z"];
  assert.deepEqual((await run(good.map((time) => atTime(time, { amount: 3_000 })))).unreadable.lines, []);
});

check("limits of what the draft refers to count across orders", async () => {
  const orders = [{ amount: 1_000 }, { amount: 1_000 }, { amount: 1_000 }];
  const budget = { id: "val_budget", name: "r", rules: { 1: { name: "campaign.orders.amount_discounted", conditions: { $less_than_or_equal: [200] } }, logic: "1" } };
  const campaign = { id: "camp_budget", name: "budget", campaign_type: "PROMOTION" };
  const rules = { ...RULES, campaigns: [...RULES.campaigns, campaign], validation_rules: [...RULES.validation_rules, budget] };
  const { promotion_tiers } = limited();
  const known = { campaigns: DRAFT.campaigns, promotion_tiers, validation_rules_assignments: [assigned("val_budget", "promo_10")] };
  assert.deepEqual(found(await run(orders, { rules, draft: known })), [2, 200], "a rule that exists");
  const toCampaign = { ...assigned("val_budget", "camp_budget"), related_object_type: "campaign" };
  const ofCampaign = { ...rules, validation_rules_assignments: [...RULES.validation_rules_assignments, toCampaign] };
  const tiers = [{ ...promotion_tiers[0], campaign_id: "camp_budget" }];
  assert.deepEqual(found(await run(orders, { rules: ofCampaign, draft: { promotion_tiers: tiers } })), [2, 200], "a campaign that exists");
});

check("the balance of a gift card and its limit count across orders", async () => {
  const orders = [{ amount: 3_000 }, { amount: 3_000 }, { amount: 3_000 }];
  const gift = { id: "v_gift", code: "GIFT", type: "GIFT_VOUCHER", gift: { amount: 5_000, balance: 5_000, effect: "APPLY_TO_ORDER" }, active: true };
  assert.deepEqual(found(await run(orders, { draft: { vouchers: [gift] } })), [2, 5_000]);
  const rule = { id: "val_gift", name: "r", rules: { 1: { name: "redemption.gift.amount", conditions: { $less_than_or_equal: [4_000] } }, logic: "1" } };
  const draft = { vouchers: [gift], validation_rules: [rule], validation_rules_assignments: [{ ...assigned("val_gift", "v_gift"), related_object_type: "voucher" }] };
  assert.deepEqual(found(await run(orders, { draft })), [1, 3_000]);
});

check("orders with both names of a customer, or with an e-mail address, are those of one", async () => {
  const draft = limited("redemption.count.per_customer", { $less_than_or_equal: [1] });
  const by = (customer) => ({ customer, amount: 1_000 });
  const both = { id: "cust_other_project", source_id: "ann" };
  for (const names of [[both, both, both], [both, { source_id: "ann" }, both], [both, { id: both.id }, both], [{ email: "Ann@x.example" }, { email: "ann@x.example" }]]) {
    const { touched, unreadable } = await run(names.map(by), { draft });
    assert.deepEqual([touched, unreadable.lines], [1, []], JSON.stringify(names));
  }
});

check("an order that cannot be counted is reported", async () => {
  const draft = { campaigns: DRAFT.campaigns, promotion_tiers: [tier("promo_10", { type: "AMOUNT", amount_off: 1 }, { campaign_id: "camp_new" })] };
  const orders = Array.from({ length: 1_026 }, () => ({ amount: Number.MAX_SAFE_INTEGER }));
  const { touched, uncounted } = await run(orders, { draft });
  // An order's amount is counted for the tier and for its campaign: 512 have 63 bits.
  assert.deepEqual([touched, uncounted], [1_026, 514]);
});

check("the time to decide does not grow with the counted orders", async () => {
  const draft = limited("redemption.count.per_customer.daily", { $less_than_or_equal: [9] });
  const timeOf = async (count) => {
    const orders = Array.from({ length: count }, (_, at) => ({ customer: { email: `${at}@x.example` }, amount: 1_000 }));
    const begin = process.cpuUsage();
    assert.equal((await run(orders, { draft })).touched, count);
    const { user, system } = process.cpuUsage(begin);
    return (user + system) / count;
  };
  await timeOf(1_000);
  const [few, many] = [await timeOf(1_000), await timeOf(10_000)];
  assert.ok(many < 3 * few, `${many} µs an order instead of ${few}`);
});

check("budgets and limits of units count across orders", async () => {
  const budget = limited("campaign.orders.amount_discounted", { $less_than_or_equal: [500] });
  assert.deepEqual(found(await run([{ amount: 3_000 }, { amount: 3_000 }, { amount: 1_000 }], { draft: budget })), [2, 400]);
  const included = [{ object: "product", id: "mug", effect: "APPLY_TO_EVERY", product_campaign_quantity_limit: 3 }];
  const units = limited(undefined, undefined, { included_all: false, included, excluded: [] });
  assert.deepEqual(found(await run([orderOf("cust_1", ["mug", 2]), orderOf("cust_1", ["mug", 2]), orderOf("cust_1", ["mug", 2])], { draft: units })), [2, 300]);
});

check("a result is written as CSV", async () => {
  const csv = toCsv(await run([ORDERS[1], "=1,\"a\"", ORDERS[1]].map((order) => (typeof order === "string" ? order : JSON.stringify(order))).join("\n")));
  const rows = csv.split("\r\n");
  assert.deepEqual(rows.slice(0, 5), ["measure,value,detail", "orders,3,", "canceled,0,", "touched,2,", "cost,480,"]);
  assert.match(rows.at(-2), /^unreadable\.line,2,"it is no JSON: .*""a"".*"$/);
  const facts = { orders: 0, better_elsewhere: { orders: 0, customers: 0 }, not_in_force: { orders: 0 }, provisional: { orders: 1, cost: 0, missing: ["=cmd", "voucher/A,B"] }, unreadable: { orders: 0, lines: [] } };
  assert.deepEqual(toCsv(facts).split("\r\n").slice(7, 9), ["provisional.missing,,\"'=cmd\"", "provisional.missing,,\"voucher/A,B\""]);
});

check("an amount beside lines without prices counts, and a canceled order does not", async () => {
  const order = { amount: 3_000, items: [{ product_id: "engraving", quantity: 1 }, { product_id: "tea", quantity: 1 }] };
  const result = await run([order, { ...order, status: "CANCELED" }, { ...order, status: "PAID" }]);
  assert.deepEqual([result.orders, result.canceled, result.touched, result.cost], [3, 1, 2, 600]);
});

check("a card of the customer is no better offer", async () => {
  const card = { id: "v_card", code: "CARD", type: "GIFT_VOUCHER", gift: { amount: 9_000, balance: 9_000, effect: "APPLY_TO_ORDER" }, holder_id: "cust_1", active: true };
  const result = await run([orderOf("cust_1", ["tea", 6])], { rules: { ...RULES, vouchers: [card] } });
  assert.deepEqual([result.touched, result.better_elsewhere.orders], [1, 0]);
});

check("a sum that no number holds exactly fails", async () => {
  const orders = Array.from({ length: 11 }, () => ({ amount: Number.MAX_SAFE_INTEGER }));
  await assert.rejects(run(orders), /the sum of discounts must be at most 9007199254740991/);
});

check("the cost is the sum of validations of the orders with the draft", async () => {
  const all = Object.fromEntries(Object.keys({ ...RULES, ...DRAFT }).map((name) => [name, Array.isArray(DRAFT[name]) ? [...(RULES[name] ?? []), ...DRAFT[name]] : RULES[name]]));
  const prepared = prepare(all);
  const orders = Array.from({ length: 300 }, (_, at) => orderOf(at % 3 ? "cust_1" : undefined, ["mug", 1 + (at % 5)], ["tea", 1 + (at % 7)]));
  let cost = 0;
  for (const { customer, items } of orders) {
    const discounts = ["promo_10", "promo_20"].map((id) => {
      const { valid, order } = prepared.validateObject({ customer, redeemables: [{ object: "promotion_tier", id }], order: { items } }, { now: NOW });
      return valid ? order.total_applied_discount_amount : 0;
    });
    cost += Math.max(...discounts);
  }
  const { cost: found, orders: count } = await run(orders);
  assert.deepEqual([found, count, cost > 0], [cost, 300, true]);
});

check("every form of a file has the same result", async () => {
  const named = ORDERS.map((order) => ({ ...order, metadata: { note: "Größe Ж 🍵" } }));
  const text = lines(named);
  const array = JSON.stringify(named, null, 2);
  async function* later() { for (const order of named) yield order; }
  const forms = {
    text, array, objects: named, later: later(), bytes: new TextEncoder().encode(text), file: new Blob([text]), "file of an array": new Blob([array]),
    stream: new Blob([text]).stream(), "lines of Windows": `\ufeff${text.replaceAll("\n", "\r\n")}\r\n`, "a mark and an array": `\ufeff${array}`,
    pieces: pieces(text, 7), "pieces of an array": pieces(array, 5), texts: text.split(/(?<=\n)/),
  };
  for (const [name, orders] of Object.entries(forms)) assert.deepEqual(await run(orders), EXPECTED, name);
  for (const none of ["", "\n\n", "[]", []]) assert.equal((await run(none)).orders, 0);
});

check("orders that cannot be read are listed by their lines, and the others count", async () => {
  const bad = ['{"items":', "5", "null", '{"items":[{"product_id":"mug","quantity":"many"}]}', '{"items":5}', '"text"', "[1]"];
  const text = [JSON.stringify(ORDERS[1]), ...bad, "", JSON.stringify(ORDERS[1])].join("\n");
  const { orders, touched, cost, unreadable } = await run(text);
  assert.deepEqual([orders, touched, cost, unreadable.orders], [9, 2, 480, bad.length]);
  assert.deepEqual(unreadable.lines.map(({ line }) => line), bad.map((_, at) => at + 2));
  const expected = [/no JSON/, /an order must be an object \(actual value is `5`\)/, /`null`/, /order\.items\[0\]\.quantity.*`"many"`/, /order\.items must be an array/, /`"text"`/, /`\[1\]`/];
  unreadable.lines.forEach(({ message }, at) => assert.match(message, expected[at]));
  const inArray = await run(JSON.stringify([ORDERS[1], 5, ORDERS[1]]));
  assert.deepEqual(inArray.unreadable.lines.map(({ line }) => line), [2]);
  const cut = await run("[{}, ");
  assert.deepEqual([cut.orders, cut.unreadable.lines[0].line], [1, 1]);
  const many = await run(Array(250).fill(7));
  assert.deepEqual([many.unreadable.orders, many.unreadable.lines.length], [250, 100]);
  const loop = { items: [{ product_id: "mug", metadata: {} }] };
  loop.items[0].metadata.loop = loop;
  assert.match((await run([loop, { items: [], amount: 5n }])).unreadable.lines[1].message, /cannot be written/);
});

check("an order counts as it was before its discounts", async () => {
  const redeemed = {
    id: "ord_1", status: "PAID", customer_id: "cust_1", amount: 6_400, initial_amount: 6_000, discount_amount: 900, total_discount_amount: 900, total_amount: 5_100, redemptions: { r_1: {} },
    items: [
      { product_id: "mug", quantity: 6, price: 1_000, amount: 6_000, discount_amount: 900, total_discount_amount: 900 },
      { product_id: "tea", quantity: 1, initial_quantity: 0, discount_quantity: 1, price: 400, amount: 400, initial_amount: 0 },
    ],
  };
  assert.deepEqual((({ cost, touched }) => [cost, touched])(await run([redeemed])), [1_200, 1]);
  assert.equal((await run([{ amount: 3_000 }])).cost, 300, "an order without lines");
});

check("where facts are missing the result is no final one", async () => {
  const { complete, products, ...part } = RULES;
  const { orders, touched, cost, provisional } = await run(ORDERS, { rules: { ...part, products: products.slice(1) } });
  assert.deepEqual([orders, touched, cost, provisional.orders], [7, 0, 0, 6], "the first order is below every bound");
  assert.ok(provisional.missing.includes("product/mug"), provisional.missing.join());
  assert.ok(provisional.cost > 0);
});

check("a draft or rules that cannot be read fail with the field", async () => {
  for (const [more, expected] of [
    [{ draft: null }, /draft must be an object \(actual value is `null`\)/],
    [{ draft: {} }, /draft must have 1 to 30 promotion_tiers and vouchers \(actual value is `0`\)/],
    [{ draft: { ...DRAFT, orders: [] } }, /draft\.orders is not allowed/],
    [{ draft: { ...DRAFT, vouchers: 5 } }, /draft\.vouchers must be an array \(actual value is `5`\)/],
    [{ draft: { promotion_tiers: [{ name: "x" }] } }, /draft\.promotion_tiers\[0\] should have required property 'id'/],
    [{ draft: { promotion_tiers: [5] } }, /draft\.promotion_tiers\[0\] must be an object \(actual value is `5`\)/],
    [{ draft: { promotion_tiers: [tier("promo_old", {})] } }, /draft\.promotion_tiers\[0\] has the name `promo_old` of another one/],
    [{ draft: { promotion_tiers: [tier("a", { type: "PERCENT", percent_off: 1 }), tier("a", { type: "PERCENT", percent_off: 1 })] } }, /\[1\] has the name `a`/],
    [{ draft: { promotion_tiers: [tier("a", { type: "PERCENT", percent_off: 500 })] } }, /promotion_tiers\[1\].*percent_off/],
    [{ rules: "{" }, /rules must be JSON text/],
    [{ rules: undefined }, /rules must be JSON text/],
    [{ orders: 5 }, /orders must be a file, a stream, text/],
    [{ now: "yesterday" }, /now `yesterday`/],
  ]) {
    await assert.rejects(run(ORDERS, more), expected);
  }
});

check("the page stays free, nothing is sent, and the signal ends it", async () => {
  const { fetch } = globalThis;
  globalThis.fetch = () => assert.fail("something was sent");
  try {
    const orders = Array.from({ length: 3_000 }, () => ORDERS[3]);
    let turns = 0;
    const progress = [];
    const timer = setInterval(() => { turns += 1; });
    const result = await run(lines(orders), { onProgress: (count) => progress.push(count) });
    clearInterval(timer);
    assert.deepEqual([result.orders, result.cost, turns > 0, progress.length > 0], [3_000, 1_200_000, true, true]);
    assert.deepEqual(progress, progress.toSorted((a, b) => a - b));
    const end = new AbortController();
    await assert.rejects(run(orders, { signal: end.signal, onProgress: () => end.abort(new Error("enough")) }), /enough/);
  } finally {
    globalThis.fetch = fetch;
  }
});
