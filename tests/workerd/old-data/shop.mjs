// Fills a project with objects of every kind, over routes that version 290237d0 has. It must not depend on the version that runs it.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { fillLoyalty } from "./loyalty.mjs";
import { fillSettings, makeTemplates } from "./settings.mjs";

const PROJECT = "/management/v1/projects/proj_dev";
const PERCENT = { type: "PERCENT", percent_off: 10 };
const PATIENCE_MS = 60_000;

/**
 * Fills the project; `hooks` has the addresses of a receiver of webhooks that accepts them and of one that refuses.
 * `call(method, path, body, headers)` answers `{ status, body }`. Returns the names that the recorded requests need.
 */
export async function begin(call, hooks) {
  const shop = calls(call);
  const settings = await fillSettings(shop, hooks);
  const goods = await fillGoods(shop);
  const people = await fillPeople(shop);
  const offers = await fillOffers(shop, goods, people);
  const loyalty = await fillLoyalty(shop, goods);
  await redeem(shop, offers);
  await fillOrders(shop, goods);
  await fillReferrals(shop);
  return { ...settings, ...goods, ...people, ...offers, ...loyalty };
}

/** Does what happens on a day, some of it beyond the limits of codes. */
export async function visit(call) {
  const { get, post } = calls(call);
  const { vouchers } = await get("/v1/vouchers?campaign=Spring&limit=3&order=code");
  for (const name of ["anna", "bert", "carl"]) {
    const customer = { source_id: name };
    for (const code of ["TEN", "DAILY", "DAILY", "DAILY", "OFF", ...vouchers.map((spring) => spring.code)]) {
      await call("POST", "/v1/redemptions", { redeemables: [voucher(code)], ...order(4_000), customer });
    }
    await post("/v1/orders", { status: "PAID", amount: 2_000, customer });
    await post("/v1/events", { event: "viewed", customer, metadata: { page: "sale" } });
  }
}

/** Does what does not last: answers under keys, sessions, exports. */
export async function end(call, names) {
  const shop = calls(call);
  await visit(call);
  for (const number of [1, 2]) await shop.post("/v1/redemptions", { redeemables: [voucher("TEN")], ...order(100 * number) }, { "idempotency-key": `key-${number}` });
  await reserve(shop);
  await useClient(shop, names);
  await changeAndDelete(shop);
  await runJobs(shop);
  await makeTemplates(shop);
}

/** Calls that must succeed: each returns the body of the answer. */
function calls(call) {
  const made = async (method, path, body, headers) => {
    const answer = await call(method, path, body, headers);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    call,
    get: (path) => made("GET", path),
    post: (path, body, headers) => made("POST", path, body ?? {}, headers),
    put: (path, body) => made("PUT", path, body),
    remove: (path) => made("DELETE", path),
    manage: (path, body) => made("POST", `${PROJECT}${path}`, body),
    until,
    /** Waits for a job whose answer names its action. */
    async finish({ async_action_id: id }) {
      await until(async () => ["DONE", "FAILED"].includes((await made("GET", `/v1/async-actions/${id}`)).status), `the action ${id}`);
    },
  };
}

/** Repeats a probe until it is true. */
async function until(probe, what) {
  for (const latest = Date.now() + PATIENCE_MS; !(await probe()); await sleep(50)) assert.ok(Date.now() < latest, `not in time: ${what}`);
}

async function fillGoods({ post }) {
  const shoes = await post("/v1/categories", { name: "Shoes", hierarchy: 1 });
  const sale = await post("/v1/categories", { name: "Sale", hierarchy: 2, stacking_rules_type: "EXCLUSIVE" });
  const mug = await post("/v1/products", { source_id: "mug", name: "Mug", price: 900, attributes: ["colour"], metadata: { brand: "Clay", year: 2025 } });
  const shirt = await post("/v1/products", { source_id: "shirt", name: "Shirt", price: 2_100, image_url: "https://shop.example/shirt.png", metadata: { brand: "Loom" } });
  await post("/v1/products/shirt/skus", { source_id: "shirt-m", sku: "Shirt M", price: 1_700, currency: "EUR", attributes: {}, metadata: { brand: "Loom", size: "M" } });
  await post("/v1/products/shirt/skus", { source_id: "shirt-l", sku: "Shirt L", price: 1_900, metadata: { brand: "Loom", size: "L" } });
  for (let number = 0; number < 15; number += 1) {
    await post("/v1/products", { source_id: `thing-${number}`, name: `Thing ${number}`, price: 100 + number, metadata: { brand: number % 2 ? "Loom" : "Clay" } });
  }
  const some = await post("/v1/product-collections", { type: "STATIC", name: "Some", products: [{ id: mug.id, object: "product" }, { id: "shirt-m", object: "sku", product_id: shirt.id }] });
  const loom = await post("/v1/product-collections", { type: "AUTO_UPDATE", name: "Loom", filter: { junction: "AND", "metadata.brand": { conditions: { $is: ["Loom"] } } } });
  return { shoes: shoes.id, sale: sale.id, mug: mug.id, shirt: shirt.id, some: some.id, loom: loom.id };
}

