// Selects the copy of the service's bundle: the newest one, or the kept one when there is no newer one.
import { checkLoaded, decideAt, prepare } from "./api.js";
import { ServiceClock } from "./clock.js";

// For head and body together.
const LIMIT_MS = 10_000;

// Some of the members that every bundle has.
const MEMBERS = [
  "project", "client", "time_zone", "stacking_rules", "campaigns", "vouchers", "promotion_tiers", "validation_rules",
  "validation_rules_assignments",
];

// The customer token for which rules were prepared, and the clock by which they decide.
const origins = new WeakMap();

/** Fetches the service's bundle when it is newer than `lastGood`, and keeps `lastGood` when anything fails. */
export async function fetchBundle(baseUrl, credentials, lastGood, options = {}) {
  checkLoaded();
  const kept = lastGood ? openKept(lastGood, options.customerToken) : undefined;
  const answer = {};
  const url = `${String(baseUrl).replace(/\/+$/, "")}/client/v1/bundle`;
  const headers = headersOf(credentials, kept, options);
  try {
    return await withinLimit(options.signal, (signal) => request(url, headers, kept, options.customerToken, signal, answer));
  } catch (problem) {
    if (!kept) throw problem;
    // Even an unusable answer carries the time.
    const clock = answer.clock ?? origins.get(kept.prepared)?.clock;
    return { ...bundleOf(kept.bytes, kept.prepared, options.customerToken, clock), fresh: false, problem };
  }
}

function headersOf(credentials, kept, { origin, customerToken }) {
  const headers = { "X-Client-Application-Id": credentials.id, "X-Client-Token": credentials.token };
  if (origin) headers.Origin = origin;
  if (customerToken) headers["X-Customer-Token"] = customerToken;
  if (kept) headers["If-None-Match"] = kept.etag;
  return headers;
}

/** Runs an exchange with a signal that ends it with the caller's own, or at the limit. */
async function withinLimit(signal, exchange) {
  const controller = new AbortController();
  const end = () => controller.abort(signal.reason);
  if (signal?.aborted) end();
  signal?.addEventListener("abort", end);
  const late = new DOMException(`the service did not answer within ${LIMIT_MS / 1000} s`, "TimeoutError");
  const timer = setTimeout(() => controller.abort(late), LIMIT_MS);
  try {
    return await exchange(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

/** Requests the bundle; `answer` gets the clock of the service's answer. */
async function request(url, headers, kept, customerToken, signal, answer) {
  const begin = performance.now();
  const response = await fetch(url, { headers, signal });
  answer.clock = ServiceClock.of(response.headers, Date.now(), performance.now() - begin);
  const clock = answer.clock ?? origins.get(kept?.prepared)?.clock;
  const etagHash = hashIn(response.headers.get("etag"));
  if (response.status === 304 && kept) {
    if (etagHash && etagHash !== kept.prepared.hash) throw new Error("the service confirmed another bundle than the one that was kept");
    return { ...bundleOf(kept.bytes, kept.prepared, customerToken, clock), fresh: true, problem: undefined };
  }
  if (!response.ok) throw await refused(response);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { ...bundleOf(bytes, open(bytes, etagHash, customerToken), customerToken, clock), fresh: true, problem: undefined };
}

/** Returns the members that a caller keeps, with rules that decide by the clock. */
function bundleOf(bytes, prepared, customerToken, clock) {
  origins.set(prepared, { customerToken, clock, bytes });
  if (clock) decideAt(prepared, clock);
  return { bytes, etag: etagOf(prepared), clock: clock && { offset: clock.offset, served: clock.served }, prepared };
}

/** Returns the kept copy, ready to decide; undefined where its bytes do not match its etag: the bundle is then fetched again. */
function openKept({ bytes, etag, clock, prepared }, customerToken) {
  const etagHash = hashIn(etag);
  if (!etagHash) return undefined;
  const origin = origins.get(prepared);
  const keptClock = origin?.clock ?? ServiceClock.from(clock);
  if (isLive(prepared, etagHash) && origin?.customerToken === customerToken) {
    // The bytes from which these rules were made: those passed with them may have been damaged since.
    return bundleOf(origin.bytes, prepared, customerToken, keptClock);
  }
  try {
    return bundleOf(bytes, open(bytes, etagHash, customerToken), customerToken, keptClock);
  } catch {
    return undefined;
  }
}

/** Returns whether rules can still decide and have this hash. */
function isLive(prepared, hash) {
  try {
    return prepared?.hash === hash;
  } catch {
    return false;
  }
}

/** Prepares the bytes of a bundle, whose hash is the one in its etag. */
function open(bytes, etagHash, customerToken) {
  checkBundle(bytes);
  const prepared = prepare(bytes, { customerToken });
  if (!etagHash || etagHash === prepared.hash) return prepared;
  prepared.free();
  throw new Error("the bundle is not the one that its etag names");
}

/** Refuses JSON that is no bundle: a caller's own rules may be empty, a bundle never is. */
function checkBundle(bytes) {
  const body = JSON.parse(new TextDecoder().decode(bytes));
  const missing = MEMBERS.find((name) => typeof body?.[name] !== "object" || body[name] === null);
  if (missing) throw new Error(`what the service answered is no bundle: it has no \`${missing}\``);
}

/** The service names a bundle by the hash of its content. */
const etagOf = (prepared) => `"${prepared.hash}"`;

/** Returns the hash in an etag; compression on the way makes an etag weak. */
const hashIn = (etag) => /^(?:W\/)?"([0-9a-f]{64})"$/.exec(etag ?? "")?.[1];

/** Returns the error for an answer without a bundle, with the service's error body as details. */
async function refused(response) {
  const { status } = response;
  const body = await response.json().catch(() => undefined);
  const reason = [body?.message, body?.details].filter(Boolean).join(": ");
  const error = new Error(`the service answered ${status} to the request for its bundle${reason && `: ${reason}`}`);
  return Object.assign(error, { status, body });
}
