// Runs the measurements and reports them. Every contender has a process of its own, in shuffled rounds, with ratios within a round and
// medians over the rounds.
//
// npm run bench                everything
// npm run bench -- edge        only this part; the others stay as they were in results.json
// npm run bench -- --against FOLDER [w1 ...]    compares this build with that of another checkout, and writes nothing
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { buildAll, buildPackage, buildWorker } from "../worker/tools/build.mjs";
import { ensureToolchain } from "../worker/tools/toolchain.mjs";
import { compareWith } from "./against.mjs";
import { median, runContender, shuffled } from "./contender.mjs";
import { packageSize, workerSize } from "./size.mjs";
import { writeTables } from "./table.mjs";
import * as qualification from "./qualify.mjs";
import { undrawn } from "./same.mjs";
import { workload } from "./translate.mjs";
import { measureVerification } from "./verification.mjs";

const root = new URL("../", import.meta.url);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const MS = Number(process.env.BENCH_MS ?? 300);
const WORKLOADS = ["w1", "w2", "w3", "w4"];
const NATIVE = ["floor", "floor-text", "engine", "engine-text"];
const SCRIPT = ["js-object", "js-text", "js-same", "wasm-text", "wasm-bytes", "wasm-object"];
/** Contenders that find qualifying promotions have names of their own, because their answers differ. */
const FINDING = "find-";
const FIND_NATIVE = [...NATIVE, "tree"].map((name) => FINDING + name);
const FIND_SCRIPT = ["js-object", "js-text", "js-same", "js-tree", "wasm-text", "wasm-bytes"].map((name) => FINDING + name);

const scratch = new URL("target/bench/", root);
const resultsPath = new URL("benches/results.json", root);
let binary;

const PARTS = {
  workloads: () => {
    prepareWorkloads();
    return Object.fromEntries(WORKLOADS.map((name) => [name, compare(name)]));
  },
  package: () => packageSize(),
  verification: () => measureVerification(),
  worker: () => workerSize(),
  // Imported late: the toolchain's check installs its libraries.
  edge: async () => (await import("./edge.mjs")).measureEdge({ rounds: ROUNDS }),
  cost: async () => (await import("./cost.mjs")).measureCost(),
  verdicts: async () => (await import("./verdicts.mjs")).measureVerdicts({ rounds: ROUNDS }),
  replays: async () => (await import("./replays.mjs")).measureReplays({ rounds: ROUNDS }),
  scale: async () => (await import("./scale.mjs")).measureScale(),
  bulk: async () => (await import("./bulk.mjs")).measureBulk(),
  cold: async () => (await import("./cold.mjs")).measureCold({ rounds: ROUNDS }),
  polls: async () => (await import("./polls.mjs")).measurePolls({ rounds: ROUNDS }),
  goods: async () => (await import("./goods.mjs")).measureGoods(),
  fetch: async () => (await import("./fetch.mjs")).measureFetch(),
  open: async () => (await import("./open.mjs")).measureOpen(),
  prices: async () => (await import("./prices.mjs")).measurePrices(),
  backtest: async () => (await import("./backtest.mjs")).measureBackTest(),
  points: async () => (await import("./points.mjs")).measurePoints(),
};

/** Measurements of the released Worker. */
const OF_WORKER = new Set(["worker", "edge", "cost", "verdicts", "replays", "scale", "bulk", "cold", "polls", "goods", "fetch", "open"]);

