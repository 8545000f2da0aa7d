// Decides what is measured and how it is told: every contender in a process of its own, in rounds that are shuffled,
// ratios within a round, medians over the rounds. It must not know how any contender works.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { measureEdge } from "./edge.mjs";
import { packageSize } from "./size.mjs";
import { writeTable } from "./table.mjs";
import { fault, workload } from "./translate.mjs";

const root = new URL("../", import.meta.url);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const MS = Number(process.env.BENCH_MS ?? 300);
const WORKLOADS = ["w1", "w2"];
const NATIVE = ["floor", "floor-text", "engine", "engine-text"];
const SCRIPT = ["js-object", "js-text", "wasm-text", "wasm-bytes", "wasm-object"];

const scratch = new URL("target/bench/", root);
mkdirSync(scratch, { recursive: true });
for (const name of WORKLOADS) {
  const { rules, request } = workload(name);
  writeFileSync(new URL(`${name}.rules.json`, scratch), JSON.stringify(rules));
  writeFileSync(new URL(`${name}.request.json`, scratch), JSON.stringify(request));
}
if (!existsSync(new URL("pkg/package.json", root))) throw new Error("there is no `pkg/` yet: run `npm run build` first");
const binary = build();

/** Builds the native contenders and says where they lie. */
function build() {
  console.log("building the native contenders");
  const options = { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "inherit"] };
  const lines = execFileSync("cargo", ["bench", "--bench", "native", "--no-run", "--message-format=json"], options);
  const artifacts = lines.trim().split("\n").map((line) => JSON.parse(line));
  return artifacts.findLast((message) => message.executable && message.target?.name === "native").executable;
}

/** One process: checks the answer, gives nanoseconds. */
function measure(contender, name) {
  const native = NATIVE.includes(contender);
  const file = (kind) => new URL(`${name}.${kind}.json`, scratch).pathname;
  const [command, parameters] = native
    ? [binary, [contender, file("rules"), file("request"), String(MS)]]
    : [process.execPath, [new URL("measure.mjs", import.meta.url).pathname, contender, name, String(MS)]];
  const child = spawnSync(command, parameters, { encoding: "utf8", maxBuffer: 1 << 28 });
  if (child.status !== 0) throw new Error(`${contender} on ${name} ended with ${child.status}\n${child.stderr}`);
  const [answer, result] = child.stdout.trim().split("\n").map((line) => JSON.parse(line));
  const wrong = fault(workload(name), answer);
  if (wrong) throw new Error(`${contender} on ${name}: ${wrong}`);
  return result.ns;
}

const shuffled = (list) => list.map((item) => [Math.random(), item]).sort(([a], [b]) => a - b).map(([, item]) => item);
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

function compare(name) {
  const contenders = [...NATIVE, ...SCRIPT];
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const took = {};
    for (const contender of shuffled(contenders)) took[contender] = measure(contender, name);
    rounds.push(took);
    console.log(`${name}, round ${round + 1} of ${ROUNDS}`);
  }
  const rows = contenders.map((contender) => {
    const ns = rounds.map((took) => took[contender]);
    const ratio = (base) => {
      const ratios = rounds.map((took) => took[contender] / took[base]);
      return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
    };
    return {
      contender, ns: median(ns), ns_least: Math.min(...ns), ns_most: Math.max(...ns),
      to_floor: ratio("floor"), to_floor_text: ratio("floor-text"), to_js_object: ratio("js-object"), to_js_text: ratio("js-text"),
    };
  });
  return rows.sort((a, b) => a.ns - b.ns);
}

const results = {
  machine: { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version },
  method: { rounds: ROUNDS, ms_per_measurement: MS },
  workloads: Object.fromEntries(WORKLOADS.map((name) => [name, compare(name)])),
  package: packageSize(),
  edge: await measureEdge({ rounds: ROUNDS }),
};
writeFileSync(new URL("benches/results.json", root), `${JSON.stringify(results, null, 2)}\n`);
writeTable(results);
console.log("written: benches/results.json and the table in README.md");
