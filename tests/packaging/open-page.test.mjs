// Tests `open` in pages of a browser, with its IndexedDB, locks and channels. A page that is reloaded without the service decides, and tabs
// share one poll. A redemption that a reload interrupted counts once.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach } from "node:test";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { launch, missing } from "../browser/chromium.mjs";
import { countTests } from "../browser/test_report.mjs";
import { keyPair, rules, startServer } from "./bundle_server.mjs";
import { redemptions } from "./shop_server.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("packaging");
const noBrowser = missing();
const pair = keyPair();
const voucher = (code, amount_off) => ({ id: `v_${code}`, code, type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off }, active: true });
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";
const TYPES = { js: "text/javascript", wasm: "application/wasm" };

let server;
let site;
let url;
let browser;
let pages;

before(async () => {
  server = await startServer();
  site = createServer(answer);
  await new Promise((done) => { site.listen(0, "127.0.0.1", done); });
  url = `http://127.0.0.1:${site.address().port}`;
  if (!noBrowser) browser = await launch();
}, { timeout: 400_000 });
after(async () => {
  await browser?.close();
  site.close().closeAllConnections();
  server.close();
});
beforeEach(() => {
  pages = [];
  server.serve(pair, rules({ vouchers: [voucher("TEN", 100)] }));
});
afterEach(() => Promise.all(pages.map((page) => page.close())));

/** Serves the package, a page without anything, and the service. */
async function answer(request, response) {
  if (request.url.startsWith("/client/")) return server.server.emit("request", request, response);
  if (request.url.startsWith("/pkg/")) {
    const body = await readFile(new URL(`../..${request.url}`, import.meta.url));
    return response.writeHead(200, { "content-type": TYPES[request.url.split(".").pop()] }).end(body);
  }
  return response.writeHead(200, { "content-type": "text/html", "content-security-policy": POLICY }).end("<!doctype html><title>Shop</title>");
}

async function openPage({ hasLocks = true } = {}) {
  const page = await browser.context.newPage();
  pages.push(page);
  if (!hasLocks) await page.addInitScript(() => Object.defineProperty(Navigator.prototype, "locks", { value: undefined }));
  await load(page);
  return page;
}
/** Loads the page, also again, and opens its shop; `opened` is the duration. */
async function load(page) {
  await page.goto(url);
  await page.evaluate(async ({ key, keys }) => {
    const { load, open } = await import("/pkg/browser.js");
    await load();
    const begin = performance.now();
    window.shop = await open({ url: location.origin, key, keys });
    window.opened = performance.now() - begin;
  }, { key: { id: "app", token: "secret" }, keys: [pair.jwk] });
}
const cartOf = (code) => ({ redeemables: [{ object: "voucher", id: code }], order: { amount: 1_000 } });
const decide = (page, code = "TEN") => page.evaluate((cart) => window.shop.checkNow(cart), cartOf(code));
const stop = () => { for (const kind of ["bundle", "core", "redemptions"]) server.state.instead[kind] = (request) => request.socket.destroy(); };
const until = (condition, what) => waitUntil(condition, what, { pause: 20 });
/** Waits until the page has stored the present rules. */
const untilStored = (page) => until(() => page.evaluate(async (head) => {
  await window.shop.refresh();
  const database = await new Promise((done) => { indexedDB.open("scrip", 1).onsuccess = ({ target }) => done(target.result); });
  const all = await new Promise((done) => { database.transaction("kept").objectStore("kept").getAll().onsuccess = ({ target }) => done(target.result); });
  database.close();
  return all.some((value) => value.head === head && value.core) && all.some((value) => value.head === head && value.confirmed);
}, server.state.head), "the rules are kept");

check("a page that is loaded again without the service decides at once; one whose database was deleted decides nothing", async () => {
  const page = await openPage();
  assert.deepEqual([(await decide(page)).valid, (await decide(page)).order.total_amount], [true, 900]);
  await untilStored(page);
  stop();
  await load(page);
  assert.deepEqual([(await decide(page)).valid, await page.evaluate(() => window.shop.checkNow({}).kind)], [true, "unreadable"]);
  await until(() => page.evaluate(() => window.shop.state === "offline"), "the service is missed");
  assert.equal((await decide(page)).valid, true);
  await page.evaluate(() => new Promise((done) => { indexedDB.deleteDatabase("scrip").onsuccess = done; }));
  await load(page);
  assert.deepEqual((await decide(page)).missing, ["voucher/TEN", "bundle"]);
}, noBrowser);

check("of two tabs one polls, and both have new rules", async () => {
  const [one, two] = [await openPage(), await openPage()];
  await until(async () => (await one.evaluate(() => navigator.locks.query().then(({ held, pending }) => held.length + pending.length))) === 2, "a lock, and a wait for it");
  server.serve(pair, rules({ vouchers: [voucher("TEN", 300)] }), { rev: 3_000 });
  await one.evaluate(() => window.shop.refresh());
  server.paths();
  await until(async () => (await decide(two)).order?.total_amount === 700, "the other tab has the new rules");
  assert.deepEqual(server.paths(), []);
}, noBrowser);

