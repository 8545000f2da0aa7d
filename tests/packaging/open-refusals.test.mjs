// Tests that a shop takes no bundle that is not proven, from the service or from its store, and that no store makes it fail.
import assert from "node:assert/strict";
import { countTests } from "../browser/test_report.mjs";
import { ONE, TWO, badBundles } from "./bad_bundles.mjs";
import { sha256 } from "./bundle_server.mjs";
import { open, server, useShops } from "./shop_fixtures.mjs";
import { HOUR, SECOND, cartOf, pair, shopRules, otherPair, textStore } from "./shop_server.mjs";
import { settle, tick } from "./virtual_time.mjs";

const check = countTests("packaging");
useShops();

const revisionOf = ({ asOf }) => asOf.revision?.rev;

for (const [at, [name, [code, , more = {}]]] of Object.entries(badBundles({}, pair, otherPair)).entries()) {
  check(`${name}: a shop keeps its rules until they are too old, and takes the next right ones`, async () => {
    server.serveRules(ONE, { rev: 2_000 });
    const store = textStore();
    const shop = await open({ store });
    await settle();
    const entries = new Map(store.entries);
    server.state.cores[sha256(TWO)] = TWO;
    Object.values(badBundles(server, pair, otherPair))[at][1]();
    server.dateAnswers();
    const { fresh, problem } = await shop.refresh();
    assert.deepEqual([fresh, problem.code, revisionOf(shop)], [false, code, 2_000]);
    for (const [member, value] of Object.entries(more)) assert.equal(problem[member], value);
    await settle();
    assert.deepEqual(store.entries, entries, "the store is as it was");
    if (code) assert.equal(shop.state, "broken");
    // A new page with an empty store has nothing to decide by.
    const empty = await open();
    // It knows neither a revision nor a project, and requests no confirmation.
    if (!["older_revision", "wrong_project"].includes(code) && empty.problem?.status !== 304) {
      assert.deepEqual([empty.problem.code, (await empty.check(cartOf("TEN"))).missing], [code, ["voucher/TEN", "bundle"]]);
    }
    await tick(HOUR + SECOND, HOUR);
    assert.deepEqual((await shop.check(cartOf("TEN"))).missing, ["voucher/TEN", "age"]);
    server.serveRules(TWO, { rev: 3_000 });
    assert.deepEqual(await shop.refresh(), { fresh: true, problem: undefined });
    assert.deepEqual([revisionOf(shop), shop.state], [3_000, "fresh"]);
  });
}

/** Returns a store as a shop has left it, an hour ago or less. */
async function filledStore(more) {
  const store = textStore();
  const shop = await open({ store, ...more });
  await settle();
  shop.close();
  assert.equal(store.entries.size, 2);
  return store;
}
const [nameOf, confirmationOf] = ["/rules", "/confirmation"].map((end) => (store) => [...store.entries.keys()].find((name) => name.endsWith(end)));
const changed = (store, name, change) => {
  const value = JSON.parse(store.entries.get(name));
  store.entries.set(name, JSON.stringify(change(value)));
};

check("a shop starts from its store without the service, decides finally, and no longer than `maxAge`", async () => {
  const store = await filledStore();
  server.offline();
  await tick(30 * 60 * SECOND, HOUR);
  const shop = await open({ store });
  await settle();
  assert.deepEqual([(await shop.check(cartOf("TEN"))).valid, shop.state], [true, "offline"]);
  await tick(31 * 60 * SECOND, HOUR);
  assert.deepEqual((await shop.check(cartOf("TEN"))).missing, ["age"]);
  const later = await open({ store });
  assert.deepEqual(later.checkNow(cartOf("TEN")).missing, ["age"]);
});

check("a stored copy is used first, and confirmed by a 304", async () => {
  const store = await filledStore();
  server.paths();
  const shop = await open({ store });
  assert.equal(shop.checkNow(cartOf("TEN")).valid, true);
  assert.deepEqual(await shop.refresh(), { fresh: true, problem: undefined });
  assert.deepEqual(server.paths(), ["/client/v1/bundle"]);
});

/** What may be in a store in place of the rules; each is discarded. */
const BAD_RECORDS = {
  "nothing": () => undefined,
  "null": () => null,
  "a text": () => "rules",
  "a list": () => [],
  "no members": () => ({}),
  "a core cut short": (record) => ({ ...record, core: record.core.slice(0, -20) }),
  "a core with one other character": (record) => ({ ...record, core: record.core.replace("TEN", "TEM") }),
  "no core": ({ core: _, ...record }) => record,
  "a core that is a number": (record) => ({ ...record, core: 5 }),
  "a head cut short": (record) => ({ ...record, head: record.head.slice(0, -20) }),
  "no head": ({ head: _, ...record }) => record,
  "a head by another key": (record) => ({ ...record, head: `${record.head.slice(0, -8)}AAAAAAAA` }),
  "keys alone": ({ keys }) => ({ keys }),
  "parts that are none": (record) => ({ ...record, parts: [1, 2] }),
};
for (const [name, change] of Object.entries(BAD_RECORDS)) {
  check(`a store with ${name} in place of the rules: they are fetched again, and offline nothing is decided`, async () => {
    const store = await filledStore();
    const before = JSON.parse(store.entries.get(nameOf(store)));
    const value = change(before);
    if (value === undefined) store.entries.delete(nameOf(store));
    else store.entries.set(nameOf(store), JSON.stringify(value));
    server.offline();
    const offline = await open({ store });
    assert.deepEqual(offline.checkNow(cartOf("TEN")).missing, ["voucher/TEN", "bundle"]);
    offline.close();
    server.online();
    const shop = await open({ store });
    assert.equal(shop.checkNow(cartOf("TEN")).valid, true);
    await settle();
    assert.deepEqual(JSON.parse(store.entries.get(nameOf(store))), before, "and kept");
  });
}

