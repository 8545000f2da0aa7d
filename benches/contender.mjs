// Runs one contender in a process of its own, and has the arithmetic that comparisons share.
import { spawnSync } from "node:child_process";
import * as qualification from "./qualify.mjs";
import { fault, workload } from "./translate.mjs";

/** Runs a process that measures a workload: checks its answer, returns the answer and nanoseconds, by the clock and of CPU time. */
export function runContender(command, parameters, name) {
  const child = spawnSync(command, parameters, { encoding: "utf8", maxBuffer: 1 << 28 });
  const commandLine = parameters.join(" ");
  if (child.status !== 0) throw new Error(`${commandLine} ended with ${child.status}\n${child.stderr}`);
  const [text, result] = child.stdout.trim().split("\n");
  const answer = JSON.parse(text);
  const wrong = name === "w3" ? qualification.fault(answer) : fault(workload(name), answer);
  if (wrong) throw new Error(`${commandLine}: ${wrong}`);
  return { text, ...JSON.parse(result) };
}

export const shuffled = (list) => list.map((item) => [Math.random(), item]).sort(([a], [b]) => a - b).map(([, item]) => item);
export const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
