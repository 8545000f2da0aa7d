// Compares the case folding of codes in the package with the table of `tests/support/folding.json`, which the native engine is tested
// against as well.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { scrip } from "../support/package.mjs";

const table = Object.entries(JSON.parse(readFileSync(new URL("../support/folding.json", import.meta.url), "utf8")));
const context = { now: "2026-03-01T12:00:00Z", seed: "01" };
const discount = { type: "AMOUNT", amount_off: 100 };

function isValid(rules, code) {
  const request = { redeemables: [{ object: "voucher", id: code }], order: { amount: 1000 } };
  return rules.validateObject(request, context).valid;
}

test("a code in any case is found by its folded form", () => {
  const folded = [...new Set(table.map(([, to]) => to))];
  const vouchers = folded.map((code, place) => ({ id: `v_${place}`, code: `a-${code}`, discount }));
  const rules = scrip.prepare({ case_sensitive_codes: false, vouchers });
  const missed = table.filter(([from]) => !isValid(rules, `A-${from}`));
  assert.deepEqual(missed, []);
  rules.free();
});

test("a code is found by every form that folds to the same", () => {
  // Codes of one set of rules must not fold to the same, so each form of a code is in another set.
  const formsOf = new Map();
  for (const form of table) formsOf.set(form[1], [...(formsOf.get(form[1]) ?? []), form]);
  const sets = Math.max(...[...formsOf.values()].map((forms) => forms.length));
  for (let set = 0; set < sets; set += 1) {
    const forms = [...formsOf.values()].flatMap((forms) => forms[set] === undefined ? [] : [forms[set]]);
    const vouchers = forms.map(([from], place) => ({ id: `v_${place}`, code: `A-${from}`, discount }));
    const rules = scrip.prepare({ case_sensitive_codes: false, vouchers });
    assert.deepEqual(forms.filter(([, to]) => !isValid(rules, `a-${to}`)), []);
    rules.free();
  }
});
