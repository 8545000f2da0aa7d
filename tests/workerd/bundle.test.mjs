// Tests the bundles of the running service with the pieces of `open`. A bundle is fetched once for each change, the same for every customer, proven by
// the service's keys, and each answer of the service carries the time.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { after, before } from "node:test";
import { credentials } from "../../worker/tools/setup.mjs";
import { pieces } from "../support/package.mjs";
import { customerToken } from "./customer-token.mjs";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("bundle");
const origin = "http://localhost:3000";
const key = credentials.client;
const client = { "x-client-application-id": key.id, "x-client-token": key.token, origin };
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

const open = (name) => ({
  name, type: "STANDALONE", visibility: "public", campaign_type: "DISCOUNT_COUPONS",
  voucher: { discount: { type: "AMOUNT", amount_off: 100 }, code_config: { pattern: `${name}-CODE` } },
});
const etagOf = (bundle) => `"${createHash("sha256").update(bundle.head).digest("hex")}"`;
const claimsOf = (bundle) => JSON.parse(Buffer.from(bundle.head.split(".")[1], "base64url"));
const listKeys = async () => (await call("GET", "/client/v1/jwks", undefined, client)).body.keys;
/** Requests the head until it fits the condition of a test: a build follows a change after the answer. */
function headWhere(fits) {
  return waitUntil(async () => {
    const { status, body } = await call("GET", "/client/v1/bundle", undefined, client);
    return status === 200 && fits(claimsOf({ head: body }));
  }, "a head that fits");
}
/** What a page would keep: data without the rules. */
const stored = (bundle) => structuredClone({ ...bundle, prepared: undefined, problem: undefined });

const verdict = (bundle, code) => {
  const request = { redeemables: [{ object: "voucher", id: code }], order: { amount: 1_000 } };
  return bundle.prepared.validateObject(request).valid;
};

check("a bundle is confirmed until one of its objects is changed", async () => {
  assert.equal((await call("POST", "/v1/campaigns", open("ONE"))).status, 200);
  await headWhere(() => true);
  const first = await pieces.fetchBundle(service.url, key, undefined, { origin });
  assert.equal(first.fresh, true);
  assert.equal(verdict(first, "ONE-CODE"), true);
  assert.equal((await call("POST", "/v1/vouchers/PRIVATE", { discount: { type: "AMOUNT", amount_off: 100 } })).status, 200);
  const second = await pieces.fetchBundle(service.url, key, first, { origin });
  assert.equal(second.prepared, first.prepared);
  const confirmed = await call("GET", "/client/v1/bundle", undefined, { ...client, "if-none-match": `W/${etagOf(first)}` });
  assert.equal(confirmed.status, 304);
  assert.equal(confirmed.headers.get("etag"), etagOf(first));
  assert.equal((await call("POST", "/v1/campaigns", open("TWO"))).status, 200);
  await headWhere(({ core }) => core !== claimsOf(first).core);
  const third = await pieces.fetchBundle(service.url, key, second, { origin });
  assert.notEqual(third.prepared.hash, first.prepared.hash);
  assert.ok(third.ratchet.rev > first.ratchet.rev);
  assert.equal(verdict(third, "TWO-CODE"), true);
});

check("the head is small and of this project and engine; keys that the service lists can be pinned, and others refuse it", async () => {
  const keys = await listKeys();
  const bundle = await pieces.fetchBundle(service.url, key, undefined, { origin, keys, project: "proj_dev" });
  assert.deepEqual([bundle.fresh, bundle.writes], [true, true]);
  assert.ok(bundle.head.length <= 1_024, `${bundle.head.length} bytes`);
  assert.deepEqual(bundle.keys.map(({ kid }) => kid), keys.map(({ kid }) => kid));
  const request = { redeemables: [{ object: "voucher", id: "ONE-CODE" }], order: { amount: 1_000 } };
  const { missing } = bundle.prepared.validateObject(request);
  assert.ok(!missing?.includes("engine") && !missing?.includes("horizon"), `${missing}`);
  const later = bundle.prepared.validateObject(request, { now: claimsOf(bundle).to });
  assert.ok(later.missing.includes("horizon"));
  const foreign = [{ kty: "OKP", crv: "Ed25519", x: Buffer.alloc(32, 9).toString("base64url") }];
  await assert.rejects(pieces.fetchBundle(service.url, key, undefined, { origin, keys: foreign }), { code: "unknown_key" });
  await assert.rejects(pieces.fetchBundle(service.url, key, undefined, { origin, project: "proj_other" }), { code: "wrong_project" });
  const core = await fetch(`${service.url}/client/v1/bundle/proj_dev/${claimsOf(bundle).core}`, { headers: { origin: "https://any.example" } });
  assert.deepEqual([core.status, core.headers.get("access-control-allow-origin")], [200, "*"]);
  assert.match(core.headers.get("cache-control"), /immutable/);
});

