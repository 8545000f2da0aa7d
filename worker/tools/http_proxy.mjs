// Forwards HTTP requests to workerd. Node's own parser, which is strict, reads them first; a request that it refuses is answered 400. The
// parser of workerd answers 500 to a second length or to CONNECT, and treats an empty length as none. A proxy before it could then see other
// request boundaries than workerd does.
//
// An answer is never made up for a request that was forwarded. When workerd dies, the connection is broken off, and the caller tries again
// with its Idempotency-Key.
import { Agent, createServer, request as callWorkerd } from "node:http";
import { boundConnections, closeWith, connectionsMax } from "./connections.mjs";
import { Remedy } from "./console.mjs";
import { FeedAwareRequest, FeedConnections } from "./feed_connections.mjs";

/** Above the limit that the service itself refuses by name. */
const HEAD_BYTES_MAX = 131_072;
const HEAD_MS = 20_000;
const REQUEST_MS = 60_000;
const IDLE_MS = 65_000;
/** A caller who reads nothing of an answer for so long keeps it no longer. */
const UNREAD_MS = 90_000;
/** The rest of an answer that is read after its caller has disconnected. workerd keeps what it has read of an answer that is broken off. */
const REST_BYTES_MAX = 4_194_304;
/** workerd closes a connection that is idle for five seconds; no request may be sent into one that is being closed. */
const INNER_IDLE_MS = 4_000;
/** A name or an address with or without a port (RFC 9110, section 7.2) that workerd can print as a URL. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{0,5})?$/;
/** Headers of one connection and not of a request; RFC 9110, section 7.6.1. */
const OF_CONNECTION = new Set(["connection", "expect", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"]);

/**
 * Listens on a port and forwards every request to the workerd that listens on `socket`, or to `demo` where the request is for it. No more
 * than `most` connections are open at a time. Returns `{ close() }`.
 */
export async function openProxy({ port, socket, demo, most = connectionsMax() }) {
  const agent = new Agent({ keepAlive: true, timeout: INNER_IDLE_MS });
  const server = createServer({
    IncomingMessage: FeedAwareRequest, maxHeaderSize: HEAD_BYTES_MAX, headersTimeout: HEAD_MS, requestTimeout: REQUEST_MS, keepAliveTimeout: IDLE_MS,
  });
  // Node reads all headers and keeps the first thousand: the length of a body may follow after them.
  server.maxHeadersCount = 0;
  server.setTimeout(UNREAD_MS);
  const places = boundConnections(server, most, (connection) => refuse(connection, 503, "too many connections are open"));
  const open = new WeakMap();
  server.on("request", (request, reply) => {
    const replies = open.get(request.socket) ?? new Set();
    const before = [...replies].at(-1);
    open.set(request.socket, replies.add(reply));
    reply.on("close", () => replies.delete(reply));
    const answer = () => {
      if (request.socket.destroyed) return;
      if (demo?.isFor(request.url)) demo.answer(request, reply).catch(() => reply.destroy());
      else forward(request, reply, agent, socket);
    };
    // Requests of one connection are answered in their order. One that waits for the answer of another holds none of its own.
    if (before === undefined) answer();
    else before.once("close", answer);
  });
  // A caller that waits for the answer to a complete request must not take a refusal of the next one for it.
  const refuseNext = (connection, status, details, headers) => {
    const isWaiting = [...(open.get(connection) ?? [])].some((reply) => reply.req.complete || reply.headersSent);
    if (isWaiting || !connection.writable) connection.destroy();
    else refuse(connection, status, details, headers);
  };
  const feeds = new FeedConnections({ places, socket, refuse: refuseNext });
  server.on("upgrade", (request, connection, first) => {
    connection.setTimeout(0);
    const fault = findFault(request);
    if (fault !== undefined) refuseNext(connection, 400, fault);
    else if (first.length > 0) refuseNext(connection, 400, "nothing may follow the head before the feed is open");
    else if (open.get(connection)?.size > 0) connection.destroy();
    else feeds.open(request, connection, forwardedHeaders(request.rawHeaders));
  });
  server.on("connect", (_, connection) => refuseNext(connection, 400, "this is no proxy: CONNECT is not served"));
  server.on("clientError", (error, connection) => {
    const { status, details } = describeParserError(error);
    refuseNext(connection, status, details);
  });
  await new Promise((listening, taken) => {
    server.once("error", () => taken(new Remedy(`port ${port} is taken: end what listens there, or choose another one with PORT=...`)));
    server.listen(port, "127.0.0.1", listening);
  });
  return {
    close() {
      server.close();
      server.closeAllConnections();
      feeds.close();
      agent.destroy();
    },
  };
}

function forward(request, reply, agent, socket) {
  const fault = findFault(request);
  if (fault !== undefined) {
    reply.writeHead(400, { "content-type": "application/json", connection: "close" });
    reply.end(bodyOf(400, fault));
    return;
  }
  const headers = forwardedHeaders(request.rawHeaders);
  // Health checks of load balancers use HTTP/1.0 and send no Host, which workerd requires.
  if (request.headers.host === undefined) headers.push("Host", "localhost");
  // Without it the body of a GET would be sent with no mark of its end.
  if (request.headers["transfer-encoding"] !== undefined) headers.push("transfer-encoding", "chunked");
  const forwarded = callWorkerd({ socketPath: socket, agent, method: request.method, path: request.url, headers, setHost: false });
  let isAnswered = false;
  forwarded.on("response", (answer) => {
    isAnswered = true;
    reply.writeHead(answer.statusCode, answer.statusMessage, forwardedHeaders(answer.rawHeaders));
    answer.pipe(reply);
    reply.on("close", () => {
      if (!answer.complete) readRest(answer, forwarded);
    });
    answer.on("error", () => {});
    answer.on("close", () => {
      if (!answer.complete) reply.destroy();
    });
  });
  forwarded.on("error", (error) => {
    // No process listens on the socket: workerd is being restarted, and no byte has been sent.
    if ((error.code === "ECONNREFUSED" || error.code === "ENOENT") && !reply.headersSent) {
      reply.writeHead(503, { "content-type": "application/json", "retry-after": "1", connection: "close" });
      reply.end(bodyOf(503, "the service is being started again"));
    } else if (isAnswered) {
      // The answer came before the body was read; the rest of the body is discarded.
      request.resume();
    } else request.socket.destroy();
  });
  reply.on("close", () => {
    if (!reply.writableFinished && !isAnswered) forwarded.destroy();
  });
  request.on("close", () => {
    if (!request.complete) forwarded.destroy();
  });
  request.pipe(forwarded);
}

/** Reads the rest of an answer whose caller has disconnected; a long one is aborted. */
function readRest(answer, forwarded) {
  let rest = 0;
  answer.on("data", ({ length }) => {
    rest += length;
    if (rest > REST_BYTES_MAX) forwarded.destroy();
  });
  answer.resume();
}

/** Returns the reason to refuse a request that the parser accepts. */
function findFault(request) {
  if (!request.url.startsWith("/")) return "the target of a request must be a path";
  const hosts = valuesOf(request.rawHeaders, "host");
  if (hosts.length > 1) return "a request has one Host";
  if (hosts.length === 1 && !HOST.test(hosts[0])) return "Host must be a name or an address, with or without a port";
  if (hosts.length === 0 && !(request.httpVersion === "1.0" && /^\/health(?:\/live)?$/.test(request.url))) return "a request has a Host";
  const encoding = request.headers["transfer-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "chunked") return "the only transfer-encoding is `chunked`";
  if (encoding !== undefined && request.httpVersion !== "1.1") return "HTTP/1.0 has no transfer-encoding";
  return undefined;
}

function valuesOf(raw, name) {
  return raw.filter((_, at) => at % 2 === 1 && raw[at - 1].toLowerCase() === name);
}

/** Returns the headers of one side for the other: all but those of the connection. */
function forwardedHeaders(raw) {
  const headers = [];
  for (let at = 0; at < raw.length; at += 2) {
    if (!OF_CONNECTION.has(raw[at].toLowerCase())) headers.push(raw[at], raw[at + 1]);
  }
  return headers;
}

function describeParserError(error) {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, details: `the head of a request has at most ${HEAD_BYTES_MAX} bytes` };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, details: "the request did not arrive in time" };
    default:
      return { status: 400, details: "this is no HTTP request that can be served: its head, its length or a chunk is wrong" };
  }
}

function refuse(connection, status, details, headers = {}) {
  const reasons = { 400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large", 503: "Service Unavailable" };
  const body = bodyOf(status, details);
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  closeWith(connection, `HTTP/1.1 ${status} ${reasons[status]}\r\nConnection: close\r\n${own}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function bodyOf(code, details) {
  const messages = { 400: "Bad Request", 408: "Request Timeout", 431: "Header too large", 503: "Service unavailable" };
  return JSON.stringify({ code, message: messages[code], details });
}
