// Tests that the tabs of a shop share one poll: one has the lock and polls the service, the others get its results and prove them themselves.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach } from "node:test";
import { countTests } from "../browser/test_report.mjs";
import * as scrip from "../../pkg/node.js";
import { claimsOf, jws, sha256 } from "./bundle_server.mjs";
import { HOUR, MINUTE, SECOND, cartOf, pair, shopRules, startShopServer, otherPair, textStore } from "./shop_server.mjs";
import { serviceNow, settle, startTime, stopTime, tick } from "./virtual_time.mjs";

const check = countTests("packaging");
let server;
let shops = [];
const { navigator } = globalThis;
const setNavigator = (value) => Object.defineProperty(globalThis, "navigator", { value, configurable: true, writable: true });

before(async () => { server = await startShopServer(); });
after(() => server.close());
beforeEach(() => {
  startTime();
  server.online();
  server.serveRules();
  setNavigator({ locks: new TabLocks() });
});
afterEach(async () => {
  for (const shop of shops.splice(0)) shop.close();
  await settle();
  setNavigator(navigator);
  stopTime();
});

/** Exclusive locks of one origin, as browsers have them. */
class TabLocks {
  #queues = new Map();

  async request(name, { signal } = {}, run) {
    const before = this.#queues.get(name) ?? Promise.resolve();
    let release;
    this.#queues.set(name, new Promise((done) => { release = done; }));
    try {
      await Promise.race([before, new Promise((_, failed) => { signal?.addEventListener("abort", () => failed(signal.reason)); })]);
      return await run({ name });
    } finally {
      before.then(release);
    }
  }
}

async function open(more) {
  const shop = await scrip.open(server.options({ poll: true, ...more }));
  shops.push(shop);
  await settle();
  return shop;
}
const revisionOf = ({ asOf }) => asOf.revision?.rev;
const heads = () => server.paths().filter((path) => path === "/client/v1/bundle").length;
/** Opens tabs over one store, and forgets their own first requests. */
async function openTabs(count, more) {
  const store = textStore();
  const tabs = [];
  for (let number = 0; number < count; number += 1) tabs.push(await open({ store, ...more }));
  server.paths();
  return tabs;
}

check("of five tabs one polls; all have the new rules, and all count as confirmed", async () => {
  const tabs = await openTabs(5);
  await tick(20 * MINUTE, 10 * SECOND);
  assert.equal(heads(), 6, "after 30, 90, 210, 450, 750 and 1,050 seconds");
  server.serveRules(shopRules({ whole_catalogue: false }), { rev: 3_000 });
  await tick(6 * MINUTE, 10 * SECOND);
  const requestedPaths = server.paths();
  assert.equal(requestedPaths.filter((path) => path.endsWith(sha256(shopRules({ whole_catalogue: false })))).length, 1, "the core is fetched once");
  assert.deepEqual(tabs.map(revisionOf), [3_000, 3_000, 3_000, 3_000, 3_000]);
  await tick(3 * HOUR, MINUTE);
  for (const tab of tabs) assert.deepEqual([tab.state, (await tab.check(cartOf("TEN"))).valid], ["fresh", true]);
  assert.ok(heads() <= 50, "no more than one tab");
});

check("when the tab that polls is closed, another one continues", async () => {
  const [first, second, third] = await openTabs(3);
  first.close();
  await settle();
  server.serveRules(shopRules(), { rev: 3_000 });
  await tick(MINUTE, 10 * SECOND);
  assert.deepEqual([second, third].map(revisionOf), [3_000, 3_000]);
  server.paths();
  await tick(10 * MINUTE, 10 * SECOND);
  assert.ok(heads() <= 5);
});

check("a failure of the tab that polls is the state of all, and so is its end", async () => {
  const tabs = await openTabs(3);
  server.offline();
  await tick(2 * MINUTE, 10 * SECOND);
  assert.deepEqual(tabs.map(({ state }) => state), ["offline", "offline", "offline"]);
  server.online();
  await tick(6 * MINUTE, 10 * SECOND);
  assert.deepEqual(tabs.map(({ state }) => state), ["fresh", "fresh", "fresh"]);
});

