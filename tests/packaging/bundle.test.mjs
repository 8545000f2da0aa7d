// Tests how the package fetches and keeps a bundle: only what is newer, within its time, by the service's clock, and from storage without a
// network.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { existsSync } from "node:fs";
import { build } from "../../pkg-template/build.mjs";
import { countTests } from "../browser/test_report.mjs";
import { DAY, PROJECT, claimsOf, datedRules, jws, keyPair, rules, sha256, startServer } from "./bundle_server.mjs";

const check = countTests("packaging");
const pkg = new URL("../../pkg/", import.meta.url);
const key = { id: "dev-client", token: "dev-client-token" };
const pair = keyPair();
const [ONE, TWO] = [rules(), rules({ whole_catalogue: false })];
const keys = [pair.jwk];

let pieces;
let server;
let state;

before(async () => {
  if (!existsSync(new URL("scrip.wasm", pkg))) await build();
  await import(new URL("node.js", pkg));
  pieces = await import(new URL("service.js", pkg));
  server = await startServer();
  ({ state } = server);
}, { timeout: 600_000 });
after(() => server.close());

// Only the service checks the seal.
const token = ["{}", JSON.stringify({ sub: "anna" }), "{}"].map((part) => Buffer.from(part).toString("base64url")).join(".");

const fetchWith = (lastGood, options = {}) => pieces.fetchBundle(server.base, key, lastGood, { keys, ...options });
const offline = () => { state.instead.bundle = (request) => request.socket.destroy(); };
const requests = () => server.requests.splice(0);

check("the first answer is prepared, the second is a 304 for the same rules, a new head brings new rules", async () => {
  const head = server.serve(pair, ONE);
  requests();
  const first = await pieces.fetchBundle(`${server.base}/`, key, undefined, { keys });
  const [headRequest, core, ...others] = requests();
  assert.equal(headRequest.url, "/client/v1/bundle");
  assert.equal(headRequest.headers["x-client-application-id"], "dev-client");
  assert.equal(headRequest.headers["x-client-token"], "dev-client-token");
  assert.equal(headRequest.headers["if-none-match"], undefined);
  assert.equal(headRequest.headers["x-customer-token"], undefined);
  assert.equal(core.url, `/client/v1/bundle/${PROJECT}/${sha256(ONE)}`);
  for (const name of ["x-client-application-id", "x-client-token", "authorization", "cookie", "origin"]) assert.equal(core.headers[name], undefined);
  assert.deepEqual(others, []);
  assert.deepEqual([first.fresh, first.problem, first.writes, first.head], [true, undefined, true, head]);
  assert.deepEqual(first.ratchet, { epoch: 1_000, rev: 2_000 });
  assert.equal(Buffer.from(first.core).toString(), ONE);
  const second = await fetchWith(first);
  const [confirmed, ...none] = requests();
  assert.equal(confirmed.headers["if-none-match"], `"${sha256(head)}"`);
  assert.deepEqual(none, []);
  assert.equal(second.prepared, first.prepared);
  assert.equal(second.fresh, true);
  server.serve(pair, TWO, { rev: 3_000 });
  const third = await fetchWith(second);
  assert.equal(third.head, state.head);
  assert.notEqual(third.prepared.hash, first.prepared.hash);
});

check("a new head for the same core fetches no core; its horizon is the new one", async () => {
  const now = Date.now();
  server.serve(pair, ONE, { from: now - 2_000, to: now - 1_000 });
  const first = await fetchWith();
  const missing = ({ prepared }) => prepared.validateObject({ redeemables: [{ object: "voucher", id: "A" }], order: { amount: 1 } }).missing;
  assert.ok(missing(first).includes("horizon"));
  server.serve(pair, ONE, { rev: 3_000 });
  requests();
  const second = await fetchWith(first);
  assert.deepEqual(requests().map(({ url }) => url), ["/client/v1/bundle"]);
  assert.ok(!missing(second)?.includes("horizon"));
});

