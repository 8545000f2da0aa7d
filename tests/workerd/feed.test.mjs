// Tests the feed of bundles on the running service: who may open it, what it sends and when it ends, and that a thousand silent pages cost
// nothing.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { credentials, developmentText, managementHeaders, serverHeaders } from "../../worker/tools/setup.mjs";
import { pieces } from "../support/package.mjs";
import { ORIGIN, PATH, PROTOCOLS, headOf, openFeed, until, withProbe } from "./feed_fixtures.mjs";
import { boot, bootChanged, caller, freePort } from "./harness.mjs";
import { send } from "./raw_socket.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("feed");
const client = { "x-client-application-id": credentials.client.id, "x-client-token": credentials.client.token, origin: ORIGIN };
/** The service with the proxy of `npm start`. */
let service;
let call;
/** Plain workerd, whose feed a test can inspect. */
let probed;
let folder;

before(async () => {
  service = await boot({ bare: false });
  call = caller(service.url);
  folder = await mkdtemp(join(tmpdir(), "scrip-feed-"));
  probed = await bootChanged(folder, withProbe, { SCRIP_SETUP: developmentText() });
});
after(async () => {
  await service?.stop();
  await probed?.stop();
  await rm(folder, { recursive: true, force: true });
});

const look = async (path = "look", body) => (await fetch(`${probed.url}/probe/${path}`, { method: "POST", body })).json();
const publish = (head) => look("publish", head);
/** Requests the head until it is built, and is another one than `last`. */
function getHead(last, url = service.url) {
  return waitUntil(async () => {
    const { status, body } = await caller(url)("GET", "/client/v1/bundle", undefined, client);
    return status === 200 && body !== last && body;
  }, "another head");
}
let campaigns = 0;
async function changeOffers() {
  const name = `FEED-${(campaigns += 1)}`;
  const made = await call("POST", "/v1/campaigns", {
    name, type: "STANDALONE", visibility: "public", campaign_type: "DISCOUNT_COUPONS", voucher: { discount: { type: "AMOUNT", amount_off: 100 }, code_config: { pattern: name } },
  });
  assert.equal(made.status, 200, JSON.stringify(made.body));
}

check("a page gets the present head at once, and each new one", async () => {
  const present = await getHead();
  const feed = await openFeed(service.url);
  assert.equal(feed.protocol, "scrip");
  await until(() => feed.messages.length === 1, "the present head comes");
  await changeOffers();
  const next = await getHead(present);
  await until(() => feed.messages.length === 2, "the next head comes");
  assert.deepEqual(feed.messages, [present, next]);
  // Another request for the same head is no news.
  assert.equal(await getHead(), next);
  await sleep(300);
  assert.equal(feed.messages.length, 2);
  feed.close();
});

/** After a call closes a connection, workerd ends it when it evicts the object: ten seconds later. A page is sent nothing meanwhile. */
const END_MS = 25_000;

/** How a feed is opened wrongly, with the refusal. */
const REFUSED = {
  "a wrong token": [{ protocols: ["scrip", "dev-client", "wrong"] }, 401, { key: "unauthorized" }],
  "an unknown key": [{ protocols: ["scrip", "unknown", "dev-client-token"] }, 401, { key: "unauthorized" }],
  "a server's key": [{ protocols: ["scrip", credentials.server.id, credentials.server.token] }, 401, { key: "unauthorized" }],
  "a server's key in headers": [{ protocols: ["scrip"], headers: serverHeaders }, 401, { key: "unauthorized" }],
  "no subprotocol": [{ protocols: [] }, 401, { key: "unauthorized" }],
  "no key in the subprotocols": [{ protocols: ["scrip"] }, 401, { key: "unauthorized" }],
  "another subprotocol first": [{ protocols: ["other", "dev-client", "dev-client-token"] }, 401, { key: "unauthorized" }],
  "more after the key": [{ protocols: [...PROTOCOLS, "more"] }, 401, { key: "unauthorized" }],
  "an unknown bearer token": [{ protocols: ["scrip", "unknown"] }, 401, { key: "unauthorized" }],
  "another origin": [{ origin: "https://evil.example" }, 403, { key: "forbidden", details: "the origin `https://evil.example` is not in the project's list" }],
  "no origin": [{ origin: null }, 403, { key: "forbidden", details: "the header `Origin` is required on the client side" }],
};

