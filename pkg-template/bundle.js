// Selects the copy of the service's bundle: the newest one that is proven, or the kept one when there is no such one.
import { checkLoaded, decideAt, joinFacts, prepareBundle } from "./api.js";
import { ServiceClock } from "./clock.js";
import { fetchCore, isCore } from "./core.js";
import { decides, sha256, writes } from "./engine.js";
import { answeredError, readBody, readText, refusal, withinLimit } from "./exchange.js";
import { checkHead, checkRevision, checkTime, readHead } from "./head.js";
import { addVouched, fetchKeys, readKeys, readPinned } from "./keys.js";
import { fetchSupplement } from "./supplement.js";

// The service makes heads of at most 1 kB.
const MOST_HEAD = 4 * 1024;

// What rules were prepared from, and the clock by which they decide.
const origins = new WeakMap();

/** Fetches the service's bundle when it is newer than `lastGood`, and keeps `lastGood` when anything fails. */
export async function fetchBundle(baseUrl, credentials, lastGood, options = {}) {
  checkLoaded();
  const service = { base: String(baseUrl).replace(/\/+$/, ""), headers: headersOf(credentials, options) };
  const kept = openKept(lastGood, readPinned(options.keys), readProject(options.project), options.customerToken);
  const answer = { clock: kept.clock };
  try {
    const [bundle, supplement] = await withinLimit(options.signal, async (signal) => {
      const bundle = await renew(service, kept, options.customerToken, answer, signal);
      return [bundle, await supplementOf(service, bundle, answer, signal)];
    });
    return { ...bundleOf(bundle, answer.clock, supplement), fresh: true, problem: undefined };
  } catch (problem) {
    if (!kept.bundle) throw problem;
    // Even an unusable answer carries the time.
    return { ...bundleOf(kept.bundle, answer.clock, kept.supplement), fresh: false, problem };
  }
}

function headersOf(credentials, { origin }) {
  const headers = { "X-Client-Application-Id": credentials.id, "X-Client-Token": credentials.token };
  if (origin) headers.Origin = origin;
  return headers;
}

function readProject(project) {
  if (project === undefined || project === null) return undefined;
  if (typeof project !== "string" || project === "") throw new TypeError(`project \`${project}\` must be the id of a project`);
  return project;
}

/** Returns the newest bundle, proven by keys that are trusted already. `answer` gets the clock of the service's answer. */
async function renew(service, kept, customerToken, answer, signal) {
  const request = { headers: service.headers, signal };
  // Without any key to trust, those that the service lists over this connection are pinned.
  const [text, first] = await Promise.all([
    requestHead(service, kept, answer, signal),
    kept.keys ? undefined : fetchKeys(service.base, request, kept.project),
  ]);
  const now = () => (answer.clock ?? Date).now();
  if (text === undefined) {
    checkTime(kept.head.claims, now());
    return kept.bundle;
  }
  const head = readHead(text);
  const project = kept.project ?? first?.project;
  let keys = kept.keys ?? first.present;
  if (!first && !keys.has(head.kid)) {
    const { keys: listed } = await fetchKeys(service.base, request, project);
    keys = keepListed(addVouched(keys, listed, project ?? head.claims.iss), listed, head.kid);
    // A kept copy is proven by the caller's keys again: what they do not vouch for any more is not accepted now either.
    if (kept.pinned) keys = addVouched(kept.pinned, keys, project ?? head.claims.iss);
  }
  checkHead(head, keys, project);
  checkTime(head.claims, now());
  checkRevision(head, kept.head);
  const same = kept.bundle?.head.claims.core === head.claims.core ? kept.bundle : undefined;
  if (same?.head.text === text) return { ...same, keys };
  const core = same ? same.core : await fetchCore(service.base, head.claims, signal);
  return { head, core, keys, customerToken };
}

/** Returns what the customer of the bundle's token adds to it; without it, verdicts about the customer are provisional. */
async function supplementOf(service, { head, keys, customerToken }, answer, signal) {
  if (!customerToken) return undefined;
  try {
    return await fetchSupplement(service, customerToken, head, keys, { signal, now: () => (answer.clock ?? Date).now() });
  } catch (problem) {
    // A refused token is the caller's mistake: the service refuses every call with it.
    if (signal.aborted || problem.status === 401) throw problem;
    return { problem };
  }
}

/** Returns those of the trusted keys that the service still lists: one that it retired is forgotten. */
function keepListed(trusted, listed, signing) {
  if (!trusted.has(signing)) return trusted;
  return new Map([...trusted].filter(([kid]) => listed.has(kid)));
}