check("a bundle from storage, without its rules, starts without a network; its core may be text", async () => {
  server.serve(pair, ONE);
  const good = await fetchWith();
  const data = structuredClone({ ...good, prepared: undefined });
  const asText = JSON.parse(JSON.stringify({ ...data, core: new TextDecoder().decode(data.core) }));
  for (const lastGood of [data, asText]) {
    offline();
    const started = await fetchWith(lastGood);
    assert.equal(started.fresh, false);
    assert.ok(started.problem instanceof Error);
    assert.equal(started.prepared.hash, sha256(ONE));
    state.instead = {};
    const confirmed = await fetchWith(lastGood);
    assert.deepEqual([confirmed.fresh, confirmed.prepared.hash], [true, sha256(ONE)]);
  }
});

check("an expired bundle from storage still decides, provisionally, and a confirmation of it is refused", async () => {
  const then = Date.now() - 40 * DAY;
  server.serve(pair, datedRules(Date.now()), { now: then });
  state.headers = { date: new Date(then).toUTCString() };
  const good = await fetchWith();
  assert.equal(good.fresh, true);
  offline();
  const started = await fetchWith(structuredClone({ ...good, prepared: undefined, clock: undefined }));
  const verdict = started.prepared.validateObject({ redeemables: [{ object: "voucher", id: "ALWAYS" }], order: { amount: 1_000 } });
  assert.equal(verdict.valid, true);
  assert.ok(verdict.missing.includes("horizon"));
  Object.assign(state, { instead: {}, headers: {} });
  const confirmed = await fetchWith(started);
  assert.deepEqual([confirmed.fresh, confirmed.problem.code], [false, "expired"]);
});

check("a damaged stored copy is dropped and fetched again; it is never confirmed by a 304", async () => {
  server.serve(pair, ONE);
  const good = await fetchWith();
  const changed = good.core.slice();
  changed[good.core.length - 3] ^= 1;
  const { prepared: _, ...data } = good;
  const other = jws(pair, claimsOf(TWO));
  const damaged = {
    "cut short": { ...data, core: good.core.slice(0, -20) },
    "one bit changed": { ...data, core: changed },
    "no core": { ...data, core: undefined },
    "a core of another kind": { ...data, core: 5 },
    "another bundle's core": { ...data, core: new TextEncoder().encode(TWO) },
    "no head": { ...data, head: undefined },
    "a head of another kind": { ...data, head: { claims: {} } },
    "another bundle's head": { ...data, head: jws(pair, claimsOf(TWO, { rev: 1 })) },
    "the kept copy of format 1": { bytes: good.core, etag: `"${sha256(ONE)}"` },
    "no bundle": {},
    "not what was kept": "a text",
  };
  assert.notEqual(other, good.head);
  for (const [name, lastGood] of Object.entries(damaged)) {
    server.serve(pair, ONE);
    requests();
    const healed = await fetchWith(lastGood);
    assert.equal(requests()[0].headers["if-none-match"], undefined, name);
    assert.equal(healed.fresh, true, name);
    assert.deepEqual(healed.core, good.core, name);
    state.instead.bundle = (_, response) => response.writeHead(304, { etag: `"${sha256(good.head)}"` }).end();
    await assert.rejects(fetchWith(lastGood), /304/, name);
  }
});

check("rules that are still in memory stay with their source data, also where the passed data changed", async () => {
  server.serve(pair, ONE);
  const good = await fetchWith();
  const same = await fetchWith({ ...good, core: good.core.slice(1), keys: [], ratchet: undefined });
  assert.equal(same.prepared, good.prepared);
  assert.deepEqual([same.fresh, same.core, same.keys], [true, good.core, good.keys]);
});

