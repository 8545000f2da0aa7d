// Node, ES modules: the wasm lies beside this file and is loaded while it is imported.
import { readFileSync } from "node:fs";
import { loadSync } from "./api.js";

loadSync(readFileSync(new URL("./scrip.wasm", import.meta.url)));

export const load = async () => {};
export { prepare, fetchBundle } from "./api.js";
