// Decides what `npm test` runs, in tiers, and how it reports: everything that a change must pass. It installs what is
// missing, says what was skipped and why, and ends with one plain line of counts.
//
// npm test                    everything
// npm test -- rust workerd    only these tiers (and what they need built)
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Remedy, root, run, say, works } from "../worker/tools/say.mjs";
import { ensureToolchain } from "../worker/tools/toolchain.mjs";

const TALLY = join(root, "target/tally.jsonl");
const WASM = ["--target", "wasm32-unknown-unknown"];
const REHEARSED = ["--features", "scrip-worker/rehearsal"];

const totals = { passed: 0, failed: 0, skipped: 0 };
const report = [];

const tiers = {
  format: () => command("cargo", ["fmt", "--all", "--check"]),
  lint: async () => {
    const strict = ["--", "-D", "warnings"];
    await command("cargo", ["clippy", "--workspace", "--all-targets", ...REHEARSED, ...strict]);
    // Both at once, so that what they need has the features of both and is looked at once.
    const binaries = ["clippy", "-p", "scrip-worker", "-p", "scrip-package", ...WASM];
    await command("cargo", [...binaries, ...strict]);
    await command("cargo", [...binaries, ...REHEARSED, ...strict]);
  },
  rust: async () => {
    if (await works("cargo", ["nextest", "--version"])) {
      await command("cargo", ["nextest", "run", "--workspace", "--no-fail-fast", "--no-tests=pass", ...REHEARSED], countNextest);
    } else {
      await command("cargo", ["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests", ...REHEARSED], countCargo);
    }
    await command("cargo", ["test", "--workspace", "--doc"], countCargo);
  },
  build: async () => {
    const { buildPackage, buildWorker } = await import("../worker/tools/build.mjs");
    await build("the npm package", () => buildPackage());
    await build("the rehearsal Worker", () => buildWorker({ rehearsal: true }));
    await build("the released Worker", () => buildWorker());
  },
  workerd: () => nodeTests("workerd"),
  vectors: () => nodeTests("vectors"),
  stories: () => nodeTests("stories"),
  client: () => nodeTests("client"),
  generated: () => nodeTests("generated"),
  packaging: () => nodeTests("packaging"),
  browser: async () => {
    await ensureChromium();
    await nodeTests("browser");
  },
};

const needsBuild = new Set(["workerd", "vectors", "stories", "client", "generated", "packaging", "browser"]);
// Packaging shows the package in a page too.
const needsChromium = new Set(["packaging", "browser"]);

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Remedy ? `\nscrip: ${error.message}` : error);
  totals.failed += 1;
}
summarise();
process.exit(totals.failed === 0 ? 0 : 1);

async function main(asked) {
  const unknown = asked.filter((name) => !(name in tiers));
  if (unknown.length > 0) throw new Remedy(`unknown tier \`${unknown[0]}\`; there are ${Object.keys(tiers).join(", ")}`);
  const chosen = new Set(asked.length === 0 ? Object.keys(tiers) : asked);
  if (asked.some((name) => needsBuild.has(name))) chosen.add("build");
  mkdirSync(join(root, "target"), { recursive: true });
  writeFileSync(TALLY, "");
  process.env.SCRIP_TALLY = TALLY;
  await ensureToolchain();
  if ([...chosen].some((name) => needsChromium.has(name))) await ensureChromium();
  for (const [name, tier] of Object.entries(tiers)) {
    if (!chosen.has(name)) continue;
    const begun = Date.now();
    const before = { ...totals };
    console.log(`\n== ${name}`);
    await tier();
    const gained = Object.keys(totals).map((key) => `${totals[key] - before[key]} ${key}`).join(", ");
    report.push(`${name.padEnd(10)} ${gained}, ${((Date.now() - begun) / 1000).toFixed(0)} s`);
    if (name === "build" && totals.failed > before.failed) throw new Remedy("the build failed; the tiers after it cannot run");
  }
}

/** Runs a program with its output shown; without `count` it is one check that passes or fails. */
async function command(program, args, count) {
  console.log(`-- ${[program, ...args].join(" ")}`);
  const { code, output } = await watch(program, args);
  if (count) {
    const counted = count(output);
    totals.passed += counted.passed;
    totals.failed += counted.failed;
    totals.skipped += counted.skipped;
    // A runner that broke before it counted has failed all the same.
    if (code !== 0 && counted.failed === 0) totals.failed += 1;
  } else if (code === 0) totals.passed += 1;
  else totals.failed += 1;
}

