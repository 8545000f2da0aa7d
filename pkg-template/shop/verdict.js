// The verdicts of a shop: one class for each request, whose kind says whether it is final. Nothing that is not final has `valid`.

/** An answer, read when it is first looked at. `lacking` names facts that the package lacks beside those of the engine. */
class Decision {
  #text;
  #lacking;
  #answer;

  constructor(text, lacking, asOf) {
    this.#text = text;
    this.#lacking = lacking;
    this.asOf = asOf;
  }

  /** The answer; where the package lacks a fact, that is in its `missing`. */
  get answer() {
    if (this.#answer) return this.#answer;
    const read = JSON.parse(this.#text);
    if (this.#lacking.length > 0 && isDecided(read)) {
      read.missing = [...new Set([...(read.missing ?? []), ...this.#lacking])];
      this.#text = JSON.stringify(read);
    }
    return (this.#answer = read);
  }

  /** The bytes of the answer as text. */
  get text() {
    return this.answer && this.#text;
  }

  get kind() {
    if (!isDecided(this.answer)) return "unreadable";
    return this.answer.missing?.length > 0 ? "provisional" : "final";
  }

  get missing() {
    return this.kind === "provisional" ? this.answer.missing : undefined;
  }

  get omitted() {
    return this.answer.omitted ?? [];
  }

  get error() {
    return this.kind === "unreadable" ? this.answer : undefined;
  }
}

/** Returns whether an answer is a verdict, and no error about the request. */
const isDecided = ({ valid, redeemables }) => valid !== undefined || redeemables !== undefined;

/** The verdict on the redeemables of a request. */
export class Verdict extends Decision {
  #explain;
  #refusals;

  /** `explain` returns the answer to the same request with a trace, or nothing. */
  constructor(text, lacking, asOf, explain = () => undefined) {
    super(text, lacking, asOf);
    this.#explain = explain;
  }

  get valid() {
    return this.kind === "final" ? this.answer.valid : undefined;
  }

  get order() {
    return this.valid ? this.answer.order : undefined;
  }

  get session() {
    return this.valid ? this.answer.session : undefined;
  }

  /** What a provisional verdict would be with the facts that are known. */
  get likely() {
    if (this.kind !== "provisional") return undefined;
    if (this.missing.includes("bundle")) return "unknown";
    if (this.answer.valid) return "applies";
    return redeemablesOf(this.answer).some(({ status }) => status === "INAPPLICABLE") ? "refused" : "unknown";
  }

  get refusals() {
    if (this.kind === "unreadable") return undefined;
    return (this.#refusals ??= refusalsOf(this.answer, this.answer.trace ?? this.#explain()?.trace ?? []));
  }

  toJSON() {
    const { kind, valid, likely, missing, order, session, refusals, error, text, answer, asOf, omitted } = this;
    return { kind, valid, likely, missing, order, session, refusals, error, text, answer, asOf, omitted };
  }
}

/** The verdict on which offers apply. */
export class QualificationVerdict extends Decision {
  get offers() {
    return this.kind === "final" ? this.answer.redeemables.data : undefined;
  }

  get likelyOffers() {
    return this.kind === "provisional" ? this.answer.redeemables.data : undefined;
  }

  toJSON() {
    const { kind, offers, likelyOffers, missing, error, text, answer, asOf, omitted } = this;
    return { kind, offers, likelyOffers, missing, error, text, answer, asOf, omitted };
  }
}

/** Returns all redeemables of an answer, each once. */
function redeemablesOf({ redeemables, inapplicable_redeemables = [], skipped_redeemables = [] }) {
  const all = [...redeemables, ...inapplicable_redeemables, ...skipped_redeemables];
  return [...new Map(all.map((one) => [`${one.object}/${one.id}`, one])).values()];
}

/** Returns why redeemables do not apply, each with what its trace says of the failed part and of the change that would do. */
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
