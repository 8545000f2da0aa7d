// The result of a back-test as CSV (RFC 4180), for a download.

/** Returns a result as CSV: the columns `measure`, `value` and `detail`, with a row for each number, missing fact and unreadable line. */
export function toCsv({ better_elsewhere: better, not_in_force: none, provisional, unreadable, ...numbers }) {
  const rows = [
    ["measure", "value", "detail"],
    ...Object.entries(numbers),
    ["better_elsewhere.orders", better.orders], ["better_elsewhere.customers", better.customers],
    ["not_in_force.orders", none.orders, none.message],
    ["provisional.orders", provisional.orders], ["provisional.cost", provisional.cost],
    ...provisional.missing.map((fact) => ["provisional.missing", "", fact]),
    ["unreadable.orders", unreadable.orders],
    ...unreadable.lines.map(({ line, message }) => ["unreadable.line", line, message]),
  ];
  return rows.map(([measure, value, detail = ""]) => `${measure},${value},${fieldOf(detail)}\r\n`).join("");
}

/** Quotes a text. One that a spreadsheet would take as a formula begins with an apostrophe. */
const fieldOf = (text) => (/[",\r\n]|^[=+\-@\t]/.test(text) ? `"${text.replace(/^(?=[=+\-@\t])/, "'").replaceAll('"', '""')}"` : text);
