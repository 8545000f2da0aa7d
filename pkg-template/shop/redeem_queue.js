// Redemptions that have no answer yet. Each is stored with its `Idempotency-Key` before it is sent, and sent with it until the service answers:
// the service counts it once. What it did not answer is never reported.
import { isErrorOf } from "./calls.js";
import { customerOf } from "./customer.js";

const PATH = "/client/v1/redemptions";
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
// Maximum wait, also for a longer `Retry-After` of the service.
const RETRY_AFTER_MAX_MS = 600_000;
// The service keeps an answer for a day; sent again after it, a redemption would count twice.
const HOUR_MS = 3_600_000;
const REPEATED_FOR_MS = 23 * HOUR_MS;
// A request of this key that runs has a conflict too, and passes; these do not.
const LASTING_CONFLICTS = new Set(["duplicate_found", "resource_in_use", "holder_assignement_duplication"]);

/** Returns the error of a redemption that has no answer: whether it counts is unknown, or it is not sent any more. */
const unanswered = (reason, cause) => Object.assign(new Error(`the redemption has no answer: ${reason}`, cause && { cause }), { code: "unanswered" });

/** The redemptions of a shop. */
export class RedeemQueue {
  #store;
  #calls;
  #rules;
  #signal;
  /** Redemptions that are being sent, by key, with the promise of their answer. */
  #running = new Map();

  constructor({ store, calls, rules, signal }) {
    [this.#store, this.#calls, this.#rules, this.#signal] = [store, calls, rules, signal];
  }

  /**
   * Redeems a request, as text, for the customer of a token. The same request of the same customer that still has no answer is continued, so that
   * a page that was loaded again does not redeem twice.
   */
  async redeem(text, token, signal) {
    const customer = customerOf(token) ?? null;
    let entry;
    let isFirst;
    // A store that failed makes the change again later: it keeps the chosen entry then.
    await this.#store.update("redemptions", (stored) => {
      const entries = this.#listAll(stored);
      entry ??= entries.find((one) => one.text === text && one.customer === customer && this.#isRepeatable(one));
      isFirst ??= entry === undefined;
      entry ??= { key: randomKey(), text, customer, at: this.#rules.now(), local: Date.now() };
      return entries.some(({ key }) => key === entry.key) ? entries : [...entries, entry];
    });
    return this.#send(entry, signal, isFirst ? { token } : undefined);
  }

  /** Returns the redemptions without an answer, each with its continuation. */
  async pending() {
    const entries = this.#listAll(await this.#store.get("redemptions"));
    return entries.map((entry) => ({
      key: entry.key, request: JSON.parse(entry.text), at: entry.at, isRepeatable: this.#isRepeatable(entry),
      resume: ({ signal } = {}) => this.#send(entry, signal),
      forget: () => this.#forget(entry),
    }));
  }

  /** Lists the stored redemptions, and those that are being sent where the store has lost them. */
  #listAll(stored) {
    const own = [...this.#running.values()].map(({ entry }) => entry);
    return [...new Map([...own, ...readEntries(stored)].map((entry) => [entry.key, entry])).values()];
  }

  /** Whether a redemption is young enough by the service's time, which may have been unknown, and by the local clock, which may have been changed. */
  #isRepeatable({ at, local }) {
    return [this.#rules.now() - at, Date.now() - local].every((age) => age < REPEATED_FOR_MS && age > -HOUR_MS);
  }

  #forget({ key }) {
    return this.#store.update("redemptions", (stored) => readEntries(stored).filter((one) => one.key !== key));
  }

