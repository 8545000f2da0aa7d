// Tests that the entry answers the bundle from KV: soon after a change, without the project's object, while KV fails, and after a sudden death
// at any time of a build.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { builtFolder } from "../../worker/tools/build.mjs";
import { credentials, developmentText } from "../../worker/tools/setup.mjs";
import { waitUntil } from "../wait.mjs";
import { boot, bootChanged, caller, freePort } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("bundle copies");
const TOKEN = "only-for-the-operator";
const HEAD = "/client/v1/bundle";
const { client: key } = credentials;
const client = { "x-client-application-id": key.id, "x-client-token": key.token, origin: "http://localhost:3000" };
let service;
let call;

before(async () => {
  service = await boot({ metricsToken: TOKEN });
  call = caller(service.url);
});
after(() => service?.stop());

const claimsOf = (head) => JSON.parse(Buffer.from(head.split(".")[1], "base64url"));
const fetchHead = (callOther = call, headers = {}) => callOther("GET", HEAD, undefined, { ...client, ...headers });
const product = (callOther, price) => callOther("POST", "/v1/products", { name: "Shirt", source_id: "shirt", price });

/** Requests the head until one fits; returns it with the time that it took. */
async function headWhere(fits, { callOther = call } = {}) {
  const startedAt = performance.now();
  let reply;
  const find = async () => {
    reply = await fetchHead(callOther).catch(() => ({ status: 0 }));
    const ms = performance.now() - startedAt;
    assert.ok([0, 200, 503].includes(reply.status), `${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.status === 200 && (await fits(claimsOf(reply.body))) && { claims: claimsOf(reply.body), ms, reply };
  };
  return waitUntil(find, () => `such a head; the last answer was ${reply.status}`, { pause: 30 });
}

async function coreOf(claims, url = service.url) {
  const reply = await fetch(`${url}${HEAD}/${claims.iss}/${claims.core}`);
  assert.equal(reply.status, 200, `the head ${claims.rev} names ${claims.core}`);
  return reply.json();
}

/** Returns the products of all goods buckets that a head claims, each once; the last page and bucket of each are read like the others. */
async function productsOf({ iss, goods, rev }, url = service.url) {
  const products = new Map();
  await Promise.all(Array.from({ length: goods.buckets }, async (_, number) => {
    const reply = await fetch(`${url}${HEAD}/${iss}/goods/${goods.root}/${number}`);
    assert.equal(reply.status, 200, `the head ${rev} claims the bucket ${number} of ${goods.root}`);
    const { path, goods: bucket } = await reply.json();
    assert.deepEqual([2 ** path.length, bucket.bucket, bucket.buckets], [goods.buckets, number, goods.buckets]);
    for (const product of bucket.products) products.set(product.id, product);
  }));
  return [...products.values()];
}

/** Returns the sum of the samples of a metric of the development project, or of those with a further label. */
async function metric(name, url = service.url, label = "") {
  const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
  const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) && line.includes('project="proj_dev"') && line.includes(label));
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

check("a bundle that was never built is 503 with retry-after, and is there soon after", async () => {
  const first = await fetchHead();
  assert.deepEqual([first.status, first.headers.get("retry-after"), first.body.key], [503, "1", "bundle_not_ready"]);
  assert.equal(first.headers.get("access-control-allow-origin"), client.origin);
  const { claims, reply } = await headWhere(() => true);
  assert.equal(claims.iss, "proj_dev");
  assert.match(reply.headers.get("cache-control"), /private/);
  const wrong = await fetchHead(call, { "x-client-token": "wrong" });
  assert.equal(wrong.status, 401);
  assert.equal((await fetchHead(call, { origin: "https://evil.example" })).status, 403);
  assert.equal((await fetchHead(call, { accept: "image/png" })).status, 406);
  assert.equal((await fetchHead(call, { "x-customer-token": "." })).status, 401, "a token is checked");
});

check("a change is in the head soon, and the head is confirmed until then", async (context) => {
  const took = [];
  for (let price = 100; price < 110; price += 1) {
    const { claims: before, reply } = await headWhere(() => true);
    const etag = reply.headers.get("etag");
    assert.equal((await fetchHead(call, { "if-none-match": `W/${etag}` })).status, 304);
    await sleep(1_500);
    assert.equal((await product(call, price)).status, 200);
    const { claims, ms } = await headWhere(({ rev }) => rev > before.rev);
    took.push(Math.round(ms));
    await coreOf(claims);
    assert.equal((await productsOf(claims))[0].price, price);
  }
  context.diagnostic(`in the head after ${took.sort((a, b) => a - b).join(", ")} ms`);
});

check("heads, cores and goods call no object of the project", async () => {
  const { claims } = await headWhere(() => true);
  const before = await metric("scrip_decide_seconds_count");
  for (let round = 0; round < 50; round += 1) {
    assert.equal((await fetchHead()).status, 200);
    await coreOf(claims);
    await productsOf(claims);
    for (const path of [HEAD, `${HEAD}/${claims.iss}/${claims.core}`, `${HEAD}/${claims.iss}/goods/${claims.goods.root}/0`]) {
      const reply = await call("HEAD", path, undefined, client);
      assert.deepEqual([reply.status, reply.body], [200, undefined], path);
    }
    const { headers } = await fetchHead();
    assert.equal((await fetchHead(call, { "if-none-match": headers.get("etag") })).status, 304);
    if (round % 10 === 0) await sleep(1_100);
  }
  assert.equal((await metric("scrip_decide_seconds_count")) - before, 0);
  // Only the object can check the token of a customer. It builds nothing then.
  const builds = await metric("scrip_bundle_build_seconds_count");
  const { body: token } = await call("POST", "/v1/customer-tokens", { customer: { source_id: "anna" } });
  const plain = await fetchHead();
  for (const method of ["GET", "HEAD"]) {
    const proven = await call(method, HEAD, undefined, { ...client, "x-customer-token": token.token });
    assert.deepEqual([proven.status, proven.headers.get("etag")], [200, plain.headers.get("etag")], method);
  }
  assert.equal(await metric("scrip_bundle_build_seconds_count"), builds);
  assert.equal((await fetch(`${service.url}${HEAD}/proj_dev/${"0".repeat(64)}`)).status, 404);
  assert.ok((await metric("scrip_bundle_builds_total")) >= 1);
  assert.ok((await metric("scrip_bundle_build_seconds_count")) >= 1);
  assert.ok((await metric("scrip_bundle_age_seconds")) < 600);
});

check("a metric counts no failed build, and ten thousand product writes make few heads", async (context) => {
  const [builds, before] = [await metric("scrip_bundle_build_seconds_count"), (await headWhere(() => true)).claims];
  const took = [];
  const writer = async (first) => {
    for (let at = 0; at < 500; at += 1) {
      const reply = await call("POST", "/v1/products", { name: "P", source_id: `p${(first + at) % 900}`, price: first + at });
      assert.equal(reply.status, 200, JSON.stringify(reply.body));
      took.push(reply.ms);
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_, at) => writer(at * 500)));
  await headWhere(({ rev }) => rev > before.rev);
  await sleep(3_000);
  const heads = (await metric("scrip_bundle_build_seconds_count")) - builds;
  assert.ok(heads >= 1 && heads <= 1_000, `${heads} heads`);
  took.sort((a, b) => a - b);
  context.diagnostic(`${heads} heads; the slowest of ${took.length} writes took ${Math.round(took.at(-1))} ms, half of them at most ${Math.round(took[took.length / 2])}`);
}, { timeout: 300_000 });

check("after kill -9 at any time of a build the head names a stored core, and the last change arrives", async (context) => {
  let unseen = 0;
  for (let round = 0; round < 20; round += 1) {
    const price = 10_000 + round;
    const { claims: before } = await headWhere(() => true);
    assert.equal((await product(call, price)).status, 200);
    await sleep(Math.random() * 400);
    await service.kill9();
    await service.restart();
    const reply = await fetchHead();
    assert.equal(reply.status, 200, "the former head stays");
    const claims = claimsOf(reply.body);
    if (claims.rev === before.rev) unseen += 1;
    assert.ok(claims.rev >= before.rev);
    const counted = await metric("scrip_decide_seconds_count");
    await coreOf(claims);
    if (claims.goods) await productsOf(claims);
    assert.equal(await metric("scrip_decide_seconds_count"), counted, "KV has the core and the goods itself");
    await headWhere(async (found) => found.goods && (await productsOf(found)).some((one) => one.source_id === "shirt" && one.price === price));
  }
  context.diagnostic(`${unseen} of 20 builds had not reached KV`);
}, { timeout: 400_000 });

check("a deleted key, another setting: heads follow what the entry knows", async () => {
  const { claims: before } = await headWhere(() => true);
  const path = "/management/v1/projects/proj_dev/bundle-keys";
  const [{ kid }] = (await call("GET", path)).body.data.filter(({ status }) => status === "SIGNING");
  assert.equal((await call("POST", `${path}/${kid}/retire`)).status, 200);
  const { claims } = await headWhere(({ epoch }) => epoch > before.epoch);
  await coreOf(claims);
});

// The time for which a late call is under way: longer than the object waits, with its pause after that.
const LATE_MS = 16_000;
// A proxy of the KV service that fails, waits, repeats an old head or delays the writing of one as a test configures it.
const AILING = `import kv, { Pairs } from "./kv.mjs";
export { Pairs };
let mode = "well";
let old;
// Slow readings and late writings of a head.
const counts = { slow: { begun: 0, ended: 0 }, late: { begun: 0, ended: 0 } };
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/ailing-mode") {
      mode = searchParams.get("is");
      return new Response(mode);
    }
    if (pathname === "/ailing-counts") return Response.json(counts);
    const isHead = decodeURIComponent(pathname).startsWith("/bundle-head:");
    if (isHead && mode === "failing") return new Response("failing", { status: 500 });
    if (isHead && mode === "slow" && request.method === "GET") {
      counts.slow.begun += 1;
      await new Promise((done) => setTimeout(done, 60_000));
      counts.slow.ended += 1;
    }
    if (isHead && mode === "late" && request.method === "PUT") {
      const { method, body, url } = request;
      const late = new Request(url, { method, body: await new Response(body).arrayBuffer() });
      counts.late.begun += 1;
      await new Promise((done) => setTimeout(done, ${LATE_MS}));
      const reply = await kv.fetch(late, env);
      counts.late.ended += 1;
      return reply;
    }
    if (isHead && mode === "old" && request.method === "GET") return new Response(old);
    const reply = await kv.fetch(request, env);
    if (isHead && mode === "well" && request.method === "GET" && reply.ok) old = await reply.clone().text();
    return reply;
  },
};`;

check("KV that fails, is slow, late or has an older head: memory answers, and what could not be written is written later", async () => {
  const folder = await mkdtemp(join(tmpdir(), "scrip-ailing-"));
  const port = await freePort();
  await writeFile(join(folder, "ailing.mjs"), AILING);
  const change = (config) => config
    .replace('(name = "kv.mjs", esModule = embed "modules/kv.mjs")',
      `(name = "ailing.mjs", esModule = embed "${relative(builtFolder(true), join(folder, "ailing.mjs"))}"), (name = "kv.mjs", esModule = embed "modules/kv.mjs")`)
    .replace('sockets = [', `sockets = [(name = "ailing", address = "127.0.0.1:${port}", http = (), service = "kv"), `);
  const other = await bootChanged(folder, change, { SCRIP_SETUP: developmentText(), SCRIP_METRICS_TOKEN: TOKEN });
  try {
    const callOther = caller(other.url);
    const set = (mode) => fetch(`http://127.0.0.1:${port}/ailing-mode?is=${mode}`);
    const counts = async () => (await fetch(`http://127.0.0.1:${port}/ailing-counts`)).json();
    await set("failing");
    const first = await fetchHead(callOther);
    assert.deepEqual([first.status, first.headers.get("retry-after")], [503, "1"], "nothing in memory, and KV fails");
    await set("well");
    const { claims: known } = await headWhere(() => true, { callOther });
    await set("failing");
    await product(callOther, 1);
    await sleep(2_500);
    const kept = await fetchHead(callOther);
    assert.deepEqual([kept.status, claimsOf(kept.body).rev], [200, known.rev], "memory answers");
    const counted = (result) => metric("scrip_bundle_builds_total", other.url, `result="${result}"`);
    await waitUntil(async () => (await counted("built")) >= 2, "it is built all the same");
    const failedCopies = await counted("copy_failed");
    await waitUntil(async () => (await counted("copy_failed")) > failedCopies, "a copy that fails is counted, and repeated");
    assert.equal(await counted("failed"), 0);
    await set("well");
    const { claims: next } = await headWhere(({ rev }) => rev > known.rev, { callOther });
    assert.equal((await productsOf(next, other.url))[0].price, 1);
    await set("slow");
    await sleep(1_100);
    const slow = await fetchHead(callOther);
    assert.equal(slow.status, 200);
    const reading = (await counts()).slow;
    assert.ok(reading.begun > reading.ended, "the answer comes before that of KV");
    // The copy that KV repeats from now on is the one of now.
    await set("well");
    await sleep(1_100);
    await fetchHead(callOther);
    await product(callOther, 2);
    const { claims: last } = await headWhere(({ rev }) => rev > next.rev, { callOther });
    await set("old");
    await sleep(1_500);
    assert.equal(claimsOf((await fetchHead(callOther)).body).rev, last.rev, "an older head in KV does not win");
    await set("late");
    await product(callOther, 3);
    await waitUntil(async () => (await counts()).late.begun > 0, "a head is being written late");
    await set("well");
    await product(callOther, 4);
    const { claims: newest } = await headWhere(async (found) => found.goods && (await productsOf(found, other.url))[0].price === 4, { callOther });
    const headInKv = async () => (await (await fetch(`http://127.0.0.1:${port}/${encodeURIComponent("bundle-head:proj_dev")}`)).json()).rev;
    await waitUntil(async () => (await counts()).late.ended > 0, "the late call ends");
    await waitUntil(async () => (await headInKv()) === newest.rev, "the newest head is written again");
    const failing = await callOther("POST", "/test-hooks/fill", { kind: "failing_build", count: 1, body: {} });
    assert.equal(failing.status, 200, JSON.stringify(failing.body));
    const built = await counted("built");
    await product(callOther, 5);
    await waitUntil(async () => (await counted("failed")) > 0, "a build that fails is counted");
    assert.equal(await counted("built"), built);
    assert.equal(claimsOf((await fetchHead(callOther)).body).rev, newest.rev, "the former head stays");
    assert.match(other.output(), /"alarm_failed".*the build of the bundle fails/);
  } finally {
    await other.stop();
    await rm(folder, { recursive: true, force: true });
  }
}, { timeout: 400_000 });
