// Tests past orders as CSV: rows of orders and of lines, other separators, and rows and files that cannot be read.
import assert from "node:assert/strict";
import { countTests } from "../browser/test_report.mjs";
import { backTest, fromCsv } from "../../pkg/backtest.js";

const check = countTests("packaging");

const RULES = {
  complete: true, counted: true, transfers: [], time_zone: "UTC", stacking_rules: {}, case_sensitive_codes: true, vouchers: [], promotion_stacks: [], skus: [],
  customers: [{ id: "cust_1", source_id: "ann", object: "customer" }], campaigns: [], promotion_tiers: [], validation_rules: [],
  validation_rules_assignments: [],
  products: [{ id: "prod_1", source_id: "mug", name: "Mug", price: 1_000 }, { id: "prod_2", source_id: "tea", name: "Tea", price: 400 }],
};
const discount = { type: "PERCENT", percent_off: 10 };
/** A draft of 10 % of orders with a mug, once for each customer. */
const DRAFT = {
  promotion_tiers: [{ id: "promo_1", name: "new", action: { discount }, active: true, object: "promotion_tier" }],
  validation_rules: [{
    id: "val_1", name: "r", rules: {
      1: { name: "product.id", conditions: { $is: [{ object: "product", id: "prod_1" }] } },
      2: { name: "redemption.count.per_customer", conditions: { $less_than_or_equal: [1] } },
    },
  }],
  validation_rules_assignments: [{ id: "asgm_1", rule_id: "val_1", related_object_id: "promo_1", related_object_type: "promotion_tier" }],
};
const of = (...rows) => rows.join("\n");
const tried = (csv, draft = DRAFT) => backTest({ rules: RULES, draft, orders: fromCsv(csv), now: "2026-03-01T12:00:00Z" });
const found = ({ orders, touched, cost, unreadable }) => [orders, touched, cost, unreadable.lines];

const LINES = of(
  "order_id,created_at,customer_source_id,product_id,source_id,related_object,quantity,price,shelf",
  "1,2025-06-01T12:00:00Z,ann,prod_1,,,2,900,left",
  "1,2025-06-01T12:00:00Z,ann,,tea,product,1,,left",
  "2,2025-06-02T12:00:00Z,ann,prod_1,,,5,900,left",
  "3,2025-06-03T12:00:00Z,bob,,mug,product,1,,left",
  "1,2025-06-01T12:00:00Z,,,tea,product,1,,left",
);

check("rows of one order are its lines", async () => {
  const item = (more) => ({ quantity: 1, ...more });
  const tea = item({ source_id: "tea", related_object: "product" });
  assert.deepEqual([...fromCsv(LINES)].map(({ items, customer, created_at }) => [items, customer?.source_id, created_at.slice(0, 10)]), [
    [[{ product_id: "prod_1", quantity: 2, price: 900 }, tea, tea], "ann", "2025-06-01"],
    [[{ product_id: "prod_1", quantity: 5, price: 900 }], "ann", "2025-06-02"],
    [[item({ source_id: "mug", related_object: "product" })], "bob", "2025-06-03"],
  ]);
  // 10 % of 2,600 and of 1,000; ann had her discount before.
  assert.deepEqual(found(await tried(LINES)), [3, 2, 360, []]);
});

check("rows of orders are orders", async () => {
  const csv = of("id,source_id,created_at,status,amount,customer_id,metadata", 'ord_1,,2025-06-01,PAID,1000,cust_1,"{""gift"":true}"', "ord_2,two,2025-06-02,CANCELED,2000,,", "ord_3,,,,4000,,", "");
  const draft = { promotion_tiers: DRAFT.promotion_tiers };
  const result = await tried(csv, draft);
  assert.deepEqual([...found(result), result.canceled], [3, 2, 500, [], 1]);
  const [first, second] = fromCsv(csv);
  assert.deepEqual([first.metadata, first.customer, first.id, second.source_id], [{ gift: true }, { id: "cust_1", source_id: undefined }, "ord_1", "two"]);
});

