// The shop: checks carts by the rules that it keeps, and has the service do what only the service does.
import { prepareBundle } from "../api.js";
import { fetchGoods } from "../bundle.js";
import { ServiceCalls } from "./calls.js";
import { RedeemQueue } from "./redeem_queue.js";
import { ShopRules } from "./rules.js";
import { ShopStore } from "./store.js";
import { pricesOf, qualificationOf, verdictOf } from "./verdict.js";

const NO_DECISION = '{"valid":false,"redeemables":[],"missing":["engine"]}';
const NO_OFFERS = '{"redeemables":{"object":"list","data_ref":"data","data":[],"total":0,"has_more":false},"missing":["engine"]}';

/** A shop that was opened. */
export class Shop {
  #end = new AbortController();
  #listeners = new Set();
  #rules;
  #calls;
  #queue;
  #options;
  #unruled;

  constructor(options) {
    this.#options = options;
    const { signal } = this.#end;
    const store = new ShopStore(options.store, options.name);
    this.#rules = new ShopRules({ options, store, signal, onChange: () => this.#notify() });
    this.#calls = new ServiceCalls(options);
    this.#queue = new RedeemQueue({ store, calls: this.#calls, rules: this.#rules, signal });
  }

  static async open(options) {
    const shop = new Shop(options);
    await shop.#rules.start();
    return shop;
  }

  get state() {
    return this.#rules.state;
  }

  get problem() {
    return this.#rules.problem;
  }

  get asOf() {
    return this.#rules.asOf;
  }

  /** The bytes of the rules, which a back-test takes; undefined while there are none. */
  get rules() {
    return this.#rules.bundle?.core;
  }

  /** Decides about a request after it has fetched the missing data where they are available. */
  async check(request, context) {
    const text = textOf(request);
    await this.#prepare(text);
    return this.#validate(text, context);
  }

  /** Decides at once, by what is here. */
  checkNow(request, context) {
    return this.#validate(textOf(request), context);
  }

