// Loading is the caller's: `load(source)` takes a URL, a Response, bytes or a compiled module; `loadSync` the last two.
export { loadFrom as load, loadSync, prepare, fetchBundle } from "./api.js";
