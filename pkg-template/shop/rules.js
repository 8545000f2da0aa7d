// The rules of a shop: the newest bundle that is proven, for which customer it decides, and how old it is.
import { fetchBundle, openBundle, takeGoodsRecord } from "../bundle.js";
import { ServiceClock } from "../clock.js";
import { decides } from "../engine.js";
import { readHead } from "../head.js";
import { ShopCustomer } from "./customer.js";
import { confirmationOf, readConfirmation, recordOf } from "./record.js";
import { Upkeep } from "./upkeep.js";

// A time this far ahead was stored by another clock.
const AHEAD_MS = 60_000;
// A check waits for rules, where there are none, no earlier after an attempt.
const PAUSE_MS = 10_000;
// A supplement of another core follows a change of the rules: the head that was fetched comes from a cache, which has the next one soon.
const PAUSES_AFTER_OTHER_CORE_MS = [1_000, 2_000, 4_000];

/** The rules of a shop and their age. */
export class ShopRules {
  #options;
  #store;
  #signal;
  #onChange;
  #upkeep;
  #customer;
  #former;
  #claims;
  #confirmed;
  #clock;
  #problem;
  #refreshing;
  #storedAs;
  #decidesFor;
  #triedAt = -Infinity;
  /** The attempts in a row whose supplement was of another core, and when the next one is due. */
  #mismatches = 0;
  #retryAt = Infinity;
  /** The bundle that decides; undefined while there is none. */
  bundle;