/** What may be in a store in place of the confirmation; without it the service's time is unknown. */
const BAD_CONFIRMATIONS = {
  "nothing": () => undefined,
  "a text": () => "now",
  "one of another head": (stored) => ({ ...stored, head: "another" }),
  "no clock": ({ clock: _, ...stored }) => stored,
  "a clock without numbers": (stored) => ({ ...stored, clock: { offset: "0", served: null } }),
};
for (const [name, change] of Object.entries(BAD_CONFIRMATIONS)) {
  check(`a store with ${name} in place of the confirmation: offline every verdict lacks the clock`, async () => {
    const store = await filledStore();
    const key = confirmationOf(store);
    const value = change(JSON.parse(store.entries.get(key)));
    if (value === undefined) store.entries.delete(key);
    else store.entries.set(key, JSON.stringify(value));
    server.offline();
    const shop = await open({ store });
    for (const verdict of [shop.checkNow(cartOf("TEN")), await shop.refresh().then(() => shop.checkNow(cartOf("TEN")))]) {
      assert.deepEqual(verdict.missing, ["clock"]);
    }
    server.online();
    await shop.refresh();
    assert.equal(shop.checkNow(cartOf("TEN")).valid, true);
  });
}

check("a confirmation of a later time than the clock's own is no confirmation", async () => {
  const store = await filledStore();
  changed(store, confirmationOf(store), (stored) => ({ ...stored, confirmed: stored.confirmed + HOUR / 2 }));
  server.offline();
  await tick(HOUR + 10 * 60 * SECOND, HOUR);
  assert.deepEqual((await open({ store })).checkNow(cartOf("TEN")).missing, ["age"], "the head's own time counts");
});

check("a store of another project, by its own keys, is not taken with pinned keys; another address or client has another place", async () => {
  server.serveRules(shopRules(), { iss: "proj_2" }, otherPair);
  server.state.project = "proj_2";
  server.state.instead.core = (_, response) => response.writeHead(200).end(shopRules());
  const foreign = await filledStore({ keys: undefined });
  server.offline();
  const shop = await open({ store: foreign });
  assert.deepEqual(shop.checkNow(cartOf("TEN")).missing, ["voucher/TEN", "bundle"]);
  server.serveRules();
  await shop.refresh();
  assert.equal(shop.checkNow(cartOf("TEN")).valid, true);
  const own = await filledStore();
  server.offline();
  const other = await open({ store: own, key: { id: "another", token: "secret" } });
  assert.deepEqual(other.checkNow(cartOf("TEN")).missing, ["voucher/TEN", "bundle"]);
});

check("an older copy in the store does not replace newer rules, and is older than the newest one of the store", async () => {
  const store = await filledStore();
  server.serveRules(ONE, { rev: 1_000 });
  const shop = await open({ store });
  assert.deepEqual([(await shop.refresh()).problem.code, revisionOf(shop)], ["older_revision", 2_000]);
});

const hang = () => new Promise(() => {});
const fail = (message) => async () => { throw new DOMException(message, message); };
const throwing = (message) => () => { throw new Error(message); };
const FAILING = {
  "is full": { ...textStore(), put: fail("QuotaExceededError") },
  "is forbidden": { get: fail("SecurityError"), put: fail("SecurityError"), delete: fail("SecurityError") },
  "throws at once": { get: throwing("get"), put: throwing("put"), delete: throwing("delete") },
  "never answers": { get: hang, put: hang, delete: hang },
  "gives rubbish": { get: async () => Symbol("rubbish"), put: async () => 5, delete: async () => null },
  "cannot be read any more": { ...textStore(), get: fail("UnknownError") },
};
for (const [name, store] of Object.entries(FAILING)) {
  check(`a store that ${name}: the shop works from memory`, async () => {
    const opening = open({ store });
    await settle();
    await tick(4 * SECOND, 4 * SECOND);
    const shop = await opening;
    assert.equal((await shop.check(cartOf("TEN"))).valid, true);
    server.state.instead.redemptions = (_, response) => response.writeHead(503).end();
    const redeeming = shop.redeem(cartOf("TEN"));
    redeeming.catch(() => {});
    await settle();
    await tick(4 * SECOND, 4 * SECOND);
    await settle();
    assert.equal((await shop.pending()).length, 1, "what cannot be kept is in memory");
    server.state.instead.redemptions = (_, response) => response.writeHead(200).end('{"redemptions":[{"id":"r_1"}]}');
    await tick(30 * SECOND);
    assert.equal((await redeeming).kind, "redeemed");
  });
}

check("a host without IndexedDB, or that forbids it, has a shop in memory", async () => {
  const { indexedDB } = globalThis;
  for (const database of [undefined, { open: throwing("SecurityError") }, { open: () => ({}) }]) {
    globalThis.indexedDB = database;
    try {
      const opening = open({ store: "indexeddb" });
      await settle();
      await tick(4 * SECOND, 4 * SECOND);
      assert.equal((await (await opening).check(cartOf("TEN"))).valid, true);
    } finally {
      globalThis.indexedDB = indexedDB;
    }
  }
});
