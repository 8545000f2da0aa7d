// Entry for CommonJS in Node, built into one file `node.cjs` because `require` cannot follow the modules everywhere.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadSync } from "./api.js";

loadSync(readFileSync(join(__dirname, "scrip.wasm")));

export const load = async () => {};
export { prepare } from "./api.js";
export { openShop as open } from "./service.js";
