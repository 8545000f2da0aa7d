// Measures one contender in JavaScript for one workload: `measure.mjs <contender> <workload> <ms> [<package>]`. It is a process of its own,
// so that no contender warms the machine for another. Prints the answer first, then nanoseconds, by the clock and of
// CPU time.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { median } from "./contender.mjs";
import * as byHand from "./find.mjs";
import * as plain from "./plain.mjs";
import * as same from "./same.mjs";
import * as qualification from "./qualify.mjs";
import { workload } from "./translate.mjs";

const [contender, name, ms, packageFolder] = process.argv.slice(2);
const { rules, request } = name === "w3" ? qualification.workload() : workload(name);
const text = JSON.stringify(request);
const context = { now: "2026-03-01T12:00:00Z", seed: "01" };

const WARM_UP_MS = Number(process.env.BENCH_WARM_UP_MS ?? 2_500);

const CONTENDERS = {
  "js-object": () => {
    const held = plain.prepare(rules);
    return [() => plain.validate(held, request), JSON.stringify];
  },
  "js-text": () => {
    const held = plain.prepare(rules);
    return [() => JSON.stringify(plain.validate(held, JSON.parse(text))), String];
  },
  "js-same": () => {
    const held = same.prepare(rules);
    return [() => JSON.stringify(same.validate(held, JSON.parse(text))), String];
  },
  "wasm-text": (scrip) => {
    const held = scrip.prepare(rules);
    return [() => held.validate(text, context), String];
  },
  "wasm-bytes": (scrip) => {
    const held = scrip.prepare(rules);
    const bytes = new TextEncoder().encode(text);
    return [() => held.validateBytes(bytes, context), (answer) => new TextDecoder().decode(answer)];
  },
  "find-js-object": () => {
    const held = byHand.prepare(rules);
    return [() => byHand.find(held, request), JSON.stringify];
  },
  "find-js-text": () => {
    const held = byHand.prepare(rules);
    return [() => JSON.stringify(byHand.find(held, JSON.parse(text))), String];
  },
  "find-js-same": () => {
    const held = same.prepareFinding(rules);
    return [() => JSON.stringify(same.find(held, JSON.parse(text))), String];
  },
  "find-js-tree": () => {
    const held = byHand.prepareTrees(rules);
    return [() => byHand.findInTrees(held, request), JSON.stringify];
  },
  "find-wasm-text": (scrip) => {
    const held = scrip.prepare(rules);
    return [() => held.qualify(text, context), String];
  },
  "find-wasm-bytes": (scrip) => {
    const held = scrip.prepare(rules);
    const bytes = new TextEncoder().encode(text);
    return [() => held.qualifyBytes(bytes, context), (answer) => new TextDecoder().decode(answer)];
  },
  "wasm-object": (scrip) => {
    const held = scrip.prepare(rules);
    return [() => held.validateObject(request, context), JSON.stringify];
  },
};

const scrip = contender.includes("wasm") ? await packed() : undefined;
const [run, show] = CONTENDERS[contender](scrip);
console.log(show(run()));
console.log(JSON.stringify(time(run, Number(ms))));

/** The package as it is shipped, by the entry that its manifest gives to Node. */
async function packed() {
  const folder = packageFolder ? pathToFileURL(`${packageFolder}/`) : new URL("../pkg/", import.meta.url);
  const manifest = JSON.parse(readFileSync(new URL("package.json", folder)));
  const scrip = await import(new URL(manifest.exports["."].node.import, folder));
  await scrip.load();
  return scrip;
}

/** Returns the medians of batches of about ten milliseconds, after a warm-up that lets V8 compile large wasm in the background. */
function time(body, total) {
  let result;
  /** Runs some calls; returns nanoseconds by the clock and of CPU time. */
  const batch = (count) => {
    const [start, before] = [process.hrtime.bigint(), process.cpuUsage()];
    for (let turn = 0; turn < count; turn++) result = body();
    const { user, system } = process.cpuUsage(before);
    return [Number(process.hrtime.bigint() - start), (user + system) * 1_000];
  };
  let count = 1;
  // By CPU time, so that a busy machine warms up as well as a quiet one.
  for (let spent = 0; spent < Math.max(total, WARM_UP_MS) * 1e6;) {
    const [, took] = batch(count);
    spent += took;
    if (took < 1e7) count = Math.ceil(count * Math.min(8, 1e7 / Math.max(took, 1)));
  }
  const [results, ofCpu] = [[], []];
  for (let spent = 0; spent < total * 1e6;) {
    const [took, cpu] = batch(count);
    spent += cpu;
    results.push(took / count);
    ofCpu.push(cpu / count);
  }
  if (result === undefined) throw new Error("the contender answered nothing");
  return { ns: median(results), cpu_ns: median(ofCpu) };
}
