// Exchanges with the service, bounded in time and in bytes, and the errors of an answer that is not used.

// For all requests of a fetch together.
const LIMIT_MS = 10_000;

// Of the body of an error.
const ERROR_BYTES_MAX = 64 * 1024;

// The `fetch` of an exchange, by its signal, where the caller gave one.
const fetches = new WeakMap();

/** Returns the `fetch` of the exchange with this signal. */
export const fetchOf = (signal) => fetches.get(signal) ?? globalThis.fetch;

/** Returns the error that refuses an answer of the service; programs distinguish the reasons by `code`. */
export const refusal = (code, message, cause) => Object.assign(new Error(message, cause && { cause }), { code });

/** Runs an exchange with a signal that ends it with the caller's own, or at the limit. Its requests are sent by `fetch`, where there is one. */
export async function withinLimit(signal, exchange, { timeout = LIMIT_MS, fetch } = {}) {
  const controller = new AbortController();
  if (fetch) fetches.set(controller.signal, fetch);
  const end = () => controller.abort(signal.reason);
  if (signal?.aborted) end();
  signal?.addEventListener("abort", end);
  const late = new DOMException(`the service did not answer within ${timeout / 1000} s`, "TimeoutError");
  const timer = setTimeout(() => controller.abort(late), timeout);
  try {
    return await exchange(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    // Ends requests that were still running when another one failed.
    controller.abort();
  }
}

/** Runs `task` on each value, at most `most` of them at a time. It fails with the first of them. */
export async function runEach(values, most, task) {
  // All lanes take their next value from the same iterator.
  const waiting = values.values();
  const runLane = async () => {
    for (const value of waiting) await task(value);
  };
  await Promise.all(Array.from({ length: most }, runLane));
}

/** Requests `what` and returns its bytes, at most `most` of them. */
export async function fetchBytes(url, what, most, { headers, signal }) {
  const response = await fetchOf(signal)(url, { headers, signal });
  if (!response.ok) throw await answeredError(response, what, signal);
  return readBody(response, what, most, signal);
}

/** Reads the body of an answer, and stops beyond `most` bytes. */
export async function readBody(response, what, most, signal) {
  const chunks = [];
  let size = 0;
  const reader = response.body?.getReader();
  try {
    for (let next = await reader?.read(); next && !next.done && size <= most; next = await reader.read()) {
      chunks.push(next.value);
      size += next.value.length;
    }
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw refusal("damaged", `the ${what} was cut on its way`, cause);
  }
  if (size > most) {
    reader.cancel().catch(() => {});
    throw refusal("damaged", `the ${what} has more than ${most} bytes`);
  }
  const bytes = new Uint8Array(size);
  chunks.reduce((at, chunk) => (bytes.set(chunk, at), at + chunk.length), 0);
  return bytes;
}

/** Returns the error for an answer without the requested contents, with the service's error body as details. */
export async function answeredError(response, what, signal) {
  const { status } = response;
  const body = await readBody(response, "error", ERROR_BYTES_MAX, signal).then(readJson).catch(() => undefined);
  const reason = [body?.message, body?.details].filter(Boolean).join(": ");
  const error = new Error(`the service answered ${status} to the request for the ${what}${reason && `: ${reason}`}`);
  return Object.assign(error, { status, body });
}

/** Returns the text of bytes in UTF-8; throws when they are none. */
export const readText = (bytes) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

/** Returns the value of JSON in UTF-8; throws when the bytes are none. */
export const readJson = (bytes) => JSON.parse(readText(bytes));

/** Returns whether a value is an object with members. */
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
