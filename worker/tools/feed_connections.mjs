// Passes the opening of a WebSocket on to workerd, for the feed of bundles and for no other path.
//
// A feed is open for hours and is silent. So it has a bound of its own, it is never closed in favour of another connection, and a
// connection to workerd serves only it.
import { IncomingMessage, request as callWorkerd } from "node:http";
import { closeWith } from "./connections.mjs";

const FEED = /^\/client\/v1\/bundle\/feed(?:\?|$)/;
/** A peer that has vanished without a word is noticed after about this time. */
const PROBE_MS = 60_000;
/** Seconds after which a client may try again. */
const RETRY_SECONDS = 60;

/**
 * A request that knows whether it opens a feed. Node reads `upgrade` when it has read the head: every other request, also one that requests
 * an upgrade, is then answered like any other.
 */
export class FeedAwareRequest extends IncomingMessage {
  get upgrade() {
    return this.isUpgrade && (this.method === "CONNECT" || opensFeed(this));
  }

  set upgrade(isUpgrade) {
    this.isUpgrade = isUpgrade;
  }
}

/** Returns whether a request opens a feed. It has no body: what follows its head belongs to the WebSocket. */
function opensFeed({ method, url, httpVersion, headers }) {
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0;
  return method === "GET" && httpVersion === "1.1" && FEED.test(url) && headers.upgrade?.toLowerCase() === "websocket" && !hasBody;
}

/**
 * The feeds of a proxy before the workerd that listens on `socket`. `places` has the connections of callers, and `refuse` answers one with a
 * status, a text and further headers.
 */
export class FeedConnections {
  #open = new Set();
  #places;
  #socket;
  #refuse;

  constructor({ places, socket, refuse }) {
    [this.#places, this.#socket, this.#refuse] = [places, socket, refuse];
  }

  /** Opens a feed for a request; `headers` go to workerd. */
  open(request, connection, headers) {
    if (!this.#places.takeForFeed(connection)) {
      this.#refuse(connection, 503, "too many feeds are open: poll meanwhile", { "Retry-After": RETRY_SECONDS });
      return;
    }
    this.#open.add(connection);
    connection.once("close", () => this.#open.delete(connection));
    connection.on("error", () => {});
    connection.setKeepAlive(true, PROBE_MS);
    // A caller sends nothing before the feed is open. It is read nevertheless, to detect its end.
    connection.once("data", () => connection.destroy());
    connection.once("end", () => connection.destroySoon());
    const forwarded = callWorkerd({
      socketPath: this.#socket, agent: false, method: "GET", path: request.url, setHost: false,
      headers: [...headers, "Connection", "Upgrade", "Upgrade", "websocket"],
    });
    connection.once("close", () => forwarded.destroy());
    forwarded.on("upgrade", (answer, inner, first) => join(connection, inner, answer, first));
    forwarded.on("response", (answer) => passRefusal(connection, answer));
    forwarded.on("error", (error) => {
      const isDown = error.code === "ECONNREFUSED" || error.code === "ENOENT";
      if (isDown && connection.writable) this.#refuse(connection, 503, "the service is being started again", { "Retry-After": 1 });
      else connection.destroy();
    });
    forwarded.end();
  }

  close() {
    this.#open.forEach((connection) => connection.destroy());
  }
}

/** Joins a caller with workerd; the end of one is the end of the other. */
function join(connection, inner, answer, first) {
  inner.on("error", () => connection.destroy());
  inner.once("close", () => connection.destroy());
  inner.once("end", () => connection.destroySoon());
  connection.once("close", () => inner.destroy());
  connection.once("end", () => inner.destroySoon());
  connection.write(headOf(answer, answer.rawHeaders), "latin1");
  if (first.length > 0) connection.write(first);
  connection.removeAllListeners("data");
  inner.pipe(connection);
  connection.pipe(inner);
}

/** Sends workerd's refusal, and ends the connection: it has no parser any more. */
async function passRefusal(connection, answer) {
  try {
    const body = Buffer.concat(await answer.toArray());
    const headers = [...withoutConnection(answer.rawHeaders), "Content-Length", String(body.length), "Connection", "close"];
    closeWith(connection, Buffer.concat([Buffer.from(headOf(answer, headers), "latin1"), body]));
  } catch {
    connection.destroy();
  }
}

function headOf({ statusCode, statusMessage }, headers) {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  return `${lines.join("\r\n")}\r\n\r\n`;
}

function withoutConnection(raw) {
  const dropped = new Set(["connection", "content-length", "keep-alive", "transfer-encoding"]);
  return raw.filter((_, at) => !dropped.has(raw[at - (at % 2)].toLowerCase()));
}
