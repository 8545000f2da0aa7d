// Decides how much of a long work is done at a time, and how long an object rests before the next piece: long work has a third of the
// object's time at most while anybody asks, and nearly all of it otherwise. It must not know what the work is, and has no clock of its own.

/** What a piece should take, its commit included, when few ask, and the most when many do: who waits behind many waits no shorter anyway. */
export const AIM_MS = 10;
export const AIM_MOST_MS = 50;
/** The same when nobody asked since the last one: a commit costs the disk as much as a hundred rows, and who comes first waits for one piece. */
export const AIM_ALONE_MS = 40;
/** Rows of the first piece, of the least and of the most. */
export const FIRST = 100;
export const LEAST = 50;
export const MOST = 2_000;
/** How long one spell goes on: a thousandth of it is spent on asking for the next, and it is far from any limit of the platform. */
const SPELL_MS = 10_000;
/** A rest is twice what the piece took. */
const RESTS = 2;
const REST_LEAST_MS = 5;
/** As long as it takes whoever waits to be let in. */
const BREATH_MS = 1;
/** How long a rest goes on without anybody who asks: one who looks how far the work is now and then is no reason to stop it for long. */
const QUIET_MS = 5;

/** What the next piece should take when those who asked took `restedMs` between the last two; nothing when nobody asked. */
export function aimMs(restedMs) {
  return restedMs === 0 ? AIM_ALONE_MS : Math.min(Math.max(restedMs / RESTS, AIM_MS), AIM_MOST_MS);
}

/**
 * How many rows a piece has that should take `aim`, after one of `rows` that took `tookMs`. It falls at once, though by no more than half,
 * as a machine that was busy for a moment is no slower one, and it rises slowly: a guess too high is paid by whoever waits.
 */
export function nextRows(rows, tookMs, aim = AIM_MS) {
  const fitting = (rows * aim) / Math.max(tookMs, 1);
  const careful = Math.min(Math.max(fitting, rows / 2), rows * 1.25);
  return Math.min(Math.max(Math.round(careful), LEAST), MOST);
}

/** How long to rest for those who ask, after a piece that took `tookMs`. */
export function restMs(tookMs) {
  return Math.max(tookMs * RESTS, REST_LEAST_MS);
}

/** The long work of one object. */
export class Pace {
  #rows = FIRST;
  #object;

  /**
   * `object` does a piece of so many rows and gives the moment of what is due next or null (`piece`), knows how many requests were served
   * so far (`served`), and has a clock (`now`, `sleep`) and a door (`alone`): what is done behind it is over when it is on the disk, and
   * nobody is served meanwhile. Without it a piece would be held to have taken what the requests took that came before its end.
   */
  constructor(object) {
    this.#object = object;
  }

  /** Works for a while, piece by piece with a rest after each; gives the moment of what is due next, or null. */
  async spell() {
    const { now, sleep, served, alone, piece } = this.#object;
    const latest = now() + SPELL_MS;
    let next;
    do {
      const before = served();
      const took = await alone(() => {
        next = piece(this.#rows);
      });
      const rested = await this.#rest(took, before);
      this.#rows = nextRows(this.#rows, took, aimMs(rested));
    } while (next !== null && next <= now() && now() < latest);
    return next;
  }

  /** Rests after a piece that took so long, for those who asked since so many were served; says how long they took. */
  async #rest(took, before) {
    const { now, sleep, served } = this.#object;
    const begun = now();
    const end = begun + restMs(took);
    await sleep(BREATH_MS);
    if (served() === before) return 0;
    // A timer has its turn behind all that waited before it, which may be rest enough.
    for (let seen = before; served() > seen && now() < end; ) {
      seen = served();
      await sleep(Math.min(QUIET_MS, end - now()));
    }
    return Math.max(now() - begun, BREATH_MS);
  }
}
