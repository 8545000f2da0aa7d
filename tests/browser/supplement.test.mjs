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

const why = missing();
const check = countTests("browser");
const PACKAGE = fileURLToPath(new URL("../../pkg", import.meta.url));
const STORAGE_KEY = "kept bundle";
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

/** Runs in the page: fetches the bundle, keeps it as a page may, and decides. */
async function decideInPage({ url, key, token, tier, storageKey }) {
  const scrip = await import(`${location.origin}/scrip/browser.js`);
  await scrip.load();
  const stored = localStorage.getItem(storageKey);
  const bundle = await scrip.fetchBundle(url, key, stored ? JSON.parse(stored) : undefined, { customerToken: token });
  const decode = new TextDecoder();
  localStorage.setItem(storageKey, JSON.stringify({ ...bundle, core: decode.decode(bundle.core), prepared: undefined }));
  const { valid, missing } = bundle.prepared.validateObject({ redeemables: [{ object: "promotion_tier", id: tier }], order: { amount: 1_000 } });
  return { valid, missing, fresh: bundle.fresh };
}

/** Runs in the page: returns every text that the browser stores for it. */
async function readStores() {
  const stores = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), document.cookie];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) stores.push(request.url, await (await cache.match(request)).text());
  }
  return { text: stores.join("\n"), databases: (await indexedDB.databases()).length };
}

check("no storage has the supplement, and after a reload the page has none", async () => {
  const { token, code, tier } = await makeShop();
  const page = await browser.context.newPage();
  await page.goto(site.url);
  const input = { url: service.url, key: credentials.client, token, tier, storageKey: STORAGE_KEY };
  assert.deepEqual(await page.evaluate(decideInPage, input), { valid: true, missing: undefined, fresh: true });
  const stores = await page.evaluate(readStores);
  assert.ok(stores.text.includes(STORAGE_KEY), "the page keeps the bundle");
  for (const secret of [code, "supplemented-anna", "own_candidates", "own_counts", "track_"]) {
    assert.ok(!stores.text.includes(secret), `\`${secret}\` is stored: ${stores.text.slice(0, 2_000)}`);
  }
  assert.equal(stores.databases, 0);

  await page.reload();
  await page.route(`${service.url}/**`, (route) => route.abort());
  const offline = await page.evaluate(decideInPage, input);
  assert.equal(offline.fresh, false, "the service cannot be reached");
  assert.ok(offline.missing?.length > 0, "the verdict lacks the customer");
}, why);
