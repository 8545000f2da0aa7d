// Keeps a connection to the service's feed open, over which it sends each new head. Nothing here trusts a message.
import { refusal } from "./exchange.js";
import { HEAD_BYTES_MAX } from "./head_request.js";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;
// Within this time a connection opens.
const OPEN_MS = 10_000;
// Proxies close a connection that is silent for a minute or more. The service answers without waking what serves the feed.
const PING_MS = 50_000;
// Codes of a client are 1000, or 3000 and more.
const REFUSED = 4_000;

/** Runs a function later. The timer keeps no process alive, and ends with the signal. Returns its cancellation. */
export function later(ms, signal, run) {
  const timer = setTimeout(() => {
    if (!signal.aborted) run();
  }, ms);
  timer.unref?.();
  return () => clearTimeout(timer);
}

/** The connection to a feed, opened again and again until its signal ends it. */
export class Feed {
  #open;
  #signal;
  #onText;
  #onEnd;
  #socket;
  #cancel = () => {};
  #wait = FIRST_WAIT_MS;
  /** True while a connection is open that has delivered a proven head: then nothing needs to be polled. */
  brings = false;

  /** `onText` gets each message, and `onEnd` an error when a connection that delivered heads ends, or when a message cannot be a head. */
  constructor({ base, credentials, origin, signal, onText, onEnd }) {
    this.#open = () => openSocket(base, credentials, origin);
    [this.#signal, this.#onText, this.#onEnd] = [signal, onText, onEnd];
    signal.addEventListener("abort", () => this.#close());
    this.connect();
  }

  /** Connects at once where there is no connection. A host without WebSockets, or that allows none, has no feed. */
  connect() {
    if (this.#socket || this.#signal.aborted) return;
    this.#cancel();
    let socket;
    try {
      socket = this.#open();
    } catch {
      return;
    }
    this.#socket = socket;
    let isAlive = true;
    const beat = () => {
      if (!isAlive) return this.#end(socket);
      isAlive = false;
      socket.send("ping");
      this.#cancel = later(PING_MS, this.#signal, beat);
    };
    this.#cancel = later(OPEN_MS, this.#signal, () => this.#end(socket));
    socket.addEventListener("open", () => {
      if (this.#socket !== socket) return;
      this.#cancel();
      this.#cancel = later(PING_MS, this.#signal, beat);
    });
    socket.addEventListener("message", ({ data }) => {
      if (this.#socket !== socket) return;
      isAlive = true;
      if (data === "pong") return;
      if (typeof data === "string" && data.length <= HEAD_BYTES_MAX) this.#onText(data);
      else this.refuse(refusal("damaged", `a message of the feed is no text of at most ${HEAD_BYTES_MAX} characters`));
    });
    for (const event of ["close", "error"]) socket.addEventListener(event, () => this.#end(socket));
  }

  /** Records that the connection has delivered a proven head. */
  accept() {
    if (!this.#socket) return;
    this.brings = true;
    this.#wait = FIRST_WAIT_MS;
  }

  /** Ends a connection whose message cannot be used. */
  refuse(problem) {
    if (this.#socket) this.#end(this.#socket, problem);
  }

  /** Ends a connection, and opens the next one after a wait that grows until one has delivered a head, with jitter. */
  #end(socket, problem) {
    if (this.#socket !== socket) return;
    const wasBringing = this.brings;
    this.#close();
    if (this.#signal.aborted) return;
    this.#cancel = later(this.#wait * (0.5 + Math.random() / 2), this.#signal, () => this.connect());
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
    if (wasBringing || problem) this.#onEnd(problem);
  }

  #close() {
    const socket = this.#socket;
    this.#socket = undefined;
    this.brings = false;
    this.#cancel();
    try {
      socket?.close(REFUSED);
    } catch {
      // It is closed already.
    }
  }
}

/** A page cannot add headers here, so the key travels in the list of subprotocols. */
function openSocket(base, { id, token }, origin) {
  const url = new URL(`${base}/client/v1/bundle/feed`, globalThis.location?.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const protocols = ["scrip", id, token];
  // Only on a server, which names its origin by itself, and whose WebSocket takes headers.
  return new WebSocket(url.href, origin ? { protocols, headers: { origin } } : protocols);
}