async function main(names) {
  if (names[0] === "--against") {
    await ensureToolchain();
    return await compareBuilds(names[1], names.slice(2));
  }
  const unknown = names.find((name) => !(name in PARTS));
  if (unknown) throw new Error(`unknown part \`${unknown}\`; there are ${Object.keys(PARTS).join(", ")}`);
  await ensureToolchain();
  const parts = names.length === 0 ? Object.keys(PARTS) : names;
  await (parts.some((name) => OF_WORKER.has(name)) ? buildAll() : buildPackage());
  // It sets the clock.
  if (parts.includes("points")) await buildWorker({ testHooks: true });
  const results = {
    ...(existsSync(resultsPath) ? JSON.parse(readFileSync(resultsPath, "utf8")) : {}),
    machine: {
      cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version, load: Math.round(loadavg()[0]),
    },
    method: { rounds: ROUNDS, ms_per_measurement: MS },
  };
  for (const [name, part] of Object.entries(PARTS)) {
    if (parts.includes(name)) results[name] = await part();
  }
  writeFileSync(resultsPath, `${JSON.stringify(results, null, 2)}\n`);
  writeTables(results);
  console.log("written: benches/results.json and the tables in README.md and benches/README.md");
}

async function compareBuilds(folder, names) {
  if (!folder) throw new Error("`--against` needs the folder of another checkout, built");
  const unknown = names.find((name) => !WORKLOADS.includes(name));
  if (unknown) throw new Error(`unknown workload \`${unknown}\`; there are ${WORKLOADS.join(", ")}`);
  const workloads = names.length === 0 ? WORKLOADS : names;
  await compareWith(folder, { workloads, rounds: ROUNDS, ms: MS, buildAll, buildPackage });
}

/** Writes the workloads in this API's objects, as files for the native contenders. */
function prepareWorkloads() {
  mkdirSync(scratch, { recursive: true });
  for (const name of WORKLOADS) {
    const { rules, request } = name === "w3" ? qualification.workload() : workload(name);
    writeFileSync(new URL(`${name}.rules.json`, scratch), JSON.stringify(rules));
    writeFileSync(new URL(`${name}.request.json`, scratch), JSON.stringify(request));
  }
  binary = build();
}

/** Builds the native contenders and returns their folder. */
function build() {
  console.log("building the native contenders");
  const options = { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "inherit"] };
  const lines = execFileSync("cargo", ["bench", "--bench", "native", "--no-run", "--message-format=json"], options);
  const artifacts = lines.trim().split("\n").map((line) => JSON.parse(line));
  return artifacts.findLast((message) => message.executable && message.target?.name === "native").executable;
}

/** Runs one process: checks the answer, returns it and nanoseconds. */
function measure(contender, name) {
  const native = [...NATIVE, ...FIND_NATIVE].includes(contender);
  const file = (kind) => new URL(`${name}.${kind}.json`, scratch).pathname;
  const [command, parameters] = native
    ? [binary, [contender, file("rules"), file("request"), String(MS)]]
    : [process.execPath, [new URL("measure.mjs", import.meta.url).pathname, contender, name, String(MS)]];
  return runContender(command, parameters, name);
}

function compare(name) {
  const prefix = name === "w3" ? FINDING : "";
  const contenders = prefix ? [...FIND_NATIVE, ...FIND_SCRIPT] : [...NATIVE, ...SCRIPT];
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const took = {};
    const texts = {};
    for (const contender of shuffled(contenders)) {
      const { text, ns } = measure(contender, name);
      [took[contender], texts[contender]] = [ns, undrawn(text)];
    }
    if (texts[`${prefix}js-same`] !== texts[`${prefix}wasm-text`]) throw new Error(`${name}: two answers, not the same one`);
    rounds.push(took);
    console.log(`${name}, round ${round + 1} of ${ROUNDS}`);
  }
  const rows = contenders.map((contender) => {
    const ns = rounds.map((took) => took[contender]);
    const ratio = (base) => {
      const ratios = rounds.map((took) => took[contender] / took[prefix + base]);
      return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
    };
    return {
      contender, ns: median(ns), ns_least: Math.min(...ns), ns_most: Math.max(...ns),
      to_floor: ratio("floor"), to_floor_text: ratio("floor-text"), to_js_object: ratio("js-object"), to_js_text: ratio("js-text"),
      to_js_same: ratio("js-same"),
    };
  });
  return rows.sort((a, b) => a.ns - b.ns);
}

await main(process.argv.slice(2));
