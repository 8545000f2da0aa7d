// Solves the workloads by hand in plain JavaScript as `plain.mjs` and `find.mjs` do, and then gives the complete answer of the API. That is
// the order after each code, the goods in scope, reasons and the stacking rules. With the same work the comparison shows the cost of the
// engine, not of the answer.
import { prepare as prepareToFind } from "./find.mjs";
import { isValid, off, prepare as preparePlain } from "./plain.mjs";

const STACKING_RULES = {
  redeemables_limit: 30, applicable_redeemables_limit: 5, applicable_redeemables_category_limits: {},
  applicable_exclusive_redeemables_limit: 1, exclusive_categories: [], joint_categories: [],
  redeemables_application_mode: "ALL", redeemables_sorting_rule: "REQUESTED_ORDER",
  redeemables_products_application_mode: "STACK", redeemables_no_effect_rule: "REDEEM_ANYWAY",
  no_effect_skip_categories: [], no_effect_redeem_anyway_categories: [],
  redeemables_rollback_order_mode: "WITH_ORDER", grouped_redeemables_sorting_rule: "JOINT_ALWAYS_LAST",
};

const list = (data) => ({ data, total: data.length, data_ref: "data", object: "list" });
const id = (digits) => Math.floor(Math.random() * 2 ** 52).toString(16).padStart(digits, "0");

export function prepare(rules) {
  return { ...preparePlain(rules), stacking: { ...STACKING_RULES, ...rules.stacking_rules } };
}

export function validate({ offers, limit, stacking }, { redeemables, customer, order }) {
  const amounts = order.items.map((item) => item.price * item.quantity);
  const left = [...amounts];
  const ever = amounts.map(() => false);
  const amount = amounts.reduce((sum, line) => sum + line, 0);
  const { segment } = customer.metadata;
  const requestId = `v-${id(18)}`;
  const applied = [], inapplicable = [], skipped = [];
  let total = amount;
  for (const named of redeemables) {
    const offer = offers.get(named.id);
    if (applied.length === limit) {
      skipped.push(skip(named.id));
    } else if (isValid(offer, amount, segment, order.items)) {
      const before = [...left];
      const touched = order.items.map((item) => touches(offer, item));
      touched.forEach((is, place) => { ever[place] ||= is; });
      total -= off(offer, left, order.items, total);
      applied.push({
        status: "APPLICABLE", id: named.id, object: "voucher",
        order: snapshot(order.items, { amounts, before, left, touched, ever }, amount, total),
        applicable_to: list(goods(offer, order.items)), inapplicable_to: list([]), result: { discount: discount(offer) },
      });
    } else {
      inapplicable.push(refuse(named.id, offer, amount, segment, requestId));
    }
  }
  const answer = { id: `valid_${id(18)}`, valid: applied.length > 0, redeemables: applied };
  if (skipped.length > 0) answer.skipped_redeemables = skipped;
  if (inapplicable.length > 0) answer.inapplicable_redeemables = inapplicable;
  // Its lines have the discount of the whole request.
  answer.order = snapshot(order.items, { amounts, before: amounts, left, touched: ever, ever }, amount, total);
  answer.stacking_rules = stacking;
  return answer;
}

/** Returns whether an offer concerns a line, also with a discount of zero, which the answer contains too. */
const touches = ({ share, target }, item) => share === null || target === null || item.product_id === target;

function snapshot(items, { amounts, before, left, touched, ever }, amount, total) {
  let taken = 0;
  const lines = items.map(({ product_id, sku_id, quantity, price }, place) => {
    const applied = before[place] - left[place];
    const line = { object: "order_item", product_id, sku_id, quantity, amount: amounts[place] };
    if (ever[place]) line.discount_amount = amounts[place] - left[place];
    if (touched[place]) line.applied_discount_amount = applied;
    line.price = price;
    line.subtotal_amount = left[place];
    taken += applied;
    return line;
  });
  return {
    amount, items_discount_amount: amount - total, total_discount_amount: amount - total, total_amount: total,
    items_applied_discount_amount: taken, total_applied_discount_amount: taken, items: lines, object: "order",
  };
}

/** Units are listed one by one up to this number in an order. */
const NUMBERED_UNITS_MAX = 1000;

