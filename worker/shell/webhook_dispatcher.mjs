// Sends webhook deliveries: a few at a time, each for a limited time, with their outcomes recorded together. The engine selects the due
// deliveries and schedules retries. This module has neither a clock nor a network of its own.

/** The time limit of one delivery, as published. */
export const DELIVERY_MS = 10_000;
/** The time in which one burst starts deliveries: far below any limit of the platform. */
const BURST_MS = 60_000;
/**
 * The wait between an outcome and its commit, so that simultaneous outcomes share one. It is longer when the object has requests to serve.
 */
const PAUSE_MS = 1;
const BUSY_PAUSE_MS = 5;
/** The error of a runtime for a connection that its other end has closed. */
const CONNECTION_LOST = /connection lost/i;

/** The deliveries of one object. */
export class Dispatcher {
  #object;
  /** The webhook of each delivery that is in flight or not recorded yet, by its sequence number. */
  #inFlight = new Map();
  /** The outcomes since the last round. */
  #outcomes = [];
  /** The webhooks whose last delivery failed. */
  #failing = new Set();
  #isWoken = false;
  /** True if all slots are taken: no new delivery can start before an outcome arrives. */
  #isFull = false;
  #wake = () => {};

  /**
   * `object` records outcomes and returns the next deliveries in one commit (`commitRound`), sends a request (`fetch`) and counts the requests
   * served so far (`served`). It has a clock (`now`, `sleep`, `after`, which returns a cancellation). A delivery is only deleted when its
   * outcome is recorded, so a process that dies in between sends it again.
   */
  constructor(object) {
    this.#object = object;
  }

  /** Announces that new deliveries may be due. */
  wakeUp() {
    this.#isWoken = true;
    if (!this.#isFull) this.#wake();
  }

  /** Sends until no delivery is due or in flight; returns the time of the next due delivery, or null. */
  async runBurst() {
    const { now, sleep, served } = this.#object;
    const startedAt = now();
    // A clock that was set back ends the burst as well.
    const isOver = () => now() < startedAt || now() >= startedAt + BURST_MS;
    for (let before = served(); ; before = served()) {
      const next = this.#runRound(isOver());
      if (this.#inFlight.size === 0) return next;
      await this.#waitForWork(next);
      await sleep(served() > before ? BUSY_PAUSE_MS : PAUSE_MS);
    }
  }

  /** Commits a round. There is no await between the reads here and the commit. */
  #runRound(isClosing) {
    this.#isWoken = false;
    const outcomes = this.#outcomes;
    const report = { busy: [...this.#inFlight], failing: [...this.#failing], outcomes, closing: isClosing };
    const { deliveries, next, full } = this.#object.commitRound(report);
    this.#isFull = full;
    this.#outcomes = [];
    for (const { seq } of outcomes) this.#inFlight.delete(seq);
    for (const delivery of deliveries) void this.#deliver(delivery);
    return next;
  }

  /** Waits until an outcome arrives, a new delivery is queued, or the next is due. */
  async #waitForWork(next) {
    if (this.#outcomes.length > 0 || (this.#isWoken && !this.#isFull)) return;
    const { now, sleep } = this.#object;
    const woken = new Promise((done) => {
      this.#wake = done;
    });
    // A delivery that is due already waits for a free slot.
    const wait = next === null ? 0 : next - now();
    await (wait > 0 ? Promise.race([woken, sleep(Math.min(wait, DELIVERY_MS))]) : woken);
  }

  async #deliver(delivery) {
    this.#inFlight.set(delivery.seq, delivery.webhook);
    const outcome = await this.#send(delivery);
    const isDelivered = outcome.status >= 200 && outcome.status < 300;
    if (isDelivered) this.#failing.delete(delivery.webhook);
    else this.#failing.add(delivery.webhook);
    this.#outcomes.push({ seq: delivery.seq, ...outcome });
    this.#wake();
  }

  /** Sends one delivery. Only the status of the answer counts: its body is not read, even when it is long. */
  async #send({ url, headers, body }) {
    const { fetch, after } = this.#object;
    const controller = new AbortController();
    let cancel;
    const late = new Promise((done) => {
      cancel = after(DELIVERY_MS, () => {
        done({ failure: `no answer within ${DELIVERY_MS / 1_000} seconds` });
        controller.abort();
      });
    });
    const post = () => fetch(url, { method: "POST", headers, body, redirect: "manual", signal: controller.signal });
    // Receivers close idle connections, often silently. Only sending reveals that, and it does not count
    // as an attempt.
    const retryLost = (error) => (CONNECTION_LOST.test(error?.message) ? post() : Promise.reject(error));
    const sending = (async () => {
      try {
        const answer = await post().catch(retryLost);
        answer.body?.cancel().catch(() => {});
        return { status: answer.status };
      } catch (error) {
        return { failure: String(error?.message ?? error).slice(0, 200) };
      }
    })();
    const outcome = await Promise.race([sending, late]);
    cancel();
    return outcome;
  }
}
