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
  const place = engine.prepare(put(wireForm(rules)));
  if (!place) throw unreadable(JSON.parse(textOf(told(engine.said()))));
  return new Prepared(place);
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

// All memory of the engine; it is another view whenever the engine has asked for more.
let view = new Uint8Array();

function memory() {
  if (view.buffer !== wasm.memory.buffer) view = new Uint8Array(wasm.memory.buffer);
  return view;
}

/** Puts what is asked, text or bytes, where the engine reads it, and a seed behind it; gives how many bytes it is. */
function put(asked, seed = NOTHING) {
  const isText = typeof asked === "string";
  // No character of a text is longer than three bytes for each of its units.
  const place = engine.room((isText ? asked.length * 3 : asked.length) + seed.length);
  const bytes = memory();
  let length = asked.length;
  if (isText) length = encoder.encodeInto(asked, bytes.subarray(place)).written;
  else bytes.set(asked, place);
  bytes.set(seed, place + length);
  return length;
}

const NOTHING = new Uint8Array();

/** What the engine answered, where it lies until the next call. */
function told(length) {
  const place = engine.answer();
  return memory().subarray(place, place + length);
}

/** A copy of it. */
function kept(length) {
  const place = engine.answer();
  return memory().slice(place, place + length);
}

// Rules that nobody can ask any more give their memory back.
const forgotten = typeof FinalizationRegistry === "function" ? new FinalizationRegistry((place) => engine.release(place)) : undefined;

/** Rules that are ready to decide. */
class Prepared {
  #place;

  constructor(place) {
    this.#place = place;
    forgotten?.register(this, place, this);
  }

  validate(request, context) {
    if (typeof request !== "string") throw new TypeError("`validate` takes JSON text; `validateObject` takes an object");
    return textOf(told(this.#decide(engine.validate, request, context)));
  }

  validateBytes(request, context) {
    if (!ArrayBuffer.isView(request)) throw new TypeError("`validateBytes` takes a Uint8Array of JSON in UTF-8");
    return kept(this.#decide(engine.validate, bytesOf(request), context));
  }

  /** What goes in is what `JSON.stringify` would send, so dates, `toJSON` and `undefined` mean what they mean on the wire. */
  validateObject(request, context) {
    return JSON.parse(textOf(told(this.#decide(engine.validate, writtenOut(request), context))));
  }

  qualify(request, context) {
    if (typeof request !== "string") throw new TypeError("`qualify` takes JSON text; `qualifyObject` takes an object");
    return textOf(told(this.#decide(engine.qualify, request, context)));
  }

  qualifyBytes(request, context) {
    if (!ArrayBuffer.isView(request)) throw new TypeError("`qualifyBytes` takes a Uint8Array of JSON in UTF-8");
    return kept(this.#decide(engine.qualify, bytesOf(request), context));
  }

  qualifyObject(request, context) {
    return JSON.parse(textOf(told(this.#decide(engine.qualify, writtenOut(request), context))));
  }

  get hash() {
    return textOf(told(engine.hash(this.#live())));
  }

  free() {
    if (this.#place) engine.release(this.#place);
    this.#place = 0;
    forgotten?.unregister(this);
  }

  /** How many bytes the answer has. */
  #decide(verb, request, context) {
    const place = this.#live();
    const now = moment(context);
    const chance = seed(context);
    const said = verb(place, put(request, chance), chance.length, now);
    if (said < 0) throw new Error(textOf(told(-said)));
    return said;
  }

  #live() {
    if (this.#place) return this.#place;
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

function wireForm(rules) {
  if (typeof rules === "string") return rules;
  if (ArrayBuffer.isView(rules)) return bytesOf(rules);
  if (rules instanceof ArrayBuffer) return new Uint8Array(rules);
  if (rules !== null && typeof rules === "object") return JSON.stringify(rules);
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

// Drawn for 32 answers at a time: one call of the system's generator costs more than a decision.
const DIGITS = encoder.encode("0123456789abcdef");
const drawn = new Uint8Array(2048);
let used = drawn.length;

/** Hex digits, as bytes. */
function seed(context) {
  if (context?.seed !== undefined) return encoder.encode(String(context.seed));
  if (used === drawn.length) {
    crypto.getRandomValues(drawn).forEach((byte, place) => { drawn[place] = DIGITS[byte & 15]; });
    used = 0;
  }
  return drawn.subarray(used, used += 64);
}
