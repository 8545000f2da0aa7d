// Reads and compares vector files in JavaScript: the same claims and the same bytes as tests/support/vector.rs, which describes the files.
// tests/support/templates.rs describes the templates for repeated values.
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const FIELDS = ["name", "spec", "why", "verb", "context", "given", "request", "claims", "expect"];

/** The folder of failing answers, by engine; `npm run vectors` shows the differences. */
export const FOUND = "target/vectors/found";

/** Returns the vectors that `ONLY` selects, with their paths, in order. */
export function vectors() {
  const only = process.env.ONLY ?? "";
  const chosen = vectorPaths().filter((path) => path.startsWith(only));
  if (chosen.length === 0) throw new Error(`no vector begins with \`${only}\``);
  return chosen.map((path) => {
    const text = readFileSync(join(root, "tests/vectors", path), "utf8");
    const vector = JSON.parse(text);
    const unknown = Object.keys(vector).filter((field) => !FIELDS.includes(field));
    if (unknown.length > 0) throw new Error(`${path}: unknown field \`${unknown[0]}\``);
    if (!(vector.claims.length > 0)) throw new Error(`${path}: claims nothing of the answer`);
    const request = expand(vector.request);
    const written = partOf(text, "request");
    return { ...vector, path, given: world(expand(vector.given)), request, sent: written.includes('"@') ? JSON.stringify(request) : written };
  });
}

const LISTS = [
  "campaigns", "vouchers", "promotion_tiers", "promotion_stacks", "categories", "rewards", "reward_assignments", "customers", "orders",
  "products", "skus", "product_collections", "segments", "validation_rules", "validation_rules_assignments", "redemptions",
];

/**
 * Completes the `given` of a vector to the data of a service, as tests/support/service_facts.rs does. Everything is counted, and a complete one has
 * every list.
 */
export function world(given) {
  const { counted = true } = given;
  const lists = given.complete === true ? Object.fromEntries(LISTS.map((list) => [list, []])) : {};
  const settings = { time_zone: "UTC", stacking_rules: {}, case_sensitive_codes: true };
  return { counted, ...settings, ...(counted && { transfers: [] }), ...lists, ...given };
}

/** Splits JSON into its tokens as they are written: texts, brackets, commas, colons and the rest. */
export function partsOf(json) {
  return json.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^"[\]{},:\s]+/gs) ?? [];
}

/** Returns the value of a field as it is written: parsed and printed, a number may be another text. */
function partOf(json, field) {
  let depth = 0;
  const parts = partsOf(json);
  const begin = parts.findIndex((part, place) => {
    depth += Number(part === "{" || part === "[") - Number(part === "}" || part === "]");
    return depth === 1 && part === JSON.stringify(field) && parts[place + 1] === ":";
  }) + 2;
  depth = 0;
  const length = parts.slice(begin).findIndex((part) => {
    depth += Number(part === "{" || part === "[") - Number(part === "}" || part === "]");
    return depth < 0 || (depth === 0 && part === ",");
  });
  return parts.slice(begin, begin + length).join("");
}

/** Returns the paths of all vectors in a folder of the repository, in order. */
export function vectorPaths(under = root) {
  const folder = join(under, "tests/vectors");
  const areas = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const paths = areas.flatMap((area) => readdirSync(join(folder, area)).map((name) => `${area}/${name}`));
  return paths.filter((path) => path.endsWith(".json")).sort();
}

/** Expands the templates for repeated values in a part of a vector. */
function expand(part, count = 0) {
  if (typeof part === "string") return part.replaceAll("{n}", count).replaceAll("{nn}", String(count).padStart(2, "0"));
  if (Array.isArray(part)) {
    const each = (value) => Array.from({ length: value["@times"] }, (_, count) => expand(value["@each"], count));
    return part.flatMap((value) => (Object.hasOwn(value ?? {}, "@each") ? each(value) : [expand(value, count)]));
  }
  if (part === null || typeof part !== "object") return part;
  if ("@from" in part) return part["@from"] + count;
  if ("@cycle" in part) return part["@cycle"][count % part["@cycle"].length];
  if ("@text" in part) return part["@text"].repeat(part["@times"]);
  return Object.fromEntries(Object.entries(part).map(([field, value]) => [field, expand(value, count)]));
}

/** Returns the fault of an answer, or an empty text: first the claims by hand, then the bytes. */
export function fault(vector, subject, text) {
  const found = join(root, FOUND, subject, vector.path);
  const problem = faultOf(vector, text);
  if (problem === "") {
    rmSync(found, { force: true });
    return "";
  }
  mkdirSync(dirname(found), { recursive: true });
  writeFileSync(found, text);
  return `${problem}\n${FOUND}/${subject}/${vector.path} holds the answer; \`npm run vectors -- ${vector.path.replace(/\.json$/, "")}\` shows what changed`;
}

function faultOf(vector, text) {
  const answer = JSON.parse(text);
  const broken = vector.claims.filter(([pointer, expected]) => {
    const found = at(answer, pointer);
    return expected === null ? found !== undefined : JSON.stringify(found) !== JSON.stringify(expected);
  });
  if (broken.length > 0) {
    const faults = broken.map(([pointer, expected]) => `\`${pointer}\` is to be ${JSON.stringify(expected)} and is ${JSON.stringify(at(answer, pointer))}`);
    return faults.join("; ");
  }
  const { answer: full, sha256: expected = digest(JSON.stringify(full)) } = vector.expect;
  return digest(text) === expected ? "" : `the claims hold, the bytes do not: sha256 ${digest(text)} where ${expected} is pinned`;
}

export function digest(text) {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns the id that the engine draws for a refused request. */
export function requestId({ expect }) {
  return expect.answer?.code === undefined ? expect.request_id : expect.answer.request_id;
}

/** Returns the value at a JSON pointer. */
function at(value, pointer) {
  const steps = pointer.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return steps.reduce((found, step) => (
    found !== null && typeof found === "object" && Object.hasOwn(found, step) ? found[step] : undefined), value);
}

/** Records the counts for the summary of `npm test`. */
export function record(subject, ran, skipped) {
  appendReport({ kind: "vectors", subject, ran, skipped });
}

/** Appends a line to the file that SCRIP_TEST_REPORT names. */
export function appendReport(line) {
  if (process.env.SCRIP_TEST_REPORT) appendFileSync(process.env.SCRIP_TEST_REPORT, `${JSON.stringify(line)}\n`);
}
