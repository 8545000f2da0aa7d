// Tests the redemptions of a shop. Each has a key that is stored before it is sent, and is repeated until the service answers. It counts once
// for the service, also after a reload of the page. It is never reported before the service has answered.
import assert from "node:assert/strict";
import { countTests } from "../browser/test_report.mjs";
import { base64url } from "./bundle_server.mjs";
import { open, server, useShops } from "./shop_fixtures.mjs";
import { HOUR, MINUTE, SECOND, cartOf, redemptions, refuse, textStore } from "./shop_server.mjs";
import { settle, skewLocalClock, tick } from "./virtual_time.mjs";

const check = countTests("packaging");
useShops();

const queueOf = ({ entries }) => JSON.parse([...entries].find(([name]) => name.endsWith("/redemptions"))?.[1] ?? "[]");
/** Notes how a promise ends, without a wait for it. */
function watch(promise) {
  const outcome = {};
  promise.then((answer) => Object.assign(outcome, { answer }), (error) => Object.assign(outcome, { error }));
  return outcome;
}

check("a redemption is stored with its key before it is sent, and deleted when it is answered", async () => {
  const store = textStore();
  const shop = await open({ store });
  let storedWhenSent;
  const service = redemptions(server, { before: () => { storedWhenSent = queueOf(store); return false; } });
  const answer = await shop.redeem(cartOf("TEN"));
  assert.deepEqual([answer.kind, answer.status, answer.replayed, answer.answer.redemptions], ["redeemed", 200, false, [{ id: "r_1" }]]);
  assert.deepEqual(storedWhenSent.map(({ key, text }) => [key, text]), [[service.calls[0].key, JSON.stringify(cartOf("TEN"))]]);
  assert.match(service.calls[0].key, /^[0-9a-f]{32}$/);
  assert.deepEqual([queueOf(store), await shop.pending()], [[], []]);
  await shop.redeem(cartOf("TEN"));
  assert.equal(service.counted.size, 2, "a later one is another one");
});

/** Possible replies instead of an answer, before or after the service has counted. */
const NO_ANSWERS = {
  "a cut connection": (response, request) => (request.socket.destroy(), true),
  "a cut answer": (response) => {
    response.writeHead(200, { "content-length": "900" }).write('{"redemptions":[');
    setImmediate(() => response.destroy());
    return true;
  },
  "a page for a log-in": (response) => (response.writeHead(200).end("<!doctype html><title>Log in</title>"), true),
  "another JSON": (response) => (response.writeHead(200).end('{"ok":true}'), true),
  "redemptions that are no list": (response) => (response.writeHead(200).end('{"redemptions":{"id":"r_9"}}'), true),
  "no body": (response) => (response.writeHead(204).end(), true),
  "an error page": (response) => (response.writeHead(404).end("<h1>Not found</h1>"), true),
  "an error of another status": (response) => (response.writeHead(400).end('{"code":500,"key":"x"}'), true),
  "a refusal of a proxy": (response) => (response.writeHead(403).end("Forbidden"), true),
  "500": (response) => refuse(response, 500, "internal_error"),
  "502": (response) => (response.writeHead(502).end("Bad gateway"), true),
  "503": (response) => refuse(response, 503, "unavailable"),
  "429": (response) => refuse(response, 429, "too_many_requests"),
  "409 while the first runs": (response) => refuse(response, 409, "request_in_progress"),
};
for (const [name, answer] of Object.entries(NO_ANSWERS)) {
  check(`${name}: nothing is reported, and the redemption is sent again until it is answered, and counts once`, async () => {
    for (const when of ["before", "after"]) {
      const shop = await open();
      let isDown = true;
      const service = redemptions(server, { [when]: (_, response, request) => isDown && answer(response, request) });
      const outcome = watch(shop.redeem(cartOf("TEN")));
      await tick(2 * MINUTE);
      assert.deepEqual([outcome, (await shop.pending()).length], [{}, 1], when);
      assert.ok(service.calls.length >= 5 && service.calls.length <= 12, `${service.calls.length} calls`);
      isDown = false;
      await tick(MINUTE);
      assert.deepEqual([outcome.answer?.kind, outcome.answer?.replayed, service.counted.size], ["redeemed", when === "after", 1], when);
      assert.equal(new Set(service.calls.map(({ key, body }) => key + body)).size, 1, "the same bytes under the same key");
      assert.deepEqual(await shop.pending(), []);
    }
  });
}

check("the pauses grow to a minute, and a service may require longer ones", async () => {
  const shop = await open();
  let wait = {};
  const service = redemptions(server, { before: (_, response) => refuse(response, 503, "unavailable", wait) });
  watch(shop.redeem(cartOf("TEN")));
  await tick(10 * MINUTE, SECOND);
  const pauses = service.calls.slice(1).map(({ at }, before) => at - service.calls[before].at);
  pauses.forEach((ms, place) => assert.ok(ms >= Math.min(500 * 2 ** place, 30_000) - SECOND && ms <= Math.min(1_000 * 2 ** place, 60_000) + SECOND, `${pauses}`));
  wait = { "retry-after": "300" };
  await tick(MINUTE, SECOND);
  service.calls.splice(0);
  await tick(5 * MINUTE, SECOND);
  assert.ok(service.calls.length <= 1, `${service.calls.length}`);
});

