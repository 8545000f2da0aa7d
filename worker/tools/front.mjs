// Decides what stands between callers and workerd: requests are read by Node's own reader, which is strict, and what it does not
// take is 400. workerd's reader answers 500 to a second length or to CONNECT, and takes an empty length for none, after which
// whoever stands before it may see another request than it does. It must not know what any request asks for.
//
// An answer is never made up for a request that has gone to workerd: when that dies, the connection is broken off, and the caller
// tries again with its Idempotency-Key.
import { Agent, createServer, request as callWorkerd } from "node:http";
import { pipeline } from "node:stream";
import { Remedy } from "./say.mjs";

/** Above what the service itself refuses by name. */
const HEAD_BYTES_MAX = 131_072;
const HEAD_MS = 20_000;
const REQUEST_MS = 60_000;
const IDLE_MS = 65_000;
/** workerd closes what is idle for five seconds; nothing may be sent into a connection that it is just closing. */
const INNER_IDLE_MS = 4_000;
/** Headers of one connection and not of a request; RFC 9110, section 7.6.1. */
const OF_CONNECTION = new Set(["connection", "expect", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"]);

/**
 * Listens on a port and hands every request to the workerd that listens on `socket`; with `demo` those that are for it to it.
 * Gives `{ close() }`.
 */
export async function openFront({ port, socket, demo }) {
  const agent = new Agent({ keepAlive: true, timeout: INNER_IDLE_MS });
  const server = createServer({ maxHeaderSize: HEAD_BYTES_MAX, headersTimeout: HEAD_MS, requestTimeout: REQUEST_MS, keepAliveTimeout: IDLE_MS });
  const open = new WeakMap();
  server.on("request", (request, reply) => {
    const replies = open.get(request.socket) ?? new Set();
    open.set(request.socket, replies.add(reply));
    reply.on("close", () => replies.delete(reply));
    if (demo?.isFor(request.url)) demo.answer(request, reply).catch(() => reply.destroy());
    else pass(request, reply, agent, socket);
  });
  // Whoever still waits for the answer to a whole request must not take a refusal of the next one for it.
  const refuseNext = (connection, status, told) => {
    const waiting = [...(open.get(connection) ?? [])].some((reply) => reply.req.complete || reply.headersSent);
    if (waiting || !connection.writable) connection.destroy();
    else refuse(connection, status, told);
  };
  server.on("connect", (_, connection) => refuseNext(connection, 400, "this is no proxy: CONNECT is not served"));
  server.on("clientError", (error, connection) => {
    const { status, told } = complaint(error);
    refuseNext(connection, status, told);
  });
  await new Promise((listening, taken) => {
    server.once("error", () => taken(new Remedy(`port ${port} is taken: end what listens there, or choose another one with PORT=...`)));
    server.listen(port, "127.0.0.1", listening);
  });
  return {
    close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

function pass(request, reply, agent, socket) {
  const wrong = wrongOf(request);
  if (wrong !== undefined) {
    reply.writeHead(400, { "content-type": "application/json", connection: "close" });
    reply.end(bodyOf(400, wrong));
    return;
  }
  const headers = passed(request.rawHeaders);
  // Without it the body of a GET would go out with nothing that says where it ends.
  if (request.headers["transfer-encoding"] !== undefined) headers.push("transfer-encoding", "chunked");
  const sent = callWorkerd({ socketPath: socket, agent, method: request.method, path: request.url, headers, setHost: false });
  let answered = false;
  sent.on("response", (answer) => {
    answered = true;
    reply.writeHead(answer.statusCode, answer.statusMessage, passed(answer.rawHeaders));
    pipeline(answer, reply, () => {});
  });
  sent.on("error", (error) => {
    // Nobody listens there: workerd is being started again, and nothing has been sent.
    if ((error.code === "ECONNREFUSED" || error.code === "ENOENT") && !reply.headersSent) {
      reply.writeHead(503, { "content-type": "application/json", "retry-after": "1", connection: "close" });
      reply.end(bodyOf(503, "the service is being started again"));
    } else if (answered) {
      // It was answered before it was read; what is still coming is thrown away.
      request.resume();
    } else request.socket.destroy();
  });
  reply.on("close", () => {
    if (!reply.writableFinished) sent.destroy();
  });
  request.on("close", () => {
    if (!request.complete) sent.destroy();
  });
  request.pipe(sent);
}

/** What this service does not take, though the reader does. */
function wrongOf(request) {
  if (!request.url.startsWith("/")) return "the target of a request must be a path";
  const encoding = request.headers["transfer-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "chunked") return "the only transfer-encoding is `chunked`";
  if (encoding !== undefined && request.httpVersion !== "1.1") return "HTTP/1.0 has no transfer-encoding";
  return undefined;
}

/** The headers of one side for the other: all but those of the connection. */
function passed(raw) {
  const headers = [];
  for (let at = 0; at < raw.length; at += 2) {
    if (!OF_CONNECTION.has(raw[at].toLowerCase())) headers.push(raw[at], raw[at + 1]);
  }
  return headers;
}

function complaint(error) {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, told: `the head of a request has at most ${HEAD_BYTES_MAX} bytes` };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, told: "the request did not arrive in time" };
    default:
      return { status: 400, told: "this is no HTTP request that can be served: its head, its length or a chunk is wrong" };
  }
}

function refuse(connection, status, told) {
  const reasons = { 400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large" };
  const body = bodyOf(status, told);
  connection.end(`HTTP/1.1 ${status} ${reasons[status]}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function bodyOf(code, details) {
  const messages = { 400: "Bad Request", 408: "Request Timeout", 431: "Header too large", 503: "Service unavailable" };
  return JSON.stringify({ code, message: messages[code], details });
}
