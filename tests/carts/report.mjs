// Counts the verdicts of a run: final ones by caller and kind of request, the facts that provisional ones lack, and wrong ones.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../worker/tools/console.mjs";
import { CALLERS, KINDS } from "./requests.mjs";

/** The number of wrong verdicts that are printed in full. */
const SHOWN = 5;
const WIDTH = 12;
/** The first kinds are validations, the others scenarios of qualifications. */
const TYPED = 4;

export class Report {
  /** Counts by caller and kind. `decided` counts the final verdicts without mistaken requests, `granted` those that grant or find anything. */
  #counts = new Map();
  /** Counts by fact: `{ all, alone, example }`. */
  #missing = new Map();
  #wrong = [];
  /** The number of requests that the entry answered, and that of all. */
  byEntry = 0;
  #all = 0;

  add(call, { missing, wrong, granted, isByEntry }) {
    this.#all += 1;
    if (isByEntry) this.byEntry += 1;
    const key = `${call.caller}/${call.kind}`;
    const counts = this.#counts.get(key) ?? { all: 0, final: 0, decided: 0, granted: 0 };
    counts.all += 1;
    if (!missing) counts.final += 1;
    if (!missing && granted !== undefined) counts.decided += 1;
    if (!missing && granted) counts.granted += 1;
    this.#counts.set(key, counts);
    if (missing) this.#addMissing(missing);
    if (wrong) this.#wrong.push({ ...call, ...wrong });
  }

  /** A fact about one object counts as its kind. `alone` counts the verdicts that lack no fact of another kind. */
  #addMissing(missing) {
    const kinds = new Map(missing.map((fact) => [fact.split("/")[0], fact]));
    for (const [kind, example] of kinds) {
      const counts = this.#missing.get(kind) ?? { all: 0, alone: 0, example };
      counts.all += 1;
      if (kinds.size === 1) counts.alone += 1;
      this.#missing.set(kind, counts);
    }
  }

  #sum(name, callers, kinds) {
    const all = callers.flatMap((caller) => kinds.map((kind) => this.#counts.get(`${caller}/${kind}`)?.[name] ?? 0));
    return all.reduce((total, count) => total + count, 0);
  }

  /** Returns a share of some callers and kinds as a text: of `part` in `whole`. */
  #share(callers, kinds, part = "final", totalName = "all") {
    const all = this.#sum(totalName, callers, kinds);
    return all === 0 ? "-" : `${((100 * this.#sum(part, callers, kinds)) / all).toFixed(1)} %`;
  }

  /** Returns whether the final verdicts of validations, and those of qualifications if there are any, both grant and refuse. */
  isVaried() {
    const isMixed = (kinds) => {
      const [granted, decided] = ["granted", "decided"].map((name) => this.#sum(name, CALLERS, kinds));
      return granted > 0 && granted < decided;
    };
    const scenarios = KINDS.slice(TYPED);
    return isMixed(KINDS.slice(0, TYPED)) && (this.#sum("decided", CALLERS, scenarios) === 0 || isMixed(scenarios));
  }

  /** Returns the printed lines. */
  lines() {
    const row = (name, cells) => `${name.padEnd(32)}${cells.map((cell) => cell.padStart(WIDTH)).join("")}`;
    const shares = (name, kinds) => row(name, [...CALLERS.map((caller) => this.#share([caller], kinds)), this.#share(CALLERS, kinds)]);
    const granted = (name, kinds) => row(name, [...CALLERS.map((caller) => [caller]), CALLERS].map((callers) => this.#share(callers, kinds, "granted", "decided")));
    const [typed, scenarios] = [KINDS.slice(0, TYPED), KINDS.slice(TYPED)];
    const facts = [...this.#missing].sort(([, one], [, other]) => other.all - one.all);
    return [
      "", row("final verdicts", [...CALLERS, "all"]),
      ...typed.map((kind) => shares(kind, [kind])), shares("validations", typed), shares("  without private, wrong codes", typed.slice(0, 2)),
      ...scenarios.map((kind) => shares(kind, [kind])), shares("qualifications", scenarios), shares("all", KINDS),
      "", granted("final ones that grant", typed), granted("final ones that find an offer", scenarios),
      "", row("missing facts", ["verdicts", "only this"]),
      ...facts.map(([kind, { all, alone, example }]) => `${row(kind, [String(all), String(alone)])}  such as ${example}`),
      "", `answered by the entry, and by the object with the same bytes: ${this.byEntry} of ${this.#all}`,
      "", ...this.#groups(), ...this.#wrong.slice(0, SHOWN).map(describeWrong),
    ];
  }

  /** Returns how many verdicts are wrong for each caller and kind. */
  #groups() {
    const groups = new Map();
    for (const { caller, kind } of this.#wrong) groups.set(`${caller}, ${kind}`, (groups.get(`${caller}, ${kind}`) ?? 0) + 1);
    return [...groups].map(([group, count]) => `wrong: ${count} of ${group}`);
  }

  /** Writes all wrong verdicts, one a line; returns their number and where they are. */
  writeWrong() {
    const folder = join(root, "target/carts");
    mkdirSync(folder, { recursive: true });
    const name = "target/carts/wrong.jsonl";
    writeFileSync(join(root, name), this.#wrong.map((one) => `${JSON.stringify(one)}\n`).join(""));
    return { path: name, wrong: this.#wrong.length };
  }
}

function describeWrong({ cart, caller, kind, customer, path, request, context, status, service, own }) {
  const proof = customer ? `, with a token of ${customer}` : "";
  return `cart ${cart}, ${caller}, ${kind}${proof}: POST ${path} at ${context.now}, seed ${context.seed}\n  request ${JSON.stringify(request)}\n`
    + `  service ${status} ${service}\n  package ${own}\n`;
}
