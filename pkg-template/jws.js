// Reads JSON Web Signatures in the compact form. Only Ed25519 signs here; what is signed is read before, and trusted after, the check.
import { verifySignature } from "./engine.js";
import { isObject, readJson, refusal } from "./exchange.js";

const BASE64URL = /^[A-Za-z0-9_-]+$/;
const SIGNATURE_BYTES = 64;

/** Returns bytes as base64url without padding. */
export const encodeBase64url = (bytes) => toBase64url(btoa(String.fromCharCode(...bytes)));

const toBase64url = (text) => text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Returns the bytes of base64url, undefined where it is none. Each bytes have one text only: unused bits must be 0. */
export function decodeBase64url(text) {
  if (typeof text !== "string" || !BASE64URL.test(text)) return undefined;
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return toBase64url(btoa(binary)) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads a signed text whose header names exactly EdDSA, a key and this `typ`. A header with more members could change the meaning of
 * the signature, so it is refused.
 */
export function readJws(text, typ, what) {
  const parts = String(text).split(".");
  if (parts.length !== 3) throw refusal("damaged", `the ${what} is no compact JWS of three parts`);
  const { alg, kid, typ: found, ...others } = readPart(parts[0], `header of the ${what}`);
  if (alg !== "EdDSA") throw refusal("wrong_algorithm", `the ${what} is signed by \`${shown(alg)}\`; only \`EdDSA\` is accepted`);
  const other = Object.keys(others)[0];
  if (other !== undefined) throw refusal("damaged", `the header of the ${what} has the member \`${shown(other)}\`, which it may not have`);
  if (found !== typ) throw refusal("damaged", `the header of the ${what} has the typ \`${shown(found)}\`, not \`${typ}\``);
  if (typeof kid !== "string") throw refusal("damaged", `the header of the ${what} names no key`);
  const signature = decodeBase64url(parts[2]);
  if (signature?.length !== SIGNATURE_BYTES) throw refusal("damaged", `the signature of the ${what} has not ${SIGNATURE_BYTES} bytes`);
  const message = new TextEncoder().encode(`${parts[0]}.${parts[1]}`);
  return { text, kid, claims: readPart(parts[1], what), isSignedBy: (key) => verifySignature(key.bytes, message, signature) };
}

/** Reads the JSON object of one part. */
function readPart(text, what) {
  try {
    const value = readJson(decodeBase64url(text));
    if (isObject(value)) return value;
  } catch {
    // Refused below, like JSON of another kind.
  }
  throw refusal("damaged", `the ${what} is no JSON object in base64url`);
}

/** Returns a value for a message, shortened. */
export const shown = (value) => String(typeof value === "string" ? value : JSON.stringify(value)).slice(0, 100);
