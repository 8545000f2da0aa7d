// Tests how the package watches for new heads: by the feed and by polling, against a service that does everything wrong. Time is virtual:
// the hours between two polls pass at once.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, afterEach, before, beforeEach } from "node:test";
import { promisify } from "node:util";
import { existsSync } from "node:fs";
import { WebSocket, WebSocketServer } from "ws";
import { build } from "../../pkg-template/build.mjs";
import { countTests } from "../browser/test_report.mjs";
import { claimsOf, jws, keyPair, rules, startServer, vouchedBy } from "./bundle_server.mjs";

const check = countTests("packaging");
const pkg = new URL("../../pkg/", import.meta.url);
const credentials = { id: "dev-client", token: "dev-client-token" };
const [pair, otherPair] = [keyPair(), keyPair()];
const CORE = rules();
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

let pieces;
let server;
let feeds;
/** The number of requests of the package that have no answer yet. */
let inFlight = 0;
const { fetch } = globalThis;
globalThis.fetch = (...request) => {
  inFlight += 1;
  return fetch(...request).finally(() => { inFlight -= 1; });
};
/** The watch of a test: the heads and problems that it has found, and its end. */
let found;
let problems;
let controller;

before(async () => {
  if (!existsSync(new URL("scrip.wasm", pkg))) await build();
  await import(new URL("node.js", pkg));
  pieces = await import(new URL("service.js", pkg));
  server = await startServer();
  feeds = acceptFeeds(server.server);
}, { timeout: 600_000 });
after(() => server.close());

beforeEach(() => {
  [found, problems, controller] = [[], [], new AbortController()];
  server.serve(pair, CORE);
  server.paths();
  Object.assign(feeds, { opened: [], onOpen: () => {}, refuses: false, answers: true });
  clock.start();
});
afterEach(async () => {
  controller.abort();
  delete globalThis.WebSocket;
  delete globalThis.document;
  delete globalThis.addEventListener;
  await until(() => feeds.opened.every((socket) => socket.readyState === WebSocket.CLOSED), "all feeds are closed");
  clock.stop();
});

/** A clock whose time passes only by `tick`. Node's own one removes another timer where one that has fired is cleared. */
const clock = {
  real: [globalThis.setTimeout, globalThis.clearTimeout],
  start() {
    [this.now, this.timers] = [0, new Set()];
    globalThis.setTimeout = (run, ms = 0, ...values) => {
      const timer = { at: this.now + ms, run: () => run(...values), unref: () => timer, ref: () => timer, refresh: () => timer };
      this.timers.add(timer);
      return timer;
    };
    globalThis.clearTimeout = (timer) => this.timers.delete(timer);
  },
  tick(ms) {
    const end = this.now + ms;
    for (let next; (next = [...this.timers].filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at)[0]); next.run()) {
      this.timers.delete(next);
      this.now = next.at;
    }
    this.now = end;
  },
  stop() {
    [globalThis.setTimeout, globalThis.clearTimeout] = this.real;
  },
};

/** Accepts feeds at a server. `opened` has them, each with the subprotocols it was opened with; `onOpen` gets each. */
function acceptFeeds(http) {
  const accepting = new WebSocketServer({ noServer: true, handleProtocols: () => "scrip" });
  const state = { opened: [], onOpen: () => {}, refuses: false, answers: true };
  http.on("upgrade", (request, socket, first) => {
    if (state.refuses) return socket.end("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 60\r\nConnection: close\r\n\r\n");
    return accepting.handleUpgrade(request, socket, first, (feed) => {
      feed.on("error", () => {});
      feed.request = request;
      feed.messages = [];
      feed.on("message", (data) => {
        feed.messages.push(String(data));
        if (state.answers) feed.send("pong");
      });
      state.opened.push(feed);
      state.onOpen(feed);
    });
  });
  return state;
}

/** Waits in real time until a condition is true. */
async function until(condition, what) {
  for (const latest = performance.now() + 120_000; !condition(); await pause()) assert.ok(performance.now() < latest, `in two minutes: ${what}`);
}
const pause = () => new Promise((done) => { setImmediate(done); });
/** Lets requests and messages that are on their way arrive. A request that the service lets hang is not waited for. */
async function settle() {
  const latest = performance.now() + (server.state.instead.bundle === hang ? 200 : 120_000);
  for (let turns = 0; turns < 40; turns += 1) {
    await pause();
    if (inFlight > 0 && performance.now() < latest) turns = 0;
  }
}
const hang = () => {};

