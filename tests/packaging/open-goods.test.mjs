// Tests that a shop stores the goods buckets that it needed last, and decides by them without the service; damaged ones count for none.
import assert from "node:assert/strict";
import { countTests } from "../browser/test_report.mjs";
import { BUCKETS, answerOf, bucketOf, inBuckets } from "./goods_fixtures.mjs";
import { open, server, useShops } from "./shop_fixtures.mjs";
import { shopRules, textStore } from "./shop_server.mjs";
import { settle } from "./virtual_time.mjs";

const check = countTests("packaging");
useShops();

const shirt = { id: "prod_1", source_id: "shirt", name: "Shirt", price: 1_000 };
const core = shopRules({ whole_catalogue: undefined, named_goods: [] });
const cart = (...names) => ({
  redeemables: [{ object: "voucher", id: "TEN" }],
  order: { items: names.map((source_id) => ({ source_id, related_object: "product", quantity: 1 })) },
});
const [total, missing] = [({ order }) => order?.total_amount, (verdict) => verdict.missing];

/** A name of another bucket. */
const other = Array.from({ length: 99 }, (_, at) => `mug${at}`).find((name) => ![bucketOf("shirt"), bucketOf("prod_1")].includes(bucketOf(name)));

/** Serves rules with goods; returns the numbers of the buckets that are requested, with their queries. */
function serveGoods(goods, claims = {}) {
  server.serveRules(core, { goods: { root: goods.root, buckets: BUCKETS }, left_out: [], ...claims });
  const requested = [];
  server.state.goods = (request, response) => {
    const { pathname, searchParams } = new URL(request.url, server.base);
    const number = Number(pathname.split("/").pop());
    const has = searchParams.get("have") === goods.hashes[number];
    requested.push(has ? `path of ${number}` : number);
    response.writeHead(200).end(has ? `{"path":${JSON.stringify(goods.pathOf(number))}}` : answerOf(goods, number));
  };
  return requested;
}

/** Opens a shop with a store, checks a cart, and closes it. */
async function fill(store, ...names) {
  const shop = await open({ store });
  const verdict = await shop.check(cart(...names));
  await settle();
  shop.close();
  return verdict;
}
const nameOf = (store) => [...store.entries.keys()].find((name) => name.endsWith("/goods"));
const goodsOffline = () => {
  server.offline();
  server.state.goods = (request) => request.socket.destroy();
};

check("a shop that starts offline has the goods that it used before", async () => {
  const requested = serveGoods(inBuckets({ products: [shirt] }));
  const store = textStore();
  assert.equal(total(await fill(store, "shirt")), 900);
  assert.deepEqual(requested, [bucketOf("shirt")]);
  goodsOffline();
  const shop = await open({ store });
  assert.equal(total(await shop.check(cart("shirt"))), 900);
  assert.deepEqual(missing(await shop.check(cart(other))), [`product/${other}`], "others are unknown");
});

check("a stored bucket is not requested again, and that of a former root only by its path", async () => {
  const store = textStore();
  serveGoods(inBuckets({ products: [shirt] }));
  await fill(store, "shirt");
  const again = serveGoods(inBuckets({ products: [shirt] }));
  assert.equal(total(await fill(store, "shirt")), 900);
  assert.deepEqual(again, []);
  const changed = inBuckets({ products: [shirt, { id: other, price: 5 }] });
  const paths = serveGoods(changed, { rev: 3_000 });
  const shop = await open({ store });
  await shop.refresh();
  assert.equal(total(await shop.check(cart("shirt"))), 900);
  assert.deepEqual(paths, [`path of ${bucketOf("shirt")}`]);
  await settle();
  shop.close();
  goodsOffline();
  const offline = await open({ store });
  assert.equal(total(await offline.check(cart("shirt"))), 900);
});

