// Tests the running service with the package's `open`: verdicts with the service's bytes, locks, and redemptions that count once though connections are cut.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { after, afterEach, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { credentials } from "../../worker/tools/setup.mjs";
import { scrip } from "../support/package.mjs";
import { customerToken } from "./customer-token.mjs";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("open");
const origin = "http://localhost:3000";
const key = credentials.client;
const discount = { type: "AMOUNT", amount_off: 100 };
let service;
let call;
let shops = [];

before(async () => {
  service = await boot();
  call = caller(service.url);
  const publicCode = {
    name: "Open", type: "STANDALONE", visibility: "public", campaign_type: "DISCOUNT_COUPONS", voucher: { discount, code_config: { pattern: "OPEN-CODE" } },
  };
  assert.equal((await call("POST", "/v1/campaigns", publicCode)).status, 200);
  for (const code of ["SEALED", "ONCE", "TWICE", "LOCKED"]) {
    const redemption = code === "SEALED" ? undefined : { quantity: 1 };
    assert.equal((await call("POST", `/v1/vouchers/${code}`, { type: "DISCOUNT_VOUCHER", discount, redemption })).status, 200);
  }
}, { timeout: 400_000 });
after(() => service?.stop());
afterEach(() => { for (const shop of shops.splice(0)) shop.close(); });

async function open(options) {
  const shop = await scrip.open({ url: service.url, key, origin, ...options });
  shops.push(shop);
  return shop;
}
const cartOf = (code) => ({ redeemables: [{ object: "voucher", id: code }], order: { amount: 1_000 } });
const countOf = async (code) => (await call("GET", `/v1/vouchers/${code}`)).body.redemption.redeemed_quantity;
/** A store that a page which is loaded again has too. */
const storeOf = (entries) => ({ get: (name) => entries.get(name), put: (name, value) => entries.set(name, structuredClone(value)), delete: (name) => entries.delete(name) });

async function checkUntil(shop, cart, fits) {
  let verdict;
  await waitUntil(async () => {
    if (verdict) await shop.refresh();
    verdict = await shop.check(cart);
    return fits(verdict);
  }, () => `another verdict than ${verdict.text}`, { pause: 200 });
  return verdict;
}

