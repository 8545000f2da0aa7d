// Defines the API of the package: prepare rules, decide about carts. The entry points next to it load the wasm, each for its own host.
import init, * as engine from "./engine.js";

// The exports of the binary; undefined while it is not loaded.
let wasm;
let loading;

/** Loads the engine from bytes or a compiled module. */
export function loadSync(source) {
  wasm ??= engine.initSync({ module: source });
}

/** Loads the engine once, also when it is called several times; a failed attempt can be repeated. */
export function loadFrom(source) {
  if (wasm) return Promise.resolve();
  loading ??= init({ module_or_path: source })
    .then((loaded) => { wasm = loaded; })
    .catch((cause) => {
      loading = undefined;
      throw new Error(`the engine could not be loaded: ${cause.message}`, { cause });
    });
  return loading;
}

/** Throws while the engine is not loaded. */
export function checkLoaded() {
  if (!wasm) throw new Error("the engine is not loaded yet: `await load()` before `prepare`");
}

/**
 * Reads and compiles rules once, so that only the cart crosses into wasm afterwards. With a customer token every request is that
 * customer's, and only the server knows the facts of the customer.
 */
export const prepare = (rules, { customerToken } = {}) => prepareBundle(rules, { customerToken });

/**
 * Does the same for the rules of a bundle: their verdicts before `from` and from `to` on, in milliseconds, lack `horizon`. With `otherEngine`,
 * where the service decides by another version, all lack `engine`.
 */
export function prepareBundle(rules, options) {
  checkLoaded();
  return new Prepared(readRules(wireForm(rules), options));
}

function readRules(bytes, { customerToken, from, to, otherEngine = false }, joined = []) {
  const customer = customerToken === undefined || customerToken === null ? undefined : provenBy(customerToken);
  try {
    return new engine.Rules(bytes, customer, milliseconds(from), milliseconds(to), otherEngine, joined);
  } catch (problem) {
    throw typeof problem === "string" ? unreadable(JSON.parse(problem)) : problem;
  }
}

const milliseconds = (value) => (value === undefined ? undefined : BigInt(value));

/** Returns an error about rules, with a message for people and a cause for an editor of rules. */
const unreadable = ({ path, text }) => new Error(`rules${/^[^[]/.test(path) ? "." : ""}${path}: ${text}`, { cause: { path, text } });

/** Returns the customer of a token. The server checks its signature. */
export function provenBy(token) {
  try {
    const body = atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"));
    const { sub } = JSON.parse(new TextDecoder().decode(Uint8Array.from(body, (character) => character.charCodeAt(0))));
    if (typeof sub === "string" && sub !== "") return sub;
  } catch {
    // Refused below, like a token that names no customer.
  }
  throw new TypeError("customerToken must be a JSON Web Token whose `sub` names the customer");
}

const encoder = new TextEncoder();

// Safari's decoder stops after 2 GB: it is replaced long before that.
let decoder;
let decoded = Infinity;

function textOf(bytes) {
  decoded += bytes.length;
  if (decoded > 1e9) {
    decoder = new TextDecoder();
    decoded = bytes.length;
  }
  return decoder.decode(bytes);
}

/** Lets rules decide by a clock where the caller names no time. */
export let decideAt;

/**
 * Lets the rules of a bundle decide with further documents, as bytes: goods buckets and opened ones of codes, and the facts of their customer
 * from one time until before another, in milliseconds. They replace what was joined before. `options` are those of `prepareBundle`.
 */
export let joinDocuments;

/** Returns the codes of a request that the rules of a bundle do not list, in their normal form; none of a request that cannot be read. */
export let typedCodes;

/** Returns the numbers of the goods buckets, out of their total, that a request needs and that the rules do not have. */
export let missingBuckets;

/** Returns the numbers of all goods buckets that a request needs, also those that the rules have. */
export let neededBuckets;

/** Rules that are ready to decide. */
class Prepared {
  #rules;
  // The rules with goods and opened codes.
  #withDocuments;
  // These with the facts of the customer, for a while.
  #joined;
  // Gives the time of a decision where the caller names none.
  #clock = Date;