check("a redemption that a reload cut off is pending, is continued, and counts once", async () => {
  const page = await openPage();
  let isDown = true;
  const { counted } = redemptions(server, { after: (_, __, request) => (isDown ? (request.socket.destroy(), true) : false) });
  page.evaluate((cart) => window.shop.redeem(cart), cartOf("TEN")).catch(() => {});
  await until(() => counted.size === 1, "the service has counted");
  await load(page);
  isDown = false;
  const [pending, answered] = await page.evaluate(async () => {
    const all = await window.shop.pending();
    return [all.map(({ request }) => request), await all[0].resume()];
  });
  assert.deepEqual([pending, answered.kind, answered.replayed, counted.size], [[cartOf("TEN")], "redeemed", true, 1]);
  assert.deepEqual(await page.evaluate(() => window.shop.pending()), []);
}, noBrowser);

check("two tabs without locks that redeem at the same time: each redemption is kept", async () => {
  const [one, two, third] = [await openPage({ hasLocks: false }), await openPage({ hasLocks: false }), await openPage({ hasLocks: false })];
  server.state.instead.redemptions = (request) => request.socket.destroy();
  const codesOf = (page) => page.evaluate(async () => (await window.shop.pending()).map(({ request }) => request.redeemables[0].id));
  // A message begins both at the same time: timers of a tab that is not shown are late.
  for (const page of [one, two]) {
    await page.evaluate(() => {
      new BroadcastChannel("begin").onmessage = ({ data }) => {
        const cart = { redeemables: [{ object: "voucher", id: `${data}-${window.tabName}` }], order: { amount: 1_000 } };
        window.shop.redeem(cart).catch(() => {});
      };
    });
  }
  await one.evaluate(() => { window.tabName = "one"; });
  await two.evaluate(() => { window.tabName = "two"; });
  const expected = [];
  for (let round = 0; round < 10; round += 1) {
    await third.evaluate((data) => new BroadcastChannel("begin").postMessage(data), `${round}`);
    expected.push(`${round}-one`, `${round}-two`);
    // A tab lists what it sends itself also where the store has lost it, and then stores it again. The third one lists what is kept.
    for (const [page, name] of [[one, "one"], [two, "two"]]) await until(async () => (await codesOf(page)).includes(`${round}-${name}`), "it is sent");
    assert.deepEqual((await codesOf(third)).sort(), expected.toSorted());
  }
}, noBrowser);

check("a database that cannot be written keeps the redemptions that it has, and takes later what it could not", async () => {
  // Without the redemptions of other tests.
  const empty = await browser.context.newPage();
  pages.push(empty);
  await empty.goto(url);
  await empty.evaluate(() => new Promise((done) => { indexedDB.deleteDatabase("scrip").onsuccess = done; }));
  const [one, two, third] = [await openPage({ hasLocks: false }), await openPage({ hasLocks: false }), await openPage({ hasLocks: false })];
  const keys = new Set();
  server.state.instead.redemptions = (request) => { keys.add(request.headers["idempotency-key"]); request.socket.destroy(); };
  const codesOf = (page) => page.evaluate(async () => (await window.shop.pending()).map(({ request }) => request.redeemables[0].id).sort());
  const redeem = async (page, code) => {
    await page.evaluate((cart) => { window.shop.redeem(cart).catch(() => {}); }, cartOf(code));
    await until(async () => (await codesOf(page)).includes(code), "it is sent");
  };
  await redeem(one, "A");
  await until(() => keys.size === 1, "it is tried");
  await load(one);
  await one.evaluate(() => {
    const begin = IDBDatabase.prototype.transaction;
    window.isFull = true;
    IDBDatabase.prototype.transaction = function (names, mode, ...rest) {
      if (window.isFull && mode === "readwrite") throw new DOMException("full", "QuotaExceededError");
      return begin.call(this, names, mode, ...rest);
    };
  });
  await redeem(one, "A");
  assert.deepEqual([await codesOf(one), keys.size], [["A"], 1], "the same cart has its key");
  await redeem(one, "B");
  await redeem(two, "C");
  assert.deepEqual(await codesOf(third), ["A", "C"]);
  await one.evaluate(() => { window.isFull = false; });
  await redeem(one, "D");
  assert.deepEqual(await codesOf(third), ["A", "B", "C", "D"]);
}, noBrowser);

check("a shop of a thousand offers opens from the store", async () => {
  server.serve(pair, rules({ vouchers: Array.from({ length: 1_000 }, (_, at) => voucher(`CODE-${at}`, 100)) }), { rev: 4_000 });
  const page = await openPage();
  await untilStored(page);
  stop();
  const times = [];
  for (let round = 0; round < 5; round += 1) {
    await load(page);
    times.push(await page.evaluate(() => window.opened));
    assert.equal((await decide(page, "CODE-999")).valid, true);
  }
  console.log(`open from the store, 1,000 offers: ${times.map((ms) => ms.toFixed(0)).join(", ")} ms`);
}, noBrowser);
