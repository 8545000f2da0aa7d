// Tests which connections the proxy of `npm start` keeps, which it closes, and that a request on a refused one is never executed. A small
// server replaces workerd and counts the requests that reach it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { boundConnections, closeWith, connectionsFor, feedsFor } from "../../worker/tools/connections.mjs";
import { openProxy } from "../../worker/tools/http_proxy.mjs";
import { send } from "./raw_socket.mjs";
import { freePort } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("connections");
const GET = "GET /fast HTTP/1.1\r\nHost: scrip\r\nConnection: close\r\n\r\n";
const SLOW = "GET /slow HTTP/1.1\r\nHost: scrip\r\n\r\n";
const head = (path, length) => `POST ${path} HTTP/1.1\r\nHost: scrip\r\nContent-Length: ${length}\r\n\r\n`;

const until = (condition, what) => waitUntil(condition, what, { pause: 10 });

/**
 * Opens a proxy of at most `most` connections before a server that reads a complete request and then answers with its path. `finish`
 * answers `/slow`; the answer to `/early` begins before the body was read. `started` and `received` are the paths of the requests whose head and
 * whose end have arrived there.
 */
async function openBounded(most) {
  const [started, received, held] = [[], [], []];
  const inner = createServer(async (request, reply) => {
    const { url } = request;
    started.push(url);
    if (url === "/early") held.push(reply.writeHead(200, { "content-length": url.length }));
    if (url === "/early") reply.flushHeaders();
    try {
      for await (const chunk of request) void chunk;
    } catch {
      // It was broken off.
      return;
    }
    received.push(url);
    if (url === "/slow") held.push(reply);
    else if (url !== "/early") reply.end(url);
  });
  process.setMaxListeners(0);
  const folder = await mkdtemp(join(tmpdir(), "scrip-proxy-"));
  const socket = join(folder, "http");
  await once(inner.listen(socket), "listening");
  const port = await freePort();
  const proxy = await openProxy({ port, socket, most });
  const clients = [];
  return {
    url: `http://127.0.0.1:${port}`,
    started,
    received,
    open: (bytes = "") => clients[clients.push(open(port, bytes)) - 1],
    finish: () => held.splice(0).forEach((reply) => reply.end(reply.req.url)),
    async close() {
      clients.forEach((client) => client.socket.destroy());
      proxy.close();
      inner.closeAllConnections();
      inner.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Opens a connection that stays open, also when the other side has ended: `{ socket, text, isEnded, isClosed, write }`. */
function open(port, bytes) {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const client = { socket, text: "", isEnded: false, isClosed: false, write: (more) => socket.write(more) };
  socket.on("data", (chunk) => (client.text += chunk));
  socket.on("error", () => {});
  socket.on("end", () => (client.isEnded = true));
  socket.on("close", () => (client.isClosed = true));
  socket.write(bytes);
  return client;
}

/** Occupies all connections of a proxy with complete requests. */
async function makeBusy(proxy, most) {
  const busy = Array.from({ length: most }, () => proxy.open(SLOW));
  await until(() => proxy.received.length === most, "all connections are busy");
  return busy;
}

check("idle connections shut out no caller: the one that has been idle longest is closed", async () => {
  const proxy = await openBounded(20);
  const idle = Array.from({ length: 20 }, () => proxy.open());
  await sleep(100);
  // The first is used once more, so that the second has been idle longest.
  idle[0].write("GET /fast HTTP/1.1\r\nHost: scrip\r\n\r\n");
  await sleep(100);
  for (let count = 0; count < 5; count += 1) assert.deepEqual((await send(proxy.url, GET)).statuses, [200]);
  assert.equal(idle[0].isEnded, false);
  assert.equal(idle[1].isEnded, true);
  assert.equal(idle.at(-1).isEnded, false);
  await proxy.close();
});

check("a further connection gets 503 while all are busy, and the busy ones get their answers", async () => {
  const proxy = await openBounded(10);
  const busy = await makeBusy(proxy, 10);
  const { statuses, text } = await send(proxy.url, GET);
  assert.deepEqual(statuses, [503], text);
  assert.match(text, /too many connections are open/);
  proxy.finish();
  await until(() => busy.every((one) => /^HTTP\/1\.1 200 [\s\S]*\/slow$/.test(one.text)), "all are answered");
  assert.deepEqual((await send(proxy.url, GET)).statuses, [200]);
  await proxy.close();
});

/** The bytes that are sent into a refused connection. */
const REFUSED = {
  "a request": GET,
  "a request with its body": `${head("/fast", 4)}body`,
  "a request whose body is waited for": head("/fast", 4).replace("Content-", "Expect: 100-continue\r\nContent-"),
  "a request with an expectation that is unknown": GET.replace("Host", "Expect: more\r\nHost"),
  "an upgrade": GET.replace("Connection: close", "Connection: Upgrade\r\nUpgrade: websocket"),
  "CONNECT": "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
  "two requests": "GET /fast HTTP/1.1\r\nHost: scrip\r\n\r\n".repeat(2),
  "what is no request": "\x16\x03\x01\r\n\r\n",
  "nothing": "",
  "more than goes into the buffers": head("/fast", 4_000_000) + "x".repeat(4_000_000),
};

check("a request on a refused connection gets 503, and is never executed", async () => {
  const proxy = await openBounded(5);
  await makeBusy(proxy, 5);
  for (const [name, bytes] of Object.entries(REFUSED)) {
    const { statuses, ended, text } = await send(proxy.url, bytes);
    assert.deepEqual([statuses, ended], [[503], true], `${name}: ${text}`);
  }
  // It comes only when the answer has been read.
  const late = proxy.open();
  await until(() => late.isEnded, "the connection is refused");
  late.write(GET + `${head("/fast", 4)}body`);
  await sleep(200);
  assert.match(late.text, /^HTTP\/1\.1 503 /);
  assert.equal(late.text.match(/HTTP\/1\.1/g).length, 1, late.text);
  assert.deepEqual(proxy.started, Array(5).fill("/slow"));
  await proxy.close();
}, { counts: Object.keys(REFUSED).length + 1 });

check("refused connections that stay open are few, and are closed within seconds", async () => {
  const handled = [];
  const server = createServer((request) => handled.push(request.url));
  const bound = boundConnections(server, 4, (connection) => closeWith(connection, "refused"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address();
  const count = () => new Promise((done) => server.getConnections((_, connections) => done(connections)));
  const clients = Array.from({ length: 4 }, () => open(port, SLOW));
  await until(() => handled.length === 4, "all connections are busy");
  for (let round = 0; round < 10; round += 1) {
    for (let more = 0; more < 40; more += 1) clients.push(open(port, SLOW));
    await until(() => clients.slice(-40).every((client) => client.isEnded || client.isClosed), "all are refused");
    assert.ok((await count()) <= 4 + 64, `${await count()} connections`);
  }
  await until(async () => (await count()) === 4, "those that are refused are closed");
  assert.equal(handled.length, 4);
  // They have taken no place: the next connection gets the free place.
  clients[0].socket.destroy();
  await until(() => bound.open.size === 3, "one of the busy ones is closed");
  clients.push(open(port, SLOW));
  await until(() => handled.length === 5, "the next one is served");
  clients.forEach((client) => client.socket.destroy());
  server.closeAllConnections();
  server.close();
});

check("heads without a body shut out no caller: the one that has waited longest is closed", async () => {
  const proxy = await openBounded(20);
  const waiting = Array.from({ length: 20 }, () => proxy.open(head("/fast", 4)));
  await sleep(200);
  for (let count = 0; count < 5; count += 1) assert.deepEqual((await send(proxy.url, GET)).statuses, [200]);
  assert.equal(waiting[0].isEnded, true);
  assert.equal(waiting.at(-1).isEnded, false);
  // A remaining one can still send its body.
  waiting.at(-1).write("body");
  await until(() => waiting.at(-1).text.endsWith("/fast"), "the request is answered");
  await proxy.close();
});

check("a request that is closed half sent is broken off after the proxy, and never complete there", async () => {
  const proxy = await openBounded(3);
  const half = [proxy.open(`${head("/half", 10)}12345`), proxy.open("POST /half HTTP/1.1\r\nHost: scrip\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n")];
  await until(() => proxy.started.length === 2, "the halves have gone on");
  const busy = proxy.open(SLOW);
  await until(() => proxy.received.length === 1, "the third is busy");
  for (let count = 0; count < 2; count += 1) proxy.open(`${head("/slow", 4)}body`);
  await until(() => proxy.received.length === 3, "two more are served");
  assert.deepEqual(half.map((one) => one.isEnded), [true, true]);
  assert.deepEqual(proxy.received, ["/slow", "/slow", "/slow"]);
  assert.deepEqual((await send(proxy.url, GET)).statuses, [503]);
  assert.equal(busy.isEnded, false);
  await proxy.close();
});

check("idle connections and those that are still sending are closed in the order in which they began to wait", async () => {
  const proxy = await openBounded(4);
  const first = proxy.open(head("/fast", 4));
  await sleep(50);
  const second = proxy.open();
  await sleep(50);
  const third = proxy.open(head("/fast", 4));
  await sleep(50);
  const busy = proxy.open(SLOW);
  await until(() => proxy.received.length === 1, "one is busy");
  for (const [closed, open] of [[first, second], [second, third], [third, busy]]) {
    proxy.open(SLOW);
    await until(() => closed.isEnded, "the next one is closed");
    assert.equal(open.isEnded, false);
  }
  await until(() => proxy.received.length === 4, "all are busy");
  assert.deepEqual((await send(proxy.url, GET)).statuses, [503]);
  assert.equal(busy.isEnded, false);
  await proxy.close();
});

check("a connection is not closed while one request on it is complete, or is being answered", async () => {
  const proxy = await openBounded(3);
  // A complete one before a half one, one whose answer has begun, and one with a body.
  const busy = [proxy.open(SLOW + head("/fast", 4)), proxy.open(`${head("/early", 4)}bo`), proxy.open(`${head("/slow", 4)}body`)];
  await until(() => proxy.started.includes("/early") && proxy.received.length === 2, "all are busy");
  await sleep(100);
  for (let count = 0; count < 3; count += 1) assert.deepEqual((await send(proxy.url, GET)).statuses, [503]);
  proxy.finish();
  await until(() => busy.every((one, at) => one.text.endsWith(["/slow", "/early", "/slow"][at])), "all are answered");
  // Then they wait again, the first for the body of its second request.
  for (let count = 0; count < 3; count += 1) proxy.open(SLOW);
  await until(() => busy.every((one) => one.isEnded), "they are closed for others");
  await proxy.close();
});

check("a slow upload is not closed while there is room", async () => {
  const proxy = await openBounded(10);
  const upload = proxy.open(head("/fast", 20));
  for (let count = 0; count < 20; count += 1) {
    assert.deepEqual((await send(proxy.url, GET)).statuses, [200]);
    upload.write("x");
    await sleep(20);
  }
  await until(() => upload.text.endsWith("/fast"), "the upload is answered");
  await proxy.close();
});

check("a request that is refused as late is not executed when its rest arrives, and its connection is closed", async () => {
  const completed = [];
  const server = createServer({ requestTimeout: 200, headersTimeout: 200, connectionsCheckingInterval: 50 }, (request) => {
    request.resume().on("end", () => completed.push(request.url));
  });
  const bound = boundConnections(server, 4, (connection) => connection.destroy());
  server.on("clientError", (_, connection) => closeWith(connection, "late"));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = open(server.address().port, `${head("/late", 4)}bo`);
  await until(() => client.text === "late" && client.isEnded, "it is refused");
  client.write("dy");
  // A server stops counting a connection shortly before it is closed.
  await until(() => bound.open.size === 0, "it is closed");
  assert.deepEqual(completed, []);
  client.socket.destroy();
  server.close();
});

/** A server in place of workerd that accepts every feed, and repeats what comes over it in capitals. */
async function openFeedServer() {
  const inner = createServer((request, reply) => reply.end(request.url));
  const requests = [];
  inner.on("upgrade", (request, socket) => {
    requests.push(request);
    socket.on("end", () => socket.destroy()).resume();
    socket.on("error", () => {});
    if (request.url.endsWith("?refused")) return socket.end("HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
    if (request.url.endsWith("?silent")) return undefined;
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Odd: \xe9\r\n\r\n", "latin1");
    return socket.on("data", (data) => socket.write(String(data).toUpperCase()));
  });
  const folder = await mkdtemp(join(tmpdir(), "scrip-proxy-"));
  const socket = join(folder, "http");
  await once(inner.listen(socket), "listening");
  const sockets = new Set();
  inner.on("connection", (connection) => sockets.add(connection.once("close", () => sockets.delete(connection))));
  return {
    socket, requests, sockets,
    async close() {
      sockets.forEach((connection) => connection.destroy());
      inner.close();
      await rm(folder, { recursive: true });
    },
  };
}

const feedHead = (query = "") => `GET /client/v1/bundle/feed${query} HTTP/1.1\r\nHost: scrip\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Key: abc\r\n\r\n`;

check("feeds have a bound of their own, are never closed as idle, and leave room for calls", async () => {
  const [inner, port] = [await openFeedServer(), await freePort()];
  const proxy = await openProxy({ port, socket: inner.socket, most: 10 });
  const clients = [];
  const add = (bytes = "") => clients[clients.push(open(port, bytes)) - 1];
  const feeds = Array.from({ length: feedsFor(10) }, () => add(feedHead()));
  assert.equal(feeds.length, 6);
  await until(() => feeds.every(({ text }) => text.startsWith("HTTP/1.1 101 Switching Protocols\r\n")), "all feeds are open");
  assert.deepEqual([inner.requests[0].headers.upgrade, inner.requests[0].headers["sec-websocket-key"]], ["websocket", "abc"]);
  const { text } = await send(`http://127.0.0.1:${port}`, feedHead());
  assert.match(text, /^HTTP\/1\.1 503 [\s\S]*Retry-After: 60\r\n[\s\S]*too many feeds are open/);
  // Idle connections make way for calls, and feeds do not.
  Array.from({ length: 20 }, () => add());
  await sleep(100);
  for (let count = 0; count < 5; count += 1) assert.deepEqual((await send(`http://127.0.0.1:${port}`, GET)).statuses, [200]);
  assert.ok(feeds.every(({ isEnded, isClosed }) => !isEnded && !isClosed));
  feeds[0].write("hello");
  await until(() => feeds[0].text.endsWith("HELLO"), "the feed still works");
  // One that ends makes room, also after the proxy.
  feeds[0].socket.end();
  await until(() => feeds[0].isClosed, "it is closed");
  const next = add(feedHead());
  await until(() => next.text.startsWith("HTTP/1.1 101 "), "the next one is open");
  assert.equal(inner.requests.length, 7);
  await until(() => inner.sockets.size <= 7, "that of the first is closed");
  proxy.close();
  await until(() => [...feeds, next].every(({ isClosed, isEnded }) => isClosed || isEnded), "the end of the proxy closes all");
  clients.forEach(({ socket }) => socket.destroy());
  await inner.close();
});

check("a feed that is refused gets the refusal and ends; one whose caller or service disconnects is ended", async () => {
  const [inner, port] = [await openFeedServer(), await freePort()];
  const proxy = await openProxy({ port, socket: inner.socket, most: 10 });
  const refused = await send(`http://127.0.0.1:${port}`, feedHead("?refused"));
  assert.deepEqual([refused.statuses, refused.ended], [[401], true]);
  assert.match(refused.text, /Content-Length: 2\r\nConnection: close\r\n\r\n\{\}$/);
  const silent = open(port, feedHead("?silent"));
  await until(() => inner.requests.length === 2, "it is asked for");
  silent.socket.destroy();
  await until(() => inner.sockets.size === 0, "its connection behind the proxy is closed");
  // A WebSocket's caller sends nothing before it is open.
  for (const [early, bytes] of [[feedHead("?silent") + "early"], [feedHead("?silent"), "early"]]) {
    const hasty = open(port, early);
    if (bytes) await until(() => inner.requests.length === 3, "it is asked for");
    hasty.write(bytes ?? "");
    await until(() => hasty.isClosed || hasty.isEnded, "it is ended");
  }
  await until(() => inner.sockets.size === 0, "nothing of it stays open");
  const feed = open(port, feedHead());
  await until(() => feed.text.startsWith("HTTP/1.1 101 "), "it is open");
  inner.sockets.forEach((connection) => connection.destroy());
  await until(() => feed.isClosed || feed.isEnded, "it is closed");
  await inner.close();
  const down = await send(`http://127.0.0.1:${port}`, feedHead());
  assert.match(down.text, /^HTTP\/1\.1 503 [\s\S]*Retry-After: 1\r\n[\s\S]*the service is being started again/);
  proxy.close();
});

check("the limit of connections leaves files for all other uses", async () => {
  assert.equal(connectionsFor(1_024), 384);
  // A thousand feeds need 4,096 files.
  assert.deepEqual([feedsFor(connectionsFor(1_024)), feedsFor(connectionsFor(4_096))], [230, 1_152]);
  assert.equal(connectionsFor(256), 32);
  assert.equal(connectionsFor(Infinity), 50_000);
});