check("a tab whose poller is silent polls by itself before its rules are too old", async () => {
  const [, second] = await openTabs(2, { maxAge: HOUR });
  // As if the tab that polls were frozen: it keeps its lock.
  const channel = BroadcastChannel.prototype.postMessage;
  BroadcastChannel.prototype.postMessage = () => {};
  try {
    await tick(2 * HOUR, MINUTE);
  } finally {
    BroadcastChannel.prototype.postMessage = channel;
  }
  assert.equal(second.checkNow(cartOf("TEN")).valid, true);
});

check("messages that are not proven change nothing", async () => {
  const [tab] = await openTabs(1);
  await tick(MINUTE);
  const before = tab.asOf;
  const name = `scrip/${server.base}/app`;
  const channel = new BroadcastChannel(name);
  const TWO = shopRules({ whole_catalogue: false });
  const record = (head, core = TWO, keys = [pair.jwk]) => ({ head, core, keys });
  const claims = (more) => claimsOf(TWO, { now: serviceNow(), rev: 3_000, ...more });
  const confirmation = (head) => ({ head, confirmed: serviceNow(), clock: { offset: 0, served: serviceNow() } });
  const bad = [
    undefined, null, 5, "rules", [], {}, { confirmation: 5 }, { confirmation: { head: 5 }, rules: 5 }, { problem: 5 },
    ...[
      record("rubbish"), record(jws(otherPair, claims())), record(jws(otherPair, claims()), TWO, [otherPair.jwk]), record(jws(pair, claims({ rev: 1_000 }))),
      record(jws(pair, claims()), TWO.slice(1)), record(jws(pair, claims({ iss: "proj_2" }))),
    ].map((rules) => ({ rules, confirmation: confirmation(rules.head) })),
    { confirmation: { head: server.state.head, confirmed: "now" } },
  ];
  for (const message of bad) channel.postMessage(message);
  await new Promise((done) => { setImmediate(done); });
  await settle();
  channel.close();
  assert.deepEqual(tab.asOf, before);
  assert.deepEqual([revisionOf(tab), (await tab.check(cartOf("TEN"))).valid, tab.state], [2_000, true, "fresh"]);
});

check("locks that are forbidden, or a host without a channel: each tab polls for itself", async () => {
  const { BroadcastChannel } = globalThis;
  for (const locks of [{ request: async () => { throw new Error("SecurityError"); } }, { request: () => { throw new Error("SecurityError"); } }, undefined]) {
    setNavigator({ locks });
    const tabs = await openTabs(2);
    await tick(31 * SECOND, 10 * SECOND);
    assert.equal(heads(), 2);
    for (const tab of tabs) tab.close();
  }
  setNavigator({ locks: new TabLocks() });
  globalThis.BroadcastChannel = undefined;
  try {
    await openTabs(2);
    await tick(31 * SECOND, 10 * SECOND);
    assert.equal(heads(), 2);
  } finally {
    globalThis.BroadcastChannel = BroadcastChannel;
  }
});

check("a tab that does not poll does so when it becomes visible or comes online", async () => {
  globalThis.document = Object.assign(new EventTarget(), { visibilityState: "hidden" });
  const window = new EventTarget();
  globalThis.addEventListener = window.addEventListener.bind(window);
  globalThis.removeEventListener = window.removeEventListener.bind(window);
  try {
    const [first, second] = await openTabs(2);
    assert.ok(first && second);
    globalThis.document.dispatchEvent(new Event("visibilitychange"));
    await settle();
    assert.equal(heads(), 0);
    globalThis.document.visibilityState = "visible";
    globalThis.document.dispatchEvent(new Event("visibilitychange"));
    await settle();
    assert.equal(heads(), 2, "the page of the tab that polls, and that of the other one");
    window.dispatchEvent(new Event("online"));
    await settle();
    assert.equal(heads(), 2);
  } finally {
    for (const name of ["document", "addEventListener", "removeEventListener"]) delete globalThis[name];
  }
});