async function fillPeople({ post, put }) {
  const cities = ["Aachen", "Bonn", "Celle"];
  const address = (number) => ({ city: cities[number % 3], state: "NRW", line_1: `Street ${number}`, line_2: "Floor 2", country: "DE", postal_code: String(50_000 + number) });
  for (const [number, name] of ["anna", "bert", "carl", "dora", "emil", "frieda"].entries()) {
    await post("/v1/customers", {
      source_id: name, name: `${name[0].toUpperCase()}${name.slice(1)} Größe`, email: `${name}@Example.com`, phone: `+49 ${number}`, description: "A friend",
      birthdate: `1990-0${number + 1}-02`, address: address(number), metadata: { level: number % 2 ? "gold" : "silver", age: 30 + number },
    });
  }
  await post("/v1/customers", { email: "only@example.com" });
  await post("/v1/customers", { name: "No name of a shop" });
  for (let number = 0; number < 24; number += 1) {
    await post("/v1/customers", { source_id: `person-${number}`, name: `Person ${number}`, email: `person-${number}@example.com`, address: address(number), metadata: { level: "silver" } });
  }
  await put("/v1/customers/carl", { name: "Carl the Second", metadata: { level: "gold" } });
  const filter = (filters) => ({ filter: { junction: "and", ...filters } });
  const friends = await post("/v1/segments", { name: "Friends", type: "static", customers: ["anna", "bert"] });
  const gold = await post("/v1/segments", { name: "Gold", type: "auto-update", ...filter({ "metadata.level": { conditions: { $is: ["gold"] } } }) });
  const spenders = await post("/v1/segments", { name: "Spenders", type: "auto-update", ...filter({ "summary.orders.total_amount": { conditions: { $more_than: [9_999] } } }) });
  await post("/v1/segments", { name: "Viewers", type: "auto-update", ...filter({ "events.viewed.count": { conditions: { $more_than: [1] } } }) });
  await post("/v1/segments", { name: "Long ago", type: "passive", ...filter({ created_at: { conditions: { $more_than_ago: [30] } } }) });
  for (const name of ["anna", "anna", "bert"]) await post("/v1/events", { event: "viewed", customer: { source_id: name }, metadata: { page: "home" } });
  return { friends: friends.id, gold: gold.id, spenders: spenders.id };
}

