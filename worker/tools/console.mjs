// Prints the progress of the tools and runs programs for them.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** An error that the operator can correct: it is printed without a stack. */
export class Remedy extends Error {}

export function print(text) {
  console.log(`scrip: ${text}`);
}

/** Runs a function that takes a while; prints its purpose before, and its duration after it. */
export async function step(what, body) {
  print(`${what} ...`);
  const startedAt = Date.now();
  const outcome = await body();
  print(`${what}: done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
  return outcome;
}

/** Runs a program to its end; returns its output if the output is not printed. */
export function run(program, args, options = {}) {
  return new Promise((done, failed) => {
    const child = spawn(program, args, { cwd: root, ...options, env: { ...process.env, ...options.env } });
    let out = "";
    let err = "";
    child.stdout?.on("data", (chunk) => (out += chunk));
    child.stderr?.on("data", (chunk) => (err += chunk));
    child.on("error", (error) => failed(error.code === "ENOENT" ? new Remedy(`\`${program}\` was not found`) : error));
    child.on("close", (code, signal) => {
      if (code === 0) done(out);
      else failed(new Remedy(`\`${[program, ...args].join(" ")}\` ended with ${signal ?? code}${err ? `\n${err.trimEnd()}` : ""}`));
    });
  });
}

/** Returns whether a program can be run at all. */
export async function canRun(program, args = ["--version"]) {
  return run(program, args, { stdio: "pipe" }).then(() => true, () => false);
}

/** Ends the tool with the message of an error, and with the stack of an unexpected one. */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    console.error(error instanceof Remedy ? `\nscrip: ${error.message}` : error);
    process.exit(1);
  }
}