/** Lets virtual time pass, and returns the seconds at which the head was polled. */
async function polledWithin(ms, step = 10 * SECOND) {
  const times = [];
  for (let at = step; at <= ms; at += step) {
    clock.tick(step);
    await settle();
    if (server.paths().includes("/client/v1/bundle")) times.push(at / SECOND);
  }
  return times;
}

function watch(options = {}) {
  pieces.watchHead({
    baseUrl: server.base, credentials, keys: [pair.jwk], head: server.state.head, signal: controller.signal,
    onHead: (head) => found.push(head), onProblem: (problem) => problems.push(problem), ...options,
  });
}

/** Signs a head of the revision `rev`. */
const headOf = (rev, { by = pair, ...claims } = {}) => jws(by, claimsOf(CORE, { rev, ...claims }));
const heads = () => found.map(({ ratchet }) => ratchet.rev);
const codes = () => problems.map(({ code }) => code);

check("without a feed it polls after 30 s, then after twice as long up to 5 min, and again after 30 s when something changed", async () => {
  watch();
  assert.deepEqual(await polledWithin(20 * MINUTE), [30, 90, 210, 450, 750, 1_050]);
  assert.deepEqual([heads(), problems], [[], []]);
  server.state.head = headOf(3_000);
  assert.deepEqual(await polledWithin(5 * MINUTE), [150, 180, 240]);
  assert.deepEqual(heads(), [3_000]);
  assert.equal(found[0].head, server.state.head);
  assert.deepEqual(found[0].keys.map(({ kid }) => kid), [pair.kid]);
});

check("a page that is shown or comes online polls at once", async () => {
  globalThis.document = Object.assign(new EventTarget(), { visibilityState: "hidden" });
  const window = new EventTarget();
  globalThis.addEventListener = window.addEventListener.bind(window);
  watch();
  await polledWithin(10 * MINUTE, MINUTE);
  globalThis.document.dispatchEvent(new Event("visibilitychange"));
  await settle();
  assert.deepEqual(server.paths(), []);
  globalThis.document.visibilityState = "visible";
  globalThis.document.dispatchEvent(new Event("visibilitychange"));
  await settle();
  assert.deepEqual(server.paths(), ["/client/v1/bundle"]);
  assert.deepEqual(await polledWithin(2 * MINUTE), [60]);
  window.dispatchEvent(new Event("online"));
  await settle();
  assert.deepEqual(server.paths(), ["/client/v1/bundle"]);
  controller.abort();
  window.dispatchEvent(new Event("online"));
  globalThis.document.dispatchEvent(new Event("visibilitychange"));
  assert.deepEqual(await polledWithin(HOUR, 5 * MINUTE), []);
});

check("a poll that hangs is given up after ten seconds, and others follow", async () => {
  watch();
  server.state.instead.bundle = hang;
  await polledWithin(30 * SECOND);
  await polledWithin(9 * SECOND, SECOND);
  assert.deepEqual(problems, []);
  await polledWithin(SECOND, SECOND);
  assert.deepEqual(problems.map(({ name }) => name), ["TimeoutError"]);
  server.state.instead = {};
  server.state.head = headOf(3_000);
  assert.deepEqual(await polledWithin(2 * MINUTE), [60, 90]);
  assert.deepEqual(heads(), [3_000]);
});

check("an error of the service, and heads that are not proven, are reported and change nothing", async () => {
  watch();
  const wrong = [
    ["damaged", () => "rubbish"], ["older_revision", () => headOf(1_000)], ["wrong_project", () => headOf(3_000, { iss: "proj_2" })],
    ["unknown_key", () => headOf(3_000, { by: otherPair })], ["expired", () => headOf(3_000, { now: Date.now() - 48 * HOUR })],
    ["damaged", () => "a".repeat(5_000)],
  ];
  for (const [, head] of wrong) {
    server.state.head = head();
    await polledWithin(5 * MINUTE);
  }
  assert.deepEqual([...new Set(codes())].sort(), [...new Set(wrong.map(([code]) => code))].sort());
  server.state.instead.bundle = (_, response) => response.writeHead(503, { "retry-after": "1" }).end("{}");
  await polledWithin(5 * MINUTE);
  assert.equal(problems.at(-1).status, 503);
  assert.deepEqual(heads(), []);
});

