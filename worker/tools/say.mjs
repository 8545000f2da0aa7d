// Decides how the tools show what they do and how they run a program. It must not know which programs there are.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** An error that a person can mend: it is shown without a stack. */
export class Remedy extends Error {}

export function say(text) {
  console.log(`scrip: ${text}`);
}

/** Does something that takes a while: says what it is for first, and how long it took last. */
export async function step(what, body) {
  say(`${what} ...`);
  const begun = Date.now();
  const outcome = await body();
  say(`${what}: done in ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  return outcome;
}

/** Runs a program to its end; gives its output when it is not shown. */
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

/** Whether a program can be run at all. */
export async function works(program, args = ["--version"]) {
  return run(program, args, { stdio: "pipe" }).then(() => true, () => false);
}

/** Ends the tool with what went wrong, and with a stack only when nobody foresaw it. */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    console.error(error instanceof Remedy ? `\nscrip: ${error.message}` : error);
    process.exit(1);
  }
}
