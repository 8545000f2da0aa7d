// Tests `open`: the verdicts of a shop, their age and clock, its customer, its state, and that no failure makes it throw or return a wrong yes.
import assert from "node:assert/strict";
import { countTests } from "../browser/test_report.mjs";
import { fetchBundle } from "../../pkg/service.js";
import { rules, sealedCodes } from "./bundle_server.mjs";
import { serveCustomers, tokenOf, vipCart } from "./customer_fixtures.mjs";
import { open, server, useShops } from "./shop_fixtures.mjs";
import { HOUR, MINUTE, SECOND, cartOf, client, pair, refuse, shopRules, textStore } from "./shop_server.mjs";
import { serviceNow, settle, skewLocalClock, tick } from "./virtual_time.mjs";

const check = countTests("packaging");
useShops();

const summary = ({ kind, valid, missing }) => ({ kind, valid, missing });
const provisional = (...missing) => ({ kind: "provisional", valid: undefined, missing });

check("a final yes has an order, a final no its reasons with how much more would do, and neither lacks a fact", async () => {
  const shop = await open();
  const yes = await shop.check(cartOf("TEN"));
  assert.deepEqual([summary(yes), yes.order.total_amount], [{ kind: "final", valid: true, missing: undefined }, 900]);
  assert.deepEqual([yes.refusals, yes.omitted, yes.asOf], [[], [], { revision: { epoch: 1_000, rev: 2_000 }, at: serviceNow() }]);
  assert.deepEqual(JSON.parse(yes.text), yes.answer);
  const no = await shop.check(cartOf("LARGE", 4_000));
  assert.deepEqual([summary(no), no.order], [{ kind: "final", valid: false, missing: undefined }, undefined]);
  const [{ object, id, status, customMessage, change }] = no.refusals;
  assert.deepEqual([object, id, status, customMessage, change.act, change.by], ["voucher", "LARGE", "INAPPLICABLE", "Only large orders", "more", 1_001]);
  assert.equal(no.answer.trace, undefined, "the answer has what was asked for alone");
  assert.deepEqual((await shop.check(cartOf("OVER"))).refusals.map(({ key }) => key), ["not_found"], "a client learns no more");
});

check("the text of a final verdict is that of `prepared.validate`, for text and for an object", async () => {
  const shop = await open();
  const bundle = await fetchBundle(server.base, client, undefined, { keys: [pair.jwk] });
  const context = { now: serviceNow(), seed: "01" };
  const text = JSON.stringify(cartOf("TEN"));
  for (const cart of [text, cartOf("TEN")]) assert.equal(shop.checkNow(cart, context).text, bundle.prepared.validate(text, context));
});

check("a copy of a verdict has its members", async () => {
  const shop = await open();
  for (const verdict of [await shop.check(cartOf("TEN")), await shop.check(cartOf("NONE")), await shop.qualify(), await shop.check({})]) {
    for (const copy of [{ ...verdict }, structuredClone(verdict), JSON.parse(JSON.stringify(verdict))]) {
      for (const member of ["kind", "valid", "missing", "refusals", "text", "asOf"]) assert.equal(JSON.stringify(copy[member]), JSON.stringify(verdict[member]), member);
    }
  }
});

check("a provisional verdict has no `valid`, and names the likely result and the missing facts", async () => {
  const shop = await open();
  const unknown = await shop.check(cartOf("PRIVATE"));
  assert.deepEqual([summary(unknown), unknown.likely, unknown.order], [provisional("voucher/PRIVATE"), "unknown", undefined]);
  const once = { id: "v_ONCE", code: "ONCE", type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 }, active: true, redemption: { quantity: 1 } };
  server.serveRules(shopRules({ counted: false, vouchers: [once] }), { rev: 3_000 });
  await shop.refresh();
  const counted = await shop.check(cartOf("ONCE"));
  assert.deepEqual([counted.kind, counted.valid, counted.likely, counted.order], ["provisional", undefined, "applies", undefined]);
  assert.deepEqual(counted.missing, ["voucher/v_ONCE/redemptions"]);
});

