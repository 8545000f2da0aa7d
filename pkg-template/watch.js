// Watches for new heads of a bundle: by the feed where there is one, and by polling.
import { checkLoaded } from "./api.js";
import { ServiceClock } from "./clock.js";
import { withinLimit } from "./exchange.js";
import { Feed, later } from "./feed.js";
import { checkHead, checkTime, readHead } from "./head.js";
import { headersOf, proveHead, requestHead, timeOf, trustClock } from "./head_request.js";
import { fetchKeys, readPinned } from "./keys.js";

const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 300_000;
// While the feed brings heads, a poll finds only one whose message was lost.
const WAIT_WITH_FEED_MS = 3_600_000;

/**
 * Calls `onHead` with each head that is newer than `head` and proven by `keys`, and `onProblem` with what is refused or fails, until the
 * signal ends it. `onConfirmed` gets the known head, and the clock, each time that a poll finds no newer one.
 */
export function watchHead({
  baseUrl, credentials, keys, project, head, clock, origin, timeout, fetch, signal, onHead, onProblem = () => {}, onConfirmed = () => {},
}) {
  checkLoaded();
  if (typeof onHead !== "function") throw new TypeError("onHead must be a function");
  const trusted = readPinned(keys);
  if (!trusted) throw new TypeError("keys must be a list of JSON Web Keys: those of the bundle");
  const own = new AbortController();
  if (signal?.aborted) return;
  signal?.addEventListener("abort", () => own.abort(signal.reason), { signal: own.signal });
  const first = head === undefined ? undefined : readHead(head);
  if (first) checkHead(first, trusted, project);
  const service = { base: String(baseUrl).replace(/\/+$/, ""), headers: headersOf(credentials, origin), exchange: { timeout, fetch } };
  const known = { keys: trusted, project: project ?? first?.claims.iss, head: first };
  new HeadWatch({ service, known, answer: { clock: ServiceClock.from(clock) }, credentials, origin, signal: own.signal, calls: { onHead, onProblem, onConfirmed } });
}

/** Returns a clock as data. */
const dataOf = (clock) => clock && { offset: clock.offset, served: clock.served };

class HeadWatch {
  #service;
  #known;
  #answer;
  #signal;
  #calls;
  #feed;
  #wait = FIRST_WAIT_MS;
  #cancel = () => {};
  #isPolling = false;
  /** The newest message of the feed that is not looked at yet, while another one is. */
  #next;
  #isProving = false;

  constructor({ service, known, answer, credentials, origin, signal, calls }) {
    [this.#service, this.#known, this.#answer, this.#signal, this.#calls] = [service, known, answer, signal, calls];
    this.#feed = new Feed({
      base: service.base, credentials, origin, signal,
      onText: (text) => this.#take(text),
      onEnd: (problem) => this.#returnToPolls(problem),
    });
    this.#schedule();
    this.#wakeUpWithPage();
  }

  /** Polls at once when the page is shown or comes online: it may have slept for hours. */
  #wakeUpWithPage() {
    const [signal, { document }] = [this.#signal, globalThis];
    const wakeUp = () => {
      this.#wait = FIRST_WAIT_MS;
      this.#feed.connect();
      this.#poll();
    };
    document?.addEventListener?.("visibilitychange", () => document.visibilityState === "visible" && wakeUp(), { signal });
    globalThis.addEventListener?.("online", wakeUp, { signal });
    signal.addEventListener("abort", () => this.#cancel());
  }

  #schedule() {
    this.#cancel();
    if (this.#signal.aborted) return;
    this.#cancel = later(this.#feed.brings ? WAIT_WITH_FEED_MS : this.#wait, this.#signal, () => this.#poll());
  }

  #returnToPolls(problem) {
    this.#wait = FIRST_WAIT_MS;
    this.#schedule();
    if (problem) this.#report(problem);
  }

  /** Fetches the head. The wait doubles while nothing changes and while nothing can be fetched. */
  async #poll() {
    if (this.#isPolling) return;
    this.#isPolling = true;
    let isChanged = false;
    try {
      isChanged = await withinLimit(this.#signal, async (signal) => {
        const text = await requestHead(this.#service, this.#known.head?.text, this.#answer, signal);
        if (text === undefined || text === this.#known.head?.text) return this.#confirm();
        return this.#prove(text, signal, this.#answer);
      }, this.#service.exchange);
    } catch (problem) {
      this.#report(problem);
    }
    this.#isPolling = false;
    this.#wait = isChanged ? FIRST_WAIT_MS : Math.min(this.#wait * 2, LONGEST_WAIT_MS);
    this.#schedule();
  }

  /** Proves messages of the feed one after the other; of those that arrive meanwhile, the newest counts. */
  async #take(text) {
    this.#next = text;
    if (this.#isProving) return;
    this.#isProving = true;
    while (this.#next !== undefined) {
      const message = this.#next;
      this.#next = undefined;
      await this.#takeOne(message);
    }
    this.#isProving = false;
  }

  async #takeOne(text) {
    try {
      // A message carries no time.
      const { clock } = this.#answer;
      await withinLimit(this.#signal, (signal) => this.#prove(text, signal, { clock }), this.#service.exchange);
    } catch (problem) {
      // A feed with an old head stays open, and polls continue. One that sends an unproven head is closed.
      if (problem.code === "older_revision") this.#report(problem);
      else this.#feed.refuse(problem);
      return;
    }
    const isNew = !this.#feed.brings;
    this.#feed.accept();
    if (isNew) this.#schedule();
  }

  /** Passes on that the service's head is the known one. */
  #confirm() {
    const { text, claims } = this.#known.head;
    checkTime(claims, timeOf(this.#answer));
    trustClock(this.#answer);
    if (!this.#signal.aborted) this.#call(() => this.#calls.onConfirmed({ head: text, clock: dataOf(this.#answer.clock) }));
    return false;
  }

  /** Proves a head at the time of an answer, and passes a new one on; returns whether it is new. */
  async #prove(text, signal, answer) {
    if (text === this.#known.head?.text) return false;
    const { base, headers } = this.#service;
    const listKeys = (project) => fetchKeys(base, { headers, signal }, project);
    const { head, keys } = await proveHead(text, this.#known, () => timeOf(answer), listKeys);
    trustClock(answer);
    // A poll may have found a newer one while keys were fetched.
    const { epoch, rev } = head.claims;
    const before = this.#known.head?.claims;
    if (this.#signal.aborted || (before && (epoch - before.epoch || rev - before.rev) <= 0)) return false;
    this.#known = { keys, project: head.claims.iss, head };
    const found = { head: text, keys: [...keys.values()].map(({ jwk }) => jwk), ratchet: { epoch, rev }, clock: dataOf(this.#answer.clock) };
    this.#call(() => this.#calls.onHead(found));
    return true;
  }

  #report(problem) {
    if (!this.#signal.aborted) this.#call(() => this.#calls.onProblem(problem));
  }

  /** Calls the caller's function, whose errors are the caller's: they appear as uncaught and do not end the watch. */
  #call(run) {
    Promise.resolve().then(run);
  }
}
