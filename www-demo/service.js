// Sends all requests of this page and of its shop to the service, unless the offline switch is on.
import { CREDENTIALS, SERVICE } from "./config.js";

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

/** Returns the signal that ends the wait for an answer. */
export const patience = () => AbortSignal.timeout(LONGEST_MS);

/** An answer that is an error, or no answer; `messages.js` formats it for visitors. */
export class Failure extends Error {
  constructor(fields) {
    super(fields.body?.message ?? "no answer");
    Object.assign(this, fields);
  }
}

/** Sends a request like `fetch`; the offline switch ends it. */
export async function send(url, { signal, ...options } = {}) {
  if (offline) throw new Failure({ offline: true });
  const ends = signal ? [signal, inFlight.signal] : [inFlight.signal];
  return fetch(url, { ...options, signal: AbortSignal.any(ends) }).catch((problem) => { throw offline ? new Failure({ offline }) : problem; });
}

/** Sends JSON text; returns the bytes of the answer. */
async function post(path, text, extra) {
  const headers = {
    "Content-Type": "application/json", "X-Client-Application-Id": CREDENTIALS.id, "X-Client-Token": CREDENTIALS.token, ...extra,
  };
  const response = await send(SERVICE + path, { method: "POST", headers, body: text, signal: patience() })
    .catch(() => { throw new Failure({ offline }); });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!response.ok) throw new Failure({ status: response.status, body: readable(bytes) });
  return bytes;
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

/** Sends a writing request, with the token of a customer where there is one; returns the answer. */
export async function intend(path, body, token) {
  const text = JSON.stringify(body);
  return once(`${path} ${text}`, async (key) => {
    const proof = token ? { "X-Customer-Token": token } : {};
    return readable(await post(path, text, { "Idempotency-Key": key, ...proof }));
  });
}

/** Parses JSON bytes; returns undefined when they are none. */
export function readable(bytes) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
