// Reads past orders one by one: JSON Lines or a JSON array, as text, a file, a stream, or any sequence of texts, bytes or objects.
import { CsvOrders } from "./csv_orders.js";
import { timeOf } from "./moments.js";

/**
 * Yields each order with its number: its line, or in an array its position, from 1. One that cannot be read has a `problem`. Empty lines are
 * counted, and have no order.
 */
export async function* readOrders(orders) {
  if (orders instanceof CsvOrders) return yield* orders.rows;
  let reader;
  for await (const part of partsOf(orders)) {
    const isText = typeof part === "string" || ArrayBuffer.isView(part);
    reader ??= isText ? new TextReader() : new ObjectReader();
    yield* reader.read(part);
  }
  if (reader) yield* reader.end();
}

/**
 * Yields orders with their times in the order of these, all of them held meanwhile. One without a time has that of the order before it in the
 * file, and the first ones `now`.
 */
export async function* sortedByTime(orders, now) {
  const dated = [];
  let time = now;
  for await (const one of orders) {
    const { problem, created } = one.order ? createdOf(one.order) : {};
    time = created ?? time;
    dated.push(problem ? { line: one.line, problem, time } : { ...one, time });
  }
  dated.sort((first, second) => first.time - second.time);
  yield* dated;
}

function createdOf({ created_at: given }) {
  if (given === undefined || given === null) return {};
  const created = timeOf(given);
  return created === undefined ? { problem: `created_at must be a date and time in ISO 8601 (actual value is \`${shown(given)}\`)` } : { created };
}

/** Returns what was given as a sequence of parts. */
function partsOf(orders) {
  if (typeof orders === "string" || ArrayBuffer.isView(orders)) return [orders];
  if (typeof orders?.stream === "function") return chunksOf(orders.stream());
  if (typeof orders?.getReader === "function") return chunksOf(orders);
  if (orders?.[Symbol.asyncIterator] || orders?.[Symbol.iterator]) return orders;
  throw new TypeError("orders must be a file, a stream, text, or a sequence of orders");
}

/** Not every browser can iterate over a stream. */
async function* chunksOf(stream) {
  const reader = stream.getReader();
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value;
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Reads orders that are objects already. */
class ObjectReader {
  #line = 0;

  * read(order) {
    this.#line += 1;
    yield checked(this.#line, order);
  }

  * end() {}
}

/** Reads text in chunks. An array is parsed at its end, lines as soon as they are complete. */
class TextReader {
  #decoder = new TextDecoder();
  #rest = [];
  #line = 0;
  #isArray;

  * read(part) {
    yield* this.#take(typeof part === "string" ? part : this.#decoder.decode(part, { stream: true }));
  }

  * end() {
    yield* this.#take(this.#decoder.decode());
    const rest = this.#rest.join("");
    if (!this.#isArray) return yield* this.#readLine(rest);
    yield* readArray(rest);
  }

  * #take(text) {
    // A byte order mark of a text file is none of its content.
    const begin = /[^\s\ufeff]/.exec(text)?.[0];
    if (this.#isArray === undefined && begin !== undefined) this.#isArray = begin === "[";
    const lines = this.#isArray ? [text] : text.split("\n");
    this.#rest.push(lines[0]);
    if (lines.length === 1) return;
    yield* this.#readLine(this.#rest.join(""));
    for (const line of lines.slice(1, -1)) yield* this.#readLine(line);
    this.#rest = [lines.at(-1)];
  }

  * #readLine(text) {
    this.#line += 1;
    if (!/[^\s\ufeff]/.test(text)) return;
    let order;
    try {
      order = JSON.parse(text.replace(/^\ufeff/, ""));
    } catch ({ message }) {
      return yield { line: this.#line, problem: `it is no JSON: ${message}` };
    }
    yield checked(this.#line, order);
  }
}

function* readArray(text) {
  let orders;
  try {
    orders = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch ({ message }) {
    return yield { line: 1, problem: `the array is no JSON: ${message}` };
  }
  for (const [at, order] of orders.entries()) yield checked(at + 1, order);
}

function checked(line, order) {
  const isObject = Object.prototype.toString.call(order) === "[object Object]";
  return isObject ? { line, order } : { line, problem: `an order must be an object (actual value is \`${shown(order)}\`)` };
}

const shown = (value) => (JSON.stringify(value, (_, one) => (typeof one === "bigint" ? `${one}` : one)) ?? String(value)).slice(0, 120);
