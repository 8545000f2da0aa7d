// Entry for browsers and bundlers: both understand `new URL(…, import.meta.url)` without a plugin.
import { loadFrom } from "./api.js";
import { openShop } from "./service.js";

export const load = (source) => loadFrom(source ?? new URL("./scrip.wasm", import.meta.url));
export { prepare } from "./api.js";
export const open = (options) => load().then(() => openShop(options));
