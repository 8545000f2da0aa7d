// Keeps the service's time in a host whose own clock may be wrong.

// The local clock counts as corrected when it agrees this well with the time that has passed since the service's last answer.
const NEAR_MS = 60_000;

/** The time of the service, from the `Date` of one of its answers. */
export class ServiceClock {
  #mark = performance.now();

  /** `offset` is the error of the local clock, `served` the `Date` of the answer; both in milliseconds. */
  constructor(offset, served) {
    this.offset = offset;
    this.served = served;
  }

  /** Reads a clock that was stored as data; undefined where it is none. */
  static from(stored) {
    const isClock = Number.isSafeInteger(stored?.offset) && Number.isSafeInteger(stored?.served);
    return isClock ? new ServiceClock(stored.offset, stored.served) : undefined;
  }

  /**
   * Reads the clock of an answer with these headers that took `elapsed` milliseconds and arrived at `received` of the local clock. An
   * answer from a cache carries its age. A difference that the round trip and the whole seconds of a `Date` explain is no offset.
   */
  static of(headers, received, elapsed) {
    const age = Number(headers.get("age") ?? 0);
    const served = Date.parse(headers.get("date") ?? "") + (age > 0 ? Math.floor(age) * 1_000 : 0);
    if (!Number.isSafeInteger(served)) return undefined;
    const least = served - received;
    const most = least + 999 + Math.ceil(elapsed);
    return new ServiceClock(Math.max(least, Math.min(0, most)), served);
  }

  /**
   * Returns the current time in milliseconds since 1970. It is never earlier than the answer plus the time that has passed since, even if
   * the local clock is changed.
   */
  now() {
    const local = Date.now();
    const least = Math.floor(this.served + performance.now() - this.#mark);
    const wasSet = Math.abs(this.offset) > 2 * NEAR_MS && Math.abs(local - least) < NEAR_MS;
    return Math.max(wasSet ? local : local + this.offset, least);
  }
}