/** What may be in a store in place of the goods. */
const BAD_RECORDS = {
  "nothing": () => undefined,
  "a text": () => "goods",
  "entries that are none": () => [null, 5, {}, { number: 1 }, { number: 1, answer: 5 }],
  "another price": (record) => record.map(({ number, answer }) => ({ number, answer: answer.replace("1000", "1001") })),
  "a cut bucket": (record) => record.map(({ number, answer }) => ({ number, answer: answer.slice(0, -9) })),
  "a path alone": (record) => record.map(({ number, answer }) => ({ number, answer: `${answer.slice(0, answer.indexOf(',"goods"'))}}` })),
  "another path": (record) => record.map(({ number, answer }) => ({ number, answer: answer.replace(/[0-9a-f]{64}/, "0".repeat(64)) })),
  "another number": (record) => record.map(({ number, answer }) => ({ number: (number + 1) % BUCKETS, answer })),
};
for (const [name, change] of Object.entries(BAD_RECORDS)) {
  check(`a store with ${name} in place of the goods: they are unknown offline, and fetched and stored again`, async () => {
    const store = textStore();
    serveGoods(inBuckets({ products: [shirt] }));
    await fill(store, "shirt");
    const right = store.entries.get(nameOf(store));
    const wrong = change(JSON.parse(right));
    if (wrong === undefined) store.entries.delete(nameOf(store));
    else store.entries.set(`${[...store.entries.keys()][0].replace(/[^/]*$/, "")}goods`, JSON.stringify(wrong));
    goodsOffline();
    const offline = await open({ store });
    assert.deepEqual(missing(await offline.check(cart("shirt"))), ["product/shirt"]);
    offline.close();
    serveGoods(inBuckets({ products: [shirt] }));
    assert.equal(total(await fill(store, "shirt")), 900);
    const entries = JSON.parse(store.entries.get(nameOf(store)));
    assert.deepEqual(entries.filter(({ number }) => number === bucketOf("shirt")), JSON.parse(right));
  });
}

check("a store has the buckets that requests needed last, of at most a million characters", async () => {
  const long = (source_id) => ({ id: `prod_${source_id}`, source_id, name: source_id.padEnd(400_000, "."), price: 1_000 });
  const names = Array.from({ length: 99 }, (_, at) => `long${at}`);
  const three = names.filter((name, at) => names.findIndex((other) => bucketOf(other) === bucketOf(name)) === at).slice(0, 3);
  // Found by `source_id`, each is in the bucket of that name alone.
  const goods = inBuckets({ products: three.map((name) => ({ ...long(name), id: undefined })) });
  serveGoods(goods);
  const store = textStore();
  const shop = await open({ store });
  for (const name of three) await shop.check(cart(name));
  await settle();
  assert.deepEqual(JSON.parse(store.entries.get(nameOf(store))).map(({ number }) => number), three.slice(1).map((name) => bucketOf(name)));
  assert.ok(store.entries.get(nameOf(store)).length < 1_200_000);
});

check("of the buckets that a store has no room for, those stay out that were not needed for the longest time, and one that is too large alone", async () => {
  const sizes = { long: 400_000, huge: 1_000_001 };
  const names = Array.from({ length: 99 }, (_, at) => `long${at}`);
  const [one, two, three, huge] = names.filter((name, at) => names.findIndex((other) => bucketOf(other) === bucketOf(name)) === at);
  const product = (source_id) => ({ source_id, name: "".padEnd(source_id === huge ? sizes.huge : sizes.long, "."), price: 1_000 });
  serveGoods(inBuckets({ products: [one, two, three, huge].map(product) }));
  const store = textStore();
  const shop = await open({ store });
  const stored = () => JSON.parse(store.entries.get(nameOf(store))).map(({ number }) => number);
  for (const name of [one, two, one, three]) await shop.check(cart(name));
  await settle();
  assert.deepEqual(stored(), [one, three].map((name) => bucketOf(name)));
  await shop.check(cart(huge));
  await settle();
  assert.deepEqual(stored(), [one, three].map((name) => bucketOf(name)));
});