for (const [kind, url] of [["the proxy", () => service.url], ["workerd", () => probed.url]]) {
  check(`${kind}: only a client's key from a trusted origin opens it, with the errors of any call`, async () => {
    for (const [name, [options, status, body]] of Object.entries(REFUSED)) {
      const refused = await openFeed(url(), options);
      assert.equal(refused.status, status, name);
      assert.deepEqual({ ...refused.body, ...body, code: status }, refused.body, name);
    }
    const asCall = await fetch(`${url()}/client/v1/bundle`, { headers: { ...client, origin: "https://evil.example" } });
    const { request_id: _, ...right } = await asCall.json();
    const { request_id: __, ...refused } = (await openFeed(url(), { origin: "https://evil.example" })).body;
    assert.deepEqual(refused, right);
  }, { counts: Object.keys(REFUSED).length + 1 });
}

check("an OAuth token opens it, where its scope names bundles", async () => {
  const issue = async (scope) => {
    const reply = await fetch(`${service.url}/v1/oauth/token`, {
      method: "POST", headers: { ...serverHeaders, "content-type": "application/x-www-form-urlencoded" }, body: `grant_type=client_credentials&scope=${scope}`,
    });
    return (await reply.json()).access_token;
  };
  const token = await issue("client_bundle");
  const feed = await openFeed(service.url, { protocols: ["scrip", token], origin: null });
  assert.equal(feed.protocol, "scrip");
  const asHeader = await openFeed(service.url, { protocols: [], origin: null, headers: { authorization: `Bearer ${token}` } });
  assert.equal(asHeader.protocol, "");
  const other = await openFeed(service.url, { protocols: ["scrip", await issue("client_validations")], origin: null });
  assert.deepEqual([other.status, other.body.key], [403, "missing_required_permission"]);
  // The end of the token ends its feeds and no others.
  const page = await openFeed(service.url);
  const revoked = await fetch(`${service.url}/v1/oauth/token/revoke`, {
    method: "POST", headers: { ...serverHeaders, "content-type": "application/x-www-form-urlencoded" }, body: `access_token=${token}`,
  });
  assert.ok(revoked.ok, `${revoked.status}`);
  await until(() => feed.closed === 1008 && asHeader.closed === 1008, "the token's feeds are closed", END_MS);
  assert.equal(page.closed, undefined);
  page.close();
});

check("a call that opens no WebSocket gets 426, and the subprotocol is a key nowhere else", async () => {
  for (const url of [service.url, probed.url]) {
    const plain = await fetch(`${url}${PATH}`, { headers: client });
    assert.equal(plain.status, 426);
    const { request_id: id, ...body } = await plain.json();
    assert.deepEqual(body, { code: 426, message: "Upgrade Required", details: "the feed is a WebSocket: the request must have the header `Upgrade: websocket`" });
    assert.equal(plain.headers.get("x-request-id"), id);
    assert.equal(plain.headers.get("access-control-allow-origin"), ORIGIN);
    assert.equal((await fetch(`${url}${PATH}`, { method: "POST", headers: client })).status, 405);
    assert.equal((await fetch(`${url}${PATH}`, { headers: { origin: ORIGIN } })).status, 401);
    const elsewhere = await fetch(`${url}/client/v1/bundle`, { headers: { origin: ORIGIN, "sec-websocket-protocol": PROTOCOLS.join(", ") } });
    assert.equal(elsewhere.status, 401);
  }
});

