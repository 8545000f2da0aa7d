// Tests that the package fetches the goods of a request in buckets, and every bucket that it refuses, against a server that can answer wrongly.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { keyPair, rules, startServer } from "./bundle_server.mjs";
import { BUCKETS, answerOf, bucketOf, inBuckets } from "./goods_fixtures.mjs";
import "../../pkg/node.js";
import * as pieces from "../../pkg/service.js";

const key = { id: "app", token: "secret" };
const pair = keyPair();
const core = rules({
  whole_catalogue: undefined, named_goods: [],
  promotion_tiers: [{ id: "promo_1", name: "one", action: { discount: { type: "PERCENT", percent_off: 10 } }, active: true, object: "promotion_tier" }],
});

let server;
before(async () => {
  server = await startServer();
});
after(() => server.close());

/** Returns a name that begins so, of another bucket than these names. */
const away = (prefix, ...names) => Array.from({ length: 99 }, (_, at) => `${prefix}${at}`).find((name) => !names.map((name) => bucketOf(name)).includes(bucketOf(name)));

/** Serves the core with goods; `instead` may answer a request for a bucket in another way. */
function serve(goods, { rev = 2_000, instead = () => undefined } = {}) {
  server.serve(pair, core, { goods: { root: goods.root, buckets: goods.texts.length }, left_out: [], rev });
  server.state.goods = (request, response) => {
    const { pathname, searchParams } = new URL(request.url, server.base);
    const [root, number] = pathname.split("/").slice(-2);
    if (root !== goods.root) return response.writeHead(404).end("{}");
    const bucket = Number(number);
    const known = searchParams.get("have") === goods.hashes[bucket];
    response.writeHead(200).end(instead(bucket) ?? (known ? `{"path":${JSON.stringify(goods.pathOf(bucket))}}` : answerOf(goods, bucket)));
  };
}

