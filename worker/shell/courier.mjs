// Decides how letters to webhooks are carried: a few at once, each for a bounded time, what came of them settled together. It must not
// know what a letter says, which is due, nor when a failed one is tried again; and it has neither a clock nor a network of its own.

/** How long one letter may take: as published. */
export const LETTER_MS = 10_000;
/** How long one spell takes letters up: far from any limit of the platform. */
const SPELL_MS = 60_000;
/** Between an outcome and its commit: others that come at the same time share it. The longer one when the object has others to serve. */
const BREATH_MS = 1;
const REST_MS = 5;
/** What a runtime says of a connection that its other end has closed. */
const LOST = /connection lost/i;

/** The letters of one object. */
export class Courier {
  #object;
  /** What is on its way or not settled yet: its webhook by its place. */
  #busy = new Map();
  /** What came of letters since the last round. */
  #outcomes = [];
  /** The webhooks whose last letter did not arrive. */
  #failing = new Set();
  #stirred = false;
  /** Whether all ways are taken: until something has come of a letter nothing new can leave. */
  #full = false;
  #wake = () => {};

  /**
   * `object` settles outcomes and gives what is to be sent, in one commit (`round`), sends a request (`fetch`), knows how many requests
   * were served so far (`served`) and has a clock (`now`, `sleep`, `after`, which gives what calls it off). A letter is only gone when its outcome is settled, so that whoever
   * dies in between carries it again.
   */
  constructor(object) {
    this.#object = object;
  }

  /** Says that something new may be waiting. */
  stir() {
    this.#stirred = true;
    if (!this.#full) this.#wake();
  }

  /** Carries until nothing is due and nothing on its way; gives the moment of what is due next, or null. */
  async spell() {
    const { now, sleep, served } = this.#object;
    const latest = now() + SPELL_MS;
    for (let before = served(); ; before = served()) {
      const next = this.#round(now() >= latest);
      if (this.#busy.size === 0) return next;
      await this.#news(next);
      await sleep(served() > before ? REST_MS : BREATH_MS);
    }
  }

  /** Nothing awaits between what is read here and its commit. */
  #round(closing) {
    this.#stirred = false;
    const outcomes = this.#outcomes;
    const carried = { busy: [...this.#busy], failing: [...this.#failing], outcomes, closing };
    const { letters, next, full } = this.#object.round(carried);
    this.#full = full;
    this.#outcomes = [];
    for (const { seq } of outcomes) this.#busy.delete(seq);
    for (const letter of letters) void this.#carry(letter);
    return next;
  }

  /** Waits until something has come of a letter, something new waits, or the next is due. */
  async #news(next) {
    if (this.#outcomes.length > 0 || (this.#stirred && !this.#full)) return;
    const { now, sleep } = this.#object;
    const woken = new Promise((done) => {
      this.#wake = done;
    });
    // What is due already waits for a way that is free.
    const wait = next === null ? 0 : next - now();
    await (wait > 0 ? Promise.race([woken, sleep(Math.min(wait, LETTER_MS))]) : woken);
  }

  async #carry(letter) {
    this.#busy.set(letter.seq, letter.webhook);
    const outcome = await this.#send(letter);
    const arrived = outcome.status >= 200 && outcome.status < 300;
    if (arrived) this.#failing.delete(letter.webhook);
    else this.#failing.add(letter.webhook);
    this.#outcomes.push({ seq: letter.seq, ...outcome });
    this.#wake();
  }

  /** Of an answer the status counts alone: nothing of its body is read, however long it is. */
  async #send({ url, headers, body }) {
    const { fetch, after } = this.#object;
    const ending = new AbortController();
    let cancel;
    const late = new Promise((done) => {
      cancel = after(LETTER_MS, () => {
        done({ failure: `no answer within ${LETTER_MS / 1_000} seconds` });
        ending.abort();
      });
    });
    const post = () => fetch(url, { method: "POST", headers, body, redirect: "manual", signal: ending.signal });
    // Receivers close what was kept open for the next letter, often without saying so: that is found out by sending, and is no try of its own.
    const again = (error) => (LOST.test(error?.message) ? post() : Promise.reject(error));
    const sent = (async () => {
      try {
        const answer = await post().catch(again);
        answer.body?.cancel().catch(() => {});
        return { status: answer.status };
      } catch (error) {
        return { failure: String(error?.message ?? error).slice(0, 200) };
      }
    })();
    const outcome = await Promise.race([sent, late]);
    cancel();
    return outcome;
  }
}