check("the feed brings heads, and then the head is polled once an hour", async () => {
  globalThis.WebSocket = WebSocket;
  feeds.onOpen = (feed) => feed.send(server.state.head);
  watch();
  await until(() => feeds.opened.length === 1, "the feed is open");
  const [feed] = feeds.opened;
  assert.equal(feed.request.url, "/client/v1/bundle/feed");
  assert.equal(feed.request.headers["sec-websocket-protocol"], "scrip,dev-client,dev-client-token");
  await settle();
  assert.deepEqual(await polledWithin(59 * MINUTE, 30 * SECOND), []);
  assert.deepEqual(heads(), []);
  feed.send(headOf(3_000));
  await until(() => found.length === 1, "the head is found");
  feed.send(headOf(4_000));
  feed.send(headOf(5_000));
  await until(() => heads().at(-1) === 5_000, "the newest is found");
  assert.deepEqual(await polledWithin(2 * MINUTE), [60]);
  assert.equal(feeds.opened.length, 1);
});

check("it notices a feed that has died, by pings without an answer, and polls and connects again", async () => {
  globalThis.WebSocket = WebSocket;
  feeds.onOpen = (feed) => feed.send(server.state.head);
  watch();
  await until(() => feeds.opened.length === 1, "the feed is open");
  await settle();
  await polledWithin(10 * MINUTE);
  assert.equal(feeds.opened.length, 1);
  assert.ok(feeds.opened[0].messages.length >= 10 && feeds.opened[0].messages.every((text) => text === "ping"), `${feeds.opened[0].messages}`);
  feeds.answers = false;
  await polledWithin(2 * MINUTE);
  assert.equal(feeds.opened.length, 2);
  assert.deepEqual(problems, []);
});

/** What a hostile feed sends, and the code of the problem that follows. */
const WRONG_MESSAGES = {
  "rubbish": ["damaged", () => "rubbish"],
  "nothing": ["damaged", () => ""],
  "another project's head": ["wrong_project", () => headOf(3_000, { iss: "proj_2" })],
  "a head by a stranger": ["unknown_key", () => headOf(3_000, { by: otherPair })],
  "a head that is over": ["expired", () => headOf(3_000, { now: Date.now() - 48 * HOUR })],
  "a long message": ["damaged", () => "a".repeat(4_097)],
  "a huge message": ["damaged", () => "a".repeat(20_000_000)],
  "bytes": ["damaged", () => Buffer.from(headOf(3_000))],
};

check("a feed that sends what is not proven is closed, and polls go on", async () => {
  globalThis.WebSocket = WebSocket;
  for (const [name, [code, message]] of Object.entries(WRONG_MESSAGES)) {
    controller = new AbortController();
    [feeds.opened, problems] = [[], []];
    feeds.onOpen = (feed) => feed.send(message());
    watch();
    await until(() => problems.length === 1, `${name} is refused`);
    await until(() => feeds.opened[0].readyState === WebSocket.CLOSED, `${name}: the feed is closed`);
    assert.deepEqual([codes(), heads()], [[code], []], name);
    server.paths();
    feeds.onOpen = () => {};
    assert.deepEqual(await polledWithin(30 * SECOND), [30], name);
    assert.equal(feeds.opened.length, 2, name);
    controller.abort();
  }
});

check("an old head over the feed is not taken, and polls go on until the feed brings the present one", async () => {
  globalThis.WebSocket = WebSocket;
  feeds.onOpen = (feed) => feed.send(headOf(1_000));
  watch();
  await until(() => problems.length === 1, "the old head is refused");
  assert.deepEqual(codes(), ["older_revision"]);
  assert.deepEqual(await polledWithin(2 * MINUTE), [30, 90]);
  feeds.opened[0].send(headOf(3_000));
  await until(() => found.length === 1, "the new head is found");
  assert.deepEqual(await polledWithin(30 * MINUTE, 30 * SECOND), []);
  assert.equal(feeds.opened.length, 1);
});

