// The customer of a shop, by the token that the page gives. Only the service checks its signature.
import { provenBy } from "../api.js";

/** Returns the customer of a token; undefined where it names none. */
export function customerOf(token) {
  try {
    return token === undefined || token === null ? undefined : provenBy(token);
  } catch {
    return undefined;
  }
}

/** The customer for whose token the rules of a shop decide. */
export class ShopCustomer {
  #read;
  #timeout;
  /** What the page gave last, and whether it has answered at all. */
  #passed;
  #isKnown = false;
  /** The token for which rules are fetched. */
  token;
  /** Why they are for an unknown customer, though the page has one. */
  problem;

  constructor({ customer, timeout }) {
    [this.#read, this.#timeout] = [customer, timeout];
  }

  /** Requests the token from the page; fails where there is no usable one. */
  async ask() {
    if (!this.#read) return undefined;
    let timer;
    const late = new Promise((_, failed) => {
      timer = setTimeout(() => failed(new Error(`\`customer\` gave no token within ${this.#timeout / 1_000} s`)), this.#timeout);
    });
    try {
      const token = (await Promise.race([this.#read(), late])) ?? undefined;
      [this.#passed, this.#isKnown] = [token, true];
      if (token !== undefined) provenBy(token);
      return token;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Takes the token where the page gives it at once, so that stored rules decide for its customer without a wait. */
  begin() {
    try {
      const token = this.#read?.();
      if (typeof token?.then === "function") token.then(undefined, () => {});
      else if (customerOf(token) !== undefined) this.token = token;
    } catch {
      // It is called again before rules are fetched, and then it is a problem.
    }
  }

  /** Requests the token from the page; rules are fetched for its customer from now on. */
  async renew() {
    try {
      [this.token, this.problem] = [await this.ask(), undefined];
    } catch (problem) {
      [this.token, this.problem] = [undefined, problem];
    }
  }

  /** Fetches rules for the present customer; for an unknown one where the service refuses the token. */
  async fetchFor(fetchRules) {
    await this.renew();
    const { token } = this;
    const fetched = await fetchRules(token).catch((problem) => ({ problem }));
    if (token !== undefined && fetched.problem?.status === 401) {
      [this.token, this.problem] = [undefined, fetched.problem];
      return fetchRules(undefined);
    }
    if (!fetched.prepared) throw fetched.problem;
    return fetched;
  }

  /** Whether rules that decide for the customer of a token may be for another one than the page's, if the page returns it without a wait. */
  isUnsure(decidesFor) {
    if (!this.#read) return false;
    if (this.problem) return true;
    try {
      const token = this.#read();
      if (typeof token?.then !== "function") return !areOfOne(token, decidesFor);
      token.then(undefined, () => {});
      return !this.#isKnown || !areOfOne(this.#passed, decidesFor);
    } catch {
      return true;
    }
  }

  /** Whether rules are to be fetched again for the page's customer: it is another one, or the supplement is over at a time of the service. */
  async needs(decidesFor, { supplement, now, isDue }) {
    if (!this.#read) return false;
    const token = await this.ask().catch(() => undefined);
    if (!areOfOne(token, decidesFor) && !areOfOne(token, this.token)) return true;
    return isDue && (!areOfOne(token, decidesFor) || (token !== undefined && !(supplement?.until > now)));
  }
}

const areOfOne = (token, other) => (token ?? undefined) === other || customerOf(token) === customerOf(other);
