// Runs `npm test` in tiers: all checks that a change must pass. It installs missing tools, reports skipped tests with the reason, and ends
// with one line of counts.
//
// npm test                    everything
// npm test -- rust workerd    only these tiers (and the builds that they need)
// npm run packed              the tier `packed`: the package in frameworks and bundlers beyond Vite and Node
// npm run check               the tiers `format`, `clippy` and `native`: what is run after each change, in four minutes at most
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { buildPackage } from "../worker/tools/build.mjs";
import { canRun, print, Remedy, root, run } from "../worker/tools/console.mjs";
import { ensureToolchain } from "../worker/tools/toolchain.mjs";

const REPORT = join(root, "target/test_report.jsonl");
const WASM = ["--target", "wasm32-unknown-unknown"];
const TEST_HOOKS = ["--features", "scrip-worker/test-hooks"];

/**
 * Native tests that `npm run check` leaves to `npm test`: sweeps over all fields and routes, and slow second models. They are a twentieth of
 * the tests and take more than half of the time.
 */
const SWEEPS = [
  "malformed_input::", "load::", "oversized_input::", "webhook_events::", "generated_shops::", "referral_rewards::", "campaign_points::",
  "fields::every_field_is_returned", "order_returns::a_full_return_restores", "order_returns::all_refunds_equal",
  "differential::ten_thousand_cases", "every_route_has_a_story",
];

/**
 * The builds that the later tiers test. They begin with the first tier and run in parallel to it, because the compilation of one crate keeps only
 * one core busy; their output is printed in order.
 */
let builds;

/**
 * Files of `tests/workerd` that mostly wait: for a poll, a timeout, the end of a connection. They run in parallel to the rest of the tier and to later tiers.
 * Those that measure under load, or wait for a fixed time, run alone; of the others, two at a time.
 */
const WAITING = ["feed", "bundle-copies", "invalid-http"].map((name) => `${name}.test.mjs`);
const ALONE = ["chaos", "exports", "failed-codes", "jobs", "load", "parallel-calls", "webhooks"].map((name) => `${name}.test.mjs`);
let waiting;

const totals = { passed: 0, failed: 0, skipped: 0 };
const report = [];
/** Names of the failed tests and commands with the begin of their errors, for the end of the output. */
const failures = new Map();

const tiers = {
  format: () => command("cargo", ["fmt", "--all", "--check"]),
  clippy: () => clippy("--workspace", "--all-targets", ...TEST_HOOKS),
  lint: async () => {
    await tiers.clippy();
    // Both at once, so that their dependencies have the features of both and are checked once.
    const binaries = ["-p", "scrip-worker", "-p", "scrip-package", ...WASM];
    await clippy(...binaries);
    await clippy(...binaries, ...TEST_HOOKS);
  },
  native: () => nativeTests(SWEEPS),
  rust: async () => {
    await nativeTests();
    // With the features of the tests before, so that the service is not compiled again.
    await command("cargo", ["test", "--workspace", "--doc", ...TEST_HOOKS], countCargo);
  },
  build: async () => {
    const done = await builds;
    process.stdout.write(done.output);
    countResult(done);
  },
  workerd: async () => {
    await nodeTests("workerd", (name) => ALONE.includes(name));
    waiting = watch(process.execPath, testCommand(WAITING.map((name) => join("tests/workerd", name))), { isVisible: false });
    await nodeTests("workerd", (name) => !ALONE.includes(name) && !WAITING.includes(name), 2);
  },
  vectors: () => nodeTests("vectors"),
  stories: () => nodeTests("stories"),
  client: () => nodeTests("client"),
  generated: () => nodeTests("generated"),
  packaging: () => nodeTests("packaging"),
  packed: async () => {
    await buildPackage();
    await nodeTests("packed");
  },
  browser: async () => {
    await ensureChromium();
    await nodeTests("browser");
  },
  waiting: async () => {
    const done = await waiting;
    process.stdout.write(done.output);
    countResult(done, countNode);
  },
};