  static {
    decideAt = (prepared, clock) => {
      prepared.#clock = clock;
    };
    missingBuckets = (prepared, request, buckets) => [...(prepared.#withDocuments ?? prepared.#live()).missingBuckets(encodeRequest(request), buckets)];
    neededBuckets = (prepared, request, buckets) => [...(prepared.#withDocuments ?? prepared.#live()).neededBuckets(encodeRequest(request), buckets)];
    joinDocuments = (prepared, bytes, options, documents, supplement) => {
      // Rules that were freed meanwhile stay so.
      if (!prepared.#rules) return;
      const own = documents.length > 0 ? readRules(bytes, options, documents) : undefined;
      const rules = supplement && readRules(bytes, options, [encoder.encode(JSON.stringify(supplement.facts)), ...documents]);
      prepared.#withDocuments?.free();
      prepared.#withDocuments = own;
      prepared.#joined?.rules.free();
      prepared.#joined = rules && { rules, from: BigInt(supplement.from), until: BigInt(supplement.until) };
    };
    typedCodes = (prepared, request) => prepared.#live().typedCodes(encodeRequest(request));
  }

  constructor(rules) {
    this.#rules = rules;
  }

  validate(request, context) {
    if (typeof request !== "string") throw new TypeError("`validate` takes JSON text; `validateObject` takes an object");
    return textOf(this.#decide("validate", encoder.encode(request), context));
  }

  validateBytes(request, context) {
    if (!ArrayBuffer.isView(request)) throw new TypeError("`validateBytes` takes a Uint8Array of JSON in UTF-8");
    return this.#decide("validate", bytesOf(request), context);
  }

  /**
   * Decides about an object. It means the same as its text by `JSON.stringify`, so dates, `toJSON` and `undefined` have their usual
   * meaning.
   */
  validateObject(request, context) {
    if (isPlain(request, 0)) return this.#decide("validateObject", request, context);
    return JSON.parse(this.validate(toJsonText(request), context));
  }

  qualify(request, context) {
    if (typeof request !== "string") throw new TypeError("`qualify` takes JSON text; `qualifyObject` takes an object");
    return textOf(this.#decide("qualify", encoder.encode(request), context));
  }

  qualifyBytes(request, context) {
    if (!ArrayBuffer.isView(request)) throw new TypeError("`qualifyBytes` takes a Uint8Array of JSON in UTF-8");
    return this.#decide("qualify", bytesOf(request), context);
  }

  prices(request, context) {
    if (typeof request !== "string") throw new TypeError("`prices` takes JSON text");
    return textOf(this.#decide("prices", encoder.encode(request), context));
  }

  decidePast(now, inForceAt) {
    this.#live().decidePast(millisecondsOf(now), millisecondsOf(inForceAt));
  }

  count(request, context) {
    if (typeof request !== "string") throw new TypeError("`count` takes JSON text");
    return this.#decide("count", encoder.encode(request), context);
  }

  qualifyObject(request, context) {
    if (isPlain(request, 0)) return this.#decide("qualifyObject", request, context);
    return JSON.parse(this.qualify(toJsonText(request), context));
  }

  get hash() {
    return this.#live().hash;
  }

  free() {
    this.#rules?.free();
    this.#withDocuments?.free();
    this.#joined?.rules.free();
    this.#rules = this.#withDocuments = this.#joined = undefined;
  }

  #decide(verb, request, context) {
    const own = this.#withDocuments ?? this.#live();
    const now = timeOfDecision(context, this.#clock);
    const joined = this.#joined && now >= this.#joined.from && now < this.#joined.until ? this.#joined.rules : own;
    return joined[verb](request, now, seed(context));
  }

  #live() {
    if (this.#rules) return this.#rules;
    throw new Error("these rules were freed: `prepare` them again");
  }
}
if (Symbol.dispose) Prepared.prototype[Symbol.dispose] = Prepared.prototype.free;

/** Returns a request, which is JSON text, its bytes or an object, as bytes. */
function encodeRequest(request) {
  if (ArrayBuffer.isView(request)) return bytesOf(request);
  return encoder.encode(typeof request === "string" ? request : toJsonText(request));
}

/** Returns the JSON text of a request that is no plain value; `JSON.stringify` defines its meaning. */
function toJsonText(request) {
  let text;
  try {
    text = JSON.stringify(request);
  } catch {
    // Reported below, as a request that cannot be written at all.
  }
  if (text === undefined) throw new Error("the request must be an object that can be written as JSON");
  return text;
}

// An unpaired surrogate has no UTF-8; as JSON it is an escape, which the engine refuses.
const UNPAIRED_SURROGATE = /\p{Surrogate}/u;

/** Returns whether `JSON.stringify` would write a value unchanged. Values that are too deep for the engine are not examined. */
function isPlain(value, depth) {
  if (typeof value === "string") return !UNPAIRED_SURROGATE.test(value);
  if (value === null || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth > 64 || typeof value.toJSON === "function") return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlain(item, depth + 1)) return false;
    return true;
  }
  const kind = Object.getPrototypeOf(value);
  if (kind !== null && Object.getPrototypeOf(kind) !== null) return false;
  for (const name of Object.keys(value)) if (UNPAIRED_SURROGATE.test(name) || !isPlain(value[name], depth + 1)) return false;
  return true;
}

function wireForm(rules) {
  if (typeof rules === "string") return encoder.encode(rules);
  if (ArrayBuffer.isView(rules)) return bytesOf(rules);
  // By its name: a test environment such as jsdom has buffers of two realms.
  if (Object.prototype.toString.call(rules) === "[object ArrayBuffer]") return new Uint8Array(rules);
  if (rules !== null && typeof rules === "object") return encoder.encode(JSON.stringify(rules));
  throw new TypeError("rules must be JSON text, its UTF-8 bytes or a plain object");
}

function bytesOf(view) {
  if (view instanceof Uint8Array) return view;
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

// A text without a zone would mean another time on every machine, so it is refused.
const ZONED = /^\d{4}-\d\d-\d\d(T.+(Z|[+-]\d\d:\d\d))?$/;

const timeOfDecision = (context, clock) => millisecondsOf(context?.now ?? clock.now());

function millisecondsOf(now) {
  const text = typeof now === "string";
  const ms = text ? (ZONED.test(now) ? Date.parse(now) : NaN) : Number(now);
  if (!Number.isSafeInteger(ms) || !(text || typeof now === "number" || now instanceof Date)) {
    throw new TypeError(`now \`${now}\` must be a Date, whole milliseconds since 1970, or ISO 8601 text with its zone`);
  }
  return BigInt(ms);
}

/** Returns the seed of the caller; without one the engine draws its own. */
function seed(context) {
  return context?.seed === undefined ? undefined : String(context.seed);
}
