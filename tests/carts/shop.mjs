// Makes the shop of a run by the calls of a merchant: goods, customers, categories, rules, and twelve campaigns of every kind.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

const DAY = 24 * 3_600_000;
const JOBS_MS = 120_000;
/** The products of one bulk call. */
const BATCH = 100;
const BRANDS = ["Loom", "Oak", "Reef"];
const CITIES = ["Bonn", "Oslo", "Rome"];
const LEVELS = ["gold", "silver", "new"];
/** Every tenth product has two SKUs. */
const WITH_SKUS = 10;
const CUSTOMERS = 30;
/** The public codes, with the relative frequency at which shoppers type them. */
const TYPED_CODES = { OPEN10: 5, WELCOME: 4, POSTER: 2, OVER: 2, LIMITED: 1, SOON: 1, OFF: 1 };

/** Creates everything; returns the names and codes that the requests use. */
export async function makeShop(call, random, { products, furtherCampaigns = 0 }) {
  const make = async (method, path, body) => {
    const { status, body: answer } = await call(method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const shop = { make, post: (path, body) => make("POST", path, body), random, startedAt: Date.now() };
  shop.goods = await makeGoods(shop, products);
  shop.customers = await makeCustomers(shop);
  shop.categories = await makeCategories(shop);
  shop.rules = await makeRules(shop);
  shop.promotions = await makePromotions(shop);
  await makeFurtherCampaigns(shop, furtherCampaigns);
  shop.codes = { public: await makePublicCodes(shop), private: await makePrivateCodes(shop) };
  await useCodes(shop);
  await waitForJobs(make);
  return shop;
}

async function makeGoods({ make, post, random }, count) {
  const products = Array.from({ length: count }, (_, at) => ({
    source_id: `prod-${at}`, name: `Product ${at}`, price: random.int(2, 120) * 50,
    metadata: { brand: random.pick(BRANDS), ...(random.withProbability(0.5) ? { size: random.int(1, 5) } : {}) },
  }));
  for (let first = 0; first < count; first += BATCH) await Promise.all(products.slice(first, first + BATCH).map(async (product) => {
    product.id = (await post("/v1/products", product)).id;
  }));
  const skus = [];
  for (const product of products.filter((_, at) => at % WITH_SKUS === 0)) for (const size of ["S", "L"]) {
    const sku = { source_id: `${product.source_id}-${size}`, sku: `${product.name} ${size}`, price: product.price + (size === "L" ? 200 : 0) };
    skus.push({ ...sku, product, id: (await post(`/v1/products/${product.id}/skus`, sku)).id });
  }
  const named = (list) => list.map(({ id }) => ({ id, object: "product" }));
  const summer = await post("/v1/product-collections", { type: "STATIC", name: "Summer", products: named(products.slice(0, 12)) });
  const filter = { junction: "AND", "metadata.brand": { conditions: { $is: ["Loom"] } } };
  const loom = await post("/v1/product-collections", { type: "AUTO_UPDATE", name: "Loom", filter });
  await waitForJobs(make);
  return { products, skus, summer: summer.id, loom: loom.id };
}

async function makeCustomers({ post, random }) {
  const customers = Array.from({ length: CUSTOMERS }, (_, at) => ({
    source_id: `customer-${at}`, name: `Customer ${at}`, email: `customer-${at}@example.com`, address: { city: CITIES[at % CITIES.length] },
    metadata: { level: random.pick(LEVELS), age: random.int(16, 70) },
  }));
  for (const customer of customers) customer.id = (await post("/v1/customers", customer)).id;
  // A third of the customers has ordered before.
  for (const { source_id } of customers.filter((_, at) => at % 3 === 0)) {
    await post("/v1/orders", { source_id: `order-of-${source_id}`, amount: 4_000, status: "PAID", customer: { source_id } });
  }
  return customers;
}

async function makeCategories({ make, post }) {
  const categories = {};
  for (const [hierarchy, name] of ["Seasonal", "Loyal", "Alone"].entries()) categories[name] = (await post("/v1/categories", { name, hierarchy })).id;
  const path = "/management/v1/projects/proj_dev/stacking-rules";
  const [{ id }] = (await make("GET", path)).data;
  await make("PUT", `${path}/${id}`, {
    redeemables_application_mode: "PARTIAL", redeemables_sorting_rule: "CATEGORY_HIERARCHY", applicable_redeemables_limit: 4,
    exclusive_categories: [categories.Alone], joint_categories: [categories.Loyal], applicable_redeemables_category_limits: { [categories.Seasonal]: 2 },
  });
  return categories;
}

/** Creates a rule for each kind of fact: cart, goods, metadata, customer, segments, counts. */
async function makeRules({ post, goods, customers }) {
  const segment = async (name, filter) => (await post("/v1/segments", { name, type: "auto-update", filter: { junction: "and", ...filter } })).id;
  const segments = {
    newcomers: await segment("Newcomers", { "summary.orders.total_count": { conditions: { $is: [0] } } }),
    northern: await segment("Northern", { "address.city": { conditions: { $in: ["Bonn", "Oslo"] } } }),
    invited: (await post("/v1/segments", { name: "Invited", type: "static", customers: customers.slice(0, 5).map(({ id }) => id) })).id,
  };
  const tests = {
    large: { name: "order.amount", conditions: { $more_than: [6_000] } },
    many: { name: "order.items.count", conditions: { $more_than: [2] } },
    web: { name: "order.metadata", property: "channel", conditions: { $is: ["web"] } },
    summer: { name: "order.items.any", conditions: { $is: [{ id: goods.summer, object: "products_collection", type: "products_collection" }] } },
    loom: { name: "product.metadata", property: "brand", conditions: { $is: ["Loom"] } },
    gold: { name: "customer.metadata", property: "level", conditions: { $is: ["gold"] } },
    northern: { name: "customer.segment", conditions: { $is: [segments.northern] } },
    invited: { name: "customer.segment", conditions: { $is: [segments.invited] } },
    firstOrder: { name: "customer.segment", conditions: { $is: [segments.newcomers] } },
    once: { name: "redemption.count.per_customer", conditions: { $less_than_or_equal: [1] } },
    budget: { name: "campaign.redemptions.count", conditions: { $less_than_or_equal: [500] } },
  };
  const rules = {};
  for (const [name, test] of Object.entries(tests)) {
    rules[name] = (await post("/v1/validation-rules", { name, rules: { 1: test, logic: "1" }, error: { message: `only ${name}` } })).id;
  }
  const applicable_to = { included: [{ object: "products_collection", id: goods.loom, effect: "APPLY_TO_EVERY" }] };
  rules.onLoom = (await post("/v1/validation-rules", { name: "on Loom", rules: {}, applicable_to })).id;
  return rules;
}

const percent = (percent_off, effect = "APPLY_TO_ORDER") => ({ type: "PERCENT", percent_off, effect });
const amount = (amount_off, effect = "APPLY_TO_ORDER") => ({ type: "AMOUNT", amount_off, effect });

/** Creates the campaigns 1 and 2: promotions on the cart, on goods, for customers, for the first order; and a stack. */
async function makePromotions({ make, post, rules, categories, goods, startedAt }) {
  const tier = (name, discount, rule, more) => ({ name, banner: `${name}!`, action: { discount }, ...(rule ? { validation_rules: [rules[rule]] } : {}), ...more });
  const free = { type: "UNIT", unit_off: 1, unit_type: goods.products[0].id, effect: "ADD_NEW_ITEMS" };
  const promotions = {
    Sale: [
      tier("Everyone", percent(2)), tier("Large carts", amount(500), "large", { category_id: categories.Seasonal }),
      tier("Many goods", free, "many"), tier("On the web", percent(4), "web", { category_id: categories.Seasonal }),
      tier("Summer goods", amount(150), "summer"), tier("All of Loom", percent(10, "APPLY_TO_ITEMS"), "onLoom", { category_id: categories.Alone }),
      tier("Next month", percent(40), undefined, { start_date: new Date(startedAt + 30 * DAY).toISOString() }),
    ],
    Members: [
      tier("Gold", percent(5), "gold", { category_id: categories.Loyal }), tier("Northern", amount(300), "northern"),
      tier("Invited", percent(12), "invited"), tier("First order", amount(400), "firstOrder"), tier("Once each", amount(250), "once"),
    ],
  };
  const made = { tiers: [], stacks: [] };
  for (const [name, tiers] of Object.entries(promotions)) {
    const { id } = await post("/v1/campaigns", { name, campaign_type: "PROMOTION", promotion: { tiers } });
    const listed = (await make("GET", `/v1/promotions/${id}/tiers?limit=100`)).tiers;
    assert.equal(listed.length, tiers.length);
    const idOf = ({ name: searched }) => listed.find((other) => other.name === searched).id;
    made.tiers.push(...tiers.filter((one) => !one.start_date).map(idOf));
    made.future ??= tiers.filter((one) => one.start_date).map(idOf)[0];
    if (name === "Sale") made.stacks.push((await post(`/v1/promotions/${id}/stacks`, { name: "Both", tiers: { ids: made.tiers.slice(0, 2) } })).id);
  }
  return made;
}

/** Creates promotions of one tier with a rule about the cart that they share. A qualification considers all of them. */
async function makeFurtherCampaigns({ post, rules, random }, count) {
  for (let first = 0; first < count; first += BATCH) await Promise.all(Array.from({ length: Math.min(BATCH, count - first) }, (_, at) => {
    const name = `Further ${first + at}`;
    const tier = { name, banner: `${name}!`, action: { discount: amount(random.int(1, 90)) }, validation_rules: [rules[random.pick(["large", "many", "web", "summer"])]] };
    return post("/v1/campaigns", { name, campaign_type: "PROMOTION", promotion: { tiers: [tier] } });
  }));
}

/** Creates the campaigns 3 to 8: public codes, of which one has a limit, one begins later, one has ended and one is disabled. */
async function makePublicCodes({ make, post, rules, categories, startedAt }) {
  const at = (days) => new Date(startedAt + days * DAY).toISOString();
  const open = (code, discount, rule, more = {}) => post("/v1/campaigns", {
    name: `Campaign ${code}`, campaign_type: "DISCOUNT_COUPONS", type: "STANDALONE", ...(rule ? { validation_rules: [rules[rule]] } : {}), ...more,
    voucher: { type: "DISCOUNT_VOUCHER", discount, redemption: { quantity: null }, code_config: { pattern: code }, ...more.voucher },
  });
  await open("OPEN10", percent(10), "large", { category_id: categories.Seasonal });
  await open("WELCOME", amount(700), "firstOrder");
  await open("LIMITED", percent(15), "budget", { voucher: { redemption: { quantity: 400 } } });
  await open("SOON", percent(50), undefined, { start_date: at(3) });
  await open("OVER", percent(60), undefined, { start_date: at(-20), expiration_date: at(-2) });
  const { id } = await open("OFF", percent(70));
  await post(`/v1/campaigns/${id}/disable`);
  // A code without a campaign, too.
  await make("POST", "/v1/vouchers/POSTER", { type: "DISCOUNT_VOUCHER", discount: amount(200), redemption: { quantity: null } });
  return TYPED_CODES;
}

/** Creates the campaigns 9 to 12: generated codes, gift cards, loyalty cards and referrals. Returns codes of each with their holders. */
async function makePrivateCodes({ make, post, customers }) {
  const kinds = [
    { name: "News", campaign_type: "DISCOUNT_COUPONS", voucher: { type: "DISCOUNT_VOUCHER", discount: amount(500), redemption: { quantity: 1 }, code_config: { pattern: "NEWS-########" } } },
    { name: "Gift cards", campaign_type: "GIFT_VOUCHERS", voucher: { type: "GIFT_VOUCHER", gift: { amount: 5_000, effect: "APPLY_TO_ORDER" }, redemption: { quantity: null }, code_config: { pattern: "GIFT-########" } } },
    { name: "Club", campaign_type: "LOYALTY_PROGRAM", voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 300 }, redemption: { quantity: null }, code_config: { pattern: "CLUB-########" } } },
    { name: "Friends", campaign_type: "REFERRAL_PROGRAM", referral_program: { conversion_event_type: "redemption" }, voucher: { type: "DISCOUNT_VOUCHER", discount: amount(450), redemption: { quantity: 1_000 }, code_config: { pattern: "PAL-########" } } },
  ];
  const codes = [];
  for (const kind of kinds) {
    await post("/v1/campaigns", { ...kind, type: "AUTO_UPDATE", vouchers_count: 10 });
    await waitForJobs(make);
    const listed = (await make("GET", `/v1/vouchers?campaign=${encodeURIComponent(kind.name)}&limit=100`)).vouchers;
    assert.equal(listed.length, 10, kind.name);
    codes.push(...listed.slice(0, 3).map(({ code }) => code));
    for (const { source_id } of customers.slice(0, 6)) {
      const { voucher } = await post("/v1/publications", { campaign: { name: kind.name, count: 1 }, customer: { source_id } });
      codes.push(voucher.code);
    }
  }
  return codes;
}

