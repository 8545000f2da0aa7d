// Tests that a page stores nothing of a customer's supplement: no storage of the browser has it, and after a reload it is absent.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile, cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before } from "node:test";
import { boot, caller } from "../workerd/harness.mjs";
import { credentials } from "../../worker/tools/setup.mjs";
import { launch, missing } from "./chromium.mjs";
import { serve } from "./static_server.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const why = missing();
const check = countTests("browser");
const PACKAGE = fileURLToPath(new URL("../../pkg", import.meta.url));
let service;
let browser;
let site;
let folder;

before(async () => {
  if (why) return;
  service = await boot();
  folder = await mkdtemp(join(tmpdir(), "scrip-page-"));
  await cp(PACKAGE, join(folder, "scrip"), { recursive: true });
  await writeFile(join(folder, "index.html"), "<!doctype html><title>shop</title>");
  site = await serve(folder);
  browser = await launch();
}, { timeout: 300_000 });

after(async () => {
  await browser?.close();
  await site?.close();
  await service?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Creates a promotion for one level of customers, and a customer of it with a voucher; returns the token and the facts that only the supplement has. */
async function makeShop() {
  const call = caller(service.url);
  const make = async (path, body) => {
    const { status, body: answer } = await call("POST", path, body);
    assert.ok(status < 300, `${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const level = { name: "customer.metadata", property: "level", conditions: { $is: ["gold"] } };
  const { id: rule } = await make("/v1/validation-rules", { name: "Gold", rules: { 1: level } });
  const discount = { type: "AMOUNT", amount_off: 100 };
  const { promotion } = await make("/v1/campaigns", {
    name: "Sale", campaign_type: "PROMOTION", promotion: { tiers: [{ name: "Gold", action: { discount }, validation_rules: [rule] }] },
  });
  await make("/v1/campaigns", { name: "Own", type: "AUTO_UPDATE", voucher: { type: "DISCOUNT_VOUCHER", discount, redemption: { quantity: 2 } } });
  await make("/v1/customers", { source_id: "supplemented-anna", metadata: { level: "gold" } });
  const { voucher } = await make("/v1/publications", { campaign: { name: "Own", count: 1 }, customer: { source_id: "supplemented-anna" } });
  const { token } = await make("/v1/customer-tokens", { customer: { source_id: "supplemented-anna" }, ttl: 3_600 });
  return { token, code: voucher.code, tier: promotion.tiers[0].id };
}

/** Runs in the page: opens a shop for the customer, and decides. */
async function decideInPage({ url, key, token, tier }) {
  const { open } = await import(`${location.origin}/scrip/browser.js`);
  const shop = await open({ url, key, customer: () => token, poll: false });
  const { valid, missing } = await shop.check({ redeemables: [{ object: "promotion_tier", id: tier }], order: { amount: 1_000 } });
  const { fresh } = await shop.refresh();
  shop.close();
  return { valid, missing, fresh };
}

/** Runs in the page: returns every text that the browser stores for it. */
async function readStores() {
  const stores = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), document.cookie];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) stores.push(request.url, await (await cache.match(request)).text());
  }
  const answer = (request) => new Promise((done) => { request.onsuccess = () => done(request.result); });
  for (const { name } of await indexedDB.databases()) {
    const database = await answer(indexedDB.open(name));
    for (const table of database.objectStoreNames) stores.push(JSON.stringify(await answer(database.transaction(table).objectStore(table).getAll())));
    database.close();
  }
  return stores.join("\n");
}

/** Waits until the page has stored its rules and their confirmation; returns all that it has stored. */
function storesOf(page) {
  return waitUntil(async () => {
    const text = await page.evaluate(readStores);
    return text.includes('"core"') && text.includes('"confirmed"') && text;
  }, "the rules are stored");
}

check("no storage has the supplement, and after a reload the page has none", async () => {
  const { token, code, tier } = await makeShop();
  const page = await browser.context.newPage();
  await page.goto(site.url);
  const input = { url: service.url, key: credentials.client, token, tier };
  assert.deepEqual(await page.evaluate(decideInPage, input), { valid: true, missing: undefined, fresh: true });
  const stored = await storesOf(page);
  for (const secret of [code, "supplemented-anna", "own_candidates", "own_counts", "track_", token]) {
    assert.ok(!stored.includes(secret), `\`${secret}\` is stored: ${stored.slice(0, 2_000)}`);
  }

  await page.reload();
  await page.route(`${service.url}/**`, (route) => route.abort());
  const offline = await page.evaluate(decideInPage, input);
  assert.deepEqual([offline.valid, offline.fresh], [undefined, false], "the service cannot be reached");
  assert.ok(offline.missing.some((fact) => fact.startsWith("condition/")), `the verdict lacks the customer: ${offline.missing}`);
}, why);
