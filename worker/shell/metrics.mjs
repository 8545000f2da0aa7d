// Counts in memory what an object does while it lives, for `/metrics`. Verdicts arrive as texts from the engine.
//
// In plain workerd the clock goes on within an event, in whole milliseconds: sums over many events are right and a single time is not. On
// Cloudflare the clock does not advance until something outside has answered. There the decision takes no time, and the commit all of it.

/** The upper bounds of the histogram buckets in milliseconds. `worker/src/http/metrics.rs` has the same. */
export const BOUNDS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];
/** One of this many batches that wrote has its commit timed: waiting for the disk in addition to the answers costs a little. */
const TIMED_ONE_IN = 8;

class Histogram {
  #counts = new Array(BOUNDS_MS.length + 1).fill(0);
  #sum = 0;

  record(ms) {
    const place = BOUNDS_MS.findIndex((bound) => ms <= bound);
    this.#counts[place < 0 ? BOUNDS_MS.length : place] += 1;
    this.#sum += ms;
  }

  toJson() {
    return { counts: this.#counts, sum_ms: this.#sum };
  }
}

export class ObjectMetrics {
  #verdicts = new Map();
  #decide = new Histogram();
  #commit = new Histogram();
  #batches = 0;
  #bundleBuilds = new Histogram();
  #bundleSlices = new Histogram();
  /** Milliseconds of the slices since the last head. */
  #bundleMs = 0;
  failures = 0;
  failedAlarms = 0;
  failedBundleBuilds = 0;
  failedBundleCopies = 0;

  /** Counts a request that took so long to decide; `verdicts` are lines of operation and reason, or null. */
  countDecision(ms, verdicts) {
    this.#decide.record(Math.max(ms, 0));
    if (verdicts === null) return;
    const lines = verdicts.split("\n");
    for (let at = 0; at + 1 < lines.length; at += 2) {
      const verdict = `${lines[at]}\n${lines[at + 1]}`;
      this.#verdicts.set(verdict, (this.#verdicts.get(verdict) ?? 0) + 1);
    }
  }

  /** Returns whether the commit of this batch is to be timed. */
  shouldTimeCommit() {
    this.#batches += 1;
    return this.#batches % TIMED_ONE_IN === 0;
  }

  countCommit(ms) {
    this.#commit.record(Math.max(ms, 0));
  }

  /** Counts a slice of the bundle's build; the last one ends the build. */
  countBundleSlice(ms, isLast) {
    this.#bundleSlices.record(Math.max(ms, 0));
    this.#bundleMs += Math.max(ms, 0);
    if (!isLast) return;
    this.#bundleBuilds.record(this.#bundleMs);
    this.#bundleMs = 0;
  }

  toJson() {
    const verdicts = [...this.#verdicts].map(([verdict, count]) => [...verdict.split("\n"), count]);
    return {
      verdicts, decide: this.#decide.toJson(), commit: this.#commit.toJson(), failures: this.failures, failed_alarms: this.failedAlarms,
      bundle_builds: this.#bundleBuilds.toJson(), bundle_slices: this.#bundleSlices.toJson(), failed_bundle_builds: this.failedBundleBuilds,
      failed_bundle_copies: this.failedBundleCopies,
    };
  }
}