async function fillOffers(shop, { shoes, sale, loom, mug }, { gold }) {
  const { post } = shop;
  const rules = await fillRules(post, { gold, loom });
  const campaign = (name, body) => post("/v1/campaigns", { name, ...body, voucher: { ...body.voucher } });
  const coupons = { campaign_type: "DISCOUNT_COUPONS" };
  const off = (discount, more) => ({ type: "DISCOUNT_VOUCHER", discount, redemption: { quantity: 5 }, ...more });
  await campaign("Spring", {
    ...coupons, type: "STATIC", join_once: false, vouchers_count: 30, category_id: shoes, metadata: { season: "spring" }, start_date: "2026-01-01T00:00:00Z",
    expiration_date: "2035-01-01T00:00:00Z", validity_day_of_week: [0, 1, 2, 3, 4, 5, 6], activity_duration_after_publishing: "P90D",
    voucher: off(PERCENT, { code_config: { pattern: "SPRING-####" } }), validation_rules: [rules.limit],
  });
  await campaign("Open", { ...coupons, type: "STANDALONE", voucher: off({ type: "AMOUNT", amount_off: 300 }, { redemption: { quantity: null }, code_config: { pattern: "OPEN300" } }) });
  await campaign("Endless", { ...coupons, type: "AUTO_UPDATE", join_once: false, vouchers_count: 2, voucher: off({ type: "UNIT", unit_off: 1, unit_type: mug, effect: "ADD_NEW_ITEMS" }, { code_config: { pattern: "FREE-####" } }) });
  await campaign("Gifts", { campaign_type: "GIFT_VOUCHERS", type: "AUTO_UPDATE", vouchers_count: 5, voucher: { type: "GIFT_VOUCHER", gift: { amount: 5_000, effect: "APPLY_TO_ORDER" }, redemption: { quantity: null }, code_config: { pattern: "GIFT-####" } } });
  await campaign("Budget", { ...coupons, type: "STATIC", vouchers_count: 3, validation_rules: [rules.budget], voucher: off({ type: "AMOUNT", amount_off: 100 }, { code_config: { pattern: "BUDGET-##" } }) });
  const own = {
    TEN: { discount: PERCENT, redemption: { quantity: null }, metadata: { shop: "north" } },
    FIVE: { discount: { type: "AMOUNT", amount_off: 500, effect: "APPLY_TO_ITEMS" }, redemption: { quantity: 100 }, category: "Sale" },
    FIXED: { discount: { type: "FIXED", fixed_amount: 999 }, redemption: { quantity: 100 } },
    ONCE: { discount: PERCENT, redemption: { quantity: 1 } },
    LATE: { discount: PERCENT, start_date: "2034-01-01T00:00:00Z" },
    PAST: { discount: PERCENT, expiration_date: "2026-02-01T00:00:00Z" },
    OFF: { discount: PERCENT, active: false },
    GOLDEN: { discount: { type: "PERCENT", percent_off: 20, amount_limit: 2_000 }, redemption: { quantity: null }, validation_rules: [rules.gold] },
    LOOM: { discount: { type: "PERCENT", percent_off: 15, effect: "APPLY_TO_ITEMS" }, redemption: { quantity: null }, validation_rules: [rules.loom] },
    DAILY: { discount: PERCENT, redemption: { quantity: null }, validation_rules: [rules.daily] },
    HOURS: { discount: PERCENT, validity_timeframe: { interval: "P2D", duration: "P1D" }, start_date: "2026-01-01T00:00:00Z" },
  };
  for (const [code, voucher] of Object.entries(own)) await post(`/v1/vouchers/${code}`, { type: "DISCOUNT_VOUCHER", ...voucher });
  await post("/v1/vouchers/CARD", { type: "GIFT_VOUCHER", gift: { amount: 20_000 }, redemption: { quantity: null } });
  const promotion = await post("/v1/campaigns", {
    name: "Summer", campaign_type: "PROMOTION", category_id: sale,
    promotion: { tiers: [{ name: "Two off", banner: "2 off", action: { discount: { type: "AMOUNT", amount_off: 200 } }, metadata: { a: 1 } }, { name: "Five percent", action: { discount: { type: "PERCENT", percent_off: 5 } }, validation_rules: [rules.amount] }] },
  });
  const [first, second] = promotion.promotion.tiers.map(({ id }) => id);
  await post("/v1/promotions/Summer/tiers", { name: "Asleep", action: { discount: PERCENT }, active: false });
  const stack = await post("/v1/promotions/Summer/stacks", { name: "Both", tiers: { ids: [first, second] } });
  await publish(shop);
  return { tier: first, stack: stack.id, rules };
}

async function fillRules(post, { gold, loom }) {
  const rule = async (name, tested, more) => (await post("/v1/validation-rules", { name, rules: { 1: tested, logic: "1" }, ...more })).id;
  const test = (name, conditions, more) => ({ name, conditions, ...more });
  return {
    limit: await rule("Three for each", test("redemption.count.per_customer", { $less_than_or_equal: [3] })),
    daily: await rule("Two a day", test("redemption.count.per_customer.daily", { $less_than_or_equal: [2] })),
    budget: await rule("Budget", test("campaign.orders.amount_discounted", { $less_than_or_equal: [1_000_000] })),
    gold: await rule("Gold alone", test("customer.segment", { $is: [gold] }), { error: { message: "for gold alone" } }),
    loom: await rule("Loom", test("order.items.any", { $is: [{ id: loom, object: "products_collection" }] }), { applicable_to: { included: [{ object: "products_collection", id: loom, effect: "APPLY_TO_EVERY" }] } }),
    amount: await rule("Above ten", test("order.amount", { $more_than: [1_000] })),
    age: await rule("Of age", test("customer.metadata", { $more_than_or_equal: [31] }, { property: "age" })),
  };
}

async function publish({ get, post, until }) {
  await until(async () => (await get("/v1/vouchers?campaign=Spring")).total === 30, "the codes of Spring");
  const to = (name) => ({ customer: { source_id: name } });
  for (const name of ["anna", "bert", "carl"]) {
    await post("/v1/publications", { campaign: { name: "Spring" }, ...to(name), channel: "newsletter", metadata: { issue: 7 } });
    await post("/v1/publications", { campaign: { name: "Gifts", count: 1 }, ...to(name) });
  }
  await post("/v1/publications", { campaign: { name: "Spring", count: 2 }, ...to("dora"), channel: "till" });
  await post("/v1/publications", { campaign: { name: "Endless" }, ...to("anna"), source_id: "crm-1" });
  await post("/v1/publications", { voucher: "TEN", ...to("emil") });
}

