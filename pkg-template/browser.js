// Browsers and bundlers: `new URL(…, import.meta.url)` is what both understand without a plugin.
import { loadFrom } from "./api.js";

export const load = (source) => loadFrom(source ?? new URL("./scrip.wasm", import.meta.url));
export { prepare, fetchBundle } from "./api.js";
