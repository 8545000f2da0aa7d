// Skips a build when the hash of its inputs is the one that was stored next to its output.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./console.mjs";

/** Returns the hash of files and folders, named from the root; a missing file counts as absent. */
export function hashOf(inputs, salt = "") {
  const hash = createHash("sha256").update(salt);
  for (const input of inputs) add(hash, input);
  return hash.digest("hex");
}

function add(hash, input) {
  const path = join(root, input);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return hash.update(`absent ${input}\n`);
  if (!stat.isDirectory()) return hash.update(`file ${input} ${stat.size}\n`).update(readFileSync(path));
  for (const name of readdirSync(path).sort()) add(hash, `${input}/${name}`);
  return hash;
}

/** Runs `build` unless its output exists and `stamp` already contains the hash of its inputs. */
export async function buildUnlessFresh(stamp, output, hash, build) {
  const path = join(root, stamp);
  if (existsSync(output) && existsSync(path) && readFileSync(path, "utf8") === hash) return false;
  await build();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, hash);
  return true;
}