const order = (amount) => ({ order: { amount } });
const voucher = (id, more) => ({ object: "voucher", id, ...more });

/** Redemptions of each kind, some of them failed or rolled back. */
async function redeem({ call, get, post }, { tier, stack, rules }) {
  const of = (name) => ({ customer: { source_id: name } });
  const redeemed = (redeemables, more) => post("/v1/redemptions", { redeemables, ...more });
  const { vouchers: spring } = await get("/v1/vouchers?campaign=Spring&limit=30");
  for (const name of ["anna", "bert", "anna"]) await redeemed([voucher("TEN")], { ...of(name), ...order(10_000), metadata: { till: 3 } });
  await redeemed([voucher("TEN")], order(1_005));
  const items = [{ source_id: "shirt-m", related_object: "sku", quantity: 2 }, { source_id: "mug", related_object: "product", quantity: 1 }];
  await redeemed([voucher("FIVE"), voucher("LOOM"), voucher("TEN")], { ...of("carl"), order: { items, metadata: { shop: "north" } } });
  await redeemed([voucher("CARD", { gift: { credits: 700 } })], { ...of("dora"), ...order(5_000) });
  await redeemed([voucher(spring[0].code)], { ...of("anna"), ...order(3_000) });
  await redeemed([voucher(spring[1].code)], { ...of("bert"), ...order(3_000) });
  await redeemed([{ object: "promotion_tier", id: tier }], { ...of("emil"), ...order(4_000) });
  await redeemed([{ object: "promotion_stack", id: stack }], { ...of("emil"), ...order(4_000) });
  await redeemed([voucher("DAILY")], { ...of("bert"), ...order(4_000) });
  await redeemed([voucher("ONCE")], { ...of("frieda"), ...order(4_000), tracking_id: "frieda's phone" });
  for (const [code, name] of [["ONCE", "anna"], ["OFF", "anna"], ["PAST", "bert"], ["GOLDEN", "anna"]]) {
    const { status } = await call("POST", "/v1/redemptions", { redeemables: [voucher(code)], ...of(name), ...order(2_000) });
    assert.equal(status, 400, `${code} is refused and kept as failed`);
  }
  const { redemptions: [single] } = await redeemed([voucher("FIXED")], { ...of("dora"), ...order(7_000) });
  await post(`/v1/redemptions/${single.id}/rollback?reason=wrong`, {});
  const stacked = await redeemed([voucher("TEN"), voucher("FIVE")], { ...of("dora"), ...order(9_000) });
  await post(`/v1/redemptions/${stacked.parent_redemption.id}/rollbacks`, {});
  await post("/v1/vouchers/CARD/balance", { amount: 500, source_id: "till-7", reason: "sorry" });
  await post("/v1/vouchers/CARD/balance", { amount: -200 });
  await post(`/v1/validation-rules/${rules.age}/assignments`, { voucher: "HOURS" });
}

/** Sessions that stay open for weeks. */
async function reserve({ post }) {
  const session = (key) => ({ session: { type: "LOCK", key, ttl: 60, ttl_unit: "DAYS" } });
  await post("/v1/validations", { redeemables: [voucher("FIVE"), voucher("CARD", { gift: { credits: 300 } })], ...order(10_000), customer: { source_id: "anna" }, ...session("cart-1") });
  await post("/v1/validations", { redeemables: [voucher("FIXED")], ...order(10_000), ...session("cart-2") });
}

/** Orders of each status, and their changes. */
async function fillOrders({ post, put, finish }, { mug }) {
  const of = (name) => ({ customer: { source_id: name } });
  const items = [{ product_id: mug, quantity: 2 }, { source_id: "shirt-l", related_object: "sku", quantity: 1 }, { product: { name: "Ad hoc" }, price: 100, quantity: 3, metadata: { gift: true } }];
  for (const [status, name] of [["CREATED", "anna"], ["PAID", "anna"], ["CANCELED", "bert"], ["FULFILLED", "carl"], ["PAID", "emil"]]) {
    await post("/v1/orders", { source_id: `${status.toLowerCase()}-${name}`, status, items, ...of(name), metadata: { shop: "north" } });
  }
  await post("/v1/orders", { source_id: "of-no-customer", amount: 4_000 });
  await put("/v1/orders/created-anna", { status: "PAID", metadata: { shop: "south" } });
  await put("/v1/orders/paid-emil", { status: "CANCELED" });
  await post("/v1/redemptions", { redeemables: [voucher("TEN")], order: { source_id: "paid-anna" } });
  await finish(await post("/v1/orders/import", [{ source_id: "imported", amount: 200, status: "FULFILLED", created_at: "2020-01-01T00:00:00Z", ...of("anna") }]));
}

