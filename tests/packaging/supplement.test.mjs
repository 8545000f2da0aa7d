// Tests what a customer's supplement adds to a bundle, and every supplement that is refused, against a server that can answer wrongly.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PROJECT, base64url, jws, keyPair, rules, sha256, startServer } from "./bundle_server.mjs";
import "../../pkg/node.js";
import * as pieces from "../../pkg/service.js";

const key = { id: "app", token: "secret" };
const pair = keyPair();
const tokenOf = (sub) => `${base64url({ alg: "HS256" })}.${base64url({ sub })}.c2lnbmF0dXJl`;
const token = tokenOf("anna");
// A promotion for customers who meet condition 7, and one that each customer has once.
const core = rules({
  client: { customers: "named" },
  promotion_tiers: ["promo_vip", "promo_once"].map((id) => ({
    id, name: id, action: { discount: { type: "AMOUNT", amount_off: 100 } }, active: true, object: "promotion_tier",
  })),
  validation_rules: [
    { id: "val_vip", rules: { 1: { name: "customer.condition", property: "7" } } },
    { id: "val_once", rules: { 1: { name: "redemption.count.per_customer.daily", conditions: { $less_than_or_equal: [1] } } } },
  ],
  validation_rules_assignments: [
    { rule_id: "val_vip", related_object_id: "promo_vip" }, { rule_id: "val_once", related_object_id: "promo_once" },
  ],
});
const facts = (conditions, accounts = {}) => {
  const day = new Date(new Date().setUTCHours(0, 0, 0, 0)).toISOString();
  return {
    customers: [{ id: "anna", source_id: "anna", tracking_id: "track_anna", conditions }],
    own_counts: { customer: "anna", since: [day, day, day], accounts },
  };
};

let server;
before(async () => {
  server = await startServer();
});
after(() => server.close());

const seconds = () => Math.floor(Date.now() / 1_000);
const claimsOf = (claims = {}) => ({
  iss: PROJECT, fmt: 2, core: sha256(core), th: sha256(token), iat: seconds(), exp: seconds() + 300, facts: facts(["7"]), ...claims,
});

/** Serves the core, and answers the call for the supplement. */
function serve(answer) {
  server.serve(pair, core);
  server.state.instead.me = (request, response) => answer(response, request);
}
const send = (text) => (response) => response.writeHead(200, { "content-type": "application/jose" }).end(text);
const signed = (claims, options = {}) => jws(pair, claimsOf(claims), { typ: "scrip-supplement+jwt", ...options });

const fetchWith = (lastGood, customerToken = token) => pieces.fetchBundle(server.base, key, lastGood, { customerToken });
const validate = (bundle, id, now) => bundle.prepared.validateObject(
  { redeemables: [{ object: "promotion_tier", id }], order: { amount: 1_000 } }, now === undefined ? undefined : { now },
);

test("a condition is met, is not met, and is unknown", async () => {
  serve(send(signed()));
  const met = validate(await fetchWith(), "promo_vip");
  assert.deepEqual([met.valid, met.missing, met.tracking_id], [true, undefined, "track_anna"]);
  serve(send(signed({ facts: facts(["8"]) })));
  const unmet = validate(await fetchWith(), "promo_vip");
  assert.deepEqual([unmet.valid, unmet.missing, unmet.redeemables[0].result.error.key], [false, undefined, "customer_rules_violated"]);
  serve(send(signed({ facts: facts(undefined) })));
  assert.deepEqual(validate(await fetchWith(), "promo_vip").missing, ["condition/7"]);
});

test("own counts decide a limit of one customer", async () => {
  serve(send(signed({ facts: facts(["7"], { "of/promo_once": [4, 1, 2, 3] }) })));
  const used = validate(await fetchWith(), "promo_once");
  assert.deepEqual([used.valid, used.missing], [false, undefined]);
  serve(send(signed({ facts: facts(["7"], { "of/promo_once": [4, 0, 2, 3] }) })));
  const free = validate(await fetchWith(), "promo_once");
  assert.deepEqual([free.valid, free.missing], [true, undefined]);
  serve(send(signed({ facts: facts(["7"], { "of/promo_once": null }) })));
  assert.notEqual(validate(await fetchWith(), "promo_once").missing, undefined, "sessions hold some");
});

