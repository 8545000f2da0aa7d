// The verdicts of a shop. Their kind declares whether they are final; only final ones have `valid`.

/** An answer, parsed at the first access to a verdict. `lacking` names facts that the package lacks in addition to those of the engine. */
class Answer {
  #text;
  #lacking;
  #read;

  constructor(text, lacking) {
    [this.#text, this.#lacking] = [text, lacking];
  }

  /** The answer as an object; where the package lacks a fact, that is in its `missing`. */
  get read() {
    if (this.#read) return this.#read;
    const read = JSON.parse(this.#text);
    if (this.#lacking.length > 0 && isDecided(read)) {
      read.missing = [...new Set([...(read.missing ?? []), ...this.#lacking])];
      this.#text = JSON.stringify(read);
    }
    return (this.#read = read);
  }

  get text() {
    return this.read && this.#text;
  }

  get kind() {
    if (!isDecided(this.read)) return "unreadable";
    return this.read.missing?.length > 0 ? "provisional" : "final";
  }

  /** Returns a member for one kind of verdict only. */
  only(kind, member) {
    return this.kind === kind ? member(this.read) : undefined;
  }
}

/** Returns whether an answer is a verdict, and no error about the request. */
const isDecided = ({ valid, redeemables }) => valid !== undefined || redeemables !== undefined;

/**
 * Returns the verdict on the redeemables of a request. Its members are its own, so that a copy has them. `explain` returns the answer to the same
 * request with a trace.
 */
export function verdictOf(text, lacking, asOf, explain = () => ({})) {
  const all = new Answer(text, lacking);
  let refusals;
  return {
    get kind() { return all.kind; },
    get valid() { return all.only("final", ({ valid }) => valid); },
    get order() { return all.only("final", ({ valid, order }) => (valid ? order : undefined)); },
    get session() { return all.only("final", ({ valid, session }) => (valid ? session : undefined)); },
    get likely() { return all.only("provisional", likelyOf); },
    get missing() { return all.only("provisional", ({ missing }) => missing); },
    get refusals() {
      if (all.kind === "unreadable") return undefined;
      return (refusals ??= refusalsOf(all.read, all.read.trace ?? explain().trace ?? []));
    },
    get error() { return all.only("unreadable", (error) => error); },
    get omitted() { return all.read.omitted ?? []; },
    get answer() { return all.read; },
    get text() { return all.text; },
    asOf,
  };
}

/** Returns the verdict on which offers apply, and which of them together save most where the request asked for that. */
export function qualificationOf(text, lacking, asOf) {
  const all = new Answer(text, lacking);
  return {
    get kind() { return all.kind; },
    get offers() { return all.only("final", ({ redeemables }) => redeemables.data); },
    get likelyOffers() { return all.only("provisional", ({ redeemables }) => redeemables.data); },
    get best() { return all.only("final", ({ best }) => best); },
    get likelyBest() { return all.only("provisional", ({ best }) => best); },
    get missing() { return all.only("provisional", ({ missing }) => missing); },
    get error() { return all.only("unreadable", (error) => error); },
    get omitted() { return all.read.omitted ?? []; },
    get answer() { return all.read; },
    get text() { return all.text; },
    asOf,
  };
}

/** Returns the prices of an answer, each with its kind: only a final one has amounts to show without reserve. */
export function pricesOf(text, lacking, asOf) {
  const read = JSON.parse(text);
  if (!read.prices) return { kind: "unreadable", prices: undefined, error: read, answer: read, text, asOf };
  if (lacking.length === 0) return { kind: "listed", prices: read.prices.map(priceOf), error: undefined, answer: read, text, asOf };
  const withLacking = (price) => ({ ...price, missing: [...new Set([...(price.missing ?? []), ...lacking])] });
  const answer = { ...read, prices: read.prices.map(withLacking) };
  return { kind: "listed", prices: answer.prices.map(priceOf), error: undefined, answer, text: JSON.stringify(answer), asOf };
}

function priceOf(price) {
  const { id, missing, ...known } = price;
  if (!missing) return { kind: price.error ? "unreadable" : "final", ...price };
  const isKnown = known.discounted_price !== undefined || known.error !== undefined;
  return { kind: "provisional", id, likely: isKnown ? known : undefined, missing };
}

/** Returns what a provisional verdict would be with the facts that are known. */
function likelyOf(answer) {
  if (answer.missing.includes("bundle")) return "unknown";
  if (answer.valid) return "applies";
  return redeemablesOf(answer).some(({ status }) => status === "INAPPLICABLE") ? "refused" : "unknown";
}

/** Returns all redeemables of an answer, each once. */
function redeemablesOf({ redeemables, inapplicable_redeemables = [], skipped_redeemables = [] }) {
  const all = [...redeemables, ...inapplicable_redeemables, ...skipped_redeemables];
  return [...new Map(all.map((one) => [`${one.object}/${one.id}`, one])).values()];
}

/** Returns why redeemables do not apply, each with the failed part of its trace and the change that would make it apply. */
function refusalsOf(answer, trace) {
  return redeemablesOf(answer).filter(({ status }) => status !== "APPLICABLE").map(({ object, id, status, result }) => {
    const step = trace.find((one) => one.object === object && one.id === id) ?? {};
    const { rule, limit, custom_message } = step;
    const { key, message } = result.error ?? result.details;
    return {
      object, id, status, key, message,
      customMessage: custom_message ?? result.error?.error?.message,
      failed: rule && { rule: rule.id, test: rule.test, name: rule.name, property: rule.property, operator: rule.operator, wanted: rule.wanted },
      found: rule?.found,
      change: step.change ?? rule?.change,
      limit,
    };
  });
}