/** Tiers that a complete run leaves out: parts of others, and the one of `npm run packed`. */
const leftOut = new Set(["clippy", "native", "packed"]);
const needsBuild = new Set(["workerd", "vectors", "stories", "client", "generated", "packaging", "browser"]);
// Packaging tests the package in a page too.
const needsChromium = new Set(["packaging", "packed", "browser"]);

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Remedy ? `\nscrip: ${error.message}` : error);
  totals.failed += 1;
}
summarise();
process.exit(totals.failed === 0 ? 0 : 1);

async function main(names) {
  const unknown = names.filter((name) => !(name in tiers));
  if (unknown.length > 0) throw new Remedy(`unknown tier \`${unknown[0]}\`; there are ${Object.keys(tiers).join(", ")}`);
  const chosen = new Set(names.length === 0 ? Object.keys(tiers).filter((name) => !leftOut.has(name)) : names);
  if (names.some((name) => needsBuild.has(name))) chosen.add("build");
  if (chosen.has("workerd")) chosen.add("waiting");
  else chosen.delete("waiting");
  mkdirSync(join(root, "target"), { recursive: true });
  writeFileSync(REPORT, "");
  process.env.SCRIP_TEST_REPORT = REPORT;
  // A clean checkout is compiled once: what only a later compilation would use costs time.
  if (process.env.CI === "true") process.env.CARGO_INCREMENTAL ??= "0";
  await ensureToolchain();
  if ([...chosen].some((name) => needsChromium.has(name))) await ensureChromium();
  if (chosen.has("build")) builds = watch(process.execPath, ["tests/builds.mjs"], { isVisible: false });
  for (const [name, tier] of Object.entries(tiers)) {
    if (!chosen.has(name)) continue;
    const startedAt = Date.now();
    const before = { ...totals };
    console.log(`\n== ${name}`);
    await tier();
    const gained = Object.keys(totals).map((key) => `${totals[key] - before[key]} ${key}`).join(", ");
    report.push(`${name.padEnd(10)} ${gained}, ${((Date.now() - startedAt) / 1000).toFixed(0)} s`);
    if (name === "build" && totals.failed > before.failed) throw new Remedy("the build failed; the tiers after it cannot run");
  }
}

/** Runs a program with visible output; without `count` it is one check that passes or fails. */
async function command(program, args, count) {
  const line = [program, ...args].join(" ");
  console.log(`-- ${line}`);
  const done = await watch(program, args);
  countResult(done, count);
  if (done.code !== 0 && failedTests(done.output).length === 0) failures.set(line, "");
}

/** Names of the failed tests in the output of `cargo nextest`, `cargo test` and `node --test`. */
function failedTests(output) {
  const forms = [/^ *(?:FAIL|SIGABRT|SIGSEGV|TIMEOUT) \[.*?\] +(?:\([^)]*\) +)?(\S.*)$/gm, /^test (.*) \.\.\. FAILED$/gm, /^ *\u2716 (.*?) \([\d.]+ms\)/gm];
  return forms.flatMap((form) => [...output.matchAll(form)].map(([, name]) => name.trim()));
}

/** Returns the begin of a failed test's error, which the runners print after its name. */
function errorOf(name, output) {
  const marks = [`\u2716 ${name} (`, `---- ${name} stdout ----`];
  const at = Math.max(...marks.map((mark) => output.lastIndexOf(mark)));
  if (at < 0) return "";
  const lines = output.slice(at, at + 4_000).split("\n").slice(1).map((line) => line.trim()).filter(Boolean);
  return lines.slice(0, 4).join(" ").slice(0, 600);
}