/** A referral program with a referrer, referees and their rewards. */
async function fillReferrals({ post }) {
  await post("/v1/campaigns", {
    name: "Friends", campaign_type: "REFERRAL_PROGRAM", type: "AUTO_UPDATE",
    referral_program: { conversion_event_type: "redemption", referee_reward: { type: "GIFT_VOUCHER", amount: 900, related_object_parent: { name: "Gifts", object: "CAMPAIGN" } } },
    voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 500 }, redemption: { quantity: 1_000 }, code_config: { pattern: "FRIEND-####" } },
  });
  await post("/v1/campaigns/Friends/vouchers/ANNAS", {});
  await post("/v1/publications", { voucher: "ANNAS", customer: { source_id: "anna" } });
  await post("/v1/redemptions", { redeemables: [voucher("ANNAS")], ...order(3_000), customer: { source_id: "emil" } });
  await post("/v1/referrals/members/ANNAS/holders", { holders: [{ source_id: "frieda" }], metadata: { by: "shop" } });
}

/** Calls of a page with its own key, and of a program with a token. */
async function useClient({ post }, { client_id, client_token }) {
  const page = { "x-client-application-id": client_id, "x-client-token": client_token, origin: "http://localhost:3000" };
  const gina = { customer: { source_id: "gina" } };
  await post("/client/v1/customers", { source_id: "gina", name: "Gina" }, page);
  await post("/client/v1/publish", { campaign: { name: "Endless" }, ...gina }, page);
  await post("/client/v1/events", { event: "viewed", ...gina, metadata: { page: "shoes" } }, page);
  await post("/client/v1/validations", { redeemables: [voucher("FIVE")], ...order(3_000), session: { type: "LOCK", ttl: 60, ttl_unit: "MINUTES" } }, page);
  await post("/client/v1/redemptions", { redeemables: [voucher("TEN")], ...order(3_000), ...gina }, { ...page, "idempotency-key": "key-of-a-page" });
  await post("/v1/customer-tokens", { ...gina, ttl: 3_600 });
}

/** Changed, disabled, deleted and erased objects. */
async function changeAndDelete({ post, put, remove }) {
  await put("/v1/vouchers/TEN", { metadata: { shop: "south", extra: true } });
  await put("/v1/campaigns/Spring", { description: "Changed", metadata: { season: "late spring" } });
  await post("/v1/vouchers/HOURS/disable");
  await post("/v1/vouchers/GONE", { type: "DISCOUNT_VOUCHER", discount: PERCENT });
  await remove("/v1/vouchers/GONE");
  await remove("/v1/products/thing-14");
  await post("/v1/customers", { source_id: "erased", name: "To be erased", email: "erased@example.com" });
  await post("/v1/redemptions", { redeemables: [voucher("TEN")], ...order(500), customer: { source_id: "erased" } });
  await post("/v1/customers/erased/permanent-deletion");
  await post("/v1/campaigns", { name: "Removed", voucher: { discount: PERCENT } });
  await remove("/v1/campaigns/Removed");
}

/** Bulk work and exports; each is waited for. */
async function runJobs({ get, post, finish, until }) {
  await finish(await post("/v1/customers/bulk/async", [{ source_id: "bulk-1", name: "Bulk" }, { source_id: "anna", phone: "+48 1" }]));
  await finish(await post("/v1/customers/metadata/async", { source_ids: ["bulk-1", "anna"], metadata: { season: "spring" } }));
  await finish(await post("/v1/products/metadata/async", { source_ids: ["mug"], metadata: { season: "spring" } }));
  await finish(await post("/v1/vouchers/bulk/async", [{ code: "TEN", metadata: { bulk: "yes" } }, { code: "NONE", metadata: {} }]));
  await finish(await post("/v1/vouchers/metadata/async", { codes: ["FIVE"], metadata: { same: "yes" } }));
  for (const [kind, fields] of [["voucher", ["code", "value"]], ["redemption", ["id", "voucher_code", "result"]], ["customer", ["source_id", "name"]], ["publication", ["voucher_code", "customer_source_id"]], ["order", ["id", "source_id", "status"]]]) {
    const { id } = await post("/v1/exports", { exported_object: kind, parameters: { fields, order: "created_at" } });
    await until(async () => (await get(`/v1/exports/${id}`)).status === "DONE", `the export of each ${kind}`);
  }
}
