// The sealed codes of a bundle: opens the boxes of what a request types. The key of a box is derived slowly, by WebCrypto, so this is the one
// step of a decision that waits. The opened contents stay only in memory.
import { typedCodes } from "./api.js";
import { readJson } from "./exchange.js";

// The first half of a derived key names the box, the second opens it.
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const ROUNDS_MAX = 1_000_000;

/** The boxes of a core. It has no members of its own that a caller who stores a bundle would store. */
export class SealedCodes {
  #core;
  #prepared;
  #join;
  #sealed;
  #documents = [];
  /** Opened documents by code, as promises: bytes, or undefined where the core has no box of the code. */
  #opened = new Map();
  /** Derived keys by salt, rounds and code, as promises. */
  #keys;

  /** `join` lets `prepared` decide with the opened documents too. Keys that `former` derived are used again. */
  constructor({ core, prepared, join, former }) {
    [this.#core, this.#prepared, this.#join, this.#keys] = [core, prepared, join, former ? former.#keys : new Map()];
  }

  /** The documents that were opened so far. */
  get documents() {
    return this.#documents;
  }

  /** Opens the codes that a request types, as text, bytes or an object; returns whether the rules now have all of them. */
  async open(request) {
    const found = await Promise.all(typedCodes(this.#prepared, request).map((code) => this.#openOnce(code)));
    return found.every((content) => content !== undefined);
  }

  #openOnce(code) {
    return cacheUnlessFailed(this.#opened, code, () => this.#openAndJoin(code));
  }

  async #openAndJoin(code) {
    const content = await this.#openBox(code);
    if (content) {
      this.#documents.push(content);
      this.#join();
    }
    return content;
  }

  async #openBox(code) {
    this.#sealed ??= readJson(this.#core).sealed_codes ?? {};
    const { salt, rounds, boxes } = this.#sealed;
    if (!boxes || !globalThis.crypto?.subtle) return undefined;
    const name = `${salt}/${rounds}/${code}`;
    const key = await cacheUnlessFailed(this.#keys, name, () => deriveKey(code, fromBase64url(salt), rounds));
    const box = toBase64url(key.subarray(0, KEY_BYTES / 2));
    if (!Object.hasOwn(boxes, box)) return undefined;
    const closed = fromBase64url(boxes[box]);
    const opening = await crypto.subtle.importKey("raw", key.subarray(KEY_BYTES / 2), "AES-GCM", false, ["decrypt"]);
    const iv = closed.subarray(0, NONCE_BYTES);
    return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, opening, closed.subarray(NONCE_BYTES)));
  }
}

/** Returns the promise under a name, and makes it where there is none; one that fails is not cached. */
function cacheUnlessFailed(promises, name, make) {
  if (!promises.has(name)) {
    const made = make();
    promises.set(name, made);
    made.catch(() => promises.delete(name));
  }
  return promises.get(name);
}

/** Derives the key of a code in its normal form. */
async function deriveKey(code, salt, rounds) {
  if (!(rounds > 0 && rounds <= ROUNDS_MAX)) throw new Error(`the boxes of the core have \`${rounds}\` rounds; there must be at most ${ROUNDS_MAX}`);
  const secret = await crypto.subtle.importKey("raw", new TextEncoder().encode(code), "PBKDF2", false, ["deriveBits"]);
  const bits = await crypto.subtle.deriveBits({ name: "PBKDF2", hash: "SHA-256", salt, iterations: rounds }, secret, KEY_BYTES * 8);
  return new Uint8Array(bits);
}

const toBase64url = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const fromBase64url = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
