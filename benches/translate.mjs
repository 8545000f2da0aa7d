// Converts a workload into objects of this API: every promotion is a voucher with a validation rule. The basket is a request that names
// them all in the order of their priority.
import { readFileSync } from "node:fs";
import { generate } from "./workload/w4.mjs";

/** The expected result of every contender; no time is taken before it matches. */
const EXPECTED = {
  w1: {
    discount: 2880, total: 55857, applied: { SAVE10: 2880 },
    lines: [500, 0, 895, 0, 0, 0, 1485, 0, 0, 0],
  },
  w2: {
    discount: 7957, total: 50780,
    applied: { p_0000: 1441, p_0022: 2980, p_0005: 375, p_0027: 1045, p_0010: 2116 },
  },
  w4: {
    discount: 2996302, total: 3378748,
    applied: {
      p_0000: 46086, p_0013: 272147, p_0026: 900, p_0009: 83613, p_0022: 310559, p_0005: 375, p_0018: 114411,
      p_0001: 171956, p_0014: 600, p_0027: 145206, p_0010: 209178, p_0023: 825, p_0006: 49119, p_0019: 243532,
      p_0002: 300, p_0015: 90860, p_0028: 268853, p_0011: 525, p_0024: 118261, p_0007: 157165, p_0020: 750,
      p_0003: 36135, p_0016: 186463, p_0029: 975, p_0012: 69656, p_0025: 208804, p_0008: 450, p_0021: 88972,
      p_0004: 118951, p_0017: 675,
    },
  },
};

export function workload(name) {
  const { basket, promotions, max_stack } = name === "w4" ? generate()
    : JSON.parse(readFileSync(new URL(`workload/${name}.json`, import.meta.url)));
  const inOrder = [...promotions].sort((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
  const offers = inOrder.map(({ id, code, rule, effect }) => ({ code: code ?? id, rule, effect }));
  return { name, rules: rules(offers, max_stack ?? 5), request: request(basket, offers), expected: EXPECTED[name] };
}

function rules(offers, limit) {
  return {
    complete: true,
    customers: [],
    products: [],
    skus: [],
    stacking_rules: { redeemables_application_mode: "PARTIAL", applicable_redeemables_limit: limit },
    vouchers: offers.map(({ code, effect }) => (
      { id: `v_${code}`, code, type: "DISCOUNT_VOUCHER", active: true, discount: discount(effect) })),
    validation_rules: offers.map(validationRule),
    validation_rules_assignments: offers.map(({ code }) => (
      { id: `asgm_${code}`, rule_id: `val_${code}`, related_object_id: `v_${code}`, related_object_type: "voucher" })),
  };
}

function discount(effect) {
  return effect.type === "percent"
    ? { type: "PERCENT", percent_off: effect.bps / 100, effect: "APPLY_TO_ITEMS" }
    : { type: "AMOUNT", amount_off: effect.amount, effect: "APPLY_TO_ITEMS_PROPORTIONALLY" };
}

/** The three tests of a workload's rule, all of which must be true. */
export function tests({ all: [amount, segment, { any_item: item }] }) {
  return {
    1: { name: "order.initial_amount", conditions: { $more_than: [amount.value] }, rules: {} },
    2: { name: "customer.metadata", property: "segment", conditions: { $in: segment.value }, rules: {} },
    3: {
      name: "order.items.any", rules: {},
      conditions: { $is: [{ id: item.value, type: "product_or_sku", object: "product" }] },
    },
    logic: "1 and 2 and 3",
  };
}

function validationRule({ code, rule, effect }) {
  const included = effect.target ? [{ object: "product", id: effect.target.category, effect: "APPLY_TO_EVERY" }] : [];
  return {
    id: `val_${code}`, name: code,
    rules: tests(rule),
    applicable_to: { included_all: false, included, excluded: [] },
  };
}

function request(basket, offers) {
  return {
    redeemables: offers.map(({ code }) => ({ object: "voucher", id: code })),
    customer: { source_id: basket.customer.id, metadata: { segment: basket.customer.segment } },
    order: {
      items: basket.items.map(({ sku, category, unit_price, quantity }) => (
        { product_id: category, sku_id: sku, price: unit_price, quantity })),
    },
  };
}

/** Returns the fault of an answer in the format of `POST /v1/validations`, or undefined. */
export function fault({ expected }, answer) {
  const off = (item) => item.order?.total_applied_discount_amount;
  const found = {
    discount: answer.order?.total_discount_amount,
    total: answer.order?.total_amount,
    applied: Object.fromEntries(answer.redeemables?.filter((item) => item.status === "APPLICABLE")
      .map((item) => [item.id, off(item)]) ?? []),
    lines: answer.order?.items?.map((line) => line.discount_amount ?? 0),
  };
  const differs = Object.keys(expected).filter((key) => JSON.stringify(found[key]) !== JSON.stringify(expected[key]));
  return differs.map((key) => `${key} is ${JSON.stringify(found[key])}, not ${JSON.stringify(expected[key])}`).join("; ");
}
