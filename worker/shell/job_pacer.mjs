// Sets how many rows of a job are done at a time, and how long an object rests before the next slice. Jobs have at most a third of the
// object's time while requests arrive, and nearly all of it otherwise. It has no clock of its own.

/**
 * The intended duration of a slice, commit included: the first with few requests, the second, which is the longest, with many. A request
 * that waits after many others would wait no less with shorter slices.
 */
export const AIM_MS = 10;
export const AIM_MOST_MS = 50;
/**
 * Intended duration of a slice when no request came since the last one. A commit costs the disk as much as a hundred rows, and a new
 * request waits for one slice.
 */
export const AIM_ALONE_MS = 40;
/** Rows of the first slice, of the smallest and of the largest. */
export const FIRST = 100;
export const LEAST = 50;
export const MOST = 2_000;
/** The duration of one burst: asking for the next costs a thousandth of it, and it is far below any limit of the platform. */
const BURST_MS = 10_000;
/** A rest is this many times as long as the slice. */
const REST_FACTOR = 2;
const REST_LEAST_MS = 5;
/** Long enough to let a waiting request in. */
const PAUSE_MS = 1;
/** A rest ends after this time without a request. A caller that polls the progress of a job is no reason for a long rest. */
const IDLE_MS = 5;

/** Returns the intended duration of the next slice when requests took `restedMs` since the last one; 0 means that none came. */
export function aimMs(restedMs) {
  return restedMs === 0 ? AIM_ALONE_MS : Math.min(Math.max(restedMs / REST_FACTOR, AIM_MS), AIM_MOST_MS);
}

/**
 * Returns the number of rows of a slice that should take `aim`, after one of `rows` that took `tookMs`. It falls at once but by no more
 * than half, because a machine that was busy for a short time is not a slower machine. It rises slowly: waiting requests pay for an estimate
 * that is too high.
 */
export function nextRows(rows, tookMs, aim = AIM_MS) {
  const ideal = (rows * aim) / Math.max(tookMs, 1);
  const bounded = Math.min(Math.max(ideal, rows / 2), rows * 1.25);
  return Math.min(Math.max(Math.round(bounded), LEAST), MOST);
}

/** Returns the rest for waiting requests after a slice that took `tookMs`. */
export function restMs(tookMs) {
  return Math.max(tookMs * REST_FACTOR, REST_LEAST_MS);
}

/** Returns whether a time span is not over. It is over when the clock was set back meanwhile. */
function isWithin(passedMs, spanMs) {
  return passedMs >= 0 && passedMs < spanMs;
}

/** The jobs of one object. */
export class JobPacer {
  #rows = FIRST;
  #object;

  /**
   * `object` runs a slice of a number of rows and returns the time of the next due work or null (`slice`). It counts the requests served so far
   * (`served`) and has a clock (`now`, `sleep`). `exclusively` runs a function while no request is served; it ends when the result is on
   * the disk. Without it the duration of a slice would include the requests that came before its end.
   */
  constructor(object) {
    this.#object = object;
  }

  /** Works for a while, slice by slice with a rest after each; returns the time of the next due work, or null. */
  async runBurst() {
    const { now, served, exclusively, slice } = this.#object;
    const startedAt = now();
    let next;
    do {
      const before = served();
      const took = await exclusively(() => {
        next = slice(this.#rows);
      });
      const rested = await this.#rest(took, before);
      this.#rows = nextRows(this.#rows, took, aimMs(rested));
    } while (next !== null && next <= now() && isWithin(now() - startedAt, BURST_MS));
    return next;
  }

  /** Rests after a slice that took so long, for the requests that arrived since; returns how long they took. */
  async #rest(took, before) {
    const { now, sleep, served } = this.#object;
    const startedAt = now();
    // The clock may have been set forward during the slice.
    const rest = Math.min(restMs(took), BURST_MS);
    await sleep(PAUSE_MS);
    if (served() === before) return 0;
    // A timer fires after all that waited before it, which may be rest enough.
    for (let count = before; served() > count && isWithin(now() - startedAt, rest); ) {
      count = served();
      await sleep(Math.min(IDLE_MS, rest - (now() - startedAt)));
    }
    return Math.max(now() - startedAt, PAUSE_MS);
  }
}