/** Redeems some of the offers, so that counts and balances are not those of a new shop. */
async function useCodes({ post, customers, codes, promotions, random }) {
  for (let number = 0; number < 30; number += 1) {
    const { source_id } = random.pick(customers.slice(0, 20));
    const redeemable = random.withProbability(0.5)
      ? { object: "voucher", id: random.pick(["OPEN10", "LIMITED", "POSTER"]) }
      : { object: "promotion_tier", id: promotions.tiers[random.pick([0, 1, promotions.tiers.length - 1])] };
    // A refusal is no use, and changes nothing that the carts need.
    await post("/v1/redemptions", { redeemables: [redeemable], order: { amount: random.int(7_000, 20_000) }, customer: { source_id } }).catch(() => {});
  }
  const gift = codes.private.find((code) => code.startsWith("GIFT"));
  await post("/v1/redemptions", { redeemables: [{ object: "voucher", id: gift, gift: { credits: 700 } }], order: { amount: 9_000 } });
}

/** Waits until no job is open, because segments, collections and codes are filled by jobs. */
async function waitForJobs(make) {
  const latest = Date.now() + JOBS_MS;
  for (;;) {
    const { async_actions } = await make("GET", "/v1/async-actions?limit=100");
    const { campaigns } = await make("GET", "/v1/campaigns?limit=100");
    const isDone = async_actions.every(({ status }) => status !== "IN_PROGRESS") && campaigns.every(({ creation_status }) => creation_status !== "IN_PROGRESS");
    if (isDone) return;
    assert.ok(Date.now() < latest, "the jobs of the shop never end");
    await sleep(50);
  }
}