const shirt = { id: "prod_1", source_id: "shirt", name: "Shirt", price: 1_000 };
const blue = { id: "sku_1", source_id: "blue", sku: "Blue", product_id: "prod_1", price: 1_200 };
const request = (...items) => ({ redeemables: [{ object: "promotion_tier", id: "promo_1" }], order: { items } });
const bySource = (source_id, related_object = "product") => ({ source_id, related_object, quantity: 1 });
const decide = (bundle, requested) => {
  const { missing, order } = bundle.prepared.validateObject(requested);
  return missing ?? order.total_amount;
};
const requestedBuckets = () => server.paths().filter((url) => url.includes("/goods/")).map((url) => url.replace(/.*\/goods\/[0-9a-f]{64}\//, ""));

test("goods are unknown before they are fetched, and known or known to be absent after it", async () => {
  serve(inBuckets({ products: [shirt], skus: [blue] }));
  const bundle = await pieces.fetchBundle(server.base, key);
  server.paths();
  const unlisted = away("unlisted", "prod_1", "shirt");
  assert.notEqual(bucketOf("prod_1"), bucketOf("shirt"), "they are in two buckets");
  for (const [requested, missing, total] of [
    [request({ product_id: "prod_1", quantity: 2 }), ["product/prod_1"], 1_800],
    // It is there by its id, and the bucket of the other name may have another one.
    [request(bySource("shirt")), ["product/shirt"], 900],
    [request({ ...bySource(unlisted), price: 50 }), [`product/${unlisted}`], 45],
  ]) {
    assert.deepEqual(decide(bundle, requested), missing);
    await pieces.fetchGoods(bundle, requested);
    assert.deepEqual(decide(bundle, requested), total);
  }
  assert.deepEqual(requestedBuckets().map(Number), ["prod_1", "shirt", unlisted].map((name) => bucketOf(name)));
  await pieces.fetchGoods(bundle, JSON.stringify(request(bySource("shirt"))));
  await pieces.fetchGoods(bundle, { redeemables: "wrong" });
  assert.deepEqual(requestedBuckets(), [], "they are there");
});

test("a SKU brings the bucket of its product", async () => {
  serve(inBuckets({ products: [shirt], skus: [blue] }));
  const bundle = await pieces.fetchBundle(server.base, key);
  const requested = request(bySource("blue", "sku"));
  await pieces.fetchGoods(bundle, new TextEncoder().encode(JSON.stringify(requested)));
  const { order, missing } = bundle.prepared.validateObject(requested);
  assert.deepEqual([missing, order.total_amount, order.items[0].product.name], [undefined, 1_080, "Shirt"]);
});

test("the ids of a request for prices bring their buckets, more of them than an order may have lines", async () => {
  serve(inBuckets({ products: [shirt], skus: [blue] }));
  const bundle = await pieces.fetchBundle(server.base, key);
  const ids = ["shirt", "blue", ...Array.from({ length: 600 }, (_, at) => `unlisted${at}`)];
  const requested = JSON.stringify({ ids });
  const priceOf = (id) => {
    const { discounted_price, missing, error } = JSON.parse(bundle.prepared.prices(requested)).prices[ids.indexOf(id)];
    return missing?.filter((fact) => fact !== "candidates").join() || (error?.key ?? discounted_price);
  };
  assert.deepEqual(["shirt", "blue", "unlisted5"].map(priceOf), ["product/shirt,sku/shirt", "product/blue,sku/blue", "product/unlisted5,sku/unlisted5"]);
  await pieces.fetchGoods(bundle, requested);
  assert.deepEqual(["shirt", "blue", "unlisted5"].map(priceOf), [900, 1_080, "not_found"]);
});

test("at most six buckets are requested at a time, and one that fails ends all", async () => {
  const goods = inBuckets({});
  serve(goods);
  const bundle = await pieces.fetchBundle(server.base, key);
  const answer = server.state.goods;
  let [open, most] = [0, 0];
  server.state.goods = (asked, response) => {
    most = Math.max(most, open += 1);
    setTimeout(() => {
      open -= 1;
      answer(asked, response);
    }, 20);
  };
  server.paths();
  const requested = JSON.stringify({ ids: Array.from({ length: 100 }, (_, at) => `unlisted${at}`) });
  await pieces.fetchGoods(bundle, requested);
  assert.deepEqual([most, requestedBuckets().length], [6, BUCKETS]);
  serve(goods, { rev: 2_001, instead: () => "{}" });
  const second = await pieces.fetchBundle(server.base, key);
  server.paths();
  await assert.rejects(pieces.fetchGoods(second, requested), { code: "damaged" });
  await new Promise((done) => setTimeout(done, 50));
  assert.ok(requestedBuckets().length < BUCKETS, "none is requested after the failure");
});

test("a bucket that has not changed is not sent again for another root", async () => {
  const mug = { id: away("prod_2", "shirt"), source_id: away("mug", "shirt"), price: 500 };
  serve(inBuckets({ products: [shirt, mug] }));
  const first = await pieces.fetchBundle(server.base, key);
  await pieces.fetchGoods(first, request(bySource("shirt"), bySource(mug.source_id)));
  server.paths();
  const changed = inBuckets({ products: [shirt, { ...mug, price: 700 }] });
  serve(changed, { rev: 2_001 });
  const second = await pieces.fetchBundle(server.base, key, first);
  const requested = request(bySource("shirt"), bySource(mug.source_id));
  assert.deepEqual(decide(second, requested).sort(), [`product/${mug.source_id}`, "product/shirt"], "what was proven for another root counts for none");
  const sizes = [];
  const answer = server.state.goods;
  server.state.goods = (one, response) => {
    const end = response.end.bind(response);
    response.end = (text) => (sizes.push(text.length), end(text));
    answer(one, response);
  };
  await pieces.fetchGoods(second, requested);
  assert.equal(decide(second, requested), 1_530);
  assert.ok(requestedBuckets().every((url) => url.includes("?have=")));
  assert.equal(sizes.filter((size) => size < 260).length, 1, `${sizes}`);
  assert.equal(decide(first, requested), 1_350, "the former rules stay as they were");
});

// A name of each of 512 buckets.
const unlisted = new Map(Array.from({ length: 9_000 }, (_, at) => [bucketOf(`unlisted${at}`, 512), `unlisted${at}`]));

/** Returns a request for prices of names in so many buckets from one on. */
const listing = (from, count) => JSON.stringify({ ids: Array.from({ length: count }, (_, at) => unlisted.get(from + at)) });

test("a request with more buckets than a page keeps is complete after some calls of a slow service", async () => {
  serve(inBuckets({ buckets: 512 }));
  const bundle = await pieces.fetchBundle(server.base, key);
  const answer = server.state.goods;
  let [answered, all] = [0, 0];
  server.state.goods = (asked, response) => {
    if (answered === 150) return response.writeHead(503).end("{}");
    [answered, all] = [answered + 1, all + 1];
    answer(asked, response);
  };
  // Others that were fetched before make no difference.
  await pieces.fetchGoods(bundle, listing(400, 100));
  const requested = listing(0, 400);
  let calls = 0;
  for (let failed = true; failed && calls < 8; calls += 1) {
    answered = 0;
    failed = await pieces.fetchGoods(bundle, requested).then(() => false, (problem) => problem.status === 503 || Promise.reject(problem));
  }
  assert.equal(calls, 3);
  // Those on their way at a failure are requested again.
  assert.ok(all <= 100 + 400 + 2 * 6, `${all} answers`);
  assert.ok(JSON.parse(bundle.prepared.prices(requested)).prices.every(({ error }) => error?.key === "not_found"));
});

test("of former roots, no more buckets stay than of a present one", async () => {
  let bundle;
  for (const [rev, price] of [[2_000, 1], [2_001, 2], [2_002, 3]]) {
    serve(inBuckets({ products: [{ ...shirt, price }], buckets: 512 }), { rev });
    bundle = await pieces.fetchBundle(server.base, key, bundle);
    if (rev === 2_002) break;
    for (const from of rev === 2_000 ? [0, 100] : [200, 300]) await pieces.fetchGoods(bundle, listing(from, 100));
  }
  server.paths();
  await pieces.fetchGoods(bundle, listing(0, 400));
  assert.equal(requestedBuckets().filter((url) => url.includes("?have=")).length, 200);
});

const right = inBuckets({ products: [shirt] });
const other = inBuckets({ products: [{ ...shirt, price: 1 }] });
const number = bucketOf("shirt");
const misnumbered = inBuckets({ products: [shirt], numbered: () => ({ bucket: (number + 1) % BUCKETS, buckets: BUCKETS }) });
const miscounted = inBuckets({ products: [shirt], numbered: (bucket) => ({ bucket, buckets: 16 }) });
const path = (change) => `{"path":${JSON.stringify(change(right.pathOf(number)))},"goods":${right.texts[number]}}`;
const BAD = {
  "a bucket of another root with its path": ["wrong_goods", right, () => answerOf(other, number)],
  "another bucket with its path": ["wrong_goods", right, () => answerOf(right, number ^ 1)],
  "a changed digit": ["wrong_goods", right, () => answerOf(right, number).replace("1000", "1001")],
  "a path in another order": ["wrong_goods", right, () => path((hashes) => [...hashes].reverse())],
  "a proven bucket that says another number": ["wrong_goods", misnumbered, () => undefined],
  "a proven bucket of another number of buckets": ["wrong_goods", miscounted, () => undefined],
  "a path that is too short": ["damaged", right, () => path((hashes) => hashes.slice(1))],
  "a path that is too long": ["damaged", right, () => path((hashes) => [...hashes, hashes[0]])],
  "a path of other texts": ["damaged", right, () => path((hashes) => hashes.map(() => "x"))],
  "no path": ["damaged", right, () => `{"goods":${right.texts[number]}}`],
  "no bucket": ["damaged", right, () => `{"path":${JSON.stringify(right.pathOf(number))}}`],
  "spaces around the bucket": ["wrong_goods", right, () => answerOf(right, number, ` ${right.texts[number]}`)],
  "a cut answer": ["damaged", right, () => answerOf(right, number).slice(0, -9)],
  "no JSON": ["damaged", right, () => "none"],
  "an answer that is too large": ["damaged", right, () => answerOf(right, number) + " ".repeat(5_000_000)],
};
for (const [name, [code, goods, instead]] of Object.entries(BAD)) {
  test(`refuses ${name}`, async () => {
    serve(goods, { instead });
    const bundle = await pieces.fetchBundle(server.base, key);
    const requested = request(bySource("shirt"));
    await assert.rejects(pieces.fetchGoods(bundle, requested), (error) => error.code === code, code);
    assert.deepEqual(decide(bundle, requested), ["product/shirt"]);
    serve(right);
    if (goods === right) {
      await pieces.fetchGoods(bundle, requested);
      assert.equal(decide(bundle, requested), 900, "a right answer counts later");
    }
  });
}

test("a head with impossible goods is refused, and one without goods has none to fetch", async () => {
  for (const goods of [null, {}, { root: "x", buckets: 8 }, { root: "0".repeat(64), buckets: 3 }, { root: "0".repeat(64), buckets: 0 }, { root: "0".repeat(64), buckets: 2 ** 21 }]) {
    server.serve(pair, core, { goods });
    await assert.rejects(pieces.fetchBundle(server.base, key), (error) => error.code === "damaged", JSON.stringify(goods));
  }
  server.serve(pair, core, { left_out: ["goods"] });
  const bundle = await pieces.fetchBundle(server.base, key);
  assert.equal(bundle.hasGoods, false);
  await pieces.fetchGoods(bundle, request(bySource("shirt")));
  assert.deepEqual(decide(bundle, request(bySource("shirt"))), ["product/shirt"]);
});

test("a root that the service does not have any more is an error with its status, and the caller's signal ends a fetch", async () => {
  serve(right);
  const bundle = await pieces.fetchBundle(server.base, key);
  serve(other);
  await assert.rejects(pieces.fetchGoods(bundle, request(bySource("shirt"))), (error) => error.status === 404);
  serve(right);
  await assert.rejects(pieces.fetchGoods(bundle, request(bySource("shirt")), { signal: AbortSignal.abort(new Error("over")) }), /over/);
  bundle.prepared.free();
  await assert.rejects(pieces.fetchGoods(bundle, request(bySource("shirt"))), /freed/);
});
