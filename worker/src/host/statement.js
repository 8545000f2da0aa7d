// Runs statements of an object's database. Rows pass as texts, whose form `worker/src/store/sql_rows.rs` describes.

/** The length of a text after which further rows are written apart, so that not all rows are in memory twice. */
const PART_LENGTH = 1_000_000;

/** Runs a statement to its end; returns its rows, or undefined if there are none. */
export function execute(sql, statement, params) {
  const rows = sql.exec(statement, ...params).raw().toArray();
  return rows.length === 0 ? undefined : new WrittenRows(rows);
}

/** The rows of a statement. */
class WrittenRows {
  #rows;
  #next = 0;

  constructor(rows) {
    this.#rows = rows;
  }

  /** Returns the next rows as one text, which begins with a plus sign if further ones follow. */
  write() {
    let [heads, text] = ["", ""];
    while (this.#next < this.#rows.length && text.length < PART_LENGTH) {
      for (const value of this.#rows[this.#next]) {
        if (typeof value === "string") {
          heads += `${value.length},`;
          text += value;
        } else {
          heads += `${headOf(value)},`;
        }
      }
      heads += ";";
      this.#next += 1;
    }
    return `${this.#next < this.#rows.length ? "+" : ""}${heads}\n${text}`;
  }
}

function headOf(value) {
  if (value === null) return "n";
  // Rust refuses a number that is not whole, and bytes.
  return typeof value === "number" ? `i${value}` : "bytes";
}