check("the example of the project's README, unchanged except for the address", async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const [, example] = /```js\n(import \{ open \}[^`]*?)```/.exec(readme);
  const discountOf = { type: "PERCENT", percent_off: 10, effect: "APPLY_TO_ORDER" };
  const campaign = { name: "Welcome", type: "STANDALONE", visibility: "public", campaign_type: "DISCOUNT_COUPONS", voucher: { discount: discountOf, code_config: { pattern: "WELCOME10" } } };
  assert.equal((await call("POST", "/v1/campaigns", campaign)).status, 200);
  await checkUntil(await open(), cartOf("WELCOME10"), ({ valid }) => valid === true);
  const text = example.replace('"@scrip-edge/page"', JSON.stringify(new URL("../../pkg/node.js", import.meta.url).href)).replace("http://127.0.0.1:8787", service.url);
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", text], { timeout: 120_000 });
  assert.equal(stdout, "to pay: 9423\nredeemed\n");
});

check("a final verdict has the bytes of the service", async () => {
  const shop = await open();
  for (const code of ["OPEN-CODE", "SEALED"]) {
    const verdict = await checkUntil(shop, cartOf(code), ({ kind }) => kind === "final");
    assert.deepEqual([verdict.valid, verdict.order.total_amount], [true, 900]);
    const headers = { "content-type": "application/json", "x-client-application-id": key.id, "x-client-token": key.token, origin };
    const reply = await fetch(`${service.url}/client/v1/validations`, { method: "POST", headers, body: JSON.stringify(cartOf(code)) });
    const context = JSON.parse(reply.headers.get("scrip-context"));
    assert.equal(shop.checkNow(cartOf(code), context).text, await reply.text());
  }
  assert.equal(shop.state, "fresh");
});

check("a code that only the service knows is provisional, and `ask` decides it", async () => {
  const shop = await open();
  const verdict = await shop.check(cartOf("ONCE"));
  assert.deepEqual([verdict.kind, verdict.valid], ["provisional", undefined]);
  assert.equal((await shop.ask(cartOf("ONCE"))).valid, true);
  const wrong = await shop.ask(cartOf("WRONG-CODE"));
  assert.deepEqual([wrong.kind, wrong.valid, wrong.refusals[0].key], ["final", false, "not_found"]);
});

check("a redemption whose answer is cut, and that is continued after a reload, counts once", async () => {
  const entries = new Map();
  let cuts = 2;
  const cutting = async (url, options) => {
    const reply = await fetch(url, options);
    if (!url.endsWith("/redemptions") || (cuts -= 1) < 0) return reply;
    await reply.arrayBuffer();
    throw new TypeError("the connection was cut");
  };
  const first = await open({ store: storeOf(entries), fetch: cutting });
  const redeeming = first.redeem(cartOf("ONCE"));
  redeeming.catch(() => {});
  await waitUntil(() => cuts <= 0, "it is sent again");
  first.close();
  await assert.rejects(redeeming, { code: "unanswered" });
  assert.equal(await countOf("ONCE"), 1);
  const second = await open({ store: storeOf(entries) });
  const [pending] = await second.pending();
  assert.deepEqual(pending.request, cartOf("ONCE"));
  const answer = await pending.resume();
  assert.deepEqual([answer.kind, answer.replayed, answer.answer.redemptions.length], ["redeemed", true, 1]);
  assert.deepEqual([await countOf("ONCE"), await second.pending()], [1, []]);
  const again = await second.redeem(cartOf("ONCE"));
  assert.deepEqual([again.kind, again.status, again.answer.key], ["refused", 404, "not_found"], "a client learns no more");
});

check("a redemption that cannot be sent for a while is sent later, once for two callers", async () => {
  let isDown = true;
  const shop = await open({ fetch: async (url, options) => (isDown && url.endsWith("/redemptions") ? Promise.reject(new TypeError("offline")) : fetch(url, options)) });
  const both = [shop.redeem(cartOf("TWICE")), shop.redeem(cartOf("TWICE"))];
  await sleep(300);
  assert.equal((await shop.pending()).length, 1);
  isDown = false;
  assert.deepEqual((await Promise.all(both)).map(({ kind }) => kind), ["redeemed", "redeemed"]);
  assert.equal(await countOf("TWICE"), 1);
});

check("a lock reserves a code for its session", async () => {
  const [one, two] = [await open(), await open()];
  const locked = await one.lock(cartOf("LOCKED"));
  assert.deepEqual([locked.valid, locked.session.type], [true, "LOCK"]);
  assert.equal((await two.ask(cartOf("LOCKED"))).valid, false);
  const answer = await one.redeem({ ...cartOf("LOCKED"), session: { type: "LOCK", key: locked.session.key } });
  assert.equal(answer.kind, "redeemed");
});

check("a customer's own limit is known to the page, also after the redemption", async () => {
  const secret = (await call("GET", "/management/v1/projects/proj_dev/customer-token-key")).body;
  const shop = await open({ customer: () => customerToken(secret, "proj_dev", "anna") });
  await checkUntil(shop, cartOf("OPEN-CODE"), ({ valid }) => valid === true);
  assert.equal((await shop.redeem(cartOf("OPEN-CODE"))).kind, "redeemed");
  assert.equal((await shop.check(cartOf("OPEN-CODE"))).valid, true);
  const refused = await open({ customer: () => customerToken({ ...secret, secret: "guessed" }, "proj_dev", "anna") });
  assert.ok((await refused.check(cartOf("OPEN-CODE"))).missing.includes("customer_token"));
  assert.deepEqual([refused.state, refused.problem.status], ["broken", 401]);
});

/** Returns the core of the present head or supplement. */
async function coreOf(path, token) {
  const headers = { "x-client-application-id": key.id, "x-client-token": key.token, origin, ...(token && { "x-customer-token": token }) };
  const reply = await fetch(`${service.url}${path}`, { headers });
  const text = await reply.text();
  return reply.status === 200 ? JSON.parse(Buffer.from(text.split(".")[1], "base64url")).core : undefined;
}

check("rules that change just before `open`: the customer is known as soon as the entry has the next head", async () => {
  const secret = (await call("GET", "/management/v1/projects/proj_dev/customer-token-key")).body;
  const token = customerToken(secret, "proj_dev", "anna");
  await checkUntil(await open(), cartOf("OPEN-CODE"), ({ kind }) => kind === "final");
  let first;
  let shop;
  for (let round = 0; first?.omitted.length !== 1; round += 1) {
    assert.ok(round < 20, "no shop was opened between the change and the head of the entry");
    // A change is built at once where the last build is more than a second ago. The entry then has the former head in memory.
    await sleep(1_500);
    const former = await waitUntil(() => coreOf("/client/v1/bundle"), "a head");
    const campaign = { name: `Changed ${round}`, type: "STANDALONE", visibility: "public", campaign_type: "DISCOUNT_COUPONS", voucher: { discount, code_config: { pattern: `CHANGED-${round}` } } };
    assert.equal((await call("POST", "/v1/campaigns", campaign)).status, 200);
    await waitUntil(async () => (await coreOf("/client/v1/bundle/me", token)) !== former, "the object has the next core", { pause: 5 });
    shop = await open({ customer: () => token, poll: false });
    first = await shop.check(cartOf("OPEN-CODE"));
    assert.deepEqual([first.kind, first.valid], ["final", true]);
  }
  assert.deepEqual(first.omitted, ["tracking_id"], "the supplement is of the next core");
  const begin = performance.now();
  const last = await waitUntil(async () => {
    const verdict = await shop.check(cartOf("OPEN-CODE"));
    return verdict.omitted.length === 0 && verdict;
  }, "the supplement is of the same core");
  assert.deepEqual([last.kind, last.valid], ["final", true]);
  // A failed attempt of another kind is repeated after ten seconds.
  assert.ok(performance.now() - begin < 9_000, `after ${performance.now() - begin} ms`);
});

check("the service stops and starts: the shop decides meanwhile, and is fresh again", async () => {
  const shop = await open({ timeout: 2_000 });
  assert.equal((await shop.check(cartOf("OPEN-CODE"))).valid, true);
  await service.kill9();
  assert.equal((await shop.refresh()).fresh, false);
  assert.deepEqual([(await shop.check(cartOf("OPEN-CODE"))).valid, shop.state], [true, "offline"]);
  await service.restart();
  assert.deepEqual(await shop.refresh(), { fresh: true, problem: undefined });
});
