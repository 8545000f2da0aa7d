// Keeps the rules of a shop up to date: one tab watches for new heads, the others hear of it, and each notices when its rules age.
import { later } from "../feed.js";
import { watchHead } from "../watch.js";
import { TabGroup } from "./share.js";

const FIRST_WAIT_MS = 30_000;
const LONGEST_WAIT_MS = 300_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What runs between the refreshes of a shop's rules, until the signal ends it. */
export class Upkeep {
  #rules;
  #options;
  #signal;
  #tabs;
  #isLeading = false;
  #isWatching = false;
  #cancelTimer = () => {};
  #wait = FIRST_WAIT_MS;
  #sharedHead;

  constructor({ rules, options, signal }) {
    [this.#rules, this.#options, this.#signal] = [rules, options, signal];
    signal.addEventListener("abort", () => this.#cancelTimer());
  }

  /** Begins after the first refresh: until then nothing is known to be newer than anything. */
  begin() {
    const { name, store, poll } = this.#options;
    if (!poll || this.#signal.aborted || this.#tabs) return;
    this.#tabs = new TabGroup(name, {
      isShared: store !== "memory", signal: this.#signal, onMessage: (message) => this.#rules.receive(message), lead: () => this.#lead(),
    });
    this.#wakeUpWithPage();
  }

  /** Follows a change of the rules: other tabs get it, and a timer is set for their next change by time. */
  follow() {
    this.#watch();
    this.#share();
    this.schedule();
  }

  /** Sets a timer for the time at which rules age or are to be fetched again, and fetches them then; missing ones are fetched repeatedly. */
  schedule() {
    this.#cancelTimer();
    if (this.#signal.aborted) return;
    const { poll } = this.#options;
    const rules = this.#rules;
    if (!rules.bundle) {
      if (poll) this.#cancelTimer = later(this.#wait, this.#signal, () => rules.refresh());
      this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
      return;
    }
    const wait = Math.min(rules.untilAgeing() ?? Infinity, poll ? rules.untilRetry() : Infinity);
    if (wait === Infinity) return;
    this.#cancelTimer = later(Math.min(wait, LONGEST_TIMER_MS), this.#signal, () => {
      // First, so that a retry is not due any more.
      if (poll) rules.refresh();
      this.schedule();
      rules.notify();
    });
  }

  #lead() {
    this.#isLeading = true;
    this.#watch();
  }

  /** Watches for newer heads, once there is one to compare with. */
  #watch() {
    const { bundle } = this.#rules;
    if (!this.#isLeading || !bundle || this.#isWatching || this.#signal.aborted) return;
    this.#isWatching = true;
    const { url, key, origin, timeout, fetch } = this.#options;
    const calls = {
      onHead: () => this.#rules.refresh(),
      onConfirmed: (found) => this.#rules.confirm(found),
      onProblem: (problem) => this.#rules.report(problem),
    };
    try {
      watchHead({ ...bundle, baseUrl: url, credentials: key, origin, timeout, fetch, signal: this.#signal, ...calls });
    } catch {
      // A host with odd events: rules are still fetched when they age.
    }
  }

  /** Sends to other tabs rules that they may not have, a confirmation, or a failure. */
  #share() {
    if (!this.#tabs) return;
    const message = this.#rules.message(this.#sharedHead);
    this.#sharedHead = message.confirmation?.head;
    this.#tabs.post(message);
  }

  /** A tab that does not watch polls when it becomes visible or comes online. */
  #wakeUpWithPage() {
    const [signal, { document }] = [this.#signal, globalThis];
    const wakeUp = () => {
      if (!this.#isWatching) this.#rules.refresh();
    };
    try {
      document?.addEventListener?.("visibilitychange", () => document.visibilityState === "visible" && wakeUp(), { signal });
      globalThis.addEventListener?.("online", wakeUp, { signal });
    } catch {
      // As above.
    }
  }
}