check("what cannot be read is unreadable, never thrown, and never valid", async () => {
  const shop = await open();
  const loop = {};
  loop.loop = loop;
  for (const cart of ["{", "", "5", {}, null, undefined, 5n, loop, [], { redeemables: [] }, () => {}]) {
    for (const verdict of [await shop.check(cart), shop.checkNow(cart)]) {
      assert.deepEqual([verdict.kind, verdict.valid, verdict.order, verdict.error.code, verdict.refusals], ["unreadable", undefined, undefined, 400, undefined]);
    }
  }
  assert.equal((await shop.qualify("{")).kind, "unreadable");
  assert.throws(() => shop.checkNow(cartOf("TEN"), { now: "yesterday" }), TypeError);
  await assert.rejects(shop.check(cartOf("TEN"), { seed: "xyz" }), /seed/);
});

check("only a final qualification has offers", async () => {
  const tier = { id: "promo_1", name: "one", action: { discount: { type: "PERCENT", percent_off: 10 } }, active: true, object: "promotion_tier" };
  server.serveRules(shopRules({ promotion_tiers: [tier], public_offers: true }));
  const shop = await open();
  const found = await shop.qualify({ scenario: "PRODUCTS", order: { amount: 1_000 } });
  assert.equal(found.kind === "final", found.offers !== undefined);
  assert.equal(found.kind === "provisional", found.likelyOffers !== undefined);
  server.serveRules(shopRules({ promotion_tiers: [tier] }), { rev: 3_000 });
  await shop.refresh();
  const likely = await shop.qualify({ order: { amount: 1_000 } });
  assert.deepEqual([likely.kind, likely.offers, likely.missing], ["provisional", undefined, ["candidates"]]);
  assert.deepEqual(likely.likelyOffers.map(({ id }) => id), ["promo_1"]);
});

check("the best stack of a cart is that of its rules, and only a final verdict has it", async () => {
  const tier = (id, discount) => ({ id, name: id, action: { discount }, active: true, object: "promotion_tier" });
  const tiers = [tier("promo_1", { type: "AMOUNT", amount_off: 100 }), tier("promo_2", { type: "PERCENT", percent_off: 20 })];
  server.serveRules(shopRules({ promotion_tiers: tiers, public_offers: true }));
  const shop = await open();
  const cart = { order: { amount: 1_000 } };
  const context = { now: serviceNow(), seed: "01" };
  const found = await shop.best(cart, context);
  const bundle = await fetchBundle(server.base, client, undefined, { keys: [pair.jwk] });
  const request = JSON.stringify({ ...cart, options: { limit: 1, optimise: true } });
  for (const same of [found, await shop.best(JSON.stringify(cart), context)]) assert.equal(same.text, bundle.prepared.qualify(request, context));
  const best = { redeemables: ["promo_2", "promo_1"].map((id) => ({ object: "promotion_tier", id })), saved_amount: 300, proven: true };
  const { order, ...rest } = found.kind === "final" ? found.best : found.likelyBest;
  assert.deepEqual([rest, order.total_amount, found.kind === "final"], [best, 700, found.best !== undefined]);
  const applied = await shop.check({ ...cart, redeemables: best.redeemables });
  assert.equal(applied.answer.order.total_amount, order.total_amount);
  server.serveRules(shopRules({ promotion_tiers: tiers }), { rev: 3_000 });
  await shop.refresh();
  const likely = await shop.best(cart);
  assert.deepEqual([likely.kind, likely.best, likely.missing, likely.likelyBest.saved_amount], ["provisional", undefined, ["candidates"], 300]);
  for (const unreadable of ["{", "null", [], 5]) assert.equal((await shop.best(unreadable)).kind, "unreadable");
});