check("rules that were freed are prepared again from their core; an etag that became weak on its way is the same", async () => {
  server.serve(pair, ONE);
  const first = await fetchWith();
  first.prepared.free();
  state.instead.bundle = (request, response) => {
    assert.equal(request.headers["if-none-match"], `"${sha256(first.head)}"`);
    response.writeHead(304, { etag: `W/"${sha256(first.head)}"` }).end();
  };
  const second = await fetchWith(first);
  assert.equal(second.fresh, true);
  assert.equal(second.prepared.hash, sha256(ONE));
});

check("a service that sends the same head again confirms the same rules", async () => {
  const head = server.serve(pair, ONE);
  const first = await fetchWith();
  state.instead.bundle = (_, response) => response.writeHead(200).end(head);
  requests();
  const second = await fetchWith(first);
  assert.equal(requests().length, 1);
  assert.deepEqual([second.fresh, second.prepared], [true, first.prepared]);
});

check("a refusal carries the error of the service; a server can name its origin", async () => {
  server.serve(pair, ONE);
  state.instead.bundle = (_, response) => response.writeHead(403).end("{\"code\":403,\"key\":\"forbidden\",\"message\":\"Forbidden\",\"details\":\"no\"}");
  requests();
  await assert.rejects(fetchWith(undefined, { origin: "https://shop.example" }), { status: 403, message: /answered 403 .*: Forbidden: no$/ });
  assert.equal(requests()[0].headers.origin, "https://shop.example");
  state.instead.bundle = (_, response) => response.writeHead(500).end(`"${"a".repeat(200_000)}"`);
  await assert.rejects(fetchWith(), { status: 500, body: undefined });
  state.instead.bundle = (_, response) => response.writeHead(304).end();
  await assert.rejects(fetchWith(), /304/);
});

check("a customer token is sent only for the supplement; rules that were prepared for another one are prepared again from the same core", async () => {
  server.serve(pair, ONE);
  requests();
  const first = await fetchWith(undefined, { customerToken: token });
  assert.deepEqual(requests().map(({ headers }) => headers["x-customer-token"]), [undefined, undefined, token]);
  const same = await fetchWith(first, { customerToken: token });
  assert.equal(same.prepared, first.prepared);
  const other = await fetchWith(first);
  assert.notEqual(other.prepared, first.prepared);
  assert.equal(other.fresh, true);
  assert.deepEqual(requests().map(({ url }) => url), ["/client/v1/bundle", "/client/v1/bundle/me", "/client/v1/bundle"]);
  await assert.rejects(fetchWith(first, { customerToken: "none" }), TypeError);
});

check("all requests together have ten seconds, and the caller's signal ends the fetch earlier", async () => {
  server.serve(pair, ONE);
  const good = await fetchWith();
  server.serve(pair, TWO, { rev: 3_000 });
  const { head } = state;
  const begin = performance.now();
  state.instead.bundle = () => {};
  const stopped = await fetchWith(good, { signal: AbortSignal.timeout(50) });
  assert.equal(stopped.problem.name, "TimeoutError");
  state.instead.bundle = (request, response) => {
    const keyId = request.headers["x-client-application-id"];
    if (keyId === "no answer") return;
    response.writeHead(200, { "content-length": String(head.length) }).write(keyId === "half a head" ? head.slice(0, 50) : head);
  };
  state.instead.core = (_, response) => response.writeHead(200).write(TWO.slice(0, 50));
  const slow = (id) => pieces.fetchBundle(server.base, { ...key, id }, good, { keys });
  const all = await Promise.all(["no answer", "half a head", "half a core"].map(slow));
  const lasted = performance.now() - begin;
  assert.ok(lasted > 9_900, `${lasted} ms`);
  for (const late of all) {
    assert.equal(late.fresh, false);
    assert.match(late.problem.message, /within 10 s/);
    assert.equal(late.prepared.hash, sha256(ONE));
  }
  await assert.rejects(fetchWith(undefined, { signal: AbortSignal.abort(new Error("enough")) }), /enough/);
});