async function build(what, body) {
  try {
    await body();
    totals.passed += 1;
  } catch (error) {
    console.error(`building ${what} failed: ${error.message}`);
    totals.failed += 1;
  }
}

/** The files `*.test.mjs` of a folder, one after another: they start servers and share two cores. */
async function nodeTests(folder) {
  const files = testFiles(join("tests", folder));
  if (files.length === 0) {
    console.log(`-- tests/${folder} has no test files`);
    return;
  }
  await command(process.execPath, ["--test", "--test-concurrency=1", "--test-reporter=spec", ...files], countNode);
}

function testFiles(folder) {
  try {
    return readdirSync(join(root, folder)).filter((name) => name.endsWith(".test.mjs")).sort().map((name) => join(folder, name));
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

function watch(program, args) {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd: root, env: { ...process.env, CARGO_TERM_COLOR: "never", NO_COLOR: "1" } });
    let output = "";
    for (const [stream, to] of [[child.stdout, process.stdout], [child.stderr, process.stderr]]) {
      stream.on("data", (chunk) => {
        output += chunk;
        to.write(chunk);
      });
    }
    child.on("error", (error) => done({ code: 1, output: String(error) }));
    child.on("close", (code) => done({ code: code ?? 1, output }));
  });
}

function countNextest(output) {
  const line = /Summary \[.*?\] +\d+(?:\/\d+)? tests? run: (.*)/.exec(output)?.[1] ?? "";
  const number = (word) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  return { passed: number("passed"), failed: number("failed") + number("timed out"), skipped: number("skipped") };
}

function countCargo(output) {
  const counted = { passed: 0, failed: 0, skipped: 0 };
  for (const [, passed, failed, ignored] of output.matchAll(/test result: .*? (\d+) passed; (\d+) failed; (\d+) ignored/g)) {
    counted.passed += Number(passed);
    counted.failed += Number(failed);
    counted.skipped += Number(ignored);
  }
  return counted;
}

function countNode(output) {
  const last = (word) => Number([...output.matchAll(new RegExp(`^\\S+ ${word} (\\d+)$`, "gm"))].at(-1)?.[1] ?? 0);
  return { passed: last("pass"), failed: last("fail") + last("cancelled"), skipped: last("skipped") + last("todo") };
}

/** Debian's chromium. Without it the tests in a page are skipped, which continuous integration does not accept. */
async function ensureChromium() {
  if (await works("chromium")) return;
  await installChromium();
  if (await works("chromium")) return;
  say("no `chromium` on the PATH: the tests in a page will be skipped (Debian: `apt-get install chromium`)");
  if (process.env.CI === "true" && !ensureChromium.counted) {
    ensureChromium.counted = true;
    say("with CI=true that is a failure");
    totals.failed += 1;
  }
}

/** Installs it where that is possible without asking anybody: on Debian, as root. */
async function installChromium() {
  if (process.getuid?.() !== 0 || !(await works("apt-get"))) return;
  say("installing chromium with apt-get (once)");
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update", "-qq"], ["install", "-y", "-qq", "chromium"]]) {
    await run("apt-get", args, { stdio: "pipe", env }).catch((error) => say(error.message));
  }
}

/** What ran, kind by kind, what was skipped and why, and the counts alone on the last line. */
function summarise() {
  console.log("\n== summary");
  for (const line of report) console.log(line);
  const kinds = new Map();
  const skips = [];
  for (const { kind, subject, ran, skipped = [] } of readTally()) {
    const name = subject === undefined ? kind : `${kind} (${subject})`;
    kinds.set(name, (kinds.get(name) ?? 0) + ran);
    for (const reason of skipped) skips.push(`${name}: ${reason}`);
  }
  if (kinds.size > 0) console.log(`ran: ${[...kinds].sort().map(([kind, ran]) => `${ran} ${kind}`).join(", ")}`);
  console.log(skips.length === 0 ? "skipped with a reason: nothing" : `skipped with a reason:\n${skips.map((one) => `  ${one}`).join("\n")}`);
  console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
}

function readTally() {
  try {
    return readFileSync(TALLY, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  } finally {
    rmSync(TALLY, { force: true });
  }
}