/** Returns the product of a code, and its SKUs in the order, each with its units. */
function goods({ target, share }, items) {
  if (target === null || share === null) return [];
  const places = [...items.keys()].filter((place) => items[place].product_id === target);
  const tooMany = items.reduce((sum, item) => sum + item.quantity, 0) > NUMBERED_UNITS_MAX;
  const units = (index) => tooMany ? { index, units_limit_exceeded: true }
    : { index, units: Array.from({ length: items[index].quantity }, (_, unit) => unit + 1) };
  const entry = (object, name, strict, among) => ({
    object, id: name, strict, effect: "APPLY_TO_EVERY", order_item_indices: among,
    order_item_units: among.map(units),
  });
  const skus = [...new Set(places.map((place) => items[place].sku_id))];
  return [
    entry("product", target, false, places),
    ...skus.map((sku) => entry("sku", sku, true, places.filter((place) => items[place].sku_id === sku))),
  ];
}

const discount = ({ share, amount }) => share === null
  ? { type: "AMOUNT", amount_off: amount, effect: "APPLY_TO_ITEMS_PROPORTIONALLY", is_dynamic: false }
  : { type: "PERCENT", percent_off: share / 100, effect: "APPLY_TO_ITEMS", is_dynamic: false };

const skip = (code) => ({
  status: "SKIPPED", id: code, object: "voucher",
  result: { details: { message: "Applicable redeemables limit exceeded", key: "applicable_redeemables_limit_exceeded" } },
});

function refuse(code, offer, amount, segment, requestId) {
  const area = amount > offer.moreThan && !offer.segments.includes(segment) ? "customer" : "order";
  const key = `${area}_rules_violated`, message = `${area} does not match validation rules`;
  const details = `Discount Coupon cannot be redeemed because of violated validation rules: val_${code}`;
  return {
    status: "INAPPLICABLE", id: code, object: "voucher",
    result: { error: { code: 400, key, message, details, request_id: requestId }, details: { message, key } },
  };
}

/** For workload W3: the candidates, and their entries in a page of the answer. */
export function prepareFinding(rules) {
  const tiers = new Map(rules.promotion_tiers.map((tier) => [tier.id, tier]));
  return prepareToFind(rules).map((offer) => ({ ...offer, tier: tiers.get(offer.id) }));
}

const PAGE = 5;

export function find(offers, { customer, order }) {
  const amounts = order.items.map((item) => item.price * item.quantity);
  const amount = amounts.reduce((sum, line) => sum + line, 0);
  const products = new Set(order.items.map((item) => item.product_id));
  const { segment } = customer.metadata;
  const data = [];
  let total = 0;
  for (const offer of offers) {
    if (!(amount > offer.moreThan && offer.segments.has(segment) && products.has(offer.product))) continue;
    if (total < PAGE) data.push(found(offer, order.items, amounts, amount));
    total += 1;
  }
  const more = total > PAGE ? { has_more: true, more_starting_after: data.at(-1).created_at } : { has_more: false };
  const items = order.items.map(({ product_id, sku_id, quantity, price }) => (
    { object: "order_item", product_id, sku_id, quantity, price }));
  return {
    redeemables: { object: "list", data_ref: "data", data, total, ...more },
    order: { items, object: "order" },
    stacking_rules: STACKING_RULES,
  };
}

function found({ id: name, tier }, items, amounts, amount) {
  const { action: { discount: { percent_off: percent } }, created_at: created } = tier;
  const left = [...amounts];
  const all = amounts.map(() => true);
  const taken = off({ share: Math.round(percent * 100), target: null }, left, items, amount);
  return {
    id: name, object: "promotion_tier", created_at: created,
    result: { discount: { type: "PERCENT", percent_off: percent, effect: "APPLY_TO_ITEMS", is_dynamic: false } },
    order: snapshot(items, { amounts, before: amounts, left, touched: all, ever: all }, amount, amount - taken),
    applicable_to: list([]), inapplicable_to: list([]), validation_rule_id: `val_${name}`,
  };
}

/** Removes the random parts of an answer. */
export const undrawn = (text) => text.replace(/"(valid_|v-)[0-9a-f]{18}"/g, '"$1"');
