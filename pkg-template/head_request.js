// Requests the head of a bundle, and proves a head. Its sender and the way on which it came prove nothing.
import { ServiceClock } from "./clock.js";
import { sha256 } from "./engine.js";
import { answeredError, fetchOf, readBody, readText, refusal } from "./exchange.js";
import { checkHead, checkRevision, checkTime, readHead } from "./head.js";
import { addVouched } from "./keys.js";

// The service makes heads of at most 1 kB.
export const HEAD_BYTES_MAX = 4 * 1024;
// How often a build is waited for. A service that sends a longer `Retry-After` is overloaded.
export const BUILD_WAITS = 3;
const LONGEST_WAIT_S = 3;
// A cache may answer with a head and a time that are over. Not every host knows the option.
const PAST_CACHES = "cache" in (globalThis.Request?.prototype ?? {}) ? { cache: "no-store" } : {};

/** Returns the headers of a client's requests. */
export function headersOf(credentials, origin) {
  const headers = { "X-Client-Application-Id": credentials.id, "X-Client-Token": credentials.token };
  if (origin) headers.Origin = origin;
  return headers;
}

/**
 * Requests the head; returns its text, or nothing where the service confirms the head with the text `known`. `answer` gets the clock of what
 * was answered as `unprovenClock`, and as its `clock` where no cache can have stored it; otherwise `trustClock` follows when the head is proven. The first
 * build of a bundle is waited for, `waits` times at most.
 */
export async function requestHead({ base, headers }, known, answer, signal, waits = 0) {
  const own = { ...headers };
  const hash = known && sha256(new TextEncoder().encode(known));
  if (hash) own["If-None-Match"] = `"${hash}"`;
  const response = await requestBuilt(`${base}/client/v1/bundle`, own, answer, signal, waits);
  if (response.status === 304 && hash) {
    const etag = response.headers.get("etag");
    if (etag === null || etag.replace(/^W\//, "") === own["If-None-Match"]) return undefined;
    throw refusal("damaged", "the service confirmed another bundle than the one that was kept");
  }
  if (!response.ok) throw await answeredError(response, "bundle", signal);
  const bytes = await readBody(response, "head", HEAD_BYTES_MAX, signal);
  try {
    return readText(bytes);
  } catch (cause) {
    throw refusal("damaged", "the head is no text", cause);
  }
}

/** Requests the head again where it is not built yet and the service sends `Retry-After`: the first call of a project starts the build. */
async function requestBuilt(url, headers, answer, signal, waits) {
  for (let left = waits; ; left -= 1) {
    const begin = performance.now();
    const response = await fetchOf(signal)(url, { headers, signal, ...PAST_CACHES });
    answer.unprovenClock = ServiceClock.of(response.headers, Date.now(), performance.now() - begin);
    if (/\bno-store\b/i.test(response.headers.get("cache-control") ?? "")) trustClock(answer);
    const wait = response.status === 503 ? Number(response.headers.get("retry-after")) : 0;
    if (left === 0 || !(wait > 0 && wait <= LONGEST_WAIT_S)) return response;
    await response.body?.cancel();
    await sleep(wait * 1_000, signal);
  }
}

/** Returns the time by which an answer is judged: its own, and otherwise that of the clock. */
export const timeOf = ({ unprovenClock, clock }) => (unprovenClock ?? clock ?? Date).now();

/** Takes the time of an answer as the service's: its head is proven, or no cache can have stored it. */
export function trustClock(answer) {
  answer.clock = answer.unprovenClock ?? answer.clock;
}

/** Waits, and ends early with the signal's reason. */
function sleep(ms, signal) {
  return new Promise((done, failed) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      failed(signal.reason);
    }, { once: true });
  });
}

/**
 * Proves the text of a head by trusted `keys`, at the time `now`, and against the head `before` that was accepted last; returns the head and
 * the keys that are trusted from now on. `listKeys` fetches the keys that the service lists, for a head whose key is not trusted yet.
 */
export async function proveHead(text, { keys, pinned, project, head: before }, now, listKeys) {
  const head = readHead(text);
  let trusted = keys;
  if (listKeys && !keys.has(head.kid)) {
    const { keys: listed } = await listKeys(project);
    trusted = filterListed(addVouched(keys, listed, project ?? head.claims.iss), listed, head.kid);
    // A stored copy is proven by the caller's keys again: keys for which they no longer vouch are not accepted.
    if (pinned) trusted = addVouched(pinned, trusted, project ?? head.claims.iss);
  }
  checkHead(head, trusted, project);
  checkTime(head.claims, now());
  checkRevision(head, before);
  return { head, keys: trusted };
}

/** Returns those of the trusted keys that the service still lists: one that it retired is forgotten. */
function filterListed(trusted, listed, signing) {
  if (!trusted.has(signing)) return trusted;
  return new Map([...trusted].filter(([kid]) => listed.has(kid)));
}
