// The options of `open`: each mistake of the caller is named at once.
import { readPinned } from "../keys.js";

const HOUR_MS = 3_600_000;
const TIMEOUT_MS = 8_000;
// Timers know no longer time.
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const NAMES = new Set(["url", "key", "keys", "store", "customer", "maxAge", "timeout", "origin", "fetch", "poll"]);

const isText = (value) => typeof value === "string" && value !== "";
const isFunction = (value) => typeof value === "function";
const isStore = (value) => value === "indexeddb" || value === "memory" || ["get", "put", "delete"].every((name) => isFunction(value?.[name]));
const isDuration = (value) => typeof value === "number" && value > 0;

/** What each option must be; all but the first two may be absent. */
const RIGHT = {
  url: [(value) => isText(value) || value instanceof URL, "the address of the service"],
  key: [(value) => isText(value?.id) && isText(value.token), "a client key: `{ id, token }`"],
  store: [isStore, "`indexeddb`, `memory` or an object with `get`, `put` and `delete`"],
  customer: [isFunction, "a function that returns the customer token"],
  maxAge: [isDuration, "a number of milliseconds above 0"],
  timeout: [(value) => isDuration(value) && value <= LONGEST_TIMER_MS, "a number of milliseconds above 0"],
  origin: [isText, "the origin that the client key is bound to"],
  fetch: [isFunction, "a function like `fetch`"],
  poll: [(value) => typeof value === "boolean", "`true` or `false`"],
};

/** Returns the options with their defaults; throws a TypeError that names the one that is wrong. */
export function readOptions(input) {
  const options = { ...input };
  for (const name of Object.keys(options)) if (!NAMES.has(name)) throw new TypeError(`\`${name}\` is no option of \`open\``);
  for (const [name, [isRight, what]] of Object.entries(RIGHT)) {
    const isAbsent = options[name] === undefined && name !== "url" && name !== "key";
    if (!isAbsent && !isRight(options[name])) throw new TypeError(`${name} must be ${what}`);
  }
  readPinned(options.keys);
  const { store = globalThis.indexedDB ? "indexeddb" : "memory", maxAge = HOUR_MS, timeout = TIMEOUT_MS, poll = true } = options;
  const url = String(options.url).replace(/\/+$/, "");
  return { ...options, url, store, maxAge, timeout, poll, name: `scrip/${url}/${options.key.id}` };
}
