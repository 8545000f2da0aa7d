// Tests that a client keeps deciding when the service does not answer well: the last good rules stay, and the reason is reported. The
// server here is a bare HTTP server that can fail in every relevant way.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { after, before } from "node:test";
import { existsSync } from "node:fs";
import { build } from "../../pkg-template/build.mjs";
import { countTests } from "../browser/test_report.mjs";

const check = countTests("packaging");
const pkg = new URL("../../pkg/", import.meta.url);
const key = { id: "dev-client", token: "dev-client-token" };
const DAY = 24 * 60 * 60 * 1000;

let scrip;
let server;
let base;
let reply;
let seen;

before(async () => {
  if (!existsSync(new URL("scrip.wasm", pkg))) await build();
  scrip = await import(new URL("node.js", pkg));
  server = createServer((request, response) => {
    seen = { url: request.url, headers: request.headers };
    reply(request, response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${server.address().port}`;
}, { timeout: 600_000 });

after(() => server.close().closeAllConnections());

// Only the service checks the seal.
const token = ["{}", JSON.stringify({ sub: "anna" }), "{}"].map((part) => Buffer.from(part).toString("base64url")).join(".");

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** Returns a bundle as the service writes one, with the given members replaced. */
function bundle(members = {}) {
  const lists = ["campaigns", "vouchers", "promotion_tiers", "promotion_stacks", "categories", "products", "skus",
    "product_collections", "segments", "validation_rules", "validation_rules_assignments"];
  const text = JSON.stringify({
    complete: false, counted: false, client: {}, whole_catalogue: true, project: { id: "proj_1" },
    time_zone: { name: "UTC", offset: 0, transitions: [] }, stacking_rules: {},
    ...Object.fromEntries(lists.map((name) => [name, []])), ...members,
  });
  return { text, etag: `"${sha256(text)}"` };
}

const ONE = bundle();
const TWO = bundle({ whole_catalogue: false });

/** Serves a bundle, and a 304 to a client that has it; `headers` may replace the clock of the server. */
const serving = ({ text, etag }, headers = {}) => (request, response) => {
  if (request.headers["if-none-match"] === etag) return response.writeHead(304, { etag, ...headers }).end();
  return response.writeHead(200, { etag, ...headers }).end(text);
};

check("the first answer is prepared, the second is a 304 for the same rules, a new etag brings new rules", async () => {
  reply = serving(ONE);
  const first = await scrip.fetchBundle(`${base}/`, key);
  assert.equal(seen.url, "/client/v1/bundle");
  assert.equal(seen.headers["x-client-application-id"], "dev-client");
  assert.equal(seen.headers["x-client-token"], "dev-client-token");
  assert.equal(seen.headers["if-none-match"], undefined);
  assert.equal(seen.headers["x-customer-token"], undefined);
  assert.equal(first.fresh, true);
  assert.equal(first.etag, ONE.etag);
  const second = await scrip.fetchBundle(base, key, first);
  assert.equal(seen.headers["if-none-match"], ONE.etag);
  assert.equal(second.prepared, first.prepared);
  assert.equal(second.fresh, true);
  reply = serving(TWO);
  const third = await scrip.fetchBundle(base, key, second);
  assert.equal(third.etag, TWO.etag);
  assert.notEqual(third.prepared.hash, first.prepared.hash);
});

const answering = (text, etag) => (_, response) => response.writeHead(200, etag ? { etag } : {}).end(text);

const failures = {
  "an error of the service": (_, response) => response.writeHead(500).end("{}"),
  "rules that cannot be read": answering(bundle({ vouchers: [{ code_hash: 5 }] }).text.slice(0, 200)),
  "rules that are not those of their etag": answering(ONE.text, `"${"0".repeat(64)}"`),
  "an empty object": answering("{}", `"${sha256("{}")}"`),
  "JSON of another kind": answering("[1]", `"${sha256("[1]")}"`),
  "a page in place of a bundle": answering("<!doctype html><title>Log in</title>"),
  "a bundle without its promotion tiers": answering(JSON.stringify({ ...JSON.parse(ONE.text), promotion_tiers: undefined })),
  "an answer cut short": (_, response) => {
    response.writeHead(200, { etag: ONE.etag, "content-length": "1000" }).write("{");
    setTimeout(() => response.destroy(), 20);
  },
  "a connection that breaks": (request) => request.socket.destroy(),
};

for (const [name, failing] of Object.entries(failures)) {
  check(`${name}: the last good rules stay, and without any it is thrown`, async () => {
    reply = serving(ONE);
    const good = await scrip.fetchBundle(base, key);
    reply = failing;
    const kept = await scrip.fetchBundle(base, key, good);
    assert.equal(kept.prepared, good.prepared);
    assert.equal(kept.etag, ONE.etag);
    assert.equal(kept.fresh, false);
    assert.ok(kept.problem instanceof Error);
    await assert.rejects(scrip.fetchBundle(base, key), Error);
    reply = serving(ONE);
    const healed = await scrip.fetchBundle(base, key, kept);
    assert.equal(healed.fresh, true);
    assert.equal(healed.problem, undefined);
  });
}

check("rules from storage, bytes and etag alone, start without a network", async () => {
  reply = serving(ONE);
  const { bytes, etag } = await scrip.fetchBundle(base, key);
  reply = failures["a connection that breaks"];
  const started = await scrip.fetchBundle(base, key, { bytes, etag });
  assert.equal(started.fresh, false);
  assert.equal(`"${started.prepared.hash}"`, ONE.etag);
});

check("a kept copy that was damaged is dropped and fetched again; it is never confirmed by a 304", async () => {
  reply = serving(ONE);
  const good = await scrip.fetchBundle(base, key);
  const changed = good.bytes.slice();
  changed[good.bytes.length - 3] ^= 1;
  const damaged = {
    "cut short": { bytes: good.bytes.slice(0, -20), etag: good.etag },
    "one bit changed": { bytes: changed, etag: good.etag },
    "another bundle's etag": { bytes: good.bytes, etag: TWO.etag },
    "no etag": { bytes: good.bytes, etag: null },
    "no bytes": { etag: good.etag },
    "no bundle": { bytes: new TextEncoder().encode("{}"), etag: `"${sha256("{}")}"` },
    "not what was kept": "a text",
  };
  for (const [name, lastGood] of Object.entries(damaged)) {
    reply = serving(ONE);
    const healed = await scrip.fetchBundle(base, key, lastGood);
    assert.equal(seen.headers["if-none-match"], undefined, name);
    assert.equal(healed.fresh, true, name);
    assert.deepEqual(healed.bytes, good.bytes, name);
    reply = (_, response) => response.writeHead(304, { etag: ONE.etag }).end();
    await assert.rejects(scrip.fetchBundle(base, key, lastGood), /304/, name);
  }
});

check("rules that were freed are prepared again from their bytes; an etag that became weak on its way is the same", async () => {
  reply = serving(ONE, { etag: `W/${ONE.etag}` });
  const first = await scrip.fetchBundle(base, key);
  assert.equal(first.etag, ONE.etag);
  first.prepared.free();
  const second = await scrip.fetchBundle(base, key, { ...first, etag: `W/${first.etag}` });
  assert.equal(second.fresh, true);
  assert.equal(second.prepared.hash, sha256(ONE.text));
});

check("a 304 for another bundle than the one that was kept is a failure", async () => {
  reply = serving(ONE);
  const good = await scrip.fetchBundle(base, key);
  reply = (_, response) => response.writeHead(304, { etag: TWO.etag }).end();
  const kept = await scrip.fetchBundle(base, key, good);
  assert.equal(kept.fresh, false);
  assert.match(kept.problem.message, /another bundle/);
});

check("a refusal carries the error of the service; a server can name its origin", async () => {
  reply = (_, response) => response.writeHead(403).end("{\"code\":403,\"key\":\"forbidden\",\"message\":\"Forbidden\",\"details\":\"no\"}");
  const fetching = scrip.fetchBundle(base, key, undefined, { origin: "https://shop.example" });
  await assert.rejects(fetching, { status: 403, message: /answered 403 .*: Forbidden: no$/ });
  assert.equal(seen.headers.origin, "https://shop.example");
});

check("a 304 that answers no condition is a failure", async () => {
  reply = (_, response) => response.writeHead(304).end();
  await assert.rejects(scrip.fetchBundle(base, key), /304/);
});

check("a customer token is sent; rules that were prepared for another one are prepared again from the same bytes", async () => {
  reply = serving(ONE);
  const first = await scrip.fetchBundle(base, key, undefined, { customerToken: token });
  assert.equal(seen.headers["x-customer-token"], token);
  const same = await scrip.fetchBundle(base, key, first, { customerToken: token });
  assert.equal(same.prepared, first.prepared);
  const other = await scrip.fetchBundle(base, key, first);
  assert.equal(seen.headers["if-none-match"], ONE.etag);
  assert.notEqual(other.prepared, first.prepared);
  assert.equal(other.fresh, true);
});

check("head and body together have ten seconds, and the caller's signal ends the fetch earlier", async () => {
  reply = serving(ONE);
  const good = await scrip.fetchBundle(base, key);
  const { text, etag } = TWO;
  reply = (request, response) => {
    if (request.headers["x-customer-token"] === token) return;
    response.writeHead(200, { etag }).write(text.slice(0, 50));
  };
  const begin = performance.now();
  const stopped = await scrip.fetchBundle(base, key, good, { signal: AbortSignal.timeout(50) });
  assert.equal(stopped.problem.name, "TimeoutError");
  assert.ok(performance.now() - begin < 5_000);
  const [head, body] = await Promise.all([
    scrip.fetchBundle(base, key, good, { customerToken: token }), scrip.fetchBundle(base, key, good),
  ]);
  const lasted = performance.now() - begin;
  assert.ok(lasted > 9_900 && lasted < 15_000, `${lasted} ms`);
  for (const late of [head, body]) {
    assert.equal(late.fresh, false);
    assert.match(late.problem.message, /within 10 s/);
    assert.equal(`"${late.prepared.hash}"`, ONE.etag);
  }
  await assert.rejects(scrip.fetchBundle(base, key, undefined, { signal: AbortSignal.abort(new Error("enough")) }), /enough/);
});

/** Returns a bundle with codes that are valid for some days around a time, each named by its start. */
function dated(now) {
  const at = (days) => new Date(now + days * DAY).toISOString();
  const code = (name, window) => ({
    id: `v_${name}`, code_hash: sha256(name), type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 }, active: true, ...window,
  });
  return bundle({ vouchers: [code("ENDS", { expiration_date: at(3) }), code("BEGINS", { start_date: at(-3) })] });
}

const verdict = (prepared, code, context) => {
  const request = { redeemables: [{ object: "voucher", id: code }], order: { amount: 1000 } };
  return prepared.validateObject(request, context).valid;
};
const shifted = (days) => ({ date: new Date(Date.now() + days * DAY).toUTCString() });

check("the service's Date corrects a local clock that is days off, and a time named by the caller has priority", async () => {
  const served = dated(Date.now());
  reply = serving(served, shifted(0));
  const right = await scrip.fetchBundle(base, key);
  assert.equal(right.clock.offset, 0);
  assert.deepEqual([verdict(right.prepared, "ENDS"), verdict(right.prepared, "BEGINS")], [true, true]);
  reply = serving(served, shifted(5));
  const slow = await scrip.fetchBundle(base, key, right);
  assert.equal(slow.prepared, right.prepared);
  assert.ok(Math.abs(slow.clock.offset - 5 * DAY) < 12_000, `${slow.clock.offset}`);
  assert.equal(verdict(slow.prepared, "ENDS"), false);
  assert.equal(verdict(slow.prepared, "ENDS", { now: new Date() }), true);
  reply = serving(served, shifted(-5));
  const fast = await scrip.fetchBundle(base, key, slow);
  assert.equal(verdict(fast.prepared, "BEGINS"), false);
  assert.equal(verdict(fast.prepared, "ENDS"), true);
  // From storage, without a network, the offset is that of the last answer.
  reply = failures["a connection that breaks"];
  const { bytes, etag, clock } = JSON.parse(JSON.stringify({ ...slow, bytes: undefined }));
  const stored = await scrip.fetchBundle(base, key, { bytes: slow.bytes, etag, clock });
  assert.equal(verdict(stored.prepared, "ENDS"), false);
  assert.equal(bytes, undefined);
  const unclocked = await scrip.fetchBundle(base, key, { bytes: slow.bytes, etag, clock: { offset: "much", served: NaN } });
  assert.equal(verdict(unclocked.prepared, "ENDS"), true);
});

check("a local clock that jumps back is not followed, and one that is put right is not corrected twice", async () => {
  const now = Date.now;
  const leap = (days) => { Date.now = () => now() + days * DAY; };
  const served = dated(now());
  try {
    reply = serving(served, shifted(0));
    const right = await scrip.fetchBundle(base, key);
    leap(-5);
    assert.equal(verdict(right.prepared, "BEGINS"), true, "set back, no earlier than the service's last answer");
    leap(-5);
    reply = serving(served, { date: new Date(now()).toUTCString() });
    const slow = await scrip.fetchBundle(base, key);
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