check("prices are those of carts with one product alone, and only final ones have amounts", async () => {
  const tier = { id: "promo_1", name: "one", action: { discount: { type: "PERCENT", percent_off: 20 } }, active: true, object: "promotion_tier" };
  const products = [{ id: "prod_1", source_id: "mug", name: "Mug", price: 1_000 }, { id: "prod_2", name: "No price" }];
  const skus = [{ id: "sku_1", sku: "Blue", product_id: "prod_1", price: 1_250 }];
  server.serveRules(shopRules({ promotion_tiers: [tier], products, skus, public_offers: true }));
  const shop = await open();
  const redeemables = [{ object: "promotion_tier", id: "promo_1" }];
  const found = await shop.prices(["prod_1", "mug", "sku_1", "prod_2", "none", "prod_1"]);
  const final = (id, object, price) => ({ kind: "final", id, object, price, discounted_price: price * 0.8, from: false, redeemables });
  const [first, second, third, unpriced, unknown, again] = found.prices;
  assert.deepEqual([first, second, third], [final("prod_1", "product", 1_000), final("mug", "product", 1_000), final("sku_1", "sku", 1_250)]);
  assert.deepEqual([unpriced.kind, unpriced.error.key, unknown.kind, unknown.error.key], ["unreadable", "missing_amount", "unreadable", "not_found"]);
  assert.deepEqual([again, found.kind, found.asOf], [first, "listed", shop.asOf]);
  for (const { id, object, discounted_price } of [first, second, third]) {
    const verdict = await shop.check({ redeemables, order: { items: [{ [`${object}_id`]: id }] } });
    assert.equal(verdict.order.total_amount, discounted_price);
  }
  for (const [ids, details] of [
    [undefined, /required property 'ids'/], ["prod_1", /\.ids must be an array \(actual value is `"prod_1"`\)/], [[5], /\.ids\[0\] must be a string/],
    [Array(10_001).fill("prod_1"), /must NOT have more than 10000 items \(actual value is `10001`\)/], [[5n], /must be an object/],
  ]) {
    const unreadable = await shop.prices(ids);
    assert.deepEqual([unreadable.kind, unreadable.prices], ["unreadable", undefined]);
    assert.match(unreadable.error.details, details);
  }
  assert.deepEqual((await shop.prices([])).prices, []);
  await assert.rejects(shop.prices([], { now: "yesterday" }), TypeError);
  server.serveRules(shopRules({ promotion_tiers: [tier], products, skus }), { rev: 3_000 });
  await shop.refresh();
  const [likely] = (await shop.prices(["prod_1"])).prices;
  assert.deepEqual([likely.kind, likely.discounted_price, likely.missing, likely.likely.discounted_price], ["provisional", undefined, ["candidates"], 800]);
});

check("a typed code is opened by `check`; `checkNow` has it from then on", async () => {
  const contents = { sealed: { vouchers: [{ id: "v_S", code: "SEALED", type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 300 }, active: true }] } };
  server.serveRules(shopRules({ case_sensitive_codes: false, sealed_codes: sealedCodes(contents) }));
  const shop = await open();
  assert.deepEqual(summary(shop.checkNow(cartOf("Sealed"))), provisional("voucher/Sealed"));
  assert.equal((await shop.check(cartOf("Sealed"))).order.total_amount, 700);
  assert.equal(shop.checkNow(cartOf("Sealed")).valid, true);
});

check("rules that are older than `maxAge` decide provisionally until the service confirms them", async () => {
  const shop = await open({ maxAge: HOUR });
  await tick(HOUR);
  assert.equal(shop.checkNow(cartOf("TEN")).valid, true, "just as old as they may be");
  await tick(SECOND);
  assert.deepEqual(summary(shop.checkNow(cartOf("TEN"))), provisional("age"));
  assert.deepEqual(summary(await shop.check(cartOf("LARGE"))), provisional("age"));
  assert.deepEqual([shop.checkNow(cartOf("TEN")).answer.missing, JSON.parse(shop.checkNow(cartOf("TEN")).text).missing], [["age"], ["age"]]);
  assert.equal(shop.state, "too old");
  assert.deepEqual(await shop.refresh(), { fresh: true, problem: undefined });
  assert.deepEqual([shop.checkNow(cartOf("TEN")).valid, shop.state], [true, "fresh"]);
});

check("beyond the end of the head no age is young enough", async () => {
  const shop = await open({ maxAge: 1_000 * HOUR });
  const states = [];
  shop.subscribe((state) => states.push(state));
  await tick(7 * HOUR);
  assert.deepEqual(summary(shop.checkNow(cartOf("TEN"))), provisional("horizon"));
  await tick(17 * HOUR + SECOND);
  assert.deepEqual(states, ["fresh", "too old"]);
  assert.deepEqual(summary(shop.checkNow(cartOf("TEN"))), provisional("horizon", "age"));
});