check("a core above 512 kB comes in parts, and starts from storage", async () => {
  const { body: { id } } = await call("POST", "/v1/campaigns", { name: "Long", campaign_type: "PROMOTION" });
  const action = { discount: { type: "AMOUNT", amount_off: 100 } };
  for (let at = 0; at < 40; at += 1) {
    const { status, body } = await call("POST", `/v1/promotions/${id}/tiers`, { name: `tier ${at}`, banner: "long ".repeat(3_900), action });
    assert.equal(status, 200, JSON.stringify(body));
  }
  const bundle = await waitUntil(async () => {
    const fetched = await pieces.fetchBundle(service.url, key, undefined, { origin });
    return fetched?.core.length > 600_000 && fetched;
  }, "a large core", { pause: 200 });
  assert.ok(bundle.parts.length >= 2 && bundle.core.length > 512 * 1_024, `${bundle.core.length} bytes`);
  assert.equal(verdict(bundle, "ONE-CODE"), true);
  const again = await pieces.fetchBundle("http://127.0.0.1:1", key, stored(bundle), { origin });
  assert.deepEqual([again.fresh, again.prepared.hash], [false, bundle.prepared.hash]);
});

/** Serves the service as it is at a later time. */
async function startAt(now) {
  const server = createServer(async (request, response) => {
    const { host: _host, connection: _connection, ...headers } = request.headers;
    const reply = await fetch(`${service.url}${request.url}`, { headers: { ...headers, "scrip-test-now": String(now) } });
    response.writeHead(reply.status, { date: new Date(now).toUTCString(), ...(reply.headers.has("etag") && { etag: reply.headers.get("etag") }) });
    response.end(Buffer.from(await reply.arrayBuffer()));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close().closeAllConnections() };
}

check("a rotation is followed by its vouching, a retired key only by its pin", async () => {
  const first = await pieces.fetchBundle(service.url, key, undefined, { origin });
  const next = (await call("POST", "/management/v1/projects/proj_dev/bundle-keys/rotate")).body;
  const same = await pieces.fetchBundle(service.url, key, first, { origin });
  assert.deepEqual([same.fresh, same.keys.length], [true, 1]);
  const later = await startAt(Date.now() + 25 * 3_600_000);
  try {
    const second = await pieces.fetchBundle(later.url, key, stored(first), { origin });
    assert.equal(second.fresh, true, second.problem?.message);
    assert.equal(JSON.parse(Buffer.from(second.head.split(".")[0], "base64url")).kid, next.kid);
    assert.ok(second.keys.some(({ kid }) => kid === next.kid));
  } finally {
    later.close();
  }
  for (const { kid } of await listKeys()) {
    assert.equal((await call("POST", `/management/v1/projects/proj_dev/bundle-keys/${kid}/retire`)).status, 200);
  }
  await headWhere(({ epoch }) => epoch > claimsOf(first).epoch);
  const offline = await pieces.fetchBundle(service.url, key, stored(first), { origin });
  assert.deepEqual([offline.fresh, offline.problem?.code], [false, "unknown_key"]);
  const pinned = await pieces.fetchBundle(service.url, key, stored(first), { origin, keys: await listKeys() });
  assert.equal(pinned.fresh, true);
  assert.ok(pinned.ratchet.epoch > first.ratchet.epoch);
});

check("a customer's token is checked, and the bundle is that of all customers", async () => {
  const secret = (await call("GET", "/management/v1/projects/proj_dev/customer-token-key")).body;
  const named = await pieces.fetchBundle(service.url, key, undefined, { origin, customerToken: customerToken(secret, "proj_dev", "anna") });
  const plain = await pieces.fetchBundle(service.url, key, undefined, { origin });
  assert.equal(named.head, plain.head);
  const forged = customerToken({ ...secret, secret: "guessed" }, "proj_dev", "anna");
  await assert.rejects(pieces.fetchBundle(service.url, key, undefined, { origin, customerToken: forged }), { status: 401 });
});

check("every answer has one Date, which pages may read, and a clock that is right is not corrected", async () => {
  const answers = [
    await call("GET", "/health"), await call("GET", "/v1/vouchers"), await call("GET", "/v1/vouchers/NONE"), await call("GET", "/v1/nothing"),
    await call("GET", "/v1/vouchers", undefined, { "x-app-token": "wrong" }), await call("POST", "/v1/vouchers", "no object"),
    await call("GET", "/openapi.json"), await call("GET", "/client/v1/bundle", undefined, client),
    await call("GET", "/client/v1/bundle", undefined, { ...client, "if-none-match": "*" }),
    await call("OPTIONS", "/client/v1/bundle", undefined, { ...client, "access-control-request-method": "GET" }),
  ];
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 404, 404, 401, 400, 200, 200, 304, 204]);
  for (const { status, headers } of answers) {
    const date = headers.get("date");
    assert.match(date, /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/, `${status}`);
    assert.ok(Math.abs(Date.parse(date) - Date.now()) < 20_000, date);
  }
  assert.match(answers[7].headers.get("access-control-expose-headers"), /\bdate, etag\b/);
  const { clock } = await pieces.fetchBundle(service.url, key, undefined, { origin });
  assert.equal(clock.offset, 0);
});
