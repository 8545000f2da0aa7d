// Past orders as CSV: a row for each order, as the service exports them, or for each line of an order.
import Papa from "papaparse";

const wholeOf = (cell) => (/^\d+$/.test(cell) && Number.isSafeInteger(Number(cell)) ? Number(cell) : undefined);

function jsonOf(cell) {
  try {
    return JSON.parse(cell);
  } catch {
    return undefined;
  }
}

/** Reads a cell as a value of its kind; undefined if it is none. */
const READERS = { "a text": (cell) => cell, "a whole number": wholeOf, "a whole number of minor units": wholeOf, JSON: jsonOf };
const [TEXT, WHOLE, MINOR, JSON_TEXT] = Object.keys(READERS);

/** Columns with their kinds: of orders in any file, those that only a file of orders has, and those of lines. */
const ORDER = { created_at: TEXT, status: TEXT, amount: MINOR, initial_amount: MINOR, metadata: JSON_TEXT, customer_id: TEXT, customer_source_id: TEXT };
const NAMES = { id: TEXT, source_id: TEXT };
const LINE = { product_id: TEXT, sku_id: TEXT, source_id: TEXT, related_object: TEXT, quantity: WHOLE, price: MINOR };

/** The orders of a CSV file. */
export class CsvOrders {
  /** For each order the line at which it begins, with the order; or the line and the problem of its first row that cannot be read. */
  rows;

  constructor(rows) {
    this.rows = rows;
  }

  * [Symbol.iterator]() {
    for (const { order } of this.rows) if (order) yield order;
  }
}

/** Reads orders from the text of a CSV file. Fails where its columns cannot be those of orders. */
export function fromCsv(csv) {
  if (typeof csv !== "string") throw new TypeError("`fromCsv` takes the text of a CSV file");
  const content = csv.replace(/^\ufeff/, "");
  // No name of a column has one of these.
  const [delimiter] = /[,;\t]/.exec(content.slice(0, content.search(/[\r\n]|$/))) ?? [","];
  let reader;
  let [line, end] = [1, 0];
  Papa.parse(content, {
    delimiter,
    step({ data, errors, meta: { cursor } }) {
      // The parser takes the line ends of the first line; a file may have others.
      data.push(data.pop().replace(/\r$/, ""));
      if (reader) reader.read(line, data, errors[0]?.message);
      else reader = new RowReader(data.map((name) => name.trim()));
      line += content.slice(end, cursor).match(/\r\n|\n|\r/g)?.length ?? 0;
      end = cursor;
    },
  });
  return new CsvOrders((reader ?? new RowReader([])).orders());
}

/** Reads rows one after the other. */
class RowReader {
  #columns;
  #ofOrder;
  #ofLine;
  #read = [];
  // What was read of orders whose lines name them.
  #named = new Map();

  constructor(columns) {
    this.#columns = columns;
    const twice = columns.find((name, at) => name !== "" && columns.indexOf(name) < at);
    if (twice !== undefined) throw new TypeError(`a CSV file must have each column once (\`${twice}\` is there twice)`);
    const hasLines = columns.includes("order_id");
    if (!columns.includes(hasLines ? "quantity" : "amount")) {
      throw new TypeError(`a CSV file of orders must have the column \`amount\`, one of lines \`order_id\` and \`quantity\` (actual columns are \`${columns}\`)`);
    }
    [this.#ofOrder, this.#ofLine] = hasLines ? [ORDER, LINE] : [{ ...NAMES, ...ORDER }, undefined];
  }

  /** Reads the cells of a row, which begins at a line, unless the parser found a problem. */
  read(line, cells, problem) {
    if (cells.length === 1 && cells[0].trim() === "") return;
    const { length } = this.#columns;
    // Text after a quote that is not closed may be rows of any order.
    if (problem !== undefined) throw new TypeError(`line ${line} of the CSV file cannot be read: ${problem}`);
    const wrong = cells.length === length ? undefined : `a row must have ${length} cells as the header (actual number is \`${cells.length}\`)`;
    const known = this.#find(line, cells);
    if (wrong !== undefined) return void Object.assign(known, { line, problem: known.problem ?? wrong });
    if (known.problem !== undefined) return;
    const [members, item] = [this.#membersOf(cells, this.#ofOrder), this.#ofLine && this.#membersOf(cells, this.#ofLine)];
    const other = Object.keys(members.values).find((name) => name in known.values && JSON.stringify(known.values[name]) !== JSON.stringify(members.values[name]));
    const found = members.problem ?? item?.problem ?? (other && `${other} must be that of line ${known.line}, which has the same order_id`);
    if (found !== undefined) return void Object.assign(known, { line, problem: found });
    Object.assign(known.values, members.values);
    if (item) known.items.push(item.values);
  }

  /** Returns all orders in the order of their first rows. */
  orders() {
    return this.#read.map(({ line, problem, values, items }) => {
      if (problem !== undefined) return { line, problem };
      const { customer_id: id, customer_source_id, ...order } = values;
      return { line, order: { ...order, items, customer: id || customer_source_id ? { id, source_id: customer_source_id } : undefined } };
    });
  }

  /** Returns what is known of the order of a row. */
  #find(line, cells) {
    const id = this.#ofLine && unguarded(cells[this.#columns.indexOf("order_id")] ?? "");
    let known = this.#named.get(id);
    if (known) return known;
    known = { line, values: {}, items: this.#ofLine && [], problem: id === "" ? "order_id must not be empty" : undefined };
    if (id) this.#named.set(id, known);
    this.#read.push(known);
    return known;
  }

  /** Returns the values of a row in columns, or the problem of one; an empty cell has none. */
  #membersOf(cells, columns) {
    const values = {};
    for (const [at, name] of this.#columns.entries()) {
      const cell = Object.hasOwn(columns, name) ? unguarded(cells[at]) : "";
      if (cell === "") continue;
      values[name] = READERS[columns[name]](cell);
      if (values[name] === undefined) return { values, problem: `${name} must be ${columns[name]} (actual value is \`${cell.slice(0, 120)}\`)` };
    }
    return { values };
  }
}

// What a spreadsheet reads as a formula: a sign, also after others that it passes over.
const PASSED_OVER = "[\\s\\p{Cc}\\u{ad}\\u{61c}\\u{180e}\\u{200b}-\\u{200f}\\u{202a}-\\u{202e}\\u{2060}-\\u{206f}\\u{feff}]";
const GUARD = new RegExp(`^'(?=$|['\\t\\r\\n]|${PASSED_OVER}*[=+\\-@＝＋－＠])`, "u");
const LATER_GUARD = new RegExp(`([;\\n\\r])'(?='*(?:\\t|(?:(?![\\n\\r])${PASSED_OVER})*[=+\\-@＝＋－＠]))`, "gu");

/** Returns the text of a cell without the apostrophes by which the service guards it from spreadsheets. */
const unguarded = (cell) => cell.replace(LATER_GUARD, "$1").replace(GUARD, "");