check("without the service's time every verdict lacks `clock`; it comes from a checked head, or an answer that no cache has stored", async () => {
  server.state.instead.bundle = (_, response) => { response.sendDate = false; response.writeHead(200).end(server.state.head); };
  const shop = await open();
  assert.deepEqual(summary(await shop.check(cartOf("TEN"))), provisional("clock"));
  const wrong = { date: new Date(serviceNow() - 40 * 24 * HOUR).toUTCString() };
  server.state.instead.bundle = (_, response) => response.writeHead(500, wrong).end("<h1>not the service</h1>");
  await shop.refresh();
  assert.deepEqual(summary(await shop.check(cartOf("OVER"))), provisional("clock"), "a time of anything between is none");
  const right = { date: new Date(serviceNow()).toUTCString(), "cache-control": "no-store" };
  server.state.instead.bundle = (_, response) => response.writeHead(500, right).end("{}");
  await shop.refresh();
  assert.equal((await shop.check(cartOf("TEN"))).valid, true);
  server.state.instead.bundle = (_, response) => response.writeHead(200, wrong).end("not a head");
  await shop.refresh();
  assert.equal((await shop.check(cartOf("OVER"))).valid, false, "the time of an unproven head is none");
});

check("rules that were confirmed under a clock that proves wrong are too old until they are confirmed again", async () => {
  server.state.instead.bundle = (_, response) => { response.sendDate = false; response.writeHead(200).end(server.state.head); };
  skewLocalClock(2 * MINUTE);
  const shop = await open();
  const right = { date: new Date(serviceNow()).toUTCString(), "cache-control": "no-store" };
  server.state.instead.bundle = (_, response) => response.writeHead(500, right).end("{}");
  await shop.refresh();
  assert.deepEqual(summary(shop.checkNow(cartOf("TEN"))), provisional("age"));
  server.online();
  await shop.refresh();
  assert.equal(shop.checkNow(cartOf("TEN")).valid, true);
});

check("a local clock that is wrong opens no window", async () => {
  skewLocalClock(-40 * 24 * HOUR);
  const shop = await open();
  assert.deepEqual([(await shop.check(cartOf("OVER"))).valid, (await shop.check(cartOf("TEN"))).valid], [false, true]);
  skewLocalClock(-80 * 24 * HOUR);
  assert.equal((await shop.check(cartOf("OVER"))).valid, false);
  skewLocalClock(80 * 24 * HOUR);
  assert.equal((await shop.check(cartOf("TEN"))).valid, undefined);
});

check("a local clock that is set back makes no rules younger, also after a failed refresh", async () => {
  const shop = await open({ maxAge: HOUR });
  await tick(2 * HOUR, HOUR);
  skewLocalClock(-10 * HOUR);
  assert.deepEqual(summary(shop.checkNow(cartOf("TEN"))), provisional("age"));
  server.offline();
  await shop.refresh();
  assert.deepEqual(summary(shop.checkNow(cartOf("TEN"))), provisional("age"));
});

check("the service is offline from the start: provisional verdicts, and rules as soon as it is back", async () => {
  server.offline();
  const shop = await open({ poll: true });
  assert.equal(shop.state, "offline");
  const verdict = shop.checkNow(cartOf("TEN"));
  assert.deepEqual([summary(verdict), verdict.likely], [provisional("voucher/TEN", "bundle"), "unknown"]);
  assert.equal((await shop.qualify()).kind, "provisional");
  server.online();
  await tick(31 * SECOND);
  assert.equal((await shop.check(cartOf("TEN"))).valid, true);
});

check("`subscribe` reports the state now and each change of it; a listener that throws ends nothing", async (context) => {
  const uncaught = [];
  process.on("uncaughtException", (error) => uncaught.push(error));
  context.after(() => process.removeAllListeners("uncaughtException"));
  const shop = await open({ poll: true });
  const states = [];
  const end = shop.subscribe((state) => { if (state !== states.at(-1)) states.push(state); });
  await settle();
  server.offline();
  await tick(2 * HOUR, MINUTE);
  assert.deepEqual(states, ["fresh", "offline", "too old"]);
  server.online();
  server.state.head = "rubbish";
  await shop.refresh();
  await settle();
  server.serveRules(shopRules(), { rev: 3_000 });
  await tick(6 * MINUTE);
  assert.deepEqual(states, ["fresh", "offline", "too old", "fresh"]);
  server.state.head = "rubbish";
  await shop.refresh();
  await settle();
  assert.deepEqual([states.at(-1), shop.problem.code], ["broken", "damaged"]);
  end();
  server.serveRules(shopRules(), { rev: 4_000 });
  await shop.refresh();
  await settle();
  assert.equal(states.at(-1), "broken", "ended");
  assert.deepEqual(uncaught, []);
});

