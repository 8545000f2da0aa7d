// Entry for loading by the caller: `load(source)` takes a URL, a Response, bytes or a compiled module; `loadSync` the last two.
export { loadFrom as load, loadSync, prepare } from "./api.js";
export { openShop as open } from "./service.js";