check("a refusal of the service is reported as one, and forgotten", async () => {
  const store = textStore();
  const shop = await open({ store });
  for (const [status, key] of [[400, "quantity_exceeded"], [404, "not_found"], [401, "unauthorized"], [403, "forbidden"], [409, "duplicate_found"], [422, "x"]]) {
    const service = redemptions(server, { before: (_, response) => refuse(response, status, key) });
    const answer = await shop.redeem(cartOf("TEN"));
    assert.deepEqual([answer.kind, answer.status, answer.answer.key, service.calls.length], ["refused", status, key, 1]);
    assert.deepEqual(queueOf(store), []);
  }
  server.state.instead.redemptions = (_, response) => response.writeHead(200).end('{"redemptions":[],"inapplicable_redeemables":[]}');
  assert.equal((await shop.redeem(cartOf("TEN"))).kind, "refused");
});

check("a redemption that was cut off is continued after a reload, by `pending` or by the same request, and counts once", async () => {
  for (const path of ["pending", "the same request"]) {
    const store = textStore();
    const first = await open({ store });
    const service = redemptions(server, { after: (_, response, request) => (request.socket.destroy(), true) });
    const outcome = watch(first.redeem(cartOf("TEN")));
    await settle();
    first.close();
    await tick(MINUTE);
    assert.equal(outcome.error.code, "unanswered");
    assert.equal(service.counted.size, 1, "the service has counted it, and the page does not know");
    const again = redemptions(server);
    for (const [name, text] of service.counted) again.counted.set(name, text);
    const second = await open({ store });
    await tick(MINUTE);
    assert.equal(again.calls.length, 0, "it is not sent before it is asked for");
    const [pending] = await second.pending();
    assert.deepEqual([pending.request, pending.isRepeatable, pending.key], [cartOf("TEN"), true, service.calls[0].key]);
    const answer = await (path === "pending" ? pending.resume() : second.redeem(cartOf("TEN")));
    assert.deepEqual([answer.kind, answer.replayed, again.counted.size, again.calls.length], ["redeemed", true, 1, 1], path);
    assert.deepEqual([await second.pending(), queueOf(store)], [[], []]);
  }
});

check("two calls with the same request, also of two tabs, count once", async () => {
  const store = textStore();
  const [one, two] = [await open({ store }), await open({ store })];
  let isDown = true;
  const service = redemptions(server, { before: (_, response) => isDown && refuse(response, 503, "unavailable") });
  const outcome = [one.redeem(cartOf("TEN")), one.redeem(cartOf("TEN"))].map(watch);
  await settle();
  outcome.push(watch(two.redeem(cartOf("TEN"))), watch((await two.pending())[0].resume()));
  await tick(MINUTE);
  isDown = false;
  await tick(2 * MINUTE);
  assert.deepEqual(outcome.map(({ answer }) => answer?.kind), ["redeemed", "redeemed", "redeemed", "redeemed"]);
  assert.equal(service.counted.size, 1);
});

check("after a day the service does not know the key any more: it is not sent again, and stays pending until it is forgotten", async () => {
  const store = textStore();
  const shop = await open({ store });
  const service = redemptions(server, { before: (_, response) => refuse(response, 503, "unavailable") });
  const outcome = watch(shop.redeem(cartOf("TEN")));
  await tick(22 * HOUR, 5 * MINUTE);
  assert.deepEqual(outcome, {});
  await tick(2 * HOUR, 5 * MINUTE);
  assert.equal(outcome.error.code, "unanswered");
  const { length } = service.calls;
  server.serveRules();
  const later = await open({ store });
  const again = redemptions(server);
  const [pending] = await later.pending();
  assert.deepEqual([pending.isRepeatable, length > 100], [false, true]);
  await assert.rejects(pending.resume(), { code: "unanswered" });
  assert.equal(again.calls.length, 0);
  const other = await later.redeem(cartOf("TEN"));
  assert.equal(other.kind, "redeemed");
  assert.notEqual(again.calls[0].key, pending.key, "the next one is another one");
  await pending.forget();
  assert.deepEqual(await later.pending(), []);
});

check("a clock that was wrong at the first attempt does not let a redemption be sent again after a day", async () => {
  server.offline();
  const store = textStore();
  skewLocalClock(10 * HOUR);
  const shop = await open({ store });
  const outcome = watch(shop.redeem(cartOf("TEN")));
  await settle();
  shop.close();
  await tick(MINUTE);
  assert.equal(outcome.error.code, "unanswered");
  server.serveRules();
  await tick(26 * HOUR, HOUR);
  server.serveRules(undefined, { rev: 3_000 });
  const service = redemptions(server);
  const later = await open({ store });
  await assert.rejects((await later.pending())[0].resume(), { code: "unanswered" });
  assert.equal(service.calls.length, 0);
});

