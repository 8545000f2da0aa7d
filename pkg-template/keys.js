// The public keys that sign a project's bundles: those that are pinned, and those for which a pinned one vouches.
import { sha256 } from "./engine.js";
import { isObject, readJson, fetchBytes, refusal } from "./exchange.js";
import { decodeBase64url, encodeBase64url, readJws } from "./jws.js";

const KEY_BYTES = 32;
const LIST_BYTES_MAX = 64 * 1024;
// The service lists the keys of the last rotations. A chain of vouching is no longer than this list.
const KEYS_MAX = 32;

/** Returns the thumbprint of a key by RFC 7638: the same key has the same name everywhere. */
function thumbprint(x) {
  const hex = sha256(new TextEncoder().encode(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`));
  return encodeBase64url(Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16)));
}

/** Reads a JSON Web Key; undefined where it is no Ed25519 key, or is named by another thumbprint than its own. */
function readKey(jwk) {
  if (!isObject(jwk) || jwk.kty !== "OKP" || jwk.crv !== "Ed25519" || !["EdDSA", undefined].includes(jwk.alg)) return undefined;
  const bytes = decodeBase64url(jwk.x);
  if (bytes?.length !== KEY_BYTES || !["sig", undefined].includes(jwk.use)) return undefined;
  const kid = thumbprint(jwk.x);
  if (![kid, undefined].includes(jwk.kid)) return undefined;
  const vouching = typeof jwk.vouched_by === "string" ? { vouched_by: jwk.vouched_by } : {};
  return { kid, bytes, jwk: { kty: "OKP", crv: "Ed25519", x: jwk.x, kid, ...vouching } };
}

/** Reads the keys that a caller pins; an unusable one is a mistake of the caller. */
export function readPinned(keys) {
  if (keys === undefined || keys === null) return undefined;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > KEYS_MAX) {
    throw new TypeError(`keys must be a list of 1 to ${KEYS_MAX} JSON Web Keys`);
  }
  return byName(keys.map((jwk, index) => {
    const key = readKey(jwk);
    if (!key) throw new TypeError(`keys[${index}] must be a public Ed25519 key as a JSON Web Key: kty \`OKP\`, crv \`Ed25519\`, x, and as kid its own thumbprint or none`);
    return key;
  }));
}

/** Reads listed keys by their names; unusable ones are skipped. */
export const readKeys = (list) => byName(Array.isArray(list) ? list.slice(0, KEYS_MAX).map(readKey).filter(Boolean) : []);

const byName = (keys) => new Map(keys.map((key) => [key.kid, key]));

/** Returns trusted keys, and those listed for which one of them vouches, or a key that is trusted for that reason. */
export function addVouched(trusted, listed, project) {
  const all = new Map(trusted);
  for (let before = -1; before !== all.size;) {
    before = all.size;
    for (const key of listed.values()) if (!all.has(key.kid) && isVouched(key, all, project)) all.set(key.kid, key);
  }
  return all;
}

/** Returns whether a trusted key signed that another one belongs to the project too. */
function isVouched({ jwk }, trusted, project) {
  try {
    const vouching = readJws(jwk.vouched_by, "scrip-key+jwt", "vouching");
    const { iss, iat, jwk: named } = vouching.claims;
    if (iss !== project || !Number.isSafeInteger(iat) || iat < 0) return false;
    if (named?.kty !== jwk.kty || named.crv !== jwk.crv || named.x !== jwk.x) return false;
    const by = trusted.get(vouching.kid);
    return by !== undefined && vouching.isSignedBy(by);
  } catch {
    return false;
  }
}

/** Fetches the keys that the service lists, with the project that they are of. */
export async function fetchKeys(base, request, project) {
  const bytes = await fetchBytes(`${base}/client/v1/jwks`, "signing keys", LIST_BYTES_MAX, request);
  let list;
  try {
    list = readJson(bytes);
  } catch (cause) {
    throw refusal("damaged", "the list of signing keys is no JSON", cause);
  }
  if (typeof list?.project !== "string") throw refusal("damaged", "the list of signing keys names no project");
  if (project !== undefined && list.project !== project) {
    throw refusal("wrong_project", `the service lists the signing keys of \`${list.project}\`, not of \`${project}\``);
  }
  // Former keys lead to the present one, and sign no more.
  const present = Array.isArray(list.keys) ? list.keys.filter((jwk) => jwk?.status !== "FORMER") : [];
  return { project: list.project, keys: readKeys(list.keys), present: readKeys(present) };
}
