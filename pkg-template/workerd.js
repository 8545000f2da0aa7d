// workerd and Cloudflare Workers: the runtime hands over the wasm as a compiled module.
import module from "./scrip.wasm";
import { loadSync } from "./api.js";

loadSync(module);

export const load = async () => {};
export { prepare, fetchBundle } from "./api.js";
