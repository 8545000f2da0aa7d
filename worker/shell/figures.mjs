// Decides what an object counts of itself while it lives, in memory alone, for `/metrics`. It must not know what is decided: verdicts come as
// texts from the engine.
//
// In plain workerd the clock goes on within an event, in whole milliseconds, so that sums over many events are right and a single time
// is not. On Cloudflare it stands still until something outside has answered: there deciding takes no time, and the commit all of it.

/** Up to how many milliseconds each bucket counts. `worker/src/http/metrics.rs` has the same. */
export const BOUNDS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];
/** Of how many events that wrote one has its commit timed: to wait for the disk beside the answer costs a little. */
const TIMED_ONE_IN = 8;

class Times {
  #counts = new Array(BOUNDS_MS.length + 1).fill(0);
  #sum = 0;

  took(ms) {
    const place = BOUNDS_MS.findIndex((bound) => ms <= bound);
    this.#counts[place < 0 ? BOUNDS_MS.length : place] += 1;
    this.#sum += ms;
  }

  told() {
    return { counts: this.#counts, sum_ms: this.#sum };
  }
}

export class Figures {
  #verdicts = new Map();
  #decide = new Times();
  #commit = new Times();
  #events = 0;
  failures = 0;
  failedAlarms = 0;

  /** Counts an event that decided for so long; `verdicts` are lines of operation and reason, or null. */
  decided(ms, verdicts) {
    this.#decide.took(Math.max(ms, 0));
    if (verdicts === null) return;
    const lines = verdicts.split("\n");
    for (let at = 0; at + 1 < lines.length; at += 2) {
      const verdict = `${lines[at]}\n${lines[at + 1]}`;
      this.#verdicts.set(verdict, (this.#verdicts.get(verdict) ?? 0) + 1);
    }
  }

  /** Whether the commit of this event is to be timed. */
  timesCommit() {
    this.#events += 1;
    return this.#events % TIMED_ONE_IN === 0;
  }

  committed(ms) {
    this.#commit.took(Math.max(ms, 0));
  }

  told() {
    const verdicts = [...this.#verdicts].map(([verdict, count]) => [...verdict.split("\n"), count]);
    return { verdicts, decide: this.#decide.told(), commit: this.#commit.told(), failures: this.failures, failed_alarms: this.failedAlarms };
  }
}