  /** Finds the offers that apply. */
  async qualify(request = {}, context) {
    const text = textOf(request);
    await this.#prepare(text);
    const rules = this.#rules;
    const now = rules.now();
    const answer = decide(this.#prepared, "qualify", text, { ...context, now: context?.now ?? now });
    return qualificationOf(answer ?? NO_OFFERS, rules.lacking(now), rules.asOf);
  }

  /** Finds the offers that together save most, in their order. */
  async best(cart = {}, context) {
    return this.qualify(withBest(textOf(cart)), context);
  }

  /** Finds the prices of products and SKUs after the promotions that apply to each alone. `context` may have the customer. */
  async prices(ids, options) {
    const { customer, ...context } = options ?? {};
    const text = textOf({ ids, customer });
    await this.#prepare(text);
    const rules = this.#rules;
    const now = rules.now();
    const answer = decide(this.#prepared, "prices", text, { ...context, now: context.now ?? now });
    return pricesOf(answer ?? withoutPrices(ids), rules.lacking(now), rules.asOf);
  }

  /** Has the service decide. Fails where it does not answer. */
  async ask(request) {
    return this.#ask(textOf(request));
  }

  /** Has the service reserve what a request uses; the verdict has the session. Fails where the service does not answer. */
  async lock(request) {
    const verdict = await this.#ask(JSON.stringify({ ...request, session: { ...request.session, type: "LOCK" } }));
    this.#rules.dropSupplement();
    this.#rules.refresh();
    return verdict;
  }

  /** Redeems a request: resolves with what the service answered, however long that takes. */
  async redeem(request, { signal } = {}) {
    const text = textOf(request);
    const token = await this.#rules.token();
    this.#rules.dropSupplement();
    return this.#queue.redeem(text, token, signal);
  }

  /** Returns the redemptions that have no answer yet, also of an earlier page. */
  pending() {
    return this.#queue.pending();
  }

  refresh() {
    return this.#rules.refresh();
  }

  /** Calls a function with the state now and after each change of the state or of the rules; returns the end of it. */
  subscribe(listener) {
    const call = (...news) => listener(...news);
    this.#listeners.add(call);
    this.#call(call);
    return () => this.#listeners.delete(call);
  }

  /** Ends all that runs. Redemptions without an answer stay in the store. */
  close() {
    this.#listeners.clear();
    this.#end.abort(new Error("the shop was closed"));
    this.#unruled?.free();
    this.#unruled = undefined;
  }

  #notify() {
    for (const listener of this.#listeners) this.#call(listener);
  }

  /** Calls a listener, whose errors are the caller's and end nothing here. */
  #call(listener) {
    Promise.resolve().then(() => {
      if (this.#listeners.has(listener)) listener(this.state, { asOf: this.asOf, problem: this.problem });
    });
  }

  /** Fetches the goods and opens the codes of a request. What fails is missing in the verdict. */
  async #prepare(text) {
    if (this.#end.signal.aborted) return;
    if (await this.#rules.needsRefresh()) await this.#rules.refresh();
    for (let attempts = 2; attempts > 0; attempts -= 1) {
      const { bundle } = this.#rules;
      if (!bundle) return;
      const [goods] = await Promise.allSettled([readGoods(bundle, text, this.#end.signal), openCodes(bundle, text)]);
      this.#rules.storeGoods(bundle);
      // Goods of a head that the service has replaced.
      if (goods.reason?.status === 404) await this.#rules.refresh();
      else if (bundle.prepared === this.#rules.bundle?.prepared) return;
    }
  }

  #validate(text, context) {
    const rules = this.#rules;
    const prepared = this.#prepared;
    const now = rules.now();
    const at = context ? { ...context, now: context.now ?? now } : { now };
    const explain = () => JSON.parse(decide(prepared, "validate", withTrace(text), at) ?? NO_DECISION);
    return verdictOf(decide(prepared, "validate", text, at) ?? NO_DECISION, rules.lacking(now), rules.asOf, explain);
  }

  /** The rules that decide, or none: then everything is known to the service only. */
  get #prepared() {
    return this.#rules.bundle?.prepared ?? (this.#unruled ??= prepareBundle({ complete: false }, {}));
  }

  async #ask(text) {
    const token = await this.#rules.token();
    const answer = await this.#calls.decide("/client/v1/validations", text, { token, signal: this.#end.signal });
    return verdictOf(answer, [], { revision: undefined, at: this.#rules.now() });
  }
}

/** Returns the text of a decision; nothing where the engine fails. A time or a seed that is none is the caller's mistake. */
function decide(prepared, verb, text, context) {
  try {
    return prepared[verb](text, context);
  } catch (problem) {
    if (problem instanceof TypeError || /^(now|seed) /.test(problem.message)) throw problem;
    return undefined;
  }
}

/** Fetches the goods of a request; also where the rules were freed meanwhile it fails as a promise. */
const readGoods = async (bundle, text, signal) => fetchGoods(bundle, text, { signal });
const openCodes = async (bundle, text) => bundle.codes.open(text);

/** Returns a request as JSON text. One that cannot be written is answered as one that cannot be read. */
function textOf(request) {
  if (typeof request === "string") return request;
  try {
    return JSON.stringify(request) ?? "null";
  } catch {
    return "null";
  }
}

/** Returns the answer about prices where the engine fails. */
const withoutPrices = (ids) => JSON.stringify({ prices: Array.isArray(ids) ? ids.map((id) => ({ id: String(id), missing: ["engine"] })) : [] });

/** Returns a readable request with the option for reasons. */
function withTrace(text) {
  const request = JSON.parse(text);
  return JSON.stringify({ ...request, options: { ...request.options, expand: ["trace"] } });
}

const isObject = (value) => Object.prototype.toString.call(value) === "[object Object]";

/** Returns a cart with the options for the best stack, and one offer beside it. What cannot be read stays as it is. */
function withBest(text) {
  try {
    const cart = JSON.parse(text);
    if (![cart, cart?.options ?? {}].every(isObject)) return text;
    return JSON.stringify({ ...cart, options: { ...cart.options, limit: 1, optimise: true } });
  } catch {
    return text;
  }
}
