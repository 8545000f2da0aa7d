// Decides how the program that copies databases (`copy/`) is had and called. It must not know what copies are for.
import { join } from "node:path";
import { Remedy, root, run, step } from "./say.mjs";
import { ensureRust } from "./toolchain.mjs";

const BUILD = ["build", "--quiet", "--profile", "tool", "-p", "scrip-copy", "--target-dir", join(root, "target")];

let built;

/** Copies the databases of the objects in `from` to the new folder `to`, while they are served; gives `[{ file, schema }]`. */
export async function copyDatabases(from, to) {
  return lines(await call("take", from, to));
}

/** Looks whether the databases in files are whole; gives `[{ file, schema }]`, or throws with what is damaged. */
export async function checkDatabases(files) {
  return lines(await call("check", ...files));
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
    // Its own words, without the call.
    throw error instanceof Remedy ? new Remedy(error.message.split("\n").slice(1).join("\n") || error.message) : error;
  }
}

function lines(text) {
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}
