// Tests by which copies the entry answers: goods buckets in groups, copies whose bytes are not those of their name, and rules of more projects than
// it keeps in memory.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { credentials, developmentText } from "../../worker/tools/setup.mjs";
import { scrip } from "../support/package.mjs";
import { waitUntil } from "../wait.mjs";
import { boot, bootChanged, caller, freePort, pageHeaders } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("edge copies");
const edgeSecret = "a secret of the tests, long enough";
const path = "/client/v1/validations";
// More names than 16 buckets have room for, so there are 32.
const PRODUCTS = 2_600;
const BUCKETS = 32;
const PRICE = 100;
let folder;
let service;
let call;
let tier;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "scrip-edge-copies-"));
  service = await boot({ data: folder, setup: setupOf(), edgeSecret });
  call = caller(service.url);
  const filled = await call("POST", "/test-hooks/fill", { kind: "product", count: PRODUCTS, body: { object: "product", name: "p", price: PRICE } });
  assert.equal(filled.status, 200, JSON.stringify(filled.body));
  tier = await storeTier(call);
});
after(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Returns the setup with projects of these ids beside that of the development. */
function setupOf(ids = []) {
  const setup = JSON.parse(developmentText());
  const [development] = setup.projects;
  for (const id of ids) {
    const keys = development.keys.map((known) => ({ ...known, id: `${id}-${known.id}`, token: `${id}-${known.token}` }));
    setup.projects.push({ ...development, id: `proj_${id}`, name: id, keys });
  }
  for (const project of setup.projects) project.rate_limits = { client: {} };
  return JSON.stringify(setup);
}

async function storeTier(callProject) {
  const campaign = await callProject("POST", "/v1/campaigns", { name: "Tiers", campaign_type: "PROMOTION" });
  const made = await callProject("POST", `/v1/promotions/${campaign.body.id}/tiers`, { name: "Ten", action: { discount: { type: "PERCENT", percent_off: 10 } } });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  return made.body.id;
}

/** Sends a cart of products; returns its discounted total, and who answered. */
async function send(names, { headers = pageHeaders, id = tier } = {}) {
  const items = names.map((product_id) => ({ product_id, quantity: 1 }));
  const body = JSON.stringify({ redeemables: [{ object: "promotion_tier", id }], order: names.length > 0 ? { items } : { amount: 1_000 } });
  const reply = await fetch(`${service.url}${path}`, { method: "POST", headers, body });
  const text = await reply.text();
  assert.equal(reply.status, 200, text);
  return { total: JSON.parse(text).order?.total_amount, by: reply.headers.get("scrip-answered") };
}

const untilEdge = (names, options) => waitUntil(async () => {
  const answer = await send(names, options);
  return answer.by === "edge" && answer;
}, "an answer of the entry");

/** Returns a product of each bucket, by the first bits of the hash of its name. */
function productsOfBuckets() {
  const names = Array.from({ length: PRODUCTS }, (_, at) => `fill${at}`);
  return [...new Map(names.map((name) => [createHash("sha256").update(name).digest()[0] >> 3, name])).values()];
}

check("a cart of more buckets than the entry reads for it is the object's, until smaller ones have brought them", async () => {
  const names = productsOfBuckets();
  assert.equal(names.length, BUCKETS);
  const total = (count) => count * PRICE * 0.9;
  await untilEdge([]);
  await untilEdge(names.slice(0, 1));
  // One is there, and sixteen more are read.
  assert.deepEqual(await send(names.slice(0, 18)), { total: total(18), by: "object" });
  assert.deepEqual(await send(names.slice(0, 18)), { total: total(18), by: "object" });
  assert.deepEqual(await send(names.slice(0, 17)), { total: total(17), by: "edge" });
  assert.deepEqual(await send(names), { total: total(BUCKETS), by: "edge" }, "the other fifteen are read");
});

check("a listing of products in more buckets than sixteen has final prices, six buckets at a time", async () => {
  const { fetch } = globalThis;
  let [open, most, all] = [0, 0, 0];
  globalThis.fetch = async (...request) => {
    const isOfGoods = String(request[0]).includes("/goods/");
    if (isOfGoods) [open, all] = [open + 1, all + 1];
    most = Math.max(most, open);
    return fetch(...request).finally(() => { if (isOfGoods) open -= 1; });
  };
  const shop = await scrip.open({ url: service.url, key: credentials.client, origin: "http://localhost:3000" });
  try {
    const { kind, prices } = await shop.prices(productsOfBuckets());
    assert.equal(kind, "listed");
    for (const price of prices) assert.deepEqual([price.kind, price.discounted_price], ["final", PRICE * 0.9]);
    assert.deepEqual([prices.length, all, most], [BUCKETS, BUCKETS, 6]);
  } finally {
    shop.close();
    globalThis.fetch = fetch;
  }
});

check("a copy with other bytes than its name says is never answered from", async () => {
  const [name] = productsOfBuckets();
  await service.stop();
  const port = await freePort();
  const store = `http://127.0.0.1:${port}`;
  const withStore = (config) => config.replace("sockets = [", `sockets = [(name = "store", address = "127.0.0.1:${port}", http = (), service = "kv"), `);
  const start = async () => {
    service = await bootChanged(folder, withStore, { SCRIP_SETUP: setupOf(), SCRIP_EDGE_SECRET: edgeSecret });
  };
  await start();
  const { keys } = await (await fetch(`${store}/?prefix=bundle-part:proj_dev:`)).json();
  const parts = new Map();
  for (const { name: key } of keys) parts.set(key, await (await fetch(`${store}/${encodeURIComponent(key)}`)).text());
  const put = (key, value) => fetch(`${store}/${encodeURIComponent(key)}`, { method: "PUT", body: value });
  const isBucket = (text) => text.includes('"buckets":');
  const changes = [
    ["buckets", isBucket, (text) => text.replaceAll(`"price":${PRICE}`, '"price":1')],
    ["cores", (text) => text.includes('"promotion_tiers"'), (text) => text.replaceAll('"percent_off":10', '"percent_off":90')],
  ];
  for (const [what, isChanged, change] of changes) {
    const chosen = [...parts].filter(([, text]) => isChanged(text) && change(text) !== text);
    assert.ok(chosen.length > 0, `KV has ${what}`);
    for (const [key, text] of chosen) await put(key, change(text));
    await service.stop();
    await start();
    for (let again = 0; again < 5; again += 1) assert.deepEqual(await send([name]), { total: PRICE * 0.9, by: "object" }, `damaged ${what}`);
    for (const [key, text] of chosen) await put(key, text);
    await service.stop();
    await start();
    assert.deepEqual(await untilEdge([name]), { total: PRICE * 0.9, by: "edge" }, `${what} as before`);
  }
});

check("rules of sixteen projects are in memory; those of another one take the place of the oldest after a minute", async () => {
  const ids = Array.from({ length: 16 }, (_, at) => `p${at}`);
  await service.stop();
  service = await boot({ setup: setupOf(ids), edgeSecret });
  const projects = [];
  for (const prefix of ["", ...ids.map((id) => `${id}-`)]) {
    const headersOf = ({ id, token }, kind) => ({ [`x-${kind}id`]: `${prefix}${id}`, [`x-${kind}token`]: `${prefix}${token}` });
    const server = headersOf(credentials.server, "app-");
    const { id, token } = credentials.client;
    const client = { ...pageHeaders, "x-client-application-id": `${prefix}${id}`, "x-client-token": `${prefix}${token}` };
    const callProject = (method, target, body) => caller(service.url)(method, target, body, server);
    projects.push({ headers: client, id: await storeTier(callProject) });
  }
  const [last, ...kept] = projects.toReversed();
  const at = (project, more) => ({ ...project, headers: { ...project.headers, ...more } });
  for (const project of kept) await untilEdge([], project);
  // KV has its head; the entry has no room for its rules.
  await waitUntil(async () => (await send([], last)).by && (await fetch(`${service.url}/client/v1/bundle`, { headers: last.headers })).ok, "a head");
  for (let again = 0; again < 5; again += 1) assert.equal((await send([], last)).by, "object");
  for (const project of kept) assert.equal((await send([], project)).by, "edge");
  const later = { "scrip-test-now": String(Date.now() + 61_000) };
  assert.equal((await send([], at(last, later))).by, "edge", "the oldest rules are a minute old");
  assert.equal((await send([], at(last, later))).by, "edge");
  const answers = [];
  for (const project of kept.slice(1)) answers.push((await send([], project)).by);
  assert.deepEqual(new Set(answers), new Set(["edge"]), "the others stay");
  // Its rules are younger than those of all others by the later clock, and of the future by the real one, which counts as old.
  assert.equal((await send([], kept[0])).by, "edge", "the rules of the oldest are loaded again, in place of those");
  for (let again = 0; again < 3; again += 1) assert.equal((await send([], last)).by, "object");
});