check("half of `maxAge` without a confirmation is ageing, and a shop that polls does so before", async () => {
  const quiet = await open();
  await tick(31 * MINUTE, MINUTE);
  assert.equal(quiet.state, "ageing");
  const polling = await open({ poll: true });
  for (let passed = 0; passed < 120; passed += 5) {
    await tick(5 * MINUTE, MINUTE);
    assert.equal(polling.state, "fresh", `${passed} minutes`);
  }
});

check("a customer's facts are fetched when they are over, and again for another customer", async () => {
  serveCustomers();
  let token = tokenOf("anna");
  const shop = await open({ customer: () => token });
  assert.equal((await shop.check(vipCart)).valid, true);
  await tick(301 * SECOND);
  assert.equal(shop.checkNow(vipCart).kind, "provisional", "over");
  assert.equal((await shop.check(vipCart)).valid, true);
  token = tokenOf("bob");
  assert.ok(shop.checkNow(vipCart).missing.includes("customer_token"), "decided for another one");
  assert.equal((await shop.check(vipCart)).valid, false);
  token = undefined;
  assert.ok(shop.checkNow(vipCart).missing.includes("customer_token"));
  assert.ok(!(await shop.check(vipCart)).missing?.includes("customer_token"));
});

check("a token that comes later is waited for; the same customer with a new token fetches nothing", async () => {
  serveCustomers();
  let sub = "anna";
  let count = 0;
  const shop = await open({ customer: async () => `${tokenOf(sub)}${(count += 1)}` });
  assert.equal((await shop.check(vipCart)).valid, true);
  server.paths();
  assert.equal((await shop.check(vipCart)).valid, true);
  assert.deepEqual(server.paths(), []);
  sub = "bob";
  assert.equal((await shop.check(vipCart)).valid, false);
});

const BAD_CUSTOMERS = {
  "is no token": () => "anna", "names no customer": () => tokenOf(""), "is a number": () => 5, "is refused": () => tokenOf("refused"),
  "throws": () => { throw new Error("no session"); }, "rejects": async () => { throw new Error("no session"); },
};
for (const [name, customer] of Object.entries(BAD_CUSTOMERS)) {
  check(`a customer token that ${name}: the verdict is provisional, and nothing is thrown`, async () => {
    serveCustomers();
    const shop = await open({ customer });
    for (const verdict of [await shop.check(vipCart), shop.checkNow(vipCart)]) {
      assert.ok(verdict.kind === "provisional" && verdict.missing.includes("customer_token"), `${verdict.missing}`);
    }
    assert.ok(shop.problem instanceof Error);
    assert.equal(shop.state, "broken");
  });
}

check("stored rules do not wait for a token; until it is known, their verdicts lack it", async () => {
  serveCustomers();
  const store = textStore();
  const before = await open({ store, customer: () => tokenOf("anna") });
  await settle();
  before.close();
  let give;
  const coming = new Promise((done) => { give = done; });
  const later = await open({ store, customer: () => coming });
  assert.ok(later.checkNow(vipCart).missing.includes("customer_token"));
  give(tokenOf("bob"));
  assert.equal((await later.check(vipCart)).valid, false);
  server.offline();
  const atOnce = await open({ store, customer: () => tokenOf("anna") });
  assert.ok(!atOnce.checkNow(vipCart).missing.includes("customer_token"));
});

check("a customer token that never comes is given up after the time limit", async () => {
  serveCustomers();
  let isLate = false;
  const shop = await open({ customer: () => (isLate ? new Promise(() => {}) : tokenOf("anna")) });
  isLate = true;
  const checked = shop.check(vipCart);
  await tick(9 * SECOND, SECOND);
  await tick(9 * SECOND, SECOND);
  assert.equal((await checked).valid, undefined);
});

