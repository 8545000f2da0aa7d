// Groups the requests of an object into batches that share one flush. Requests that wait while the object commits run in one turn, one
// after the other. It has neither a clock nor a transaction of its own.

/** The most requests of one batch. */
export const REQUESTS_MAX = 32;
/**
 * The time in which a batch accepts further requests. On Cloudflare the clock does not advance within an event, so only the number limits a
 * batch there.
 */
export const BATCH_MS_MAX = 10;
/**
 * One of this many lone requests in a row, the first, is followed by a pause in which others may arrive. The pause is a timer, which
 * delays the answer a little.
 */
export const PROBED_ONE_IN = 8;

/** The waiting requests of one object, and the batches in which they run. */
export class BatchQueue {
  #object;
  /** Requests in the order of arrival; those of a batch stay until it has run. */
  #waiting = [];
  #running = false;
  /** True if requests arrived while others ran. */
  #crowded = false;
  /** The number of lone requests in a row, up to the next that is followed by a pause. */
  #lone = 0;

  /**
   * `object` lets other events in (`pause`) and runs one request in a transaction of its own and returns its outcome (`run`). `run` does
   * not throw for the failure of a single request. `finish` runs once for the outcomes of a batch, `abort` after any other failure, and
   * `now` reads the clock.
   */
  constructor(object) {
    this.#object = object;
  }

  /** Queues a request; resolves to its outcome after its whole batch has run. */
  add(request) {
    return new Promise((answer, fail) => {
      this.#waiting.push({ request, answer, fail });
      if (this.#running) return;
      this.#running = true;
      void this.#run();
    });
  }

  /**
   * Runs batches until no request waits. The runtime flushes the writes of a turn when the turn ends, so every batch has one flush. A lone
   * request runs at once. Only between requests that follow closely does a pause let the requests in that arrived meanwhile.
   */
  async #run() {
    try {
      do {
        if (this.#crowded) await this.#object.pause();
        const size = this.#runBatch();
        this.#lone = size > 1 ? 0 : (this.#lone + 1) % PROBED_ONE_IN;
        if (this.#lone === 1) await this.#object.pause();
        this.#crowded = size > 1 || this.#waiting.length > 0;
      } while (this.#waiting.length > 0);
    } catch (error) {
      for (const { fail } of this.#waiting.splice(0)) fail(error);
      this.#object.abort(error);
    } finally {
      this.#running = false;
    }
  }

  /** Runs and answers a batch; returns its size. It contains no await. */
  #runBatch() {
    const { now, run, finish } = this.#object;
    const latest = now() + BATCH_MS_MAX;
    const outcomes = [];
    do {
      outcomes.push(run(this.#waiting[outcomes.length].request));
    } while (outcomes.length < this.#waiting.length && outcomes.length < REQUESTS_MAX && now() < latest);
    finish(outcomes);
    const batch = this.#waiting.splice(0, outcomes.length);
    for (const [place, { answer }] of batch.entries()) answer(outcomes[place]);
    return batch.length;
  }
}