check("every usual form of a file has the same orders", () => {
  const expected = [...fromCsv(LINES)];
  const semicolons = LINES.replaceAll(",", ";");
  const quoted = LINES.split("\n").map((row) => row.split(",").map((cell) => `"${cell}"`).join(",")).join("\r\n");
  const mixed = LINES.replace(/\n(.*)$/s, (_, rows) => `\n${rows.replaceAll("\n", "\r\n")}\r\n`);
  for (const csv of [mixed, semicolons, LINES.replaceAll(",", "\t"), `\ufeff${LINES}\n`, LINES.replaceAll("\n", "\r\n"), LINES.replaceAll("\n", "\r"), `${quoted}\r\n\r\n`]) {
    assert.deepEqual([...fromCsv(csv)], expected, csv);
  }
});

check("texts that the service guarded from spreadsheets are those of before", () => {
  const texts = [["'=1+1", "=1+1"], ["'", ""], ["''", "'"], ["'tis", "'tis"], ["a;'=1", "a;=1"], ["a\n'-1", "a\n-1"], ["' \t=1", " \t=1"], ["' a", "' a"], ["'＝1", "＝1"], ["a;''=1", "a;'=1"]];
  for (const [cell, text] of texts) {
    const [order] = fromCsv(`source_id,amount\n"${cell}",1`);
    assert.equal(order.source_id ?? "", text, JSON.stringify(cell));
  }
});

check("rows that cannot be read are named by line and column, and their orders are not decided", async () => {
  const csv = of(
    "order_id,amount,product_id,quantity,price,metadata",
    '1,1000,"prod_1\nof two lines",1,,', // lines 2 and 3
    "2,,prod_1,1.5,,",
    "3,,prod_1,1,9.90,",
    "4,,prod_1,1,,{",
    ",,prod_1,1,,",
    "5,1000,prod_1,1",
    "6,1000,prod_1,1,100,",
    "6,2000,prod_1,1,100,",
    "7,-5,prod_1,1,100,",
    "6,1000,prod_1,1,100,",
    "8,,prod_1,2,9007199254740992,",
    "",
    "9,,prod_1,1,1000,",
    "9,,prod_1,1",
    "10,,prod_1,1,1000,",
  );
  const { orders, touched, unreadable } = await tried(csv, { promotion_tiers: DRAFT.promotion_tiers });
  assert.deepEqual(unreadable.lines.toSorted((one, other) => one.line - other.line).map(({ line, message }) => `${line}: ${message}`), [
    "4: quantity must be a whole number (actual value is `1.5`)",
    "5: price must be a whole number of minor units (actual value is `9.90`)",
    "6: metadata must be JSON (actual value is `{`)",
    "7: order_id must not be empty",
    "8: a row must have 6 cells as the header (actual number is `4`)",
    "10: amount must be that of line 9, which has the same order_id",
    "11: amount must be a whole number of minor units (actual value is `-5`)",
    "13: price must be a whole number of minor units (actual value is `9007199254740992`)",
    "16: a row must have 6 cells as the header (actual number is `4`)",
  ]);
  assert.deepEqual([orders, touched], [11, 2]);
  const late = of("amount,created_at", "1000,2025-06-01", "1000,first of June");
  assert.deepEqual(found(await tried(late, { promotion_tiers: DRAFT.promotion_tiers }))[3], [
    { line: 3, message: "created_at must be a date and time in ISO 8601 (actual value is `\"first of June\"`)" },
  ]);
});

check("a file without the columns of orders fails", () => {
  for (const [csv, expected] of [
    ["", /must have the column `amount`.*\(actual columns are ``\)/], ["id,status\n", /\(actual columns are `id,status`\)/], ["order_id,amount\n", /`order_id` and `quantity`/],
    ['amount,id\n1,a\n2,"b\n3,c', /line 3 of the CSV file cannot be read: Quoted field unterminated/],
    ["amount,amount\n", /each column once \(`amount` is there twice\)/], [undefined, /takes the text/],
  ]) assert.throws(() => fromCsv(csv), { name: "TypeError", message: expected });
});
