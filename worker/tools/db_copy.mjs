// Builds and runs the program that copies databases (`copy/`).
import { join } from "node:path";
import { Remedy, root, run, step } from "./console.mjs";
import { ensureRust } from "./toolchain.mjs";

const BUILD = ["build", "--quiet", "--profile", "tool", "-p", "scrip-copy", "--target-dir", join(root, "target")];

let built;

/** Copies the databases of the objects in `from` to the new folder `to`, while they are served; returns `[{ file, schema }]`. */
export async function copyDatabases(from, to) {
  return parseLines(await call("take", from, to));
}

/** Checks the integrity of database files; returns `[{ file, schema }]`, or throws with the damage. */
export async function checkDatabases(files) {
  return parseLines(await call("check", ...files));
}

async function call(...words) {
  built ??= step("compiling what copies databases", async () => {
    await ensureRust();
    await run("cargo", BUILD, { stdio: "inherit" });
  });
  await built;
  try {
    return await run(join(root, "target/tool/scrip-copy"), words, { stdio: "pipe" });
  } catch (error) {
    // The message of the program, without its command line.
    throw error instanceof Remedy ? new Remedy(error.message.split("\n").slice(1).join("\n") || error.message) : error;
  }
}

function parseLines(text) {
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}