function countResult({ code, output }, count) {
  if (code !== 0) for (const name of failedTests(output)) failures.set(name, errorOf(name, output));
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

async function clippy(...args) {
  await command("cargo", ["clippy", ...args, "--", "-D", "warnings"]);
}

/** Runs the native tests, except for those whose names contain one of these texts. */
async function nativeTests(without = []) {
  if (await canRun("cargo", ["nextest", "--version"])) {
    const filter = without.length === 0 ? [] : ["-E", `not (${without.map((name) => `test(${name})`).join(" | ")})`];
    await command("cargo", ["nextest", "run", "--workspace", "--no-fail-fast", "--no-tests=pass", ...TEST_HOOKS, ...filter], countNextest);
  } else {
    const skipped = without.flatMap((name) => ["--skip", name]);
    await command("cargo", ["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests", ...TEST_HOOKS, "--", ...skipped], countCargo);
  }
}

/** Runs the files `*.test.mjs` of a folder, or some of them, some at a time: they start servers and share two cores. */
async function nodeTests(folder, isChosen = () => true, atOnce = 1) {
  const files = testFiles(join("tests", folder)).filter((path) => isChosen(basename(path)));
  if (files.length === 0) {
    console.log(`-- tests/${folder} has no test files`);
    return;
  }
  await command(process.execPath, testCommand(files, atOnce), countNode);
}

function testCommand(files, atOnce = 1) {
  return ["--test", `--test-concurrency=${atOnce}`, "--test-reporter=spec", ...files];
}

function testFiles(folder) {
  try {
    return readdirSync(join(root, folder)).filter((name) => name.endsWith(".test.mjs")).sort().map((name) => join(folder, name));
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

function watch(program, args, { isVisible = true } = {}) {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd: root, env: { ...process.env, CARGO_TERM_COLOR: "never", NO_COLOR: "1" } });
    let output = "";
    for (const [stream, to] of [[child.stdout, process.stdout], [child.stderr, process.stderr]]) {
      stream.on("data", (chunk) => {
        output += chunk;
        if (isVisible) to.write(chunk);
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

/**
 * Installs Debian's chromium where it is missing. Without it the tests in a page are skipped, which continuous integration does not accept.
 */
async function ensureChromium() {
  if (await canRun("chromium")) return;
  await installChromium();
  if (await canRun("chromium")) return;
  print("no `chromium` on the PATH: the tests in a page will be skipped (Debian: `apt-get install chromium`)");
  if (process.env.CI === "true" && !ensureChromium.counted) {
    ensureChromium.counted = true;
    print("with CI=true that is a failure");
    totals.failed += 1;
  }
}

/** Installs it where no prompt appears: on Debian, as root. */
async function installChromium() {
  if (process.getuid?.() !== 0 || !(await canRun("apt-get"))) return;
  print("installing chromium with apt-get (once)");
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update", "-qq"], ["install", "-y", "-qq", "chromium"]]) {
    await run("apt-get", args, { stdio: "pipe", env }).catch((error) => print(error.message));
  }
}

/** Prints the counts by kind, the reasons of skipped tests, the names of failed ones, and the totals on the last line. */
function summarise() {
  console.log("\n== summary");
  for (const line of report) console.log(line);
  const kinds = new Map();
  const skips = new Map();
  for (const { kind, subject, ran, skipped = [] } of readReport()) {
    const name = subject === undefined ? kind : `${kind} (${subject})`;
    kinds.set(name, (kinds.get(name) ?? 0) + ran);
    for (const text of skipped) {
      const [, where, reason] = /^(?:(\S+\.json(?: step \d+)?): )?(.*)$/s.exec(text);
      const key = `${name}: ${reason}`;
      skips.set(key, [...(skips.get(key) ?? []), where].filter(Boolean));
    }
  }
  if (kinds.size > 0) console.log(`ran: ${[...kinds].sort().map(([kind, ran]) => `${ran} ${kind}`).join(", ")}`);
  if (skips.size === 0) console.log("skipped with a reason: nothing");
  else console.log(["skipped with a reason:", ...[...skips].map(([reason, where]) => `  ${reason}${describePlaces(where)}`)].join("\n"));
  if (failures.size > 0) console.log(["failed:", ...[...failures].map(([name, error]) => `  ${name}${error && `\n    ${error}`}`)].join("\n"));
  console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
}

function describePlaces(where) {
  if (where.length === 0) return "";
  return where.length === 1 ? ` (${where[0]})` : ` (${where.length}, from ${where[0]} on)`;
}

function readReport() {
  try {
    return readFileSync(REPORT, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  } finally {
    rmSync(REPORT, { force: true });
  }
}