/** Products in buckets of their own, of a tree with more buckets than a store has room for. */
function inManyBuckets(count, buckets = 256) {
  const names = Array.from({ length: 9_999 }, (_, at) => `cup${at}`);
  const own = new Map(names.map((name) => [bucketOf(name, buckets), name]).toReversed());
  const chosen = [...own.values()].toReversed().slice(0, count);
  const goods = inBuckets({ products: chosen.map((source_id) => ({ source_id, price: 1_000 })), buckets });
  return { names: chosen, claims: { goods: { root: goods.root, buckets } }, goods, numberOf: (name) => bucketOf(name, buckets) };
}
const stored = (store) => JSON.parse(store.entries.get(nameOf(store))).map(({ number }) => number);
const mug = { source_id: other, price: 500 };

check("two shops on one store: each keeps the goods that the other stored", async () => {
  serveGoods(inBuckets({ products: [shirt, mug] }));
  const store = textStore();
  const [first, second] = [await open({ store }), await open({ store })];
  for (const [shop, name] of [[first, "shirt"], [second, other]]) await shop.check(cart(name));
  await settle();
  assert.deepEqual(stored(store), [bucketOf("shirt"), bucketOf(other)]);
  goodsOffline();
  const offline = await open({ store });
  assert.equal(total(await offline.check(cart("shirt", other))), 1_400);
});

check("the goods of two shops stay within the bound: the one that writes keeps its own, and the other's last ones", async () => {
  const { names, goods, claims, numberOf } = inManyBuckets(80);
  serveGoods(goods, claims);
  const store = textStore();
  const [first, second] = [await open({ store }), await open({ store })];
  // One after the other, so that the order in which they were needed is known.
  for (const name of names.slice(0, 40)) await first.check(cart(name));
  await settle();
  for (const name of names.slice(40)) await second.check(cart(name));
  await settle();
  assert.deepEqual(stored(store), names.slice(16).map(numberOf));
});

check("the goods of a former root that another shop stored stay, and those of the present root replace them", async () => {
  serveGoods(inBuckets({ products: [shirt, mug] }));
  const store = textStore();
  await fill(store, "shirt", other);
  const [first, second] = [await open({ store }), await open({ store })];
  const paths = serveGoods(inBuckets({ products: [shirt, { ...mug, price: 600 }] }), { rev: 3_000 });
  for (const [shop, name] of [[first, "shirt"], [second, other]]) {
    await shop.refresh();
    await shop.check(cart(name));
    await settle();
  }
  assert.deepEqual(paths, [`path of ${bucketOf("shirt")}`, bucketOf(other)]);
  goodsOffline();
  const offline = await open({ store });
  assert.equal(total(await offline.check(cart("shirt", other))), 1_500);
});

const anotherTree = inBuckets({ products: [shirt], buckets: 16 });
const FOREIGN = {
  ...BAD_RECORDS,
  "a number that is none": (record) => record.map(({ answer }) => ({ number: "1", answer })),
  "a bucket of another tree": () => [{ number: bucketOf("shirt", 16), answer: answerOf(anotherTree, bucketOf("shirt", 16)) }],
};
// A bucket of another root may look like these: it is proven when it is needed.
const ARE_BUCKETS = ["another price", "another path"];
for (const [name, change] of Object.entries(FOREIGN)) {
  check(`a shop that finds ${name} in the store beside its own goods decides by its own alone`, async () => {
    serveGoods(inBuckets({ products: [shirt, mug] }));
    const store = textStore();
    await fill(store, "shirt");
    const wrong = change(JSON.parse(store.entries.get(nameOf(store))));
    const key = nameOf(store);
    store.entries.delete(key);
    const shop = await open({ store });
    if (wrong !== undefined) store.entries.set(key, JSON.stringify(wrong));
    await shop.check(cart(other));
    await settle();
    assert.deepEqual(stored(store), [...(ARE_BUCKETS.includes(name) ? [bucketOf("shirt")] : []), bucketOf(other)]);
    goodsOffline();
    const offline = await open({ store });
    assert.equal(total(await offline.check(cart(other))), 400);
    assert.deepEqual(missing(await offline.check(cart("shirt"))), ["product/shirt"]);
  });
}