const verdict = (prepared, code, context) => {
  const request = { redeemables: [{ object: "voucher", id: code }], order: { amount: 1000 } };
  return prepared.validateObject(request, context).valid;
};
let revision = 10_000;

/** Serves rules with a `Date` and a new head that are days off. */
function serveAt(core, days) {
  const now = Date.now() + days * DAY;
  server.serve(pair, core, { now, rev: (revision += 1) });
  state.headers = { date: new Date(now).toUTCString() };
}

check("the service's Date corrects a local clock that is days off, and a time named by the caller has priority", async () => {
  const core = datedRules(Date.now());
  serveAt(core, 0);
  const right = await fetchWith();
  assert.equal(right.clock.offset, 0);
  assert.deepEqual([verdict(right.prepared, "ENDS"), verdict(right.prepared, "BEGINS")], [true, true]);
  serveAt(core, 5);
  const slow = await fetchWith(right);
  assert.equal(slow.fresh, true, slow.problem?.message);
  assert.ok(Math.abs(slow.clock.offset - 5 * DAY) < 12_000, `${slow.clock.offset}`);
  assert.equal(verdict(slow.prepared, "ENDS"), false);
  assert.equal(verdict(slow.prepared, "ENDS", { now: new Date() }), true);
  serveAt(core, -5);
  const fast = await fetchWith(slow);
  assert.equal(fast.fresh, true, fast.problem?.message);
  assert.equal(verdict(fast.prepared, "BEGINS"), false);
  assert.equal(verdict(fast.prepared, "ENDS"), true);
  // From storage, without a network, the offset is that of the last answer.
  offline();
  const data = structuredClone({ ...slow, prepared: undefined });
  assert.equal(verdict((await fetchWith(data)).prepared, "ENDS"), false);
  const unclocked = await fetchWith({ ...data, clock: { offset: "much", served: NaN } });
  assert.equal(verdict(unclocked.prepared, "ENDS"), true);
});

check("a head is judged by the service's clock, not by a local one that is wrong", async () => {
  const now = Date.now;
  try {
    serveAt(ONE, 0);
    const date = state.headers.date;
    for (const days of [-5, 5]) {
      Date.now = () => now() + days * DAY;
      state.headers = { date };
      const right = await fetchWith();
      assert.equal(right.fresh, true, `${days} days`);
      const missing = right.prepared.validateObject({ redeemables: [{ object: "voucher", id: "A" }], order: { amount: 1 } }).missing;
      assert.ok(!missing.includes("horizon"));
      // Without a Date there is no other clock than the local one.
      state.instead.bundle = (_, response) => { response.sendDate = false; response.writeHead(200).end(state.head); };
      await assert.rejects(fetchWith(), { code: days > 0 ? "expired" : "issued_ahead" });
      const result = await fetchWith(right);
      assert.equal(result.fresh, true, "the clock of the answer before");
      state.instead = {};
    }
  } finally {
    Date.now = now;
  }
});

check("a local clock that jumps back is not followed, and a corrected one is not corrected twice", async () => {
  const now = Date.now;
  const leap = (days) => { Date.now = () => now() + days * DAY; };
  const core = datedRules(now());
  try {
    serveAt(core, 0);
    const { head } = state;
    const { date } = state.headers;
    const right = await fetchWith();
    leap(-5);
    assert.equal(verdict(right.prepared, "BEGINS"), true, "set back, no earlier than the service's last answer");
    Object.assign(state, { head, headers: { date } });
    const slow = await fetchWith();
    assert.ok(slow.clock.offset > 4.9 * DAY);
    assert.equal(verdict(slow.prepared, "ENDS"), true);
    leap(0);
    assert.equal(verdict(slow.prepared, "ENDS"), true, "put right: nothing is added any more");
    leap(-1);
    assert.equal(verdict(slow.prepared, "ENDS"), false, "four days asleep with a clock that is five days slow");
  } finally {
    Date.now = now;
  }
});
