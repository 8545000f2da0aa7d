// Filters and shortens the lines that workerd writes into the log.
//
// The Worker's own lines are JSON and are bounded by their writer. Other lines are workerd's. A caller can provoke them in any number and
// length, with the text of requests in them. They are cut, carry no paths or values of requests, and are limited per second.
const LONGEST = 300;
const LINES_A_SECOND = 20;

/** A location in workerd's source, from which an error comes. */
const SOURCE = /^[\w./+-]+\.(?:c\+\+|h|js|ts):\d+:?$/;
/** The details of a request that workerd appends to an error. */
const OF_REQUEST = /\b(url|host|path|name|value|header|text|str|input) = .*$/;

export class LineFilter {
  #write;
  #second = 0;
  #written = 0;
  #omitted = 0;
  #timer;

  /** `write` receives each line that is written. */
  constructor(write) {
    this.#write = write;
  }

  take(line) {
    if (isOwn(line)) return this.#write(line);
    // workerd writes addresses of its own code below every error; they have no use here.
    if (line.startsWith("stack: ")) return undefined;
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#second) this.#open(second);
    if (this.#written < LINES_A_SECOND) {
      this.#written += 1;
      return this.#write(shorten(line));
    }
    this.#omitted += 1;
    // The count is written also when no further line follows.
    this.#timer ??= setTimeout(() => this.#open(Math.floor(performance.now() / 1_000)), 1_000).unref();
    return undefined;
  }

  /** Writes the pending count. */
  end() {
    this.#open(this.#second);
  }

  #open(second) {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#omitted > 0) {
      this.#write(JSON.stringify({ at: new Date().toISOString(), event: "lines_left_out", level: "warn", lines: this.#omitted }));
    }
    [this.#second, this.#written, this.#omitted] = [second, 0, 0];
  }
}

/** Returns whether the Worker wrote a line. */
function isOwn(line) {
  if (!line.startsWith("{")) return false;
  try {
    return typeof JSON.parse(line).event === "string";
  } catch {
    return false;
  }
}

function shorten(line) {
  const start = line.slice(0, 4 * LONGEST).replace(OF_REQUEST, "$1 = ...");
  const bare = start.split(" ").map((token) => (token.includes("/") && !SOURCE.test(token) ? "..." : token));
  const text = bare.join(" ");
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 3)}...` : text;
}
