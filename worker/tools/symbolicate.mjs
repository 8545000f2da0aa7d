// Inserts function names into a stack of the log. A stack has numbers for the engine's functions, because their names are stored next to the
// Worker and not in it.
//
// npm run names < log                    by the names of the last build
// npm run names -- names.txt < log       by the stored names of the build which wrote the log
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { main, root } from "./console.mjs";

/** The file of the names, in the folder of a built Worker: a line for each function, with its number, a colon and its name. */
export const NAMES = "names.txt";

/** Returns a function that replaces the numbers of functions in a text by names; an unknown number stays. */
export function createSymbolicator(path) {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const names = new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
  return (text) => text.replace(/wasm-function\[(\d+)\]/g, (match, number) => names.get(number) ?? match);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(async () => {
    const symbolicate = createSymbolicator(process.argv[2] ?? join(root, "worker/build", NAMES));
    for await (const line of createInterface({ input: process.stdin })) console.log(symbolicate(line));
  });
}
