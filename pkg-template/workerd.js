// Entry for workerd and Cloudflare Workers: the runtime provides the wasm as a compiled module.
import module from "./scrip.wasm";
import { loadSync } from "./api.js";

loadSync(module);

export const load = async () => {};
export { prepare } from "./api.js";
export { openShop as open } from "./service.js";
