// Copies the bundle of a project to KV, from which the entry answers without the object: its parts first, the head last. The engine returns what
// is to be written and removed, and stores what is done. This module has neither a clock nor a network of its own.

/** The time limit of one call of KV or of the feed. */
export const KV_MS = 10_000;

/** The bundle of one object. */
export class BundleCopier {
  #object;

  /**
   * `object` records what was done and returns the next step or null in one commit (`commitStep`). It has the namespace (`kv`), passes a
   * head on to those who listen (`publish`), and runs a function later (`after`, which returns its cancellation).
   */
  constructor(object) {
    this.#object = object;
  }

  /** Works until KV has all that it is to have. A step whose end is not recorded is done again: the same bytes under the same names. */
  async runBurst() {
    const { commitStep, kv, publish } = this.#object;
    for (let step = commitStep({}); step !== null; step = commitStep(step.report)) {
      const calls = [...step.pairs.map(({ name, value }) => kv().put(name, value)), ...step.removals.map((name) => kv().delete(name))];
      await this.#withinLimit(Promise.all(calls));
      if (step.head !== null) await this.#withinLimit(publish(step.head));
    }
  }

  #withinLimit(calls) {
    let cancel;
    const late = new Promise((_, failed) => {
      cancel = this.#object.after(KV_MS, () => failed(new Error(`KV or the feed did not answer within ${KV_MS} ms`)));
    });
    return Promise.race([calls, late]).finally(() => cancel());
  }
}