  /** Sends a redemption until it is answered; one that is being sent already is not sent a second time. The signal ends only the wait. */
  #send(entry, signal, first) {
    const { key } = entry;
    if (!this.#running.has(key)) {
      const sending = new Repetition({ entry, calls: this.#calls, rules: this.#rules, signal: this.#signal, isRepeatable: () => this.#isRepeatable(entry) });
      const answered = sending.run(first).then((answer) => this.#finish(entry, answer)).finally(() => this.#running.delete(key));
      answered.catch(() => {});
      this.#running.set(key, { entry, answered });
    }
    return untilAborted(this.#running.get(key).answered, signal);
  }

  async #finish(entry, answer) {
    await this.#forget(entry);
    this.#rules.dropSupplement();
    this.#rules.refresh();
    return answer;
  }
}

/** One redemption that is sent again and again. */
class Repetition {
  #parts;
  /** Whether an attempt may have counted without an answer. Then a refusal of the caller does not answer it. */
  #isMaybeCounted = true;
  #pause = FIRST_PAUSE_MS;

  constructor(parts) {
    this.#parts = parts;
  }

  /** Repeats it until it is answered. `first` has the token of one that was never sent before. */
  async run(first) {
    this.#isMaybeCounted = first === undefined;
    for (let token = first?.token, isKnown = first !== undefined, refused; ; isKnown = false) {
      this.#check();
      if (!isKnown) token = await this.#token();
      const answer = await this.#attempt(token);
      const result = answer && readAnswer(answer);
      if (result) return result;
      if (answer && isOfCaller(answer)) {
        // A token that has just expired is replaced once.
        if (answer.status !== 401 || token === undefined || refused !== undefined) return this.#refuse(answer);
        refused = token;
        if ((await this.#token()) === refused) return this.#refuse(answer);
        continue;
      }
      this.#isMaybeCounted ||= !(answer?.status === 429 && isErrorOf(answer.json, 429));
      await this.#wait(answer);
    }
  }

  #check() {
    if (this.#parts.signal.aborted) throw unanswered("the shop was closed");
    if (!this.#parts.isRepeatable()) throw unanswered("the service keeps answers for a day only, so it is not sent again");
  }

  /** Returns a token of the customer who redeems: for another one the service would count it again. */
  async #token() {
    const token = await this.#parts.rules.token().catch((problem) => { throw unanswered("the page has no customer token", problem); });
    if ((customerOf(token) ?? null) !== this.#parts.entry.customer) throw unanswered("the customer is another one now");
    return token;
  }

  /** Sends it once; returns nothing where no complete answer arrived. */
  async #attempt(token) {
    const { calls, entry, signal } = this.#parts;
    try {
      return await calls.post(PATH, entry.text, { token, key: entry.key, signal });
    } catch {
      return undefined;
    }
  }

  /** Reports that the service refuses the caller, where no earlier attempt can have counted. */
  #refuse({ status, json, text }) {
    if (this.#isMaybeCounted) throw unanswered(`the service refuses the caller with ${status}`, new Error(json.message));
    return { kind: "refused", status, answer: json, text };
  }

  async #wait(answer) {
    const retryAfterMs = Number(answer?.headers.get("retry-after") ?? 0) * 1_000;
    const ms = Math.max(this.#pause * (0.5 + Math.random() / 2), Math.min(retryAfterMs || 0, RETRY_AFTER_MAX_MS));
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
    await pause(ms, this.#parts.signal);
  }
}

/** Returns what the service has decided about a redemption; nothing where it has not, or where something between has answered. */
function readAnswer({ status, headers, json, text }) {
  if (status === 200 && Array.isArray(json?.redemptions)) {
    const kind = json.redemptions.length > 0 ? "redeemed" : "refused";
    return { kind, status, answer: json, text, replayed: headers.get("idempotency-replayed") === "true" };
  }
  const isLasting = status >= 400 && status < 500 && status !== 429 && (status !== 409 || LASTING_CONFLICTS.has(json?.key));
  if (isLasting && isErrorOf(json, status) && !isOfCaller({ status, json })) return { kind: "refused", status, answer: json, text };
  return undefined;
}

/** Returns whether the service refuses the caller, before it checks whether it knows the redemption. */
const isOfCaller = ({ status, json }) => (status === 401 || status === 403) && isErrorOf(json, status);

/** Returns the readable redemptions of a stored list. */
function readEntries(stored) {
  const isEntry = (one) => typeof one?.key === "string" && typeof one.text === "string" && [one.at, one.local].every(Number.isSafeInteger) && isRequest(one.text);
  return Array.isArray(stored) ? stored.filter(isEntry) : [];
}

function isRequest(text) {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

/** Waits for a while, and ends early with the signal or when the host comes online. */
function pause(ms, signal) {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      globalThis.removeEventListener?.("online", end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
    globalThis.addEventListener?.("online", end);
  });
}

/** Returns a new key. A page that is not served by HTTPS has no `randomUUID`. */
const randomKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Returns what a promise gives, and ends the wait for it with the signal. */
function untilAborted(promise, signal) {
  if (!signal) return promise;
  return new Promise((done, failed) => {
    const end = () => failed(unanswered("the wait was ended", signal.reason));
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    promise.then(done, failed).finally(() => signal.removeEventListener("abort", end));
  });
}
