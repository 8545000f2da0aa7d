// Decides that the package's types are true: the requests and the exact answers of the vectors compile against them, field by
// field, and what no answer is does not. That the package gives those answers is for the vectors to say.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { tally } from "../browser/tally.mjs";
import { vectors } from "../support/vectors.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const template = resolve(here, "../../pkg-template");
const check = tally("packaging");

const OPTIONS = {
  strict: true, noEmit: true, exactOptionalPropertyTypes: true, types: [],
  target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.esnext.disposable.d.ts"],
};

/** What the compiler says of these files, which exist beside the types and nowhere else: `{ name: text }`. */
function complaints(files) {
  const texts = new Map(Object.entries(files).map(([name, text]) => [join(template, name), text]));
  const host = ts.createCompilerHost(OPTIONS);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => texts.has(name) || fileExists(name);
  host.readFile = (name) => texts.get(name) ?? readFile(name);
  host.getSourceFile = (name, ...more) => {
    const text = texts.get(name);
    return text === undefined ? getSourceFile(name, ...more) : ts.createSourceFile(name, text, OPTIONS.target);
  };
  const program = ts.createProgram([join(template, "slim.d.ts"), ...texts.keys()], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const name = file === undefined ? "" : file.fileName.slice(template.length + 1);
    return `${name}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`;
  });
}

/** A value as a constant of a type. */
const constant = (type, value) => `export const value: import("./scrip.js").${type} = ${JSON.stringify(value)};\n`;

/** The name of a vector as that of a file beside the types. */
const flat = ({ path }) => path.replaceAll(/[/.]/g, "-") + ".ts";

/** None; otherwise the first of them, as a thousand help nobody. */
function none(told) {
  assert.equal(told.slice(0, 20).join("\n"), "", `${told.length} complaints`);
}

const decided = vectors().filter(({ verb }) => verb === "validate" || verb === "qualify");
const isRefused = ({ expect: { answer } }) => "code" in answer;

check("the exact answers of the vectors are what the types say, field by field", () => {
  const files = {};
  for (const vector of decided) {
    const type = vector.verb === "validate" ? "Validation" : "Qualification";
    files[flat(vector)] = constant(isRefused(vector) ? "Invalid" : type, vector.expect.answer);
  }
  none(complaints(files));
  console.log(`${decided.length} answers compiled`);
});

check("what the vectors ask is what the types allow", () => {
  const files = {};
  for (const vector of decided) {
    // A request that cannot be read is there to be wrong.
    if (isRefused(vector) && vector.expect.answer.key === "invalid_payload") continue;
    const type = vector.verb === "validate" ? "ValidationRequest" : "QualificationRequest";
    files[flat(vector)] = constant(type, vector.request);
  }
  none(complaints(files));
});

const answer = JSON.parse(readFileSync(join(here, "answer.json"), "utf8"));
const WRONG = {
  "a status that there is not": ["Redeemable", { ...answer.redeemables[0], status: "MAYBE" }],
  "an amount that is text": ["Order", { ...answer.order, total_amount: "8820" }],
  "a field that no answer has": ["Validation", { ...answer, total: 1 }],
  "a redeemable that is a campaign": ["Redeemable", { ...answer.redeemables[0], object: "campaign" }],
  "a percentage of a discount of money": ["Discount", { type: "AMOUNT", percent_off: 5, effect: "APPLY_TO_ORDER", is_dynamic: false }],
  "an answer without a verdict": ["Validation", { ...answer, valid: undefined }],
  "a request without redeemables": ["ValidationRequest", { order: { amount: 100 } }],
};

check("what no answer and no request is does not compile", () => {
  const files = { "right.ts": constant("Validation", answer) };
  const names = Object.keys(WRONG);
  names.forEach((name, place) => { files[`wrong-${place}.ts`] = constant(...WRONG[name]); });
  const told = complaints(files);
  none(told.filter((line) => !line.startsWith("wrong-")));
  const passed = names.filter((_, place) => !told.some((line) => line.startsWith(`wrong-${place}.ts`)));
  assert.deepEqual(passed, []);
});

check("a page reads an answer without a cast", () => {
  const page = `
    import { prepare, type Validation, type Invalid } from "./scrip.js";
    using rules = prepare({ complete: true });
    const asked: Validation | Invalid = rules.validateObject({
      redeemables: [{ object: "promotion_tier", id: "promo_1" }, { object: "voucher", id: "CARD", gift: { credits: 500 } }],
      order: { items: [{ source_id: "shirt", related_object: "product", quantity: 2, price: 1000 }] },
      options: { expand: ["trace", "category"] },
    }, { now: new Date(), seed: "07" });
    if ("code" in asked) throw new Error(asked.details ?? asked.message);
    export const told: string[] = asked.redeemables.map(({ id, object, status, result, order, categories }) => {
      if (status !== "APPLICABLE") return \`\${object} \${id}: \${result.details?.key ?? ""} \${result.error?.error?.message ?? ""}\`;
      if (result.gift) return \`\${result.gift.credits} of \${result.gift.balance}\`;
      if (result.loyalty_card) return \`\${result.loyalty_card.points} for \${result.reward?.name ?? ""}\`;
      const discount = result.discount;
      if (discount?.type === "PERCENT") return \`\${discount.percent_off} %\`;
      if (discount?.type === "UNIT" && "units" in discount) return discount.units.map((unit) => unit.unit_type).join();
      return \`\${order?.items?.[0]?.subtotal_amount ?? 0} \${categories?.[0]?.name ?? ""} \${result.bundle?.missing?.[0]?.id ?? ""}\`;
    });
    export const final: boolean = asked.provisional === undefined;
    const found = rules.qualifyObject({ scenario: "ALL", options: { filters: { junction: "or", code: { conditions: { $is: ["A"] } } } } });
    export const tiers = "code" in found ? [] : found.redeemables.data.flatMap(({ redeemables }) => redeemables ?? []);
    export const why = asked.trace?.[0]?.rule?.change?.text;
  `;
  none(complaints({ "page.ts": page }));
});
