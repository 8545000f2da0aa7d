// Builds and runs the program that copies databases and prepares copies for a restore (`db-copy/`).
import { join } from "node:path";
import { Remedy, root, run, step } from "./console.mjs";
import { ensureRust } from "./toolchain.mjs";

const BUILD = ["build", "--quiet", "--profile", "tool", "-p", "scrip-copy", "--target-dir", join(root, "target")];

let built;

/** Copies the databases of the objects in `from` to the new folder `to`, while they are served; returns `[{ file, schema }]`. */
export async function copyDatabases(from, to) {
  return parseLines(await call("copy", from, to));
}

/** Checks the integrity of database files; returns `[{ file, schema }]`, or throws with the damage. */
export async function checkDatabases(files) {
  return parseLines(await call("check", ...files));
}

/** Raises the epoch of the bundle in the copies of projects among `files`; `nowMs` is the time of the clock. */
export async function raiseEpoch(files, nowMs) {
  await call("raise-epoch", String(nowMs), ...files);
}

/** Retires the key `kid` of bundles in the copies that have it; throws when none of `files` has it. */
export async function retireKey(files, kid, nowMs) {
  await call("retire-key", String(nowMs), kid, ...files);
}

async function call(...args) {
  built ??= step("compiling what copies databases", async () => {
    await ensureRust();
    await run("cargo", BUILD, { stdio: "inherit" });
  });
  await built;
  try {
    return await run(join(root, "target/tool/scrip-copy"), args, { stdio: "pipe" });
  } catch (error) {
    // The message of the program, without its command line.
    throw error instanceof Remedy ? new Remedy(error.message.split("\n").slice(1).join("\n") || error.message) : error;
  }
}

function parseLines(text) {
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}
