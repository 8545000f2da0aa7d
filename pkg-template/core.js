// The core of a bundle: the rules, found and checked by their hash.
import { sha256 } from "./engine.js";
import { fetchBytes, readJson, refusal } from "./exchange.js";
import { isHash } from "./head.js";

// Beyond this size the service cuts a core into parts.
const DOCUMENT_BYTES_MAX = 512 * 1024;
const PARTS_MAX = 128;
// The first member of an index. Rules never have it.
const INDEX = new TextEncoder().encode('{"parts":');

/** Fetches the core that a head names; returns its bytes, and the sizes of its parts where it has several. */
export async function fetchCore(base, { iss, core }, signal) {
  const fetchPart = (hash) => fetchNamed(`${base}/client/v1/bundle/${encodeURIComponent(iss)}/${hash}`, hash, signal);
  const first = await fetchPart(core);
  if (!INDEX.every((byte, at) => first[at] === byte)) return { bytes: first, parts: undefined };
  const parts = await Promise.all(readIndex(first).map(fetchPart));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
  return { bytes, parts: parts.map((part) => part.length) };
}

/** Fetches the bytes with a hash. They are public, so the request carries no credentials and needs no preflight. */
async function fetchNamed(url, hash, signal) {
  const bytes = await fetchBytes(url, "core", DOCUMENT_BYTES_MAX, { signal });
  const found = sha256(bytes);
  if (found !== hash) throw refusal("wrong_core", `the core has the hash \`${found}\`, not \`${hash}\``);
  return bytes;
}

/** Returns the hashes of the parts in an index. */
function readIndex(bytes) {
  let parts;
  try {
    ({ parts } = readJson(bytes));
  } catch {
    // Refused below.
  }
  const isIndex = Array.isArray(parts) && parts.length > 0 && parts.length <= PARTS_MAX && parts.every(isHash);
  if (isIndex && indexOf(parts) === new TextDecoder().decode(bytes)) return parts;
  throw refusal("damaged", `the core's index is no list of 1 to ${PARTS_MAX} hashes`);
}

const indexOf = (parts) => JSON.stringify({ parts });

/** Returns whether stored bytes are the core with this hash. `parts` are the sizes of its parts, where it has several. */
export function isCore(bytes, parts, hash) {
  if (parts === undefined || parts === null) return sha256(bytes) === hash;
  if (!Array.isArray(parts) || parts.length > PARTS_MAX) return false;
  let at = 0;
  const hashes = parts.map((size) => sha256(bytes.subarray(at, (at += size))));
  return at === bytes.length && sha256(new TextEncoder().encode(indexOf(hashes))) === hash;
}
