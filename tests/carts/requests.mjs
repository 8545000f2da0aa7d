// Generates the carts of a run, and the requests that a page sends about each: by every kind of caller, and of every kind.
export const CALLERS = ["anonymous", "tracked", "guest", "proven"];
const SCENARIOS = [
  "ALL", "CUSTOMER_WALLET", "AUDIENCE_ONLY", "PRODUCTS", "PRODUCTS_DISCOUNT", "PROMOTION_STACKS", "PRODUCTS_BY_CUSTOMER", "PRODUCTS_DISCOUNT_BY_CUSTOMER",
];
const TYPED = ["promotions only", "public code", "private code", "wrong code"];
export const KINDS = [...TYPED, ...SCENARIOS];
/** The share of promotion tiers that have not begun. */
const NOT_BEGUN = 0.02;
/** The share of carts that a page sends by mistake, and that of logged-in pages that name another customer than their token. */
const MISTAKEN = 0.04;
const VALIDATIONS = "/client/v1/validations";
const QUALIFICATIONS = "/client/v1/qualifications";

/** Returns the requests about one cart: `{ caller, kind, path, request, customer }`, where `customer` is the one of the token. */
export function* requestsOf(shop, random) {
  const order = cart(shop, random);
  const customer = random.pick(shop.customers);
  const redeemables = Object.fromEntries(TYPED.map((kind) => [kind, typed(shop, random, kind)]));
  const options = { limit: random.pick([5, 20, 50]), ...(random.withProbability(0.3) ? { expand: ["redeemable", "category"] } : {}), ...sorting(random) };
  const around = {
    ...(random.withProbability(0.2) ? { options: { expand: ["order", "redeemable", "category", "redemption"].slice(random.int(0, 3)) } } : {}),
    ...(random.withProbability(0.2) ? { metadata: { lane: random.pick(["fast", "slow"]) } } : {}),
  };
  for (const caller of CALLERS) {
    const customerFields = identity(shop, random, caller, customer);
    const call = (kind, path, body) => ({ caller, kind, path, request: { ...body, order, ...customerFields }, customer: caller === "proven" ? customer.source_id : undefined });
    for (const kind of TYPED) yield call(kind, VALIDATIONS, { redeemables: redeemables[kind], ...around });
    for (const scenario of SCENARIOS) yield call(scenario, QUALIFICATIONS, { scenario, options });
  }
}

const sorting = (random) => (random.withProbability(0.3) ? { sorting_rule: random.pick(["BEST_DEAL", "LEAST_DEAL"]) } : {});

/** Returns how the request names its customer. A token names one by a header, and a page may repeat the name. */
function identity(shop, random, caller, customer) {
  if (caller === "proven" && random.withProbability(MISTAKEN)) return random.pick([{ customer: { source_id: random.pick(shop.customers).source_id } }, { tracking_id: customer.tracking_id }]);
  if (caller === "proven" && random.withProbability(0.3)) return { customer: { source_id: customer.source_id, metadata: { level: random.pick(["gold", "new"]) } } };
  if (caller === "tracked") return { tracking_id: random.withProbability(0.7) ? customer.tracking_id : customer.source_id };
  if (caller !== "guest") return {};
  // Some guests are customers that have not logged in.
  const email = random.withProbability(0.1) ? customer.email : `guest-${random.int(1, 500)}@example.com`;
  return { customer: { email, ...(random.withProbability(0.3) ? { name: "A guest" } : {}) } };
}

function cart(shop, random) {
  const metadata = random.withProbability(0.5) ? { metadata: { channel: random.pick(["web", "app"]) } } : {};
  if (random.withProbability(0.05)) return { amount: random.int(500, 20_000), ...metadata };
  const lines = random.withProbability(0.1) ? 10 : random.int(1, 5);
  // A till may have taken something off already.
  const discount = random.withProbability(0.1) ? { discount_amount: random.int(0, 300) } : {};
  if (random.withProbability(MISTAKEN)) return mistaken({ goods: shop.goods, random, metadata });
  return { items: Array.from({ length: lines }, () => line(shop, random)), ...discount, ...metadata };
}

/** Returns an order that a page sends by mistake. The page must refuse with the same bytes a request that the service refuses. */
function mistaken({ goods, random, metadata }) {
  const items = [{ product_id: random.pick(goods.products).id, quantity: 1 }];
  return random.pick([
    { items: "none", ...metadata }, { items, amount: -5 }, { items: [{ ...items[0], quantity: "x" }] }, { items: [{ ...items[0], quantity: 0 }] },
    { items: [{ source_id: "large", quantity: 1e15, price: 1e15 }] }, { items: [{ ...items[0], sku_id: "none" }] }, { items, metadata: 5 }, { items, status: "PAID" },
    { items, id: "ord_unknown" }, { items: [] }, { items: Array.from({ length: 501 }, () => items[0]) }, { items, referrer: { source_id: "customer-2" } },
  ]);
}

/** Returns a line, named in one of the ways that a page may use. Some goods are in no catalogue and bring their price. */
function line({ goods }, random) {
  const quantity = random.pick([1, 1, 1, 2, 3, 5]);
  const product = random.pick(goods.products);
  const sku = random.pick(goods.skus);
  const priced = random.withProbability(0.5) ? { price: product.price } : {};
  const ways = {
    id: () => ({ product_id: product.id, quantity, ...priced }),
    source: () => ({ source_id: product.source_id, related_object: "product", quantity, ...priced }),
    nested: () => ({ product: { id: product.id }, quantity, ...priced }),
    sku: () => ({ sku_id: sku.id, quantity }),
    skuSource: () => ({ source_id: sku.source_id, related_object: "sku", quantity }),
    skuOfProduct: () => ({ product_id: sku.product.id, sku_id: sku.id, quantity }),
    unknown: () => ({ source_id: `unknown-${random.int(1, 9)}`, related_object: "product", quantity, price: random.int(1, 90) * 100 }),
  };
  return ways[random.shares({ id: 40, source: 25, nested: 5, sku: 10, skuSource: 10, skuOfProduct: 5, unknown: 5 })]();
}

function typed({ promotions, codes }, random, kind) {
  // A page knows the tiers in force, seldom one that it should not.
  const tier = () => ({ object: "promotion_tier", id: random.withProbability(NOT_BEGUN) ? promotions.future : random.pick(promotions.tiers) });
  const voucher = (id) => ({ object: "voucher", id });
  const some = [...new Map(Array.from({ length: random.int(1, 3) }, tier).map((one) => [one.id, one])).values()];
  if (kind === "promotions only") return random.withProbability(0.1) ? [{ object: "promotion_stack", id: promotions.stacks[0] }] : some;
  const others = random.withProbability(0.4) ? some : [];
  if (kind === "public code") return [voucher(random.shares(codes.public)), ...others];
  if (kind === "private code") return [voucher(random.pick(codes.private)), ...others];
  return [voucher(`NOBODYS-${random.int(1, 1_000_000)}`), ...others];
}
