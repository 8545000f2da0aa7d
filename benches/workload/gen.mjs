// Generates the workloads W1 and W2: a basket of ten lines, and one or thirty promotions for it. It uses whole numbers only and no random
// values, so that every language and every machine gets the same bytes. `--check` compares instead of writing.
import { readFileSync, writeFileSync } from "node:fs";

const IN_BASKET = ["shoes", "shirts", "hats", "bags", "socks", "belts", "jeans"];
const ELSEWHERE = ["coats", "gloves", "scarves", "watches", "rings", "toys", "books", "games", "garden", "kitchen",
  "bedding", "lamps", "rugs"];
// Category, price of a unit, units.
const LINES = [
  ["shoes", 4999, 1], ["shirts", 1999, 3], ["shoes", 8950, 1], ["hats", 1499, 2], ["bags", 6500, 1],
  ["socks", 599, 5], ["shoes", 7425, 2], ["belts", 2450, 1], ["shirts", 2999, 1], ["jeans", 5999, 1],
];
const TOTAL = LINES.reduce((sum, [, price, units]) => sum + price * units, 0);

const basket = {
  currency: "EUR",
  customer: { id: "cus_1001", segment: "gold" },
  coupon_codes: ["SAVE10"],
  items: LINES.map(([category, unit_price, quantity], place) => (
    { id: `li_${place}`, sku: `SKU-${100 + place}`, category, unit_price, quantity })),
};

/** Spend more than this, belong to one of these segments, have something of this category. */
const rule = (amount, segments, category) => ({ all: [
  { field: "order.amount", op: "gt", value: amount },
  { field: "customer.segment", op: "in", value: segments },
  { any_item: { field: "category", op: "eq", value: category } },
] });

const coupon = {
  id: "p_0000", code: "SAVE10", priority: 100,
  rule: rule(20000, ["gold", "vip", "staff"], "shoes"),
  effect: { type: "percent", bps: 1000, target: { category: "shoes" } },
};

/** Of five promotions two are valid; the others fail by amount, by segment and by category. */
function promotion(place) {
  const category = IN_BASKET[place % IN_BASKET.length];
  const fails = { 1: "amount", 3: "segment", 4: "category" }[place % 5];
  const effects = [
    { type: "percent", bps: 500 + 50 * place, target: { category } },
    { type: "percent", bps: 300 + 10 * place, target: null },
    { type: "fixed", amount: 250 + 25 * place },
  ];
  return {
    id: `p_${String(place).padStart(4, "0")}`,
    code: null,
    priority: (place * 7) % 30,
    rule: rule(
      (fails === "amount" ? TOTAL : 0) + 1000 * (place + 1),
      fails === "segment" ? ["new", "bronze", "b2b"] : ["vip", "silver", "gold"],
      fails === "category" ? ELSEWHERE[place % ELSEWHERE.length] : category,
    ),
    effect: effects[place % 3],
  };
}

const files = {
  "w1.json": { basket, promotions: [coupon] },
  "w2.json": { basket, promotions: Array.from({ length: 30 }, (_, place) => promotion(place)), max_stack: 5 },
};
for (const [name, workload] of Object.entries(files)) {
  const path = new URL(name, import.meta.url);
  const text = JSON.stringify(workload, null, 1);
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) throw new Error(`${name} is not what gen.mjs writes`);
}
