// Entry for back-tests: decides what a draft of a campaign would have cost, by orders of the past. Nothing leaves the page.
import { load, prepare } from "@scrip-edge/page";
import { draftOf } from "./backtest/draft.js";
import { readOrders, sortedByTime } from "./backtest/orders.js";
import { OrderTrial } from "./backtest/trial.js";

export { toCsv } from "./backtest/csv.js";
export { fromCsv } from "./backtest/csv_orders.js";

// A page draws sixty times a second.
const SLICE_MS = 10;
const ORDERS_MAX = 1_000_000;
const LISTED_MAX = 100;
const DATES_MAX = 10;

/**
 * Tries a draft on orders, with the offers that are in force at `now`. Each order is decided at its own time with the draft alone; the largest
 * discount of its redeemables counts. They are tried in the order of time, and each finds what the earlier ones have used.
 * Fails where rules or draft cannot be read, or at the signal.
 */
export async function backTest({ rules, draft, orders, now, onProgress, signal }) {
  await load();
  const { joined, redeemables, start, dates } = draftOf(rules, draft);
  const prepared = prepare(joined);
  const report = new Report();
  const given = now ?? Math.max(Date.now(), start);
  try {
    prepared.decidePast(given, given);
    const inForceAt = typeof given === "string" ? Date.parse(given) : Number(given);
    const trial = new OrderTrial(prepared, redeemables, inForceAt);
    for await (const one of paced(sortedByTime(paced(readOrders(orders), signal), inForceAt), signal, onProgress)) {
      const { order, problem } = one;
      const found = problem || order.status === "CANCELED" ? { problem } : trial.decide(one);
      report.add(one, found);
      if (found.discount > 0 && found.missing.length === 0 && !trial.count(one, found)) report.result.uncounted += 1;
    }
    report.explainDates(inForceAt, dates);
  } finally {
    prepared.free();
  }
  return report.result;
}

/** Yields orders, at most as many as a back-test may have, with pauses in which the page draws and answers. */
async function* paced(orders, signal, onProgress) {
  let count = 0;
  let pauseAt = performance.now() + SLICE_MS;
  for await (const order of orders) {
    signal?.throwIfAborted();
    if (count === ORDERS_MAX) throw new RangeError(`orders must NOT have more than ${ORDERS_MAX} items`);
    count += 1;
    yield order;
    if (performance.now() < pauseAt) continue;
    onProgress?.(count);
    await new Promise((resolve) => setTimeout(resolve));
    pauseAt = performance.now() + SLICE_MS;
  }
}

/** Sums what is found for each order. */
class Report {
  #elsewhere = new Set();
  /** The times of the orders of which no redeemable of the draft is in force, the first one and the last one. */
  #times = [Infinity, -Infinity];
  result = {
    orders: 0, canceled: 0, touched: 0, cost: 0, uncounted: 0, better_elsewhere: { orders: 0, customers: 0 },
    not_in_force: { orders: 0 }, provisional: { orders: 0, cost: 0, missing: [] }, unreadable: { orders: 0, lines: [] },
  };

  add({ line, time }, { problem, discount, other, customer, missing, isInForce }) {
    const { result } = this;
    result.orders += 1;
    if (problem !== undefined) return this.#addUnreadable(line, problem);
    if (missing === undefined) return void (result.canceled += 1);
    if (missing.length > 0) return this.#addProvisional(discount, missing);
    if (!isInForce) return this.#addNotInForce(time);
    if (discount === 0) return;
    result.touched += 1;
    result.cost = sumOf(result.cost, discount);
    if (other <= discount) return;
    result.better_elsewhere.orders += 1;
    // An order without a customer is that of one more.
    this.#elsewhere.add(customer ?? `line ${line}`);
    result.better_elsewhere.customers = this.#elsewhere.size;
  }

  /** Adds a message where no redeemable of the draft is in force for any order: its dates or `now` are probably mistaken. */
  explainDates(inForceAt, dates) {
    const { orders, canceled, unreadable, not_in_force: none } = this.result;
    if (none.orders === 0 || none.orders < orders - canceled - unreadable.orders) return;
    const [first, last, now] = [...this.#times, inForceAt].map((time) => new Date(time).toISOString());
    const own = dates.length > 0 ? `it has ${dates.slice(0, DATES_MAX).join(", ")}` : "it has no dates";
    none.message = `the draft is in force for none of the orders, which are from ${first} to ${last}: ${own}, and offers are tried that are in force at ${now}`;
  }

  #addNotInForce(time) {
    this.result.not_in_force.orders += 1;
    this.#times = [Math.min(this.#times[0], time), Math.max(this.#times[1], time)];
  }

  #addUnreadable(line, message) {
    const { unreadable } = this.result;
    unreadable.orders += 1;
    if (unreadable.lines.length < LISTED_MAX) unreadable.lines.push({ line, message });
  }

  #addProvisional(discount, missing) {
    const { provisional } = this.result;
    provisional.orders += 1;
    provisional.cost = sumOf(provisional.cost, discount);
    for (const fact of missing) {
      if (provisional.missing.length < LISTED_MAX && !provisional.missing.includes(fact)) provisional.missing.push(fact);
    }
  }
}

/** Adds amounts. A sum that a number cannot hold exactly would be another one. */
function sumOf(amount, other) {
  const sum = amount + other;
  if (!Number.isSafeInteger(sum)) throw new RangeError(`the sum of discounts must be at most ${Number.MAX_SAFE_INTEGER}`);
  return sum;
}
