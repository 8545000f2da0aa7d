// Selects the copy of the service's bundle: the newest one that is proven, or the stored one where none is proven.
import { checkLoaded, decideAt, joinDocuments, missingBuckets, neededBuckets, prepareBundle } from "./api.js";
import { ServiceClock } from "./clock.js";
import { SealedCodes } from "./codes.js";
import { fetchCore, isCore } from "./core.js";
import { decides, writes } from "./engine.js";
import { refusal, runEach, withinLimit } from "./exchange.js";
import { BundleGoods } from "./goods.js";
import { checkHead, checkRevision, checkTime, readHead } from "./head.js";
import { BUILD_WAITS, headersOf, proveHead, requestHead, timeOf, trustClock } from "./head_request.js";
import { addVouched, fetchKeys, readKeys, readPinned } from "./keys.js";
import { fetchSupplement } from "./supplement.js";

// Requests for goods buckets at a time: as many as a browser opens to one host. A listing page may need a thousand.
const REQUESTS_MAX = 6;
// What rules were prepared from, and the clock by which they decide.
const origins = new WeakMap();
// The sealed codes of rules, with what was opened of them.
const sealedCodes = new WeakMap();
// How often the supplement of rules was dropped: one that was requested before is not used any more.
const drops = new WeakMap();
const dropsOf = (prepared) => (prepared && drops.get(prepared)) ?? 0;

/** Fetches the service's bundle when it is newer than `lastGood`, and keeps `lastGood` when anything fails. */
export async function fetchBundle(baseUrl, credentials, lastGood, options = {}) {
  checkLoaded();
  const service = serviceOf(baseUrl, credentials, options);
  const stored = openStored(lastGood, readPinned(options.keys), readProject(options.project), options.customerToken);
  const answer = { clock: stored.clock };
  const last = stored.bundle?.prepared;
  const dropped = dropsOf(last);
  const unlessDropped = (supplement) => (dropsOf(last) === dropped ? supplement : undefined);
  try {
    const [bundle, supplement] = await withinLimit(options.signal, async (signal) => {
      const bundle = await renew(service, stored, options.customerToken, answer, signal);
      return [bundle, await supplementOf(service, bundle, answer, signal)];
    }, service.exchange);
    return { ...bundleOf(service, bundle, answer.clock, unlessDropped(supplement), lastGood?.prepared), fresh: true, problem: undefined };
  } catch (problem) {
    if (!stored.bundle) throw problem;
    // Even an unusable answer carries the time, where no cache can have stored it.
    return { ...bundleOf(service, stored.bundle, answer.clock, unlessDropped(stored.supplement)), fresh: false, problem };
  }
}

/**
 * Prepares the stored copy of a bundle that a caller passes, without a request; returns nothing where it is not proven. Where another bundle is known, an older one is
 * none either.
 */
export function openBundle(baseUrl, credentials, lastGood, { known, ...options }) {
  checkLoaded();
  const stored = openStored(lastGood, readPinned(options.keys), known && readHead(known.head).claims.iss, options.customerToken);
  try {
    if (known) checkRevision(stored.head, readHead(known.head));
    if (!stored.bundle) return undefined;
    stored.bundle.goods ??= known && origins.get(known.prepared)?.goods;
    return bundleOf(serviceOf(baseUrl, credentials, options), stored.bundle, stored.clock, stored.supplement, known?.prepared);
  } catch {
    return undefined;
  }
}

/** Returns the address of a service, the headers of its client, and the bounds of an exchange. */
const serviceOf = (baseUrl, credentials, { origin, timeout, fetch }) => (
  { base: String(baseUrl).replace(/\/+$/, ""), headers: headersOf(credentials, origin), exchange: { timeout, fetch } }
);

function readProject(project) {
  if (project === undefined || project === null) return undefined;
  if (typeof project !== "string" || project === "") throw new TypeError(`project \`${project}\` must be the id of a project`);
  return project;
}

