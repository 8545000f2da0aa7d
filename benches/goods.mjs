// Measures the goods of a large catalogue on plain workerd: the first build, the change of one price, and what a client fetches. Everything
// is on 127.0.0.1 and ends by itself.
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "../tests/workerd/harness.mjs";
import { credentials, serverHeaders } from "../worker/tools/setup.mjs";
import { median } from "./contender.mjs";
import { fetchAndCount } from "./fetch.mjs";

const HEAD = "/client/v1/bundle";
const PRODUCTS = Number(process.env.BENCH_GOODS ?? 100_000);
const FILE_ROWS = 20_000;
const PRICES = 5;
const CARTS = [10, 30];
// Each poll of a head that is not there yet is a request of the object, which its jobs give way to.
const POLL_MS = 250;
const TOKEN = "only-for-the-bench";
const { client: key } = credentials;
const client = { "x-client-application-id": key.id, "x-client-token": key.token, origin: "http://localhost:3000" };

export async function measureGoods() {
  const service = await boot({ testHooks: false, metricsToken: TOKEN });
  try {
    const call = caller(service.url);
    const filled = await seconds(() => fill(service.url, call));
    // The first call for the head has the goods built.
    const first = await seconds(() => headWhere(call, ({ goods }) => goods));
    const ofFirst = await builds(service.url);
    const prices = await changePrices(service.url, call);
    const { goods } = await headWhere(call, () => true);
    const carts = [];
    for (const lines of CARTS) carts.push({ lines, brotli: await fetchedBytes(service.url, lines) });
    return {
      products: PRODUCTS, buckets: goods.buckets, filled_s: filled, first_s: first, first_object_s: ofFirst.sum, slices: ofFirst.count,
      slice_bounds: ofFirst.bounds, slice_below_ms: ofFirst.below_ms, prices, carts,
    };
  } finally {
    await service.stop();
  }
}

async function seconds(what) {
  const startedAt = performance.now();
  await what();
  return (performance.now() - startedAt) / 1_000;
}

/** Imports the products, and a SKU of each. */
async function fill(url, call) {
  for (let from = 0; from < PRODUCTS; from += FILE_ROWS) {
    const numbers = Array.from({ length: Math.min(FILE_ROWS, PRODUCTS - from) }, (_, place) => from + place);
    const rows = (head, row) => [head, ...numbers.map(row)].join("\n");
    await imported(url, call, "/v1/products/importCSV", rows("name,source_id,price,Brand", (n) => `Product number ${n},product-${n},${1 + (n % 900)},Loom`));
    await imported(url, call, "/v1/skus/importCSV", rows("product_id,sku,source_id,price", (n) => `product-${n},Size L of ${n},sku-${n},${2 + (n % 900)}`));
  }
}

async function imported(url, call, path, rows) {
  const body = new FormData();
  body.append("file", new Blob([rows]), "rows.csv");
  const { "content-type": _, ...keys } = serverHeaders;
  const reply = await fetch(`${url}${path}`, { method: "POST", headers: keys, body });
  const { async_action_id: id, ...refused } = await reply.json();
  if (!id) throw new Error(`${path} answered ${reply.status} ${JSON.stringify(refused)}`);
  for (;;) {
    const { body: action } = await call("GET", `/v1/async-actions/${id}`);
    if (action.status === "FAILED" || action.result?.failed_count > 0) throw new Error(`${path}: ${JSON.stringify(action.result).slice(0, 300)}`);
    if (action.status === "DONE") return;
    await sleep(100);
  }
}

async function headWhere(call, fits) {
  for (;;) {
    const { status, body } = await call("GET", HEAD, undefined, client);
    const claims = status === 200 && JSON.parse(Buffer.from(body.split(".")[1], "base64url"));
    if (claims && fits(claims)) return claims;
    await sleep(POLL_MS);
  }
}

/** Changes prices one after another; returns the object's time for each build in milliseconds, and the time until the head had it. */
async function changePrices(url, call) {
  const [object, head] = [[], []];
  for (let n = 0; n < PRICES; n += 1) {
    const { goods } = await headWhere(call, () => true);
    // A change soon after a build waits until a second passes without one.
    await sleep(3_000);
    const before = await builds(url);
    const { status } = await call("PUT", `/v1/products/product-${500 + n}`, { price: 77 + n });
    if (status !== 200) throw new Error(`a price answered ${status}`);
    const startedAt = performance.now();
    await headWhere(call, (claims) => claims.goods && claims.goods.root !== goods.root);
    head.push(performance.now() - startedAt);
    object.push(1_000 * ((await builds(url)).sum - before.sum));
  }
  return { object_ms: median(object), head_ms: median(head) };
}

/** Returns the slices of builds in the object so far: their number, their seconds, their counts by duration, and a bound of the longest. */
async function builds(url) {
  const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
  const lines = text.split("\n").filter((line) => line.startsWith("scrip_bundle_slice_seconds_"));
  const sum = (name) => lines.filter((line) => line.startsWith(`scrip_bundle_slice_seconds_${name}{`))
    .reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
  const bounds = lines.filter((line) => line.includes("_bucket{")).map((line) => [line.match(/le="([^"]*)"/)[1], Number(line.split(" ").at(-1))]);
  const below = bounds.filter(([bound, count]) => bound !== "+Inf" && count === sum("count")).map(([bound]) => 1_000 * Number(bound));
  return { sum: sum("sum"), count: sum("count"), bounds: Object.fromEntries(bounds), below_ms: Math.min(...below) };
}

/** Returns the compressed bytes that a new client fetches for a cart of random products and SKUs: head, core and goods buckets. */
async function fetchedBytes(url, lines) {
  const items = Array.from({ length: lines }, (_, line) => {
    const number = Math.floor(Math.random() * PRODUCTS);
    const [source_id, related_object] = line % 2 === 0 ? [`product-${number}`, "product"] : [`sku-${number}`, "sku"];
    return { source_id, related_object, quantity: 1 };
  });
  const fetched = await fetchAndCount(url, (shop) => shop.qualify({ scenario: "ALL", order: { items } }));
  return fetched.whole;
}
