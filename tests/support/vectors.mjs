// Decides how a vector file is read and compared in JavaScript: the same claims and the same bytes as tests/vectors.rs.
// It must not know who answers.
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../vectors/", import.meta.url));
const FIELDS = ["name", "why", "verb", "context", "given", "request", "claims", "expect"];

/** Every vector that `ONLY` lets through, with its path, in order. */
export function vectors() {
  const only = process.env.ONLY ?? "";
  const areas = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const paths = areas.flatMap((area) => readdirSync(join(folder, area)).map((name) => `${area}/${name}`));
  const chosen = paths.filter((path) => path.endsWith(".json") && path.startsWith(only)).sort();
  if (chosen.length === 0) throw new Error(`no vector begins with \`${only}\``);
  return chosen.map((path) => {
    const vector = JSON.parse(readFileSync(join(folder, path), "utf8"));
    const unknown = Object.keys(vector).filter((field) => !FIELDS.includes(field));
    if (unknown.length > 0) throw new Error(`${path}: unknown field \`${unknown[0]}\``);
    return { path, ...vector };
  });
}

/** What is wrong with an answer, or nothing: first the claims by hand, then the bytes. `alike` says what may differ. */
export function fault(vector, text, alike = (answer) => answer) {
  const answer = JSON.parse(text);
  const broken = vector.claims.filter(([pointer, wanted]) => {
    const found = at(answer, pointer);
    return wanted === null ? found !== undefined : JSON.stringify(found) !== JSON.stringify(wanted);
  });
  if (broken.length > 0) {
    const told = broken.map(([pointer, wanted]) => `\`${pointer}\` is to be ${JSON.stringify(wanted)} and is ${JSON.stringify(at(answer, pointer))}`);
    return `${told.join("; ")}\n${text}`;
  }
  const wanted = JSON.stringify(vector.expect.answer);
  return alike(wanted) === alike(text) ? "" : `the answer is another one\nwanted ${wanted}\nfound  ${text}`;
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