/** Returns the newest bundle, proven by keys that are trusted already. `answer` gets the clock of the service's answer. */
async function renew(service, stored, customerToken, answer, signal) {
  const request = { headers: service.headers, signal };
  // Without any key to trust, those that the service lists over this connection are pinned.
  const [text, first] = await Promise.all([
    requestHead(service, stored.bundle && stored.head.text, answer, signal, BUILD_WAITS),
    stored.keys ? undefined : fetchKeys(service.base, request, stored.project),
  ]);
  const now = () => timeOf(answer);
  if (text === undefined) {
    checkTime(stored.head.claims, now());
    trustClock(answer);
    return stored.bundle;
  }
  const known = first ? { ...stored, keys: first.present, project: stored.project ?? first.project } : stored;
  const listKeys = first ? undefined : (project) => fetchKeys(service.base, request, project);
  const { head, keys } = await proveHead(text, known, now, listKeys);
  trustClock(answer);
  const same = stored.bundle?.head.claims.core === head.claims.core ? stored.bundle : undefined;
  if (same?.head.text === text) return { ...same, keys };
  const core = same ? same.core : await fetchCore(service.base, head.claims, signal);
  return { head, core, keys, customerToken, goods: stored.goods };
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

/**
 * Returns the members that a caller keeps, with rules that decide by the clock, and with the supplement while it lasts. Keys of codes that
 * the `former` rules derived are used again.
 */
function bundleOf(service, bundle, clock, supplement, former) {
  const { head, core, keys } = bundle;
  const prepared = bundle.prepared ?? prepareRules(bundle);
  const goods = BundleGoods.of(head.claims, bundle.goods);
  origins.set(prepared, { ...bundle, clock, supplement, goods, service });
  if (!sealedCodes.has(prepared)) {
    const join = () => joinAll(prepared);
    sealedCodes.set(prepared, new SealedCodes({ core: core.bytes, prepared, join, former: sealedCodes.get(former) }));
  }
  joinAll(prepared);
  const drop = () => {
    drops.set(prepared, dropsOf(prepared) + 1);
    origins.get(prepared).supplement = undefined;
    joinAll(prepared);
  };
  if (clock) decideAt(prepared, clock);
  const { epoch, rev } = head.claims;
  return {
    prepared, head: head.text, core: core.bytes, parts: core.parts, keys: [...keys.values()].map(({ jwk }) => jwk), ratchet: { epoch, rev },
    clock: clock && { offset: clock.offset, served: clock.served }, writes: head.claims.writes === writes(),
    hasGoods: goods !== undefined,
    codes: sealedCodes.get(prepared),
    supplement: supplement && { until: supplement.until, problem: supplement.problem, drop },
  };
}

/** Lets rules decide with all that was fetched and opened so far. */
function joinAll(prepared) {
  const { core, goods, supplement, ...bundle } = origins.get(prepared);
  const documents = [...(goods?.documents() ?? []), ...sealedCodes.get(prepared).documents];
  joinDocuments(prepared, core.bytes, optionsOf(bundle), documents, supplement?.facts && supplement);
}

/** Fetches the buckets with the goods of a request, and joins them to the rules of a bundle: first those of its lines, then those of the products of its SKUs. */
export async function fetchGoods({ prepared }, request, { signal } = {}) {
  const origin = origins.get(prepared);
  if (!origin) throw new TypeError("`fetchGoods` takes a bundle of `fetchBundle`");
  const { goods, service } = origin;
  if (!goods) return;
  const requested = new Set();
  const findMissing = () => missingBuckets(prepared, request, goods.buckets).filter((number) => !requested.has(number));
  const findNeeded = () => new Set(neededBuckets(prepared, request, goods.buckets));
  goods.renew(findNeeded());
  await withinLimit(signal, async (signal) => {
    for (let numbers = findMissing(); numbers.length > 0; numbers = findMissing()) {
      for (const number of numbers) requested.add(number);
      // Also those of earlier calls, so that a large request is complete after some of them.
      const needed = findNeeded();
      try {
        await runEach(numbers, REQUESTS_MAX, (number) => goods.load(service.base, number, signal));
      } finally {
        goods.forgetOthers(needed);
        joinAll(prepared);
      }
    }
  }, service.exchange);
}

/** Returns a function that adds the goods buckets of a bundle to their stored record; undefined where no further one was fetched since. */
export const takeGoodsRecord = ({ prepared }) => origins.get(prepared)?.goods?.takeRecord();

/**
 * Reads the stored copy that a caller passes: the `keys` to trust, the `project`, the `clock`, the `head` below which no other one is accepted, and the
 * `bundle`. Head and core are proven again, because what was stored may be damaged or another project's; what is not
 * proven is absent, and is then fetched again.
 */
function openStored(lastGood, pinned, project, customerToken) {
  const origin = isLive(lastGood) ? origins.get(lastGood.prepared) : undefined;
  const listed = origin?.keys ?? readKeys(lastGood?.keys);
  const stored = { project, pinned, keys: pinned ?? (listed.size > 0 ? listed : undefined), clock: origin?.clock ?? ServiceClock.from(lastGood?.clock) };
  try {
    const head = readHead(origin?.head.text ?? lastGood.head);
    const keys = pinned ? addVouched(pinned, listed, head.claims.iss) : listed;
    checkHead(head, keys, project);
    Object.assign(stored, { head, keys, project: head.claims.iss });
    const core = origin?.core ?? readCore(lastGood, head.claims.core);
    const prepared = origin && origin.customerToken === customerToken ? lastGood.prepared : undefined;
    stored.supplement = prepared && origin.supplement;
    stored.goods = origin?.goods ?? BundleGoods.stored(head.claims, lastGood.goods);
    stored.bundle = { head, core, keys, customerToken, prepared, goods: stored.goods };
  } catch {
    // Fetched again, with the keys and not below the revision that were proven so far.
  }
  return stored;
}

/** Returns a stored core when it is the one that its head names. */
function readCore({ core, parts }, hash) {
  const bytes = typeof core === "string" ? new TextEncoder().encode(core) : core;
  if (!(ArrayBuffer.isView(bytes) && isCore(bytes, parts, hash))) throw refusal("wrong_core", "the kept core is not the one that its head names");
  return { bytes, parts };
}

/** Returns whether a stored bundle has rules that can still decide, and is the one that they were made from. */
function isLive(lastGood) {
  try {
    return lastGood.prepared.hash !== undefined && origins.get(lastGood.prepared).head.text === lastGood.head;
  } catch {
    return false;
  }
}
