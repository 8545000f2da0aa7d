// Entry for ES modules in Node: the wasm lies next to this file and is loaded while it is imported.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadSync } from "./api.js";

// A path and no `new URL(…, import.meta.url)`: bundlers for servers turn that into the address of an asset, which is no file.
loadSync(readFileSync(join(dirname(fileURLToPath(import.meta.url)), "scrip.wasm")));

export const load = async () => {};
export { prepare } from "./api.js";
export { openShop as open } from "./service.js";
