// Sends all requests of this page to the service, unless the offline switch is on.
import { CREDENTIALS, SERVICE } from "./config.js";
import { fetchBundle, fetchGoods } from "/pkg/browser.js";

let offline = false;
let inFlight = new AbortController();

/** Switches offline and aborts running requests; or switches online. */
export function setOffline(value) {
  offline = value;
  if (offline) inFlight.abort();
  else inFlight = new AbortController();
}

export const isOffline = () => offline;

// A hosted service answers within half a second: after this time the visitor learns that there was no answer, and can try again.
const LONGEST_MS = 15_000;

/** Returns the signal that ends the wait for an answer, in addition to `others`. */
export const patience = (...others) => AbortSignal.any([AbortSignal.timeout(LONGEST_MS), ...others]);

/** An answer that is an error, or no answer; `messages.js` formats it for visitors. */
export class Failure extends Error {
  constructor(fields) {
    super(fields.body?.message ?? "no answer");
    Object.assign(this, fields);
  }
}

/** Sends JSON text and returns the bytes of the answer with its headers and its duration. */
export async function post(path, text, extra = {}) {
  if (offline) throw new Failure({ offline: true });
  const headers = {
    "Content-Type": "application/json", "X-Client-Application-Id": CREDENTIALS.id, "X-Client-Token": CREDENTIALS.token, ...extra,
  };
  const begin = performance.now();
  const response = await fetch(SERVICE + path, { method: "POST", headers, body: text, signal: patience(inFlight.signal) })
    .catch(() => { throw new Failure({ offline }); });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const ms = performance.now() - begin;
  if (!response.ok) throw new Failure({ status: response.status, body: readable(bytes) });
  return { bytes, ms, headers: response.headers };
}

// A click is one intention: a repetition after a lost answer carries the same key and cannot count twice.
const keys = new Map();

/** Runs an action with the key of its intention, which stays until an answer arrives. */
export async function once(intention, act) {
  if (!keys.has(intention)) keys.set(intention, crypto.randomUUID());
  try {
    const outcome = await act(keys.get(intention));
    keys.delete(intention);
    return outcome;
  } catch (problem) {
    if (problem.status) keys.delete(intention);
    throw problem;
  }
}

/** Sends a writing request, as a customer where one is named; returns the answer. */
export async function intend(path, body, customer) {
  const text = JSON.stringify(body);
  return once(`${path} ${text}`, async (key) => {
    const { bytes } = await post(path, text, { "Idempotency-Key": key, ...(await proofOf(customer)) });
    return readable(bytes);
  });
}

const proofs = new Map();
// A token is not used until its very end, because the request takes time.
const SPARE_MS = 30_000;

/**
 * Returns the header that proves to the service who the customer is. A shop's own server makes the token for the customer who has logged
 * in. Here the local service makes it, for the development project. Where no server does, the customer is only named.
 */
export async function proofOf(customer) {
  if (!customer || offline) return {};
  const known = proofs.get(customer);
  if (known && known.until > Date.now()) return known.header;
  const headers = { "Content-Type": "application/json" };
  const response = await fetch("/demo/customer-token", { method: "POST", headers, body: JSON.stringify({ source_id: customer }), signal: patience(inFlight.signal) })
    .catch(() => undefined);
  if (!response?.ok) return {};
  const { token, expires_at: end } = await response.json();
  const proof = { header: { "X-Customer-Token": token }, until: Date.parse(end) - SPARE_MS };
  proofs.set(customer, proof);
  return proof.header;
}

/** Fetches the rules for deciding in the page; the last good ones stay when the service fails. */
export async function bundle(lastGood) {
  if (offline) return { ...lastGood, fresh: false, problem: new Failure({ offline: true }) };
  return fetchBundle(SERVICE, CREDENTIALS, lastGood, { signal: inFlight.signal });
}

/** Fetches the products of a request that the page does not have yet; without them its verdict is provisional, and the service decides. */
export async function goods(rules, text) {
  if (!offline) await fetchGoods(rules, text, { signal: inFlight.signal }).catch(() => {});
}

/** Parses JSON bytes; returns undefined when they are none. */
export function readable(bytes) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
