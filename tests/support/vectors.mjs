// Decides how a vector file is read and compared in JavaScript: the same claims and the same bytes as tests/support/vector.rs,
// which says what stands in a file, and what tests/support/extremes.rs says of much of one thing. It must not know who answers.
import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const FIELDS = ["name", "why", "verb", "context", "given", "request", "claims", "expect"];

/** Where a failing answer lies, by who gave it; `npm run vectors` shows what changed. */
export const FOUND = "target/vectors/found";

/** Every vector that `ONLY` lets through, with its path, in order. */
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
    const request = whole(vector.request);
    const written = partOf(text, "request");
    return { ...vector, path, given: whole(vector.given), request, sent: written.includes('"@') ? JSON.stringify(request) : written };
  });
}

/** Some JSON in its parts, each as it is written: texts, brackets, commas, colons and the rest. */
export function partsOf(json) {
  return json.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^"[\]{},:\s]+/gs) ?? [];
}

/** The value of a field as it is written: parsed and printed, a number may be another text. */
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

/** The paths of all vectors in a folder that holds the repository, in order. */
export function vectorPaths(under = root) {
  const folder = join(under, "tests/vectors");
  const areas = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const paths = areas.flatMap((area) => readdirSync(join(folder, area)).map((name) => `${area}/${name}`));
  return paths.filter((path) => path.endsWith(".json")).sort();
}

/** A part of a vector, with what is written once put there as often as it says. */
function whole(part, count = 0) {
  if (typeof part === "string") return part.replaceAll("{n}", count).replaceAll("{nn}", String(count).padStart(2, "0"));
  if (Array.isArray(part)) {
    const each = (value) => Array.from({ length: value["@times"] }, (_, count) => whole(value["@each"], count));
    return part.flatMap((value) => (Object.hasOwn(value ?? {}, "@each") ? each(value) : [whole(value, count)]));
  }
  if (part === null || typeof part !== "object") return part;
  if ("@from" in part) return part["@from"] + count;
  if ("@cycle" in part) return part["@cycle"][count % part["@cycle"].length];
  if ("@text" in part) return part["@text"].repeat(part["@times"]);
  return Object.fromEntries(Object.entries(part).map(([field, value]) => [field, whole(value, count)]));
}

/** What is wrong with somebody's answer, or nothing: first the claims by hand, then the bytes. */
export function fault(vector, subject, text) {
  const found = join(root, FOUND, subject, vector.path);
  const wrong = faultOf(vector, text);
  if (wrong === "") {
    rmSync(found, { force: true });
    return "";
  }
  mkdirSync(dirname(found), { recursive: true });
  writeFileSync(found, text);
  return `${wrong}\n${FOUND}/${subject}/${vector.path} holds the answer; \`npm run vectors -- ${vector.path.replace(/\.json$/, "")}\` shows what changed`;
}

function faultOf(vector, text) {
  const answer = JSON.parse(text);
  const broken = vector.claims.filter(([pointer, wanted]) => {
    const found = at(answer, pointer);
    return wanted === null ? found !== undefined : JSON.stringify(found) !== JSON.stringify(wanted);
  });
  if (broken.length > 0) {
    const told = broken.map(([pointer, wanted]) => `\`${pointer}\` is to be ${JSON.stringify(wanted)} and is ${JSON.stringify(at(answer, pointer))}`);
    return told.join("; ");
  }
  const { answer: full, sha256: wanted = digest(JSON.stringify(full)) } = vector.expect;
  return digest(text) === wanted ? "" : `the claims hold, the bytes do not: sha256 ${digest(text)} where ${wanted} is pinned`;
}

export function digest(text) {
  return createHash("sha256").update(text).digest("hex");
}

/** The id that the engine draws for a request that is refused as a whole. */
export function requestId({ expect }) {
  return expect.answer?.code === undefined ? expect.request_id : expect.answer.request_id;
}

/** The value that a JSON pointer names. */
function at(value, pointer) {
  const steps = pointer.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  return steps.reduce((found, step) => (
    found !== null && typeof found === "object" && Object.hasOwn(found, step) ? found[step] : undefined), value);
}

/** Says what ran, when anybody asked for it. */
export function record(subject, ran, skipped) {
  tally({ kind: "vectors", subject, ran, skipped });
}

/** One line of what ran, for the summary. */
export function tally(line) {
  if (process.env.SCRIP_TALLY) appendFileSync(process.env.SCRIP_TALLY, `${JSON.stringify(line)}\n`);
}
