// Loads the packed package for a test: its Node entry, as the package's manifest names it, and the pieces of `open`.
import { readFileSync } from "node:fs";

const folder = new URL("../../pkg/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("package.json", folder)));

/** The packed package, ready to decide. */
export const scrip = await import(new URL(manifest.exports["."].node.import, folder));
await scrip.load();

/** The pieces of `open`, which no entry exports. They have the engine of the entry. */
export const pieces = await import(new URL("service.js", folder));