  constructor({ options, store, signal, onChange }) {
    [this.#options, this.#store, this.#signal, this.#onChange] = [options, store, signal, onChange];
    this.#customer = new ShopCustomer(options);
    this.#upkeep = new Upkeep({ rules: this, options, signal });
    signal.addEventListener("abort", () => this.#end());
  }

  /** Starts with the stored rules, or waits for the service's; then keeps them up to date. */
  async start() {
    this.#customer.begin();
    const [record, confirmation, goods] = await Promise.all(["rules", "confirmation", "goods"].map((name) => this.#store.get(name)));
    this.#adopt({ ...record, goods }, confirmation);
    const first = this.refresh().then(() => this.#upkeep.begin());
    if (!this.bundle) await first;
  }

  /** The time of the service in milliseconds; that of the host while the service's is unknown. */
  now() {
    return (this.#clock ?? Date).now();
  }

  /** The revision of the rules, and when the service confirmed it last. */
  get asOf() {
    const { epoch, rev } = this.#claims ?? {};
    return { revision: this.#claims && { epoch, rev }, at: this.#claims && this.#confirmed };
  }

  /** Returns the facts that a decision lacks because of the state of the rules, at the present time of the service. */
  lacking(now) {
    if (!this.bundle) return ["bundle"];
    const lacking = [];
    // Without the service's time every window is open or closed by guess, also the horizon of the rules.
    if (!this.#clock) lacking.push("clock");
    if (this.#isTooOld(now)) lacking.push("age");
    if (this.#customer.isUnsure(this.#decidesFor)) lacking.push("customer_token");
    return lacking;
  }

  /** How far the rules can be trusted. */
  get state() {
    const problem = this.#problem;
    if (this.bundle && this.#isTooOld(this.now())) return "too old";
    if (this.#customer.problem || isRefusal(problem) || (this.#claims && this.#claims.decides !== decides())) return "broken";
    if (problem) return "offline";
    return this.bundle && this.now() - this.#confirmed <= this.#options.maxAge / 2 ? "fresh" : "ageing";
  }

  get problem() {
    return this.#problem ?? this.#customer.problem;
  }

  /** Whether a check is to wait for the service: there are no rules, or what they know of the customer is over. */
  async needsRefresh() {
    // An attempt that runs is waited for, a failed one is not repeated at once.
    const passed = performance.now();
    const isDue = this.#refreshing !== undefined || passed - this.#triedAt >= PAUSE_MS || passed >= this.#retryAt;
    return this.bundle ? this.#customer.needs(this.#decidesFor, { supplement: this.bundle.supplement, now: this.now(), isDue }) : isDue;
  }

  /** The milliseconds until the rules are half as old as they may be, or too old; undefined when they are. */
  untilAgeing() {
    const { maxAge } = this.#options;
    const age = this.now() - this.#confirmed;
    const next = Math.min(...[maxAge / 2, maxAge, this.#claims.exp * 1_000 - this.#confirmed].filter((at) => at >= age));
    return Number.isFinite(next) ? next - age + 1 : undefined;
  }

  /** The milliseconds until rules are to be fetched again whose supplement is of another core; infinite where it is not. */
  untilRetry() {
    return Math.max(this.#retryAt - performance.now(), 0);
  }

  /** Fetches what is newer; a call while another one runs is that one. */
  refresh() {
    this.#refreshing ??= this.#refresh().finally(() => { this.#refreshing = undefined; });
    return this.#refreshing;
  }

  /** Takes note that the service's head is the one with this text, at a time by its clock. */
  confirm({ head, clock }) {
    // The core of a newer one could not be fetched before.
    if (head !== this.bundle?.head) return this.refresh();
    this.#setClock(clock);
    this.#problem = undefined;
    this.#confirmed = this.now();
    this.#storeRules();
    return this.#changed();
  }

  /** Takes note of a failure to find out what is newest. */
  report(problem) {
    this.#problem = problem;
    this.#changed();
  }

  notify() {
    this.#onChange();
  }

  /** The state of the rules for other tabs, with the rules themselves where those have others than these. */
  message(knownHead) {
    const { bundle } = this;
    const { message, code, status } = this.#problem ?? {};
    return {
      problem: this.#problem && { message, code: typeof code === "string" ? code : undefined, status },
      confirmation: bundle && this.#confirmation(),
      rules: bundle && bundle.head !== knownHead ? recordOf(bundle) : undefined,
    };
  }

  /** Takes the rules that another tab has found, if they are proven here too. */
  async receive(message) {
    const { problem, confirmation, rules } = message ?? {};
    const isOther = typeof confirmation?.head === "string" && confirmation.head !== this.bundle?.head;
    if (isOther) this.#adopt(rules ?? (await this.#store.get("rules")), confirmation);
    if (this.#signal.aborted) return;
    if (this.bundle && confirmation?.head === this.bundle.head) {
      const { confirmed, clock } = readConfirmation(this.bundle, confirmation);
      this.#confirmed = Math.max(this.#confirmed, confirmed);
      this.#setClock(clock);
      this.#problem = problem && Object.assign(new Error(String(problem.message)), problem);
    }
    this.#upkeep.schedule();
    this.#onChange();
  }

  /** Returns the customer's token, requested again. */
  token() {
    return this.#customer.ask();
  }

  /** Stores the goods buckets of rules where further ones were fetched, beside those of other tabs. */
  storeGoods(bundle) {
    const addTo = takeGoodsRecord(bundle);
    if (addTo) this.#store.update("goods", addTo);
  }

  /** Lets the rules decide without the counts of the customer, which a redemption or a lock changes. */
  dropSupplement() {
    if (!this.bundle?.supplement) return;
    this.bundle.supplement.drop();
    this.bundle = { ...this.bundle, supplement: undefined };
  }

  async #refresh() {
    if (this.#signal.aborted) return { fresh: false, problem: this.#signal.reason };
    this.#retryAt = Infinity;
    try {
      const fetchNewest = () => this.#customer.fetchFor((customerToken) => this.#fetch(customerToken));
      let fetched = await fetchNewest();
      // Another tab may have sent newer ones while these were fetched.
      while (!this.#signal.aborted && this.bundle && isOlder(fetched, this.bundle)) fetched = await fetchNewest();
      if (!this.#signal.aborted) this.#take(fetched);
    } catch (problem) {
      this.#problem = problem;
    }
    if (this.#signal.aborted) return { fresh: false, problem: this.#signal.reason };
    this.#triedAt = performance.now();
    this.#planRetry();
    this.#changed();
    return { fresh: this.problem === undefined, problem: this.problem };
  }

  #planRetry() {
    const isOfOtherCore = this.bundle?.supplement?.problem?.code === "wrong_core";
    this.#retryAt = this.#triedAt + ((isOfOtherCore && PAUSES_AFTER_OTHER_CORE_MS[this.#mismatches]) || Infinity);
    this.#mismatches = isOfOtherCore ? this.#mismatches + 1 : 0;
  }

  #fetch(customerToken) {
    const { url, key, keys, origin, timeout, fetch } = this.#options;
    return fetchBundle(url, key, this.bundle, { keys, origin, timeout, fetch, customerToken, signal: this.#signal });
  }

  /** Takes the fetched rules, or the stored ones where no newer ones are available. */
  #take(fetched) {
    this.#replace(fetched);
    this.#problem = fetched.problem;
    this.#setClock(fetched.clock);
    if (!fetched.fresh) return;
    this.#confirmed = this.now();
    this.#storeRules();
  }

  #replace(bundle) {
    const before = this.bundle;
    this.bundle = bundle;
    this.#decidesFor = this.#customer.token;
    if (before?.head !== bundle.head) this.#claims = readHead(bundle.head).claims;
    if (before === undefined || before.prepared === bundle.prepared) return;
    // A decision may still run by those before, and a verdict explain itself.
    this.#former?.prepared.free();
    this.#former = before;
  }

  /** Proves rules that were stored or came from another tab; unproven ones count as absent. */
  #adopt(record, confirmation) {
    const { url, key, keys, origin, timeout, fetch } = this.#options;
    try {
      const own = confirmation?.head === record.head ? confirmation : undefined;
      const options = { keys, origin, timeout, fetch, customerToken: this.#customer.token, known: this.bundle };
      const bundle = openBundle(url, key, { ...record, clock: own?.clock }, options);
      const { confirmed, clock } = readConfirmation(bundle, own);
      this.#replace(bundle);
      this.#confirmed = confirmed;
      this.#setClock(clock);
    } catch {
      // The service has it.
    }
  }

  /** Stores the rules where they differ from the stored ones, and the time of their confirmation. */
  #storeRules() {
    const { head, keys } = this.bundle;
    const name = [head, ...keys.map(({ x }) => x)].join();
    if (this.#storedAs !== name) this.#store.put("rules", recordOf(this.bundle));
    this.#storedAs = name;
    this.#store.put("confirmation", this.#confirmation());
  }

  #confirmation() {
    return confirmationOf(this.bundle, this.#confirmed, this.#clock && { offset: this.#clock.offset, served: this.#clock.served });
  }

  /** Takes the clock of another answer. That of the same one stays: it knows how much time has passed since. */
  #setClock(clock) {
    if (clock && (clock.served !== this.#clock?.served || clock.offset !== this.#clock.offset)) this.#clock = ServiceClock.from(clock);
  }

  #changed() {
    this.#upkeep.follow();
    this.#onChange();
  }

  #isTooOld(now) {
    const age = now - this.#confirmed;
    return age > this.#options.maxAge || age < -AHEAD_MS || now >= this.#claims.exp * 1_000;
  }

  #end() {
    this.#former?.prepared.free();
    this.bundle?.prepared.free();
    this.bundle = this.#former = this.#claims = undefined;
  }
}

/** Returns whether a bundle is of an earlier revision than another one. */
const isOlder = ({ ratchet: one }, { ratchet: other }) => (one.epoch - other.epoch || one.rev - other.rev) < 0;

/** Returns whether a problem is an answer that was refused, or one that refuses; other problems pass by themselves. */
const isRefusal = (problem) => typeof problem?.code === "string" || (problem?.status >= 400 && problem.status < 500 && problem.status !== 429);