check("requests end at `timeout`, go through `fetch`, and name `origin`", async () => {
  server.state.instead.bundle = () => {};
  server.paths();
  const opening = open({ timeout: 2_000, origin: "https://shop.example" });
  await tick(1 * SECOND, SECOND);
  await tick(2 * SECOND, SECOND);
  const shop = await opening;
  assert.deepEqual([shop.problem.name, shop.problem.message], ["TimeoutError", "the service did not answer within 2 s"]);
  const headers = server.requests.splice(0).map((request) => request.headers.origin);
  assert.deepEqual(headers, ["https://shop.example"]);
  let sent = 0;
  server.online();
  await open({ fetch: (...request) => ((sent += 1), fetch(...request)) });
  assert.equal(sent, 2);
});

check("wrong options are the caller's mistakes, named", async () => {
  const wrong = {
    url: [undefined, "", 5], key: [undefined, {}, { id: "a" }, "a"], keys: [[], "a key"], store: ["disk", {}, 5], customer: ["token"], maxAge: [0, -1, "1h", NaN],
    timeout: [0, Infinity, 2 ** 31], origin: [5, ""], fetch: ["fetch"], poll: [5_000], maxage: [5],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) await assert.rejects(open({ [name]: value }), { name: "TypeError", message: new RegExp(name) }, `${name} ${value}`);
  }
});

check("a closed shop ends its requests, decides nothing, and throws nothing", async () => {
  const shop = await open({ poll: true });
  const { valid } = shop.checkNow(cartOf("TEN"));
  assert.equal(valid, true);
  server.state.instead.bundle = () => {};
  const refreshing = shop.refresh();
  shop.close();
  shop.close();
  assert.equal((await refreshing).fresh, false);
  assert.equal((await shop.refresh()).fresh, false);
  assert.deepEqual((await shop.check(cartOf("TEN"))).missing, ["voucher/TEN", "bundle"]);
  server.online();
  server.paths();
  await tick(2 * HOUR, MINUTE);
  assert.deepEqual(server.paths(), []);
});

check("another version of the service: every verdict lacks `engine`, and the shop is broken", async () => {
  server.serveRules(shopRules(), { decides: 3_000 });
  const shop = await open();
  assert.deepEqual([summary(await shop.check(cartOf("TEN"))), shop.state], [provisional("engine"), "broken"]);
});

check("`ask` has the service decide, and fails where it does not", async () => {
  const shop = await open();
  const answer = { id: "valid_1", valid: true, redeemables: [], order: { amount: 1_000, total_amount: 1 } };
  server.state.instead.validations = (_, response) => response.writeHead(200).end(JSON.stringify(answer));
  const verdict = await shop.ask(cartOf("PRIVATE"));
  assert.deepEqual([verdict.valid, verdict.order.total_amount, verdict.asOf.revision], [true, 1, undefined]);
  for (const [status, body] of [[200, "<h1>Log in</h1>"], [200, "{}"], [200, '{"valid":"true"}'], [503, "{}"], [404, "none"], [400, "{}"], [401, '{"code":401,"key":"unauthorized"}']]) {
    server.state.instead.validations = (_, response) => response.writeHead(status).end(body);
    await assert.rejects(shop.ask(cartOf("PRIVATE")), { status }, `${status} ${body}`);
  }
  server.state.instead.validations = (_, response) => refuse(response, 400, "invalid_payload");
  assert.equal((await shop.ask({})).kind, "unreadable");
  server.offline();
  await assert.rejects(shop.ask(cartOf("PRIVATE")));
});

check("`lock` requests a session, and drops the customer's former one", async () => {
  serveCustomers();
  const shop = await open({ customer: () => tokenOf("anna") });
  let sent;
  server.state.instead.validations = async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    sent = JSON.parse(body);
    response.writeHead(200).end(JSON.stringify({ id: "valid_1", valid: true, redeemables: [], session: { type: "LOCK", key: "ssn_1", ttl: 1, ttl_unit: "DAYS" } }));
  };
  const verdict = await shop.lock({ ...vipCart, session: { key: "ssn_1" } });
  assert.deepEqual([sent.session, verdict.session.key], [{ key: "ssn_1", type: "LOCK" }, "ssn_1"]);
  assert.equal(shop.checkNow(vipCart).kind, "provisional");
  assert.equal((await shop.check(vipCart)).valid, true, "fetched again");
});
