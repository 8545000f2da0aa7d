// Converts workload W3 into objects of this API: every promotion is a tier with a validation rule, created the later the earlier it is
// tried. The basket is a request for all that qualifies.
import { tests } from "./translate.mjs";
import { generate } from "./workload/w3.mjs";

/** The expected result of every contender: the number, and the first three. */
const EXPECTED = { total: 128, first: ["p_0070", "p_0728", "p_0905"] };
const NEWEST = Date.parse("2026-02-01T00:00:00Z");

export function workload() {
  const { basket, promotions } = generate();
  const inOrder = [...promotions].sort((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
  return { name: "w3", rules: rules(inOrder), request: request(basket) };
}

function rules(promotions) {
  return {
    complete: true,
    vouchers: [],
    promotion_stacks: [],
    customers: [],
    products: [],
    skus: [],
    campaigns: [{ id: "camp_w3", name: "W3", campaign_type: "PROMOTION", active: true }],
    promotion_tiers: promotions.map(({ id, effect }, place) => ({
      id, name: id, created_at: new Date(NEWEST - place * 1000).toISOString(), campaign_id: "camp_w3", active: true,
      action: { discount: { type: "PERCENT", percent_off: effect.bps / 100, effect: "APPLY_TO_ITEMS" } },
    })),
    validation_rules: promotions.map(({ id, rule }) => ({
      id: `val_${id}`, name: id,
      rules: tests(rule),
      applicable_to: { included_all: true, included: [], excluded: [] },
    })),
    validation_rules_assignments: promotions.map(({ id }) => (
      { id: `asgm_${id}`, rule_id: `val_${id}`, related_object_id: id, related_object_type: "promotion_tier" })),
  };
}

function request({ customer, items }) {
  return {
    customer: { source_id: customer.id, metadata: { segment: customer.segment } },
    order: {
      items: items.map(({ sku, category, unit_price, quantity }) => (
        { product_id: category, sku_id: sku, price: unit_price, quantity })),
    },
  };
}

/** Returns the fault of an answer, all ids in order or a first page, or undefined. */
export function fault({ ids, redeemables }) {
  const found = ids ? { total: ids.length, first: ids.slice(0, 3) }
    : { total: redeemables?.total, first: redeemables?.data?.slice(0, 3).map(({ id }) => id) };
  return JSON.stringify(found) === JSON.stringify(EXPECTED) ? ""
    : `found ${JSON.stringify(found)}, not ${JSON.stringify(EXPECTED)}`;
}