const tokenOf = (sub, more = "") => `${base64url({ alg: "HS256" })}.${base64url({ sub })}.c2ln${more}`;

check("a redemption is one customer's: another one does not continue it, and a new token of the same one does", async () => {
  const store = textStore();
  let token = tokenOf("anna");
  const shop = await open({ store, customer: () => token });
  let isDown = true;
  const service = redemptions(server, { before: (_, response) => isDown && refuse(response, 503, "unavailable") });
  const outcome = watch(shop.redeem(cartOf("TEN")));
  await settle();
  token = tokenOf("bob");
  await tick(MINUTE);
  assert.equal(outcome.error.code, "unanswered");
  assert.deepEqual(new Set(service.calls.map((call) => call.token)), new Set([tokenOf("anna")]));
  isDown = false;
  assert.equal((await shop.redeem(cartOf("TEN"))).kind, "redeemed", "Bob's own");
  token = undefined;
  await assert.rejects((await shop.pending())[0].resume(), { code: "unanswered" });
  token = tokenOf("anna", "Mg");
  assert.equal((await (await shop.pending())[0].resume()).kind, "redeemed");
  assert.equal(service.calls.at(-1).token, token);
});

check("a token that has just expired is replaced once; a refusal of the caller does not answer an earlier attempt", async () => {
  const store = textStore();
  let count = 0;
  let isStuck = false;
  const shop = await open({ store, customer: () => tokenOf("anna", isStuck ? "" : String((count += 1))) });
  const renewed = redemptions(server, { before: (call, response) => call === 1 && refuse(response, 401, "invalid_customer_token") });
  assert.deepEqual([(await shop.redeem(cartOf("TEN"))).kind, renewed.calls.length], ["redeemed", 2]);
  isStuck = true;
  const same = redemptions(server, { before: (_, response) => refuse(response, 401, "invalid_customer_token") });
  assert.deepEqual([(await shop.redeem(cartOf("TEN"))).status, same.calls.length], [401, 1]);
  redemptions(server, { after: (call, response, request) => (call === 1 ? (request.socket.destroy(), true) : false), before: (call, response) => call > 1 && refuse(response, 403, "forbidden") });
  const outcome = watch(shop.redeem(cartOf("TEN")));
  await tick(MINUTE);
  assert.deepEqual([outcome.error.code, (await shop.pending()).length], ["unanswered", 1]);
});

check("the signal ends the wait, not the redemption; without a customer token nothing is stored or sent", async () => {
  const shop = await open();
  let isDown = true;
  const service = redemptions(server, { before: (_, response) => isDown && refuse(response, 503, "unavailable") });
  const end = new AbortController();
  const outcome = watch(shop.redeem(cartOf("TEN"), { signal: end.signal }));
  await settle();
  end.abort(new Error("enough"));
  await settle();
  assert.deepEqual([outcome.error.code, outcome.error.cause.message], ["unanswered", "enough"]);
  isDown = false;
  await tick(MINUTE);
  assert.deepEqual([service.counted.size, await shop.pending()], [1, []]);
  const refused = await open({ customer: () => { throw new Error("no session"); } });
  await assert.rejects(refused.redeem(cartOf("TEN")), /no session/);
  assert.deepEqual([await refused.pending(), service.calls.at(-1).token], [[], undefined]);
});

check("a redemption that ends without an answer stays pending, also where the store is full", async () => {
  let token = tokenOf("anna");
  const full = { ...textStore(), put: async () => { throw new Error("full"); } };
  const shop = await open({ store: full, customer: () => token });
  redemptions(server, { before: (_, response) => refuse(response, 503, "unavailable") });
  const outcome = watch(shop.redeem(cartOf("TEN")));
  await settle();
  token = tokenOf("bob");
  await tick(MINUTE);
  assert.deepEqual([outcome.error.code, (await shop.pending()).length], ["unanswered", 1]);
});

check("damaged entries of the queue are left out", async () => {
  const store = textStore();
  const shop = await open({ store });
  redemptions(server, { before: (_, response) => refuse(response, 503, "unavailable") });
  watch(shop.redeem(cartOf("TEN")));
  await settle();
  shop.close();
  const [name] = [...store.entries.keys()].filter((one) => one.endsWith("/redemptions"));
  const [entry] = queueOf(store);
  const damaged = [null, 5, {}, { ...entry, key: 5 }, { ...entry, text: "{" }, { ...entry, at: "now" }, { ...entry, local: null }, { ...entry, text: undefined }];
  store.entries.set(name, JSON.stringify([...damaged, entry]));
  const later = await open({ store });
  assert.deepEqual((await later.pending()).map(({ key }) => key), [entry.key]);
  store.entries.set(name, "\"rubbish\"");
  assert.deepEqual(await later.pending(), []);
});
