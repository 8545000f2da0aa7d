// Runs one kind of work of an object in the background: once more where it is started again meanwhile, and again later after a failure.

// After a failure: the first wait, and the longest.
const RETRY_MS = 2_000;
const RETRY_MAX_MS = 300_000;

/** Work that an alarm starts and waits for. */
export class BackgroundTask {
  #task;
  #running = undefined;
  #runsAgain = false;
  #failures = 0;

  /** `run` does the work. `fail` gets an error and the wait until it is to be started again, in milliseconds; `end` is called when nothing runs. */
  constructor(task) {
    this.#task = task;
  }

  get isRunning() {
    return this.#running !== undefined;
  }

  start() {
    this.#runsAgain = true;
    this.#running ??= this.#repeat();
  }

  async #repeat() {
    while (this.#runsAgain) {
      this.#runsAgain = false;
      try {
        await this.#task.run();
        this.#failures = 0;
      } catch (error) {
        this.#task.fail(error, Math.min(RETRY_MS * 2 ** this.#failures, RETRY_MAX_MS));
        this.#failures += 1;
      }
    }
    this.#running = undefined;
    this.#task.end();
  }
}
