// Tests that the package's types describe the engine's answers. Every answer of the packed package to a vector is compiled against them and
// must be the pinned one. The types allow callers fields beyond the named ones, for later versions; here they are not allowed.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { scrip } from "../support/package.mjs";
import { appendReport, fault, vectors } from "../support/vectors.mjs";

const types = readFileSync(fileURLToPath(new URL("../../pkg-template/scrip.d.ts", import.meta.url)), "utf8");
const KINDS = { validate: ["ValidationRequest", "Validation"], qualify: ["QualificationRequest", "Qualification"] };

/** Returns the types without their allowance for more fields; custom data stays open. */
const strict = types.replaceAll(/ extends (Expanded, )?Json \{/g, (_, more) => (more ? " extends Expanded {" : " {"))
  .replaceAll(/^ *\[field: string\]: unknown;\n/gm, "");

/** Returns the errors of TypeScript for some files, by their names. */
function complaints(files, more = {}) {
  const folder = mkdtempSync(join(tmpdir(), "scrip-types-"));
  try {
    const paths = Object.entries(files).map(([name, text]) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    });
    const options = {
      strict: true, exactOptionalPropertyTypes: true, noEmit: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, types: [],
      lib: ["lib.es2022.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts"], moduleResolution: ts.ModuleResolutionKind.Bundler, ...more,
    };
    const program = ts.createProgram(paths.filter((path) => !path.endsWith(".d.ts")), options);
    return ts.getPreEmitDiagnostics(program).map((diagnostic) => {
      const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n");
      const { line } = diagnostic.file?.getLineAndCharacterOfPosition(diagnostic.start) ?? { line: -1 };
      return { line, text: `${diagnostic.file?.text.split("\n")[line]?.slice(0, 200) ?? ""}\n${text}` };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("every answer and every answered request fits the types, and has no field beyond them", () => {
  const lines = ['import type * as scrip from "./scrip";', 'import type * as open from "./open";'];
  let ran = 0;
  for (const vector of vectors()) {
    const { path, verb, request, sent } = vector;
    const kind = KINDS[verb];
    if (!kind) continue;
    ran += 1;
    const prepared = scrip.prepare(vector.given);
    const answer = prepared[verb](sent, vector.context);
    prepared.free();
    assert.equal(fault(vector, "types", answer), "", path);
    const { key, message } = JSON.parse(answer);
    const refused = key !== undefined && message !== undefined;
    const answers = refused ? "Invalid" : kind[1];
    lines.push(`/* ${path} */ export const answer${ran}: scrip.${answers} = ${answer};`);
    if (!refused) lines.push(`/* ${path} */ export const request${ran}: open.${kind[0]} = ${JSON.stringify(request)};`);
  }
  const wrong = complaints({ "scrip.d.ts": strict, "open.d.ts": types, "answers.ts": lines.join("\n") });
  assert.deepEqual(wrong.slice(0, 20).map(({ text }) => text), []);
  appendReport({ kind: "types", ran, skipped: [] });
});

// Their rules have members on purpose that no document has.
const ODD = new Set(["90-worked/24-many-items.json", "90-worked/28-many-of-four.json", "95-offline/a-document-that-does-not-read.json"]);

test("the rules of every vector fit the types", () => {
  const lines = ['import type * as scrip from "./scrip";'];
  // Conditions and sets by number are only in bundles, which the service writes.
  const isWritten = ({ given }) => /"(customer\.condition|goods\.set)"/.test(JSON.stringify(given));
  const all = vectors().filter((vector) => !ODD.has(vector.path) && !isWritten(vector));
  for (const { path, given } of all) lines.push(`/* ${path} */ export const rules${lines.length}: scrip.RuleSet = ${JSON.stringify(given)};`);
  assert.ok(lines.length > 1_000);
  assert.deepEqual(complaints({ "scrip.d.ts": types, "rules.ts": lines.join("\n") }).slice(0, 20).map(({ text }) => text), []);
});

const PAGE = `import { prepare, type Prepared, type QualificationRequest, type ValidationRequest } from "./scrip";
declare const prepared: Prepared;
declare const maybe: { id: string } | undefined;
const request: ValidationRequest = {
  redeemables: [{ object: "promotion_tier", id: "promo_1" }, { object: "voucher", id: "CARD", reward: { id: "rew_1", points: 5 } }],
  customer: maybe, order: undefined,
};
const answer = prepared.validateObject(request, { now: undefined });
if (answer.valid) {
  const total: number | undefined = answer.order?.total_amount;
  const id: string = answer.id;
  for (const redeemable of answer.redeemables) {
    if (redeemable.status === "APPLICABLE") {
      const off: number | undefined = redeemable.order?.total_applied_discount_amount;
      const name: string | undefined = redeemable.result.discount?.product?.name;
      console.log(off, name, total, id);
    } else if (redeemable.status === "INAPPLICABLE") {
      const key: string = redeemable.result.error.key;
      console.log(key);
    } else {
      const key: string = redeemable.result.details.key;
      console.log(key);
    }
  }
} else if (answer.valid === false) {
  const facts: string[] | undefined = answer.missing;
  // @ts-expect-error what is refused has no order
  console.log(answer.order.total_amount, facts);
} else {
  const details: string | undefined = answer.details;
  const code: number = answer.code;
  console.log(details, code);
}
const found = prepared.qualifyObject({ scenario: "ALL" } satisfies QualificationRequest);
if (found.redeemables) console.log(found.redeemables.data.length);
else console.log(found.key.length);
// @ts-expect-error nothing else can be redeemed
prepared.validateObject({ redeemables: [{ object: "coupon", id: "A" }] });
prepare({
  complete: true,
  time_zone: "Europe/Berlin",
  vouchers: [{ code: "A", discount: { type: "AMOUNT", amount_off: 500 }, metadata: { any: ["thing"] }, expiration_date: null }],
  validation_rules: [{ id: "r", rules: { "1": { name: "order.amount", conditions: { $more_than: [100] } }, logic: "1" } }],
  segments: [{ id: "s", type: "auto-update", filter: { junction: "and", "metadata.vip": { conditions: { $is: [true] } } } }],
});
// @ts-expect-error a voucher has an expiration_date
prepare({ vouchers: [{ code: "A", expirationDate: "2026-01-01T00:00:00Z" }] });
// @ts-expect-error rules have vouchers
prepare({ voucher: [] });
// @ts-expect-error no discount is of this type
prepare({ vouchers: [{ code: "A", discount: { type: "RATE" } }] });
// @ts-expect-error no rule looks at this
prepare({ validation_rules: [{ id: "r", rules: { "1": { name: "order.weather" } } }] });
// @ts-expect-error the rules of a service are fetched by the shop
export { fetchBundle } from "./scrip";
`;

const SHOP = `import { open, type AppliesVerdict, type Order, type RefusedVerdict, type ValidVerdict, type Verdict } from "./scrip";
const shop = await open({ url: "https://promotions.example", key: { id: "a", token: "b" }, customer: () => null, store: new Map<string, unknown>() as never });
declare function pay(order: Order): void;
declare function settle(verdict: AppliesVerdict | RefusedVerdict): void;
const verdict = await shop.check({ redeemables: [{ object: "voucher", id: "A" }], order: { amount: 100 } });
if (verdict.valid) {
  const final: "final" = verdict.kind;
  pay(verdict.order);
  settle(verdict);
  console.log(final);
} else if (verdict.valid === false) {
  settle(verdict);
  const more: string | undefined = verdict.refusals[0]?.change?.text;
  // @ts-expect-error what is refused has no order
  pay(verdict.order);
  console.log(more);
} else if (verdict.kind === "provisional") {
  const fact: string = verdict.missing[0];
  const likely: "applies" | "refused" | "unknown" = verdict.likely;
  // @ts-expect-error a provisional verdict is no final one
  settle(verdict);
  // @ts-expect-error a provisional verdict has no order to pay
  pay(verdict.order);
  // @ts-expect-error nor is its answer one of a yes
  const answer: ValidVerdict = verdict.answer;
  // @ts-expect-error it is no yes
  const yes: true = verdict.valid;
  console.log(fact, likely, yes, answer);
} else {
  const key: string = verdict.error.key;
  // @ts-expect-error what cannot be read is no final verdict
  settle(verdict);
  console.log(key);
}
// @ts-expect-error not every verdict is final
settle(verdict);
// @ts-expect-error not every verdict has an order
pay(verdict.order);
const orderless = shop.checkNow({ redeemables: [{ object: "voucher", id: "A" }] });
// @ts-expect-error a request without an order has none in its verdict
if (orderless.valid) pay(orderless.order);
const any: Verdict = verdict;
const found = await shop.qualify({ order: { amount: 100 } });
// @ts-expect-error only a final qualification has offers
const count: number = found.offers.length;
if (found.kind === "final") console.log(found.offers.length);
const stack = await shop.best({ order: { amount: 100 } });
// @ts-expect-error only a final verdict has the best stack, and only where it was asked for
const saved: number = stack.best.saved_amount;
if (stack.kind === "final" && stack.best?.proven) console.log(stack.best.redeemables.map(({ id }) => id), saved);
const listed = await shop.prices(["prod_1"], { customer: { source_id: "ann" } });
const price = listed.prices?.[0];
// @ts-expect-error only a final price has amounts
const shown: number = price.discounted_price;
if (price?.kind === "final") console.log(price.from ? "from" : "", price.discounted_price, shown);
if (price?.kind === "provisional" && price.likely && "price" in price.likely) console.log(price.likely.price, price.missing[0]);
const redemption = await shop.redeem({ redeemables: [{ object: "voucher", id: "A" }] });
if (redemption.kind === "redeemed") console.log(redemption.answer.redemptions.length);
shop.subscribe((state) => console.log(state === "too old", count, any));
// @ts-expect-error no option is of this name
await open({ url: "https://promotions.example", key: { id: "a", token: "b" }, maxage: 5 });
`;

test("a verdict narrows to a final yes, and a provisional one is refused where a final one is required", () => {
  assert.deepEqual(complaints({ "scrip.d.ts": types, "shop.ts": SHOP }, { noUncheckedIndexedAccess: true }).map(({ text }) => text), []);
});

test("a page that reads the types reads them as meant", () => {
  assert.deepEqual(complaints({ "scrip.d.ts": types, "page.ts": PAGE }).map(({ text }) => text), []);
});

test("the README's examples compile", () => {
  const readme = readFileSync(fileURLToPath(new URL("../../pkg-template/README.md", import.meta.url)), "utf8");
  const examples = [...readme.matchAll(/```js\n([^`]*(?:`[^`]+)*?)```/g)].map(([, text]) => text);
  assert.ok(examples.length >= 4);
  const backTest = readFileSync(fileURLToPath(new URL("../../pkg-template/backtest.d.ts", import.meta.url)), "utf8");
  const files = { "scrip.d.ts": types, "backtest.d.ts": backTest };
  // An example that imports nothing continues that of rules without the service.
  const first = examples.find((text) => text.includes("prepare"));
  examples.forEach((text, place) => {
    const complete = text.includes("import ") ? text : `${first}\n${text}`;
    files[`example${place}.ts`] = `${complete.replace(/from "@scrip-edge\/page(\/backtest)?"/g, (_, entry) => `from ".${entry ?? "/scrip"}"`)}\nexport {};`;
  });
  assert.deepEqual(complaints(files, { noUncheckedIndexedAccess: true }).map(({ text }) => text), []);
});

test("the hooks keep the types of verdicts", () => {
  const hooks = readFileSync(fileURLToPath(new URL("../../pkg-template/react.d.ts", import.meta.url)), "utf8");
  const page = `import { useShop, useVerdict } from "./react";
import type { Order } from "./scrip";
declare function pay(order: Order): void;
const { shop, state } = useShop({ url: "https://promotions.example", key: { id: "a", token: "b" } });
const verdict = useVerdict(shop, { redeemables: [{ object: "voucher", id: "A" }], order: { amount: 100 } });
if (verdict?.valid) pay(verdict.order);
// @ts-expect-error not every verdict has an order
pay(verdict?.order);
// @ts-expect-error it is unopened at first
state.length;
const none = useVerdict(undefined, undefined);
// @ts-expect-error nothing is decided at first
none.kind;
`;
  assert.deepEqual(complaints({ "scrip.d.ts": types, "react.d.ts": hooks, "page.ts": page }).map(({ text }) => text), []);
});

test("a value that is no answer does not fit", () => {
  const answer = JSON.parse(readFileSync(fileURLToPath(new URL("answer.json", import.meta.url)), "utf8"));
  const [redeemable] = answer.redeemables;
  const wrong = [
    ["Redeemable", { ...redeemable, status: "MAYBE" }],
    ["Redeemable", { ...redeemable, object: "campaign" }],
    ["Order", { ...answer.order, total_amount: "8820" }],
    ["Validation", { ...answer, total: 1 }],
    ["Validation", { ...answer, valid: undefined }],
    ["Validation", { ...answer, order: { ...answer.order, paid: true } }],
    ["ValidationRequest", { order: { amount: 100 } }],
  ];
  const lines = ['import type * as scrip from "./scrip";', `export const right: scrip.Validation = ${JSON.stringify(answer)};`];
  wrong.forEach(([type, value], place) => lines.push(`export const wrong${place}: scrip.${type} = ${JSON.stringify(value)};`));
  const refused = new Set(complaints({ "scrip.d.ts": strict, "answers.ts": lines.join("\n") }).map(({ line }) => line));
  assert.deepEqual([...refused].sort(), wrong.map((_, place) => place + 2));
});