test("it counts within its time, until it is dropped, and only for its token", async () => {
  serve(send(signed({ exp: seconds() + 20 })));
  const bundle = await fetchWith();
  assert.equal(bundle.supplement.until, (seconds() + 20) * 1_000, "until");
  assert.equal(validate(bundle, "promo_vip", Date.now() + 10_000).missing, undefined);
  assert.notEqual(validate(bundle, "promo_vip", Date.now() + 21_000).missing, undefined, "after its end");
  assert.notEqual(validate(bundle, "promo_vip", Date.now() - 5_000).missing, undefined, "before its beginning");
  server.state.instead.bundle = (request, response) => response.destroy();
  const offline = await fetchWith(bundle);
  assert.equal(offline.fresh, false);
  assert.equal(validate(offline, "promo_vip").missing, undefined, "offline within its time");
  assert.notEqual(validate(await fetchWith(bundle, tokenOf("bob")), "promo_vip").missing, undefined, "another token");
  bundle.supplement.drop();
  assert.notEqual(validate(bundle, "promo_vip").missing, undefined, "dropped");
  assert.notEqual(validate(await fetchWith(bundle), "promo_vip").missing, undefined, "nor does a failed fetch bring it back");
  const { prepared, ...stored } = JSON.parse(JSON.stringify({ ...bundle, core: [...bundle.core] }));
  assert.ok(!JSON.stringify(stored).includes("track_anna"), "what a caller stores has nothing of it");
});

test("a supplement that was requested before a drop is not used after it", async () => {
  serve(send(signed()));
  const bundle = await fetchWith();
  let release;
  const dropped = new Promise((done) => { release = done; });
  server.state.instead.me = (_, response) => dropped.then(() => send(signed())(response));
  const fetching = fetchWith(bundle);
  bundle.supplement.drop();
  release();
  assert.notEqual(validate(await fetching, "promo_vip").missing, undefined);
  assert.equal(validate(await fetchWith(bundle), "promo_vip").missing, undefined, "the next one is used");
});

test("the service refuses another name in addition to the token", async () => {
  serve(send(signed()));
  const { prepared } = await fetchWith();
  const verdict = (customer) => prepared.validateObject({ redeemables: [{ object: "promotion_tier", id: "promo_vip" }], order: { amount: 1_000 }, customer });
  assert.equal(verdict({ source_id: "anna" }).missing, undefined);
  assert.deepEqual(verdict({ source_id: "bob" }).missing, ["customer/anna"]);
});

const others = keyPair();
const refused = {
  "of an unknown key": ["unknown_key", () => send(jws(others, claimsOf(), { typ: "scrip-supplement+jwt" }))],
  "signed by another key": ["wrong_signature", () => send(signed({}, { by: others }))],
  "with the algorithm none": ["wrong_algorithm", () => send(signed({}, { header: { alg: "none" } }))],
  "that is a head": ["damaged", () => send(signed({}, { typ: "scrip-bundle+jwt" }))],
  "of another project": ["wrong_project", () => send(signed({ iss: "proj_2" }))],
  "of another format": ["unknown_format", () => send(signed({ fmt: 3 }))],
  "of another token": ["wrong_customer", () => send(signed({ th: sha256(tokenOf("bob")) }))],
  "of another core": ["wrong_core", () => send(signed({ core: sha256("older") }))],
  "that is over": ["expired", () => send(signed({ iat: seconds() - 301, exp: seconds() - 1 }))],
  "that is issued ahead": ["issued_ahead", () => send(signed({ iat: seconds() + 301, exp: seconds() + 601 }))],
  "that lives too long": ["damaged", () => send(signed({ exp: seconds() + 3_600 }))],
  "without facts": ["damaged", () => send(signed({ facts: undefined }))],
  "that was cut": ["damaged", () => send(signed().slice(0, -5))],
  "that is no text": ["damaged", () => send(Buffer.from([0xff, 0xfe]))],
  "that is too large": ["damaged", () => send("a".repeat(300_000))],
};
for (const [what, [code, answer]] of Object.entries(refused)) {
  test(`a supplement ${what} is refused`, async () => {
    serve(answer());
    const bundle = await fetchWith();
    assert.equal(bundle.fresh, true, "the bundle itself is good");
    assert.equal(bundle.supplement.problem.code, code, bundle.supplement.problem.message);
    assert.notEqual(validate(bundle, "promo_vip").missing, undefined, "provisional");
  });
}

test("every changed character of a supplement is refused", async () => {
  const good = signed();
  for (let at = 0; at < good.length; at += 7) {
    const other = good[at] === "A" ? "B" : "A";
    serve(send(good.slice(0, at) + other + good.slice(at + 1)));
    const { supplement } = await fetchWith();
    assert.notEqual(supplement.problem, undefined, `position ${at}`);
  }
});

test("a token that the service refuses is the caller's mistake; another failure leaves the bundle as it is", async () => {
  serve((response) => response.writeHead(401).end(JSON.stringify({ code: 401, key: "invalid_customer_token", message: "Invalid customer token" })));
  await assert.rejects(fetchWith(), { status: 401 });
  serve((response) => response.writeHead(503).end("{}"));
  const bundle = await fetchWith();
  assert.deepEqual([bundle.fresh, bundle.supplement.problem.status], [true, 503]);
});
