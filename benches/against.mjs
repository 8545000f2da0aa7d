// Compares this build with another one in the same rounds: `npm run bench -- --against FOLDER`. Both builds of a round are measured one
// directly after the other, in a random order, so that the ratio of a round holds on a busy machine too.
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { median, runContender, shuffled } from "./contender.mjs";

const here = fileURLToPath(new URL("../", import.meta.url));
const script = fileURLToPath(new URL("measure.mjs", import.meta.url));
/** The files that show whether a checkout has been built. */
const PACKAGE = "pkg/package.json";
const WORKER = "worker/build/modules/index.mjs";

/** Prints the ratios of this build and the one in `folder`; the Workers are compared when the other one is built. */
export async function compareWith(folder, { workloads, rounds, ms, buildAll, buildPackage }) {
  const other = resolve(folder);
  if (!existsSync(join(other, PACKAGE))) throw new Error(`\`${folder}\` has no ${PACKAGE}: build it there first`);
  const hasWorker = existsSync(join(other, WORKER));
  await (hasWorker ? buildAll() : buildPackage());
  const rows = workloads.map((name) => compareWorkload(name, other, { rounds, ms }));
  if (hasWorker) rows.push(...(await compareWorkers(other, rounds)));
  else console.log(`\`${folder}\` has no ${WORKER}: the Workers are not compared`);
  console.log(table(rows, rounds));
}

/** Measures the CPU time of a workload with the package of both builds, UTF-8 in and out. */
function compareWorkload(name, other, { rounds, ms }) {
  const contender = name === "w3" ? "find-wasm-bytes" : "wasm-bytes";
  const bytes = {};
  const measured = [];
  for (let round = 0; round < rounds; round++) {
    measured.push(inTurns((build) => {
      const folder = build === "now" ? here : other;
      const { text, cpu_ns: ns } = runContender(process.execPath, [script, contender, name, String(ms), join(folder, "pkg")], name);
      bytes[build] = Buffer.byteLength(text);
      return ns;
    }));
    console.log(`${name}, round ${round + 1} of ${rounds}`);
  }
  const answer = bytes.now === bytes.before ? "" : ` (the answer has ${bytes.now} bytes, before ${bytes.before})`;
  return { name: `${name.toUpperCase()}, wasm, ns of CPU${answer}`, measured };
}

/** Starts both Workers, and measures the CPU time of `workerd` for a request, in microseconds. */
async function compareWorkers(other, rounds) {
  // Imported late: the toolchain's check installs its libraries.
  const { load, requests, SECONDS } = await import("./edge.mjs");
  const scratch = mkdtempSync(join(tmpdir(), "scrip-bench-"));
  const services = {};
  try {
    services.now = await start(here, join(scratch, "now"));
    services.before = await start(other, join(scratch, "before"));
    const contenders = { now: await requests(services.now.url), before: await requests(services.before.url) };
    const rows = contenders.now.map(({ name }) => ({ name: `${name}, µs of CPU`, measured: [] }));
    for (let round = -1; round < rounds; round++) {
      for (const [place, row] of rows.entries()) {
        const took = {};
        for (const build of shuffled(["now", "before"])) {
          const cpuBefore = cpuTime(services[build].pid);
          const { total } = await load(contenders[build][place], SECONDS);
          took[build] = (cpuTime(services[build].pid) - cpuBefore) / total;
        }
        // The first round warms up.
        if (round >= 0) row.measured.push(took);
      }
      console.log(`workerd, round ${round + 1} of ${rounds}`);
    }
    return rows;
  } finally {
    await Promise.all(Object.values(services).map((service) => service.stop()));
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Starts the released Worker of a checkout with the tools of that checkout. */
async function start(folder, data) {
  const { serve } = await import(pathToFileURL(join(folder, "worker/tools/serve.mjs")));
  const { freePort } = await import("../tests/workerd/harness.mjs");
  const log = createWriteStream(`${data}.log`, { flags: "a" });
  return await serve({ built: join(folder, "worker/build"), port: await freePort(), data, log, watch: false, bare: true });
}

/** Returns the CPU time of a process so far, in microseconds: fields 14 and 15 of its line, in hundredths of a second. */
function cpuTime(pid) {
  const line = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

function inTurns(measure) {
  return Object.fromEntries(shuffled(["now", "before"]).map((build) => [build, measure(build)]));
}

function table(rows, rounds) {
  const digits = (number) => Math.round(number).toLocaleString("en");
  const lines = rows.map(({ name, measured }) => {
    const ratios = measured.map(({ now, before }) => now / before);
    const [now, before] = [median(measured.map((one) => one.now)), median(measured.map((one) => one.before))];
    const range = `${Math.min(...ratios).toFixed(2)}..${Math.max(...ratios).toFixed(2)}`;
    return `| ${name} | ${digits(before)} | ${digits(now)} | ${(now / before).toFixed(2)} (${range}) |`;
  });
  return [`\nMedians of ${rounds} rounds; in brackets the ratios of single rounds.\n`, "| | before | now | now / before |", "|---|---:|---:|---:|", ...lines].join("\n");
}
