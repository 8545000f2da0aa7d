// Decides what a page or a server sees of the engine: prepare rules, ask about baskets, fetch the bundle.
// It must not know where the wasm comes from; the entry points beside it do, each for its own host.
import init, * as engine from "./engine.js";

// What the binary exports; nothing while it is not loaded.
let wasm;
let loading;

/** Loads the engine from bytes or a compiled module that are at hand. */
export function loadSync(source) {
  wasm ??= engine.initSync({ module: source });
}

/** Loads the engine once, however often it is called; a failed attempt can be repeated. */
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

/** Reads and compiles rules once, so that only the basket crosses into wasm afterwards. */
export function prepare(rules) {
  if (!wasm) throw new Error("the engine is not loaded yet: `await load()` before `prepare`");
  const bytes = wireForm(rules);
  try {
    return new Prepared(new engine.Rules(bytes));
  } catch (told) {
    throw typeof told === "string" ? unreadable(JSON.parse(told)) : told;
  }
}

/** What is wrong with rules, in the message for people and in the cause for an editor of rules. */
const unreadable = ({ message, path, text }) => new Error(`rules: ${message}`, { cause: { path, text } });

const encoder = new TextEncoder();

// Safari's decoder stops after 2 GB: a new one comes long before that.
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

/** Rules that are ready to decide. */
class Prepared {
  #rules;

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

  /** What goes in is what `JSON.stringify` would send, so dates, `toJSON` and `undefined` mean what they mean on the wire. */
  validateObject(request, context) {
    if (isPlain(request, 0)) return this.#decide("validateObject", request, context);
    return JSON.parse(this.validate(writtenOut(request), context));
  }

  qualify(request, context) {
    if (typeof request !== "string") throw new TypeError("`qualify` takes JSON text; `qualifyObject` takes an object");
    return textOf(this.#decide("qualify", encoder.encode(request), context));
  }

  qualifyBytes(request, context) {
    if (!ArrayBuffer.isView(request)) throw new TypeError("`qualifyBytes` takes a Uint8Array of JSON in UTF-8");
    return this.#decide("qualify", bytesOf(request), context);
  }

  qualifyObject(request, context) {
    if (isPlain(request, 0)) return this.#decide("qualifyObject", request, context);
    return JSON.parse(this.qualify(writtenOut(request), context));
  }

  get hash() {
    return this.#live().hash;
  }

  free() {
    this.#rules?.free();
    this.#rules = undefined;
  }

  #decide(verb, request, context) {
    return this.#live()[verb](request, moment(context), seed(context));
  }

  #live() {
    if (this.#rules) return this.#rules;
    throw new Error("these rules were freed: `prepare` them again");
  }
}
if (Symbol.dispose) Prepared.prototype[Symbol.dispose] = Prepared.prototype.free;

/** Gets the service's bundle, asks only for what is newer than `lastGood`, and keeps `lastGood` when anything fails. */
export async function fetchBundle(baseUrl, credentials, lastGood, { signal, origin } = {}) {
  const kept = lastGood && { ...lastGood, prepared: lastGood.prepared ?? prepare(lastGood.bytes) };
  try {
    const headers = { "X-Client-Application-Id": credentials.id, "X-Client-Token": credentials.token };
    if (origin) headers.Origin = origin;
    if (kept?.etag) headers["If-None-Match"] = kept.etag;
    const response = await fetch(`${String(baseUrl).replace(/\/+$/, "")}/client/v1/bundle`, { headers, signal });
    if (response.status === 304 && kept) return { ...kept, fresh: true, problem: undefined };
    if (!response.ok) throw await refused(response);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const etag = response.headers.get("etag");
    return { bytes, etag, prepared: named(prepare(bytes), etag), fresh: true, problem: undefined };
  } catch (problem) {
    if (!kept) throw problem;
    return { ...kept, fresh: false, problem };
  }
}

/** What the service said instead of a bundle, with its error body for who wants to know more. */
async function refused(response) {
  const { status } = response;
  const body = await response.json().catch(() => undefined);
  const said = [body?.message, body?.details].filter(Boolean).join(": ");
  const error = new Error(`the service answered ${status} to the request for its bundle${said && `: ${said}`}`);
  return Object.assign(error, { status, body });
}

/** The service names a bundle by the hash of its content; rules that do not fit their name were damaged on the way. */
function named(prepared, etag) {
  const name = /^"([0-9a-f]{64})"$/.exec(etag ?? "")?.[1];
  if (!name || name === prepared.hash) return prepared;
  prepared.free();
  throw new Error("the bundle is not the one that its etag names");
}

/** What a request means that is no plain value of JSON, as few are: the page's own writer says. */
function writtenOut(request) {
  let text;
  try {
    text = JSON.stringify(request);
  } catch {
    // Told below, as what cannot be written at all.
  }
  if (text === undefined) throw new Error("the request must be an object that can be written as JSON");
  return text;
}

// Half of a letter has no UTF-8; written out it is an escape, which the engine refuses.
const HALF = /\p{Surrogate}/u;

/** Whether `JSON.stringify` would write a value as it stands. Deeper ones than the engine takes are not looked at. */
function isPlain(value, depth) {
  if (typeof value === "string") return !HALF.test(value);
  if (value === null || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth > 64 || typeof value.toJSON === "function") return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlain(item, depth + 1)) return false;
    return true;
  }
  const kind = Object.getPrototypeOf(value);
  if (kind !== null && Object.getPrototypeOf(kind) !== null) return false;
  for (const name of Object.keys(value)) if (HALF.test(name) || !isPlain(value[name], depth + 1)) return false;
  return true;
}

function wireForm(rules) {
  if (typeof rules === "string") return encoder.encode(rules);
  if (ArrayBuffer.isView(rules)) return bytesOf(rules);
  if (rules instanceof ArrayBuffer) return new Uint8Array(rules);
  if (rules !== null && typeof rules === "object") return encoder.encode(JSON.stringify(rules));
  throw new TypeError("rules must be JSON text, its UTF-8 bytes or a plain object");
}

function bytesOf(view) {
  if (view instanceof Uint8Array) return view;
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

// A text without a zone would mean another moment on every machine, so it is refused.
const ZONED = /^\d{4}-\d\d-\d\d(T.+(Z|[+-]\d\d:\d\d))?$/;

function moment(context) {
  const now = context?.now ?? Date.now();
  const text = typeof now === "string";
  const ms = text ? (ZONED.test(now) ? Date.parse(now) : NaN) : Number(now);
  if (!Number.isSafeInteger(ms) || !(text || typeof now === "number" || now instanceof Date)) {
    throw new TypeError(`now \`${now}\` must be a Date, whole milliseconds since 1970, or ISO 8601 text with its zone`);
  }
  return BigInt(ms);
}

/** As the caller says it; without one the engine draws its own. */
function seed(context) {
  return context?.seed === undefined ? undefined : String(context.seed);
}
