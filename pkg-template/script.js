// Entry for a classic script tag: built into one file that sets `window.scrip` and fetches the wasm from its own folder.
import { loadFrom } from "./api.js";
import { openShop } from "./service.js";

const here = document.currentScript.src;

export const load = (source) => loadFrom(source ?? new URL("scrip.wasm", here));
export { prepare } from "./api.js";
export const open = (options) => load().then(() => openShop(options));
export { fetchBundle, fetchGoods, watchHead } from "./service.js";