/** Requests the head; returns its text, or nothing where the service confirms the kept one. */
async function requestHead({ base, headers }, kept, answer, signal) {
  const own = { ...headers };
  const hash = kept.bundle && sha256(new TextEncoder().encode(kept.head.text));
  if (hash) own["If-None-Match"] = `"${hash}"`;
  const begin = performance.now();
  const response = await fetch(`${base}/client/v1/bundle`, { headers: own, signal });
  answer.clock = ServiceClock.of(response.headers, Date.now(), performance.now() - begin) ?? answer.clock;
  if (response.status === 304 && hash) {
    const etag = response.headers.get("etag");
    if (etag === null || etag.replace(/^W\//, "") === own["If-None-Match"]) return undefined;
    throw refusal("damaged", "the service confirmed another bundle than the one that was kept");
  }
  if (!response.ok) throw await answeredError(response, "bundle", signal);
  const bytes = await readBody(response, "head", MOST_HEAD, signal);
  try {
    return readText(bytes);
  } catch (cause) {
    throw refusal("damaged", "the head is no text", cause);
  }
}

/** Prepares the rules of a proven bundle, for its time and with this engine. */
function prepareRules({ core, ...bundle }) {
  try {
    return prepareBundle(core.bytes, optionsOf(bundle));
  } catch (cause) {
    // A token that names no customer is the caller's mistake.
    throw cause instanceof TypeError ? cause : refusal("damaged", `the core cannot be read: ${cause.message}`, cause);
  }
}

const optionsOf = ({ head: { claims }, customerToken }) => (
  { customerToken, from: claims.from, to: claims.to, otherEngine: claims.decides !== decides() }
);

/** Returns the members that a caller keeps, with rules that decide by the clock, and with the supplement while it lasts. */
function bundleOf(bundle, clock, supplement) {
  const { head, core, keys } = bundle;
  const prepared = bundle.prepared ?? prepareRules(bundle);
  const origin = { ...bundle, clock, supplement };
  origins.set(prepared, origin);
  const join = (facts) => joinFacts(prepared, core.bytes, optionsOf(bundle), facts);
  join(supplement?.facts && supplement);
  const drop = () => {
    join(undefined);
    origin.supplement = undefined;
  };
  if (clock) decideAt(prepared, clock);
  const { epoch, rev } = head.claims;
  return {
    prepared, head: head.text, core: core.bytes, parts: core.parts, keys: [...keys.values()].map(({ jwk }) => jwk), ratchet: { epoch, rev },
    clock: clock && { offset: clock.offset, served: clock.served }, writes: head.claims.writes === writes(),
    supplement: supplement && { until: supplement.until, problem: supplement.problem, drop },
  };
}

/**
 * Reads what a caller kept: the `keys` to trust, the `project`, the `clock`, the `head` below which no other one is accepted, and the
 * `bundle`. Head and core are proven again, because what was stored may be damaged or another project's; what is not
 * proven is absent, and is then fetched again.
 */
function openKept(lastGood, pinned, project, customerToken) {
  const origin = isLive(lastGood) ? origins.get(lastGood.prepared) : undefined;
  const listed = origin?.keys ?? readKeys(lastGood?.keys);
  const kept = { project, pinned, keys: pinned ?? (listed.size > 0 ? listed : undefined), clock: origin?.clock ?? ServiceClock.from(lastGood?.clock) };
  try {
    const head = readHead(origin?.head.text ?? lastGood.head);
    const keys = pinned ? addVouched(pinned, listed, head.claims.iss) : listed;
    checkHead(head, keys, project);
    Object.assign(kept, { head, keys, project: head.claims.iss });
    const core = origin?.core ?? readCore(lastGood, head.claims.core);
    const prepared = origin && origin.customerToken === customerToken ? lastGood.prepared : undefined;
    kept.supplement = prepared && origin.supplement;
    kept.bundle = { head, core, keys, customerToken, prepared };
  } catch {
    // Fetched again, with the keys and not below the revision that were proven so far.
  }
  return kept;
}

/** Returns a kept core when it is the one that its head names. */
function readCore({ core, parts }, hash) {
  const bytes = typeof core === "string" ? new TextEncoder().encode(core) : core;
  if (!(ArrayBuffer.isView(bytes) && isCore(bytes, parts, hash))) throw refusal("wrong_core", "the kept core is not the one that its head names");
  return { bytes, parts };
}

/** Returns whether a kept bundle has rules that can still decide, and is the one that they were made from. */
function isLive(lastGood) {
  try {
    return lastGood.prepared.hash !== undefined && origins.get(lastGood.prepared).head.text === lastGood.head;
  } catch {
    return false;
  }
}