check("no other path is upgraded, and its request is answered as without an upgrade", async () => {
  const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  const key = `X-Client-Application-Id: dev-client\r\nX-Client-Token: dev-client-token\r\nOrigin: ${ORIGIN}`;
  const sendHead = (method, path, more = "") => send(service.url, `${method} ${path} HTTP/1.1\r\nHost: scrip\r\n${upgrade}\r\n${key}\r\n${more}\r\n`, 1_500);
  assert.deepEqual((await sendHead("GET", "/health/live")).statuses, [200]);
  assert.deepEqual((await sendHead("GET", "/client/v1/bundle")).statuses, [200]);
  assert.deepEqual((await sendHead("GET", "/client/v1/bundle/feeds")).statuses, [404]);
  assert.deepEqual((await sendHead("GET", `${PATH}/more/`)).statuses, [404]);
  assert.deepEqual((await sendHead("POST", PATH, "Content-Length: 0\r\n")).statuses, [405]);
  assert.deepEqual((await sendHead("GET", PATH, "Content-Length: 3\r\n\r\nabc")).statuses[0], 426);
  assert.deepEqual((await sendHead("GET", PATH)).statuses, [101]);
  // The body of another path is still its body, and no request.
  const body = "GET /health/live HTTP/1.1\r\nHost: scrip\r\nConnection: close\r\n\r\n";
  const { statuses } = await send(service.url, `POST /v1/nothing HTTP/1.1\r\nHost: scrip\r\n${upgrade}\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 1_500);
  assert.deepEqual(statuses, [404]);
  const odd = await send(service.url, `GET ${PATH} HTTP/1.1\r\nHost: a b\r\n${upgrade}\r\n${key}\r\n\r\n`, 1_500);
  assert.deepEqual(odd.statuses, [400]);
  const [first, behind] = [`GET /v1/customers HTTP/1.1\r\nHost: scrip\r\n\r\n`, `GET ${PATH} HTTP/1.1\r\nHost: scrip\r\n${upgrade}\r\n${key}\r\n\r\n`];
  // An upgrade after a request that waits for its answer could mix two answers.
  assert.ok(!(await send(service.url, first + behind, 1_500)).statuses.includes(101));
});

check("a head that is not newer than the stored one is ignored", async () => {
  await publish(headOf(5, 100));
  const feed = await openFeed(probed.url);
  for (const head of [headOf(5, 99), headOf(4, 1_000), headOf(5, 100)]) assert.equal((await publish(head)).head, headOf(5, 100));
  await publish(headOf(5, 101));
  await publish(headOf(6, 1));
  await until(() => feed.messages.length === 3, "the newer heads come");
  assert.deepEqual(feed.messages, [headOf(5, 100), headOf(5, 101), headOf(6, 1)]);
  feed.close();
  await until(async () => (await look()).connections === 0, "its connection is forgotten");
});

check("what a page sends is ignored, except a ping; long and many messages end the connection", async () => {
  const feed = await openFeed(probed.url);
  await until(() => feed.messages.length === 1, "the head comes");
  feed.messages.length = 0;
  for (let count = 0; count < 100; count += 1) feed.send("ping");
  await until(() => feed.messages.length === 100, "all pings are answered");
  assert.deepEqual([...new Set(feed.messages)], ["pong"]);
  for (const message of ["hello", "a".repeat(64), Buffer.from([1, 2, 3]), ""]) feed.send(message);
  await sleep(300);
  assert.deepEqual([feed.messages.length, feed.closed], [100, undefined]);
  feed.send("a".repeat(65));
  await until(() => feed.closed !== undefined, "a long message ends it");
  assert.deepEqual([feed.closed, feed.reason], [1009, "a message has at most 64 bytes"]);
  for (const big of ["a".repeat(900_000), Buffer.alloc(900_000)]) {
    const other = await openFeed(probed.url);
    other.send(big);
    await until(() => other.closed !== undefined, "a huge message ends it");
    assert.equal(other.closed, 1009);
  }
  const talker = await openFeed(probed.url);
  for (let count = 0; count < 20; count += 1) talker.send("hello");
  await until(() => talker.closed !== undefined, "many messages end it");
  assert.equal(talker.closed, 1008);
});

check("a connection survives the eviction of the object, and has no alarm", async () => {
  const feed = await openFeed(probed.url);
  const before = await look();
  assert.equal(before.alarm, null);
  // workerd evicts an object that has been idle for ten seconds.
  await sleep(15_000);
  const later = await look();
  assert.notEqual(later.life, before.life, "the object was evicted");
  assert.equal(later.connections, 1);
  feed.send("ping");
  feed.messages.length = 0;
  await publish(headOf(7, 1));
  await until(() => feed.messages.includes(headOf(7, 1)), "the head comes");
  // Ping and head travel on two connections, so either may be first.
  await until(() => feed.messages.includes("pong"), "the ping is answered");
  assert.equal((await look()).alarm, null);
  feed.close();
});

check("the first head after a day ends a connection, which then has the head", async () => {
  const feed = await openFeed(probed.url);
  await look("age");
  await publish(headOf(8, 1));
  await until(() => feed.closed !== undefined, "it is closed", END_MS);
  assert.equal(feed.closed, 1001);
  assert.equal(feed.messages.at(-1), headOf(8, 1));
});

check("a changed or removed key ends its feeds at once, and a deleted project all", async () => {
  const manage = async (method, path, body) => {
    const reply = await call(method, `/management/v1/projects${path}`, body);
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const shop = await manage("POST", "", { name: "Feeds", case_sensitive_codes: true, timezone: "UTC", currency: "PLN", client_trusted_domains: ["http://localhost:*"] });
  const made = await manage("POST", `/${shop.id}/keys`, { class: "client", name: "page" });
  const [first, second] = [shop.client_side_key, made].map(({ app_id, app_token }) => ["scrip", app_id, app_token]);
  const open = async (protocols) => {
    const feed = await openFeed(service.url, { protocols });
    assert.equal(feed.protocol, "scrip", JSON.stringify(feed.body));
    return feed;
  };
  const [one, two] = [await open(first), await open(second)];
  await manage("DELETE", `/${shop.id}/keys/${made.id}`);
  await until(() => two.closed === 1008, "the removed key's feed is closed", END_MS);
  assert.equal(one.closed, undefined);
  assert.equal((await openFeed(service.url, { protocols: second })).status, 401);
  await manage("DELETE", `/${shop.id}`);
  await until(() => one.closed === 1008, "the deleted project's feed is closed", END_MS);
  assert.equal((await openFeed(service.url, { protocols: first })).status, 401);
});

check("the package takes heads from the feed, polls when workerd dies, and connects again", async () => {
  const other = await boot({ bare: false });
  const controller = new AbortController();
  const { WebSocket } = await import("ws");
  const sockets = [];
  // As Node's own one takes them.
  globalThis.WebSocket = class extends WebSocket {
    constructor(url, { protocols, headers }) {
      super(url, protocols, { headers });
      sockets.push(this);
    }
  };
  try {
    const bundle = await pieces.fetchBundle(other.url, credentials.client, undefined, { origin: ORIGIN });
    const [found, problems] = [[], []];
    pieces.watchHead({
      ...bundle, baseUrl: other.url, credentials: credentials.client, origin: ORIGIN, signal: controller.signal,
      onHead: (head) => found.push(head), onProblem: (problem) => problems.push(problem),
    });
    await until(() => sockets[0]?.readyState === WebSocket.OPEN, "the feed is open");
    await caller(other.url)("POST", "/v1/campaigns", { name: "NEW", type: "STANDALONE", visibility: "public", campaign_type: "DISCOUNT_COUPONS", voucher: { discount: { type: "AMOUNT", amount_off: 100 }, code_config: { pattern: "NEW" } } });
    const next = await getHead(bundle.head, other.url);
    await until(() => found.at(-1)?.head === next, "the package has the next head");
    await other.kill9();
    await until(() => sockets[0].readyState === WebSocket.CLOSED, "the feed is closed");
    await until(() => problems.length === 1, "it polls after half a minute", 40_000);
    assert.equal(problems[0].status, 503);
    await other.restart();
    await until(() => sockets.length > 1 && sockets.at(-1).readyState === WebSocket.OPEN, "the feed is open again", 60_000);
  } finally {
    controller.abort();
    delete globalThis.WebSocket;
    await other.stop();
  }
});

check("an end of the service closes its feeds", async () => {
  const other = await boot({ bare: false });
  const feed = await openFeed(other.url);
  await other.stop();
  await until(() => feed.closed !== undefined, "the feed is closed");
});

check("the log has neither a key nor a subprotocol", async () => {
  const log = await readFile(service.log, "utf8");
  for (const secret of ["dev-client-token", "sec-websocket-protocol", "Sec-WebSocket-Protocol"]) assert.ok(!log.includes(secret) && !probed.output().includes(secret));
});

/** Returns why a process cannot have 4,096 open files, if so. */
async function whyFewFiles() {
  return promisify(execFile)("sh", ["-c", "ulimit -n 4096"]).then(() => undefined, ({ stderr }) => `this machine allows no 4,096 open files: ${stderr.trim()}`);
}

check("a thousand silent feeds cost no request and no alarm, and one more is refused", async () => {
  const port = await freePort();
  const { stdout } = await promisify(execFile)("sh", ["-c", 'ulimit -n 4096 && exec "$0" "$@"', process.execPath, "tests/workerd/feed_load.mjs", String(port)], { timeout: 110_000 });
  const report = JSON.parse(stdout.trim().split("\n").at(-1));
  console.log(JSON.stringify(report));
  assert.equal(report.files, 4_096);
  assert.equal(report.opened, 1_000);
  assert.deepEqual(report.beyond, { status: 503, retryAfter: "60", details: "the feed of the project has as many connections as it may have: fetch the head with `GET /client/v1/bundle` meanwhile" });
  assert.deepEqual(report.requestsWhileIdle, []);
  assert.equal(report.stillOpen, 1_000);
  assert.equal(report.gotHead, 1_000);
  assert.equal(report.plainCall, 200);
  assert.equal(report.afterOneLeft, "scrip");
}, { skip: await whyFewFiles() });
