// Tries a draft on one order, and finds whether another offer would have given more.

const ITEM_MEMBERS = ["product_id", "sku_id", "source_id", "related_object", "price", "product", "sku", "metadata"];
// Refusals of a redeemable that is not in force. Rules of a client conceal them as a code that does not exist.
const NOT_IN_FORCE = new Set(["not_found", "voucher_not_active", "voucher_expired", "voucher_not_active_now", "voucher_disabled", "promotion_not_active_now", "promotion_inactive"]);

/** Tries a draft on orders, one after the other. */
export class OrderTrial {
  #prepared;
  #requests;
  #others;
  #inForceAt;

  /** Offers are tried that are in force at `inForceAt`, each order at its own time. */
  constructor(prepared, redeemables, inForceAt) {
    [this.#prepared, this.#inForceAt] = [prepared, inForceAt];
    this.#requests = redeemables.map((redeemable) => `"redeemables":[${JSON.stringify(redeemable)}]`);
    const own = (field, ids) => ({ [field]: { conditions: { $not_in: ids } } });
    const ids = redeemables.filter(({ object }) => object === "promotion_tier").map(({ id }) => id);
    const codes = redeemables.filter(({ object }) => object === "voucher").map(({ id }) => id);
    // What a card pays saves nothing.
    const discounts = { voucher_type: { conditions: { $not_in: ["GIFT_VOUCHER", "LOYALTY_CARD"] } } };
    const filters = { ...discounts, ...(ids.length > 0 ? own("resource_id", ids) : {}), ...(codes.length > 0 ? own("code", codes) : {}) };
    this.#others = `"options":${JSON.stringify({ limit: 1, sorting_rule: "BEST_DEAL", filters })}`;
  }

  /** Counts the redemption that `decide` found for an order, so that limits hold across orders. Returns whether it was counted. */
  count({ line, time }, { request }) {
    // Ids of redemptions and new customers follow from the seed.
    return this.#prepared.count(request, { now: time, seed: line.toString(16).padStart(8, "0") });
  }

  /**
   * Returns the discount of the draft with its request, that of the best other offer, the customer, what is missing, and whether a redeemable of the
   * draft is in force; or the problem of the order.
   */
  decide({ order, time }) {
    const context = { now: time, seed: "00" };
    this.#prepared.decidePast(time, this.#inForceAt);
    let rest;
    try {
      rest = JSON.stringify(requestOf(order)).slice(1);
    } catch ({ message }) {
      return { problem: `it cannot be written as JSON: ${message}` };
    }
    let [discount, request, isInForce] = [0, undefined, false];
    const missing = new Set();
    for (const redeemables of this.#requests) {
      const tried = `{${redeemables},${rest}`;
      const answer = JSON.parse(this.#prepared.validate(tried, context));
      if (answer.redeemables === undefined) return { problem: problemOf(answer) };
      isInForce ||= !NOT_IN_FORCE.has(answer.redeemables[0]?.result?.error?.key);
      if (answer.valid && discountOf(answer.order) > discount) [discount, request] = [discountOf(answer.order), tried];
      for (const fact of answer.missing ?? []) missing.add(fact);
    }
    let other = 0;
    if (discount > 0) {
      const answer = JSON.parse(this.#prepared.qualify(`{${this.#others},${rest}`, context));
      if (answer.missing === undefined && answer.redeemables === undefined) return { problem: problemOf(answer) };
      other = Math.max(0, ...(answer.redeemables?.data ?? []).map(({ order: discounted }) => discountOf(discounted)));
      for (const fact of answer.missing ?? []) missing.add(fact);
    }
    return { discount, request, other, customer: nameOf(order), missing: [...missing], isInForce };
  }
}

const discountOf = (order) => order?.total_applied_discount_amount ?? order?.total_discount_amount ?? 0;

const problemOf = ({ details, message }) => details ?? message;

const nameOf = ({ customer, customer_id: id }) => customer?.id ?? customer?.source_id ?? id ?? undefined;

/** Returns the request for a past order as it was before any discount. Units that a discount had added are left out. */
function requestOf({ amount, initial_amount, items, metadata, customer, customer_id }) {
  const named = customer ?? (customer_id ? { id: customer_id } : undefined);
  const bought = Array.isArray(items) ? items.filter((item) => item?.initial_quantity !== 0).map(itemOf) : items;
  // A sent amount counts before the sum of the lines, of which some may have no price.
  return { customer: named, order: { amount: initial_amount ?? amount, items: bought, metadata } };
}

function itemOf(item) {
  if (Object.prototype.toString.call(item) !== "[object Object]") return item;
  const quantity = item.initial_quantity ?? item.quantity;
  const kept = Object.fromEntries(ITEM_MEMBERS.map((name) => [name, item[name]]).filter(([, value]) => value !== undefined && value !== null));
  const isAsSent = item.initial_quantity === undefined || item.initial_quantity === item.quantity;
  return { ...kept, quantity, amount: isAsSent ? item.amount : (item.initial_amount ?? undefined) };
}