check("a feed that closes at once, or is refused, is opened again after ever longer waits", async () => {
  globalThis.WebSocket = WebSocket;
  feeds.onOpen = (feed) => feed.close();
  watch();
  await until(() => feeds.opened.length === 1, "the feed was open");
  await settle();
  const polls = await polledWithin(20 * MINUTE);
  assert.deepEqual(polls, [30, 90, 210, 450, 750, 1_050]);
  // Waits of 1, 2, 4 ... 256, 300 s, of which jitter takes up to a half.
  assert.ok(feeds.opened.length >= 9 && feeds.opened.length <= 16, `${feeds.opened.length} times`);
  const before = feeds.opened.length;
  feeds.refuses = true;
  await polledWithin(10 * MINUTE);
  assert.equal(feeds.opened.length, before);
  feeds.refuses = false;
  feeds.onOpen = (feed) => feed.send(headOf(3_000));
  await polledWithin(5 * MINUTE);
  assert.deepEqual(heads(), [3_000]);
  assert.deepEqual(problems, []);
});

check("a feed that never opens is given up after ten seconds", async () => {
  const sockets = [];
  globalThis.WebSocket = class extends EventTarget {
    constructor() {
      super();
      sockets.push(this);
    }
    close() {
      this.isClosed = true;
    }
  };
  watch();
  await polledWithin(9 * SECOND, SECOND);
  assert.equal(sockets[0].isClosed, undefined);
  await polledWithin(2 * SECOND, SECOND);
  assert.deepEqual([sockets[0].isClosed, sockets.length], [true, 2]);
});

check("a head by a new key is taken where a trusted one vouches for it", async () => {
  globalThis.WebSocket = WebSocket;
  const next = keyPair();
  watch();
  await until(() => feeds.opened.length === 1, "the feed is open");
  server.state.keys = [vouchedBy(pair, next), pair.jwk];
  feeds.opened[0].send(headOf(3_000, { by: next }));
  await until(() => found.length === 1, "the head is found");
  assert.deepEqual(found[0].keys.map(({ kid }) => kid).sort(), [pair.kid, next.kid].sort());
  assert.deepEqual(server.paths(), ["/client/v1/jwks"]);
});

check("of many heads at once the newest counts, and not one is passed on after an end", async () => {
  globalThis.WebSocket = WebSocket;
  watch();
  await until(() => feeds.opened.length === 1, "the feed is open");
  for (let rev = 3_000; rev < 3_200; rev += 1) feeds.opened[0].send(headOf(rev));
  await until(() => heads().at(-1) === 3_199, "the newest is found");
  assert.deepEqual(heads(), heads().toSorted((one, other) => one - other));
  feeds.opened[0].send(headOf(4_000));
  controller.abort();
  await settle();
  assert.equal(heads().at(-1), 3_199);
  assert.deepEqual(await polledWithin(HOUR, 5 * MINUTE), []);
});

check("a caller's mistake is thrown, and a watch that has ended before does nothing", async () => {
  assert.throws(() => watch({ keys: undefined }), { name: "TypeError", message: /keys/ });
  assert.throws(() => watch({ keys: [] }), { name: "TypeError" });
  assert.throws(() => watch({ onHead: undefined }), { name: "TypeError", message: /onHead/ });
  assert.throws(() => watch({ head: "rubbish" }), { code: "damaged" });
  assert.throws(() => watch({ head: headOf(3_000, { by: otherPair }) }), { code: "unknown_key" });
  controller.abort();
  watch();
  assert.deepEqual(await polledWithin(10 * MINUTE, MINUTE), []);
});

check("Node ends while a watch waits for its next poll", async () => {
  clock.stop();
  const options = JSON.stringify({ baseUrl: server.base, credentials, keys: [pair.jwk], head: server.state.head });
  const at = (name) => JSON.stringify(new URL(name, pkg).href);
  const text = `import ${at("node.js")}; import { watchHead } from ${at("service.js")}; watchHead({ ...${options}, onHead() {} }); console.log("watching");`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", text], { timeout: 120_000 });
  assert.equal(stdout, "watching\n");
});
