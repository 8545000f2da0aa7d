// Entry for a classic script tag: built into one file that sets `window.scrip` and fetches the wasm from its own folder.
import { loadFrom } from "./api.js";
import { openShop } from "./service.js";

// A classic worker has no document: the wasm lies next to its script, unless it loads the wasm by itself.
const here = globalThis.document?.currentScript?.src ?? globalThis.location.href;

export const load = (source) => loadFrom(source ?? new URL("scrip.wasm", here));
export { prepare } from "./api.js";
export const open = (options) => load().then(() => openShop(options));
