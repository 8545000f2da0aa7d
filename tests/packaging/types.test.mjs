// Decides that the package's types say what the engine answers: every answer that the packed package gives to a vector is
// compiled against them, and is the one that the vector pins. Fields beyond those that are named are allowed to callers, for what a later version adds; here they are not.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { scrip } from "../support/package.mjs";
import { fault, tally, vectors } from "../support/vectors.mjs";

const types = readFileSync(fileURLToPath(new URL("../../pkg-template/scrip.d.ts", import.meta.url)), "utf8");
const KINDS = { validate: ["ValidationRequest", "Validation"], qualify: ["QualificationRequest", "Qualification"] };

/** The types without their allowance for more fields; custom data stays the caller's. */
const strict = types.replaceAll(/ extends (Expanded, )?Json \{/g, (_, more) => (more ? " extends Expanded {" : " {"))
  .replaceAll(/^ *\[field: string\]: unknown;\n/gm, "");

/** What TypeScript says of some files, by their names. */
function told(files) {
  const folder = mkdtempSync(join(tmpdir(), "scrip-types-"));
  try {
    const paths = Object.entries(files).map(([name, text]) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    });
    const options = {
      strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, types: [],
      lib: ["lib.es2022.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts"], moduleResolution: ts.ModuleResolutionKind.Bundler,
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

test("every answer and every request that is answered fits the types, and nothing that they do not name", () => {
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
  const wrong = told({ "scrip.d.ts": strict, "open.d.ts": types, "answers.ts": lines.join("\n") });
  assert.deepEqual(wrong.slice(0, 20).map(({ text }) => text), []);
  tally({ kind: "types", ran, skipped: [] });
});

test("a page that reads the types reads them as meant", () => {
  const page = `import type { Prepared, Validation, Invalid } from "./scrip";
declare const prepared: Prepared;
const verdict: Validation | Invalid = prepared.validateObject({
  redeemables: [{ object: "promotion_tier", id: "promo_1" }, { object: "voucher", id: "CARD", reward: { id: "rew_1", points: 5 } }],
});
for (const redeemable of "redeemables" in verdict ? (verdict as Validation).redeemables : []) {
  if (redeemable.status === "APPLICABLE") {
    const off: number | undefined = redeemable.order?.total_applied_discount_amount;
    const name: string | undefined = redeemable.result.discount?.product?.name;
    console.log(off, name);
  } else if (redeemable.status === "INAPPLICABLE") {
    const key: string = redeemable.result.error.key;
    console.log(key);
  } else {
    const key: string = redeemable.result.details.key;
    console.log(key);
  }
}
// @ts-expect-error nothing else can be redeemed
prepared.validateObject({ redeemables: [{ object: "coupon", id: "A" }] });
`;
  assert.deepEqual(told({ "scrip.d.ts": types, "page.ts": page }).map(({ text }) => text), []);
});

test("what no answer is does not fit", () => {
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
  const refused = new Set(told({ "scrip.d.ts": strict, "answers.ts": lines.join("\n") }).map(({ line }) => line));
  assert.deepEqual([...refused].sort(), wrong.map((_, place) => place + 2));
});
