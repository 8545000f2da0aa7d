// Shows the changes in the answers to vectors: a vector pins the bytes of its answer by a digest, which does not show the difference. The
// answers of a revision come from the engine of that revision, the current ones from the current engine.
//
// npm run vectors                                     every answer that differs from those of HEAD
// npm run vectors -- 20-percent/half-up 30-amount     only vectors whose paths begin so
// npm run vectors -- --from main 20-percent           from the answers of that revision
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { main, print, Remedy, root, run, step } from "../../worker/tools/console.mjs";
import { FOUND, partsOf, vectorPaths } from "../support/vectors.mjs";

const FOLDER = join(root, "target/vectors");
const SUBJECTS = ["service", "http", "wasm", "types"];

await main(async () => {
  const { values, positionals } = parseArgs({ options: { from: { type: "string", default: "HEAD" } }, allowPositionals: true });
  const chosen = (path) => positionals.length === 0 || positionals.some((name) => path.startsWith(name));
  const before = await answersOf(values.from);
  const now = await answersNow();
  const paths = [...new Set([...listed(before), ...listed(now)])].filter(chosen).sort();
  if (paths.length === 0) throw new Remedy(`no vector begins with ${positionals.map((name) => `\`${name}\``).join(" or ")}`);
  rmSync(join(FOLDER, "shown"), { recursive: true, force: true });
  let differing = 0;
  for (const path of paths) {
    if (printDifference(path, values.from.replaceAll("/", "-"), before, "now", now)) differing += 1;
    for (const subject of SUBJECTS) printDifference(path, "now", now, subject, join(root, FOUND, subject), true);
  }
  print(`${differing} of ${paths.length} answers differ from those of ${values.from}`);
});

function listed(folder) {
  return JSON.parse(readFileSync(join(folder, "paths.json"), "utf8"));
}

/** Returns the folder with a revision's answers: taken from its vectors where they contain them in full, else from its engine. */
async function answersOf(revision) {
  const commit = (await run("git", ["rev-parse", "--verify", `${revision}^{commit}`])).trim();
  const folder = join(FOLDER, commit.slice(0, 12));
  if (existsSync(folder)) return folder;
  const made = join(FOLDER, "made");
  const source = join(FOLDER, "source");
  for (const fresh of [made, source]) {
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { recursive: true });
  }
  await run("git", ["archive", "--output", join(source, "source.tar"), commit]);
  // Its files count as new, so that cargo compiles them.
  await run("tar", ["-xmf", join(source, "source.tar"), "-C", source]);
  const paths = vectorPaths(source);
  const full = new Map(paths.map((path) => [path, JSON.parse(readFileSync(join(source, "tests/vectors", path), "utf8")).expect?.answer]));
  for (const [path, answer] of full) if (answer !== undefined) write(join(made, path), JSON.stringify(answer));
  if (paths.some((path) => full.get(path) === undefined)) {
    // A target folder of its own: cargo would reuse its results for this tree where sources are older.
    await runEngine(`asking the engine of ${revision}`, source, made, { CARGO_TARGET_DIR: join(FOLDER, "build") });
  }
  write(join(made, "paths.json"), JSON.stringify(paths));
  rmSync(source, { recursive: true });
  renameSync(made, folder);
  return folder;
}

async function answersNow() {
  const folder = join(FOLDER, "now");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await runEngine("asking the engine of now", root, folder, {});
  write(join(folder, "paths.json"), JSON.stringify(vectorPaths()));
  return folder;
}

/** Has every vector answered by the engine of a source folder. Failing vectors are expected here. */
async function runEngine(what, source, folder, env) {
  // Older revisions have a program only for the vectors.
  const program = existsSync(join(source, "tests/it")) ? "it" : "vectors";
  const cargo = ["--quiet", "-p", "scrip", "--test", program];
  const variables = { ...env, SCRIP_ANSWERS: folder, SCRIP_TEST_REPORT: undefined, ONLY: undefined, UPDATE: undefined };
  await step(what, "cargo", ["test", ...cargo, "--no-run"], { cwd: source, env: variables });
  await run("cargo", ["test", ...cargo, "every_vector_holds"], { cwd: source, env: variables, stdio: "ignore" }).catch(() => {});
  if (readdirSync(folder).length === 0) throw new Remedy(`no vector was answered: \`cargo test -p scrip --test vectors\` in ${source} says why`);
}

/** Prints the difference between two answers to a vector; returns whether there is one. */
function printDifference(path, name, folder, otherName, otherFolder, onlyFound = false) {
  const [one, other] = [text(folder, path), text(otherFolder, path)];
  if (one === other || (onlyFound && other === "")) return false;
  const names = [name, otherName].map((side) => join("shown", side, path));
  write(join(FOLDER, names[0]), laidOut(one));
  write(join(FOLDER, names[1]), laidOut(other));
  if (laidOut(one) === laidOut(other)) console.log(`${path}: ${name} and ${otherName} differ in white space alone`);
  spawnSync("git", ["--no-pager", "diff", "--no-index", "--no-prefix", ...names], { cwd: FOLDER, stdio: "inherit" });
  return true;
}

function text(folder, path) {
  return existsSync(join(folder, path)) ? readFileSync(join(folder, path), "utf8").trimEnd() : "";
}

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Returns JSON with a line for each value, and every byte of each value unchanged. */
function laidOut(json) {
  const parts = partsOf(json);
  let depth = 0;
  const line = (part, deeper) => {
    depth += deeper;
    const begin = `\n${"  ".repeat(depth)}`;
    return deeper < 0 ? begin + part : part + begin;
  };
  const laid = parts.map((part, place) => {
    const isEmpty = /^[[{]$/.test(part) && /^[\]}]$/.test(parts[place + 1]);
    const endsEmpty = /^[[{]$/.test(parts[place - 1]) && /^[\]}]$/.test(part);
    if (isEmpty || endsEmpty) return part;
    if (part === "{" || part === "[") return line(part, 1);
    if (part === "}" || part === "]") return line(part, -1);
    if (part === ",") return line(part, 0);
    return part === ":" ? ": " : part;
  });
  return `${laid.join("")}\n`;
}
