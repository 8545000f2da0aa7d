// The supplement of a bundle: what the customer of a token adds to its core. It stays only in memory.
import { sha256 } from "./engine.js";
import { fetchBytes, isObject, readText, refusal } from "./exchange.js";
import { readJws, shown } from "./jws.js";

const FORMAT = 2;
const LONGEST_LIFE_S = 300;
const AHEAD_S = 300;
const BYTES_MAX = 256 * 1024;

/** Fetches the supplement of a token for a proven head, and checks that it is for both, and of this time. */
export async function fetchSupplement({ base, headers }, token, head, keys, { signal, now }) {
  const bytes = await fetchBytes(`${base}/client/v1/bundle/me`, "supplement", BYTES_MAX, { headers: { ...headers, "X-Customer-Token": token }, signal });
  const read = readJws(textOf(bytes), "scrip-supplement+jwt", "supplement");
  const key = keys.get(read.kid);
  if (!key) throw refusal("unknown_key", `the supplement is signed by the key \`${shown(read.kid)}\`, which is not trusted`);
  if (!read.isSignedBy(key)) throw refusal("wrong_signature", `the supplement is not signed by the key \`${read.kid}\` that it names`);
  const { iss, fmt, core, th, iat, exp, facts } = read.claims;
  if (fmt !== FORMAT) throw refusal("unknown_format", `the supplement has the format \`${shown(fmt)}\`; this package reads ${FORMAT}`);
  if (iss !== head.claims.iss) throw refusal("wrong_project", `the supplement is of the project \`${shown(iss)}\`, not of \`${head.claims.iss}\``);
  if (th !== sha256(new TextEncoder().encode(token))) throw refusal("wrong_customer", "the supplement is of another customer token");
  const areSeconds = Number.isSafeInteger(iat) && Number.isSafeInteger(exp) && exp > iat && exp <= iat + LONGEST_LIFE_S;
  if (!areSeconds || !isObject(facts)) throw refusal("damaged", "the claims of the supplement are not usable");
  const seconds = Math.floor(now() / 1_000);
  if (seconds >= exp) throw refusal("expired", `the supplement expired at \`${shown(exp)}\`; it is \`${seconds}\``);
  if (iat >= seconds + AHEAD_S) throw refusal("issued_ahead", `the supplement was issued at \`${shown(iat)}\`, and it is only \`${seconds}\``);
  if (core !== head.claims.core) throw refusal("wrong_core", "the supplement is for another core than the one that is kept");
  return { facts, from: iat * 1_000, until: exp * 1_000 };
}

function textOf(bytes) {
  try {
    return readText(bytes);
  } catch (cause) {
    throw refusal("damaged", "the supplement is no text", cause);
  }
}
