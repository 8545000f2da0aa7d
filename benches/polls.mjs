// Measures the bundle on plain workerd: whether polls of the head delay validations, how soon a change is in the head, and how long a build
// keeps the object. Everything is on 127.0.0.1 and ends by itself.
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "../tests/workerd/harness.mjs";
import { credentials } from "../worker/tools/setup.mjs";
import { median } from "./contender.mjs";

const HEAD = "/client/v1/bundle";
const POLLS = [0, 5, 50];
const ROUND_MS = 3_000;
const CHANGES = 10;
const PRODUCTS = 1_500;
const CAMPAIGNS = 300;
const TOKEN = "only-for-the-bench";
const { client: key } = credentials;
const client = { "x-client-application-id": key.id, "x-client-token": key.token, origin: "http://localhost:3000" };

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

export async function measurePolls({ rounds }) {
  const service = await boot({ testHooks: false, metricsToken: TOKEN });
  try {
    const call = caller(service.url);
    await fill(call);
    const results = new Map(POLLS.map((polls) => [polls, []]));
    await headWhere(call, () => true);
    await validations(call, 0);
    for (let round = 0; round < rounds; round += 1) {
      for (const polls of [...POLLS].sort(() => Math.random() - 0.5)) results.get(polls).push(await validations(call, polls));
      console.log(`polls, round ${round + 1} of ${rounds}`);
    }
    const alone = results.get(0);
    const rows = POLLS.map((polls) => {
      const found = results.get(polls);
      return {
        polls, p50_ms: median(found.map(({ p50 }) => p50)), p95_ms: median(found.map(({ p95 }) => p95)),
        to_alone: median(found.map(({ p50 }, round) => p50 / alone[round].p50)),
      };
    });
    return { products: PRODUCTS, campaigns: CAMPAIGNS, rows, in_head_ms: await changes(call), build_ms: await buildMs(service.url) };
  } finally {
    await service.stop();
  }
}

/** Creates the catalogue and a public code in each of the campaigns. */
async function fill(call) {
  const made = async (path, body) => {
    const { status, body: answer } = await call("POST", path, body);
    if (status !== 200) throw new Error(`${path} answered ${status} ${JSON.stringify(answer)}`);
  };
  await each(PRODUCTS, (n) => made("/v1/products", { name: `Product ${n}`, source_id: `product-${n}`, price: 100 + n }));
  await each(CAMPAIGNS, (n) => made("/v1/campaigns", {
    name: `Campaign ${n}`, type: "STANDALONE", campaign_type: "DISCOUNT_COUPONS",
    voucher: { discount: { type: "PERCENT", percent_off: 10 }, redemption: { quantity: null }, code_config: { pattern: `CODE-${n}` } },
  }));
}

async function each(count, what) {
  let next = 0;
  await Promise.all(Array.from({ length: 16 }, async () => {
    while (next < count) await what(next++);
  }));
}

/** Validates one after another while clients poll so often a second. */
async function validations(call, polls) {
  const body = { redeemables: [{ object: "voucher", id: "CODE-7" }], order: { items: [{ source_id: "product-7", related_object: "product", quantity: 3 }] } };
  const polled = [];
  const timer = polls > 0 ? setInterval(() => polled.push(call("GET", HEAD, undefined, client)), 1_000 / polls) : undefined;
  const took = [];
  for (const startedAt = performance.now(); performance.now() - startedAt < ROUND_MS;) {
    const sent = performance.now();
    const { status, body: answer } = await call("POST", "/v1/validations", body);
    if (status !== 200 || answer.valid !== true) throw new Error(`a validation answered ${status} ${JSON.stringify(answer)}`);
    took.push(performance.now() - sent);
  }
  clearInterval(timer);
  const refused = (await Promise.all(polled)).find(({ status }) => status !== 200);
  if (refused) throw new Error(`a poll answered ${refused.status}`);
  took.sort((a, b) => a - b);
  return { p50: at(took, 0.5), p95: at(took, 0.95) };
}

/** Returns the milliseconds from a change of a campaign to the head that has it, the shortest first. */
async function changes(call) {
  const took = [];
  for (let n = 0; n < CHANGES; n += 1) {
    const { rev } = await headWhere(call, () => true);
    // A change soon after a build waits until a second passes without one.
    await sleep(3_000);
    const changed = await call("PUT", `/v1/campaigns/Campaign ${n}`, { metadata: { change: n }, discount: { type: "PERCENT", percent_off: 20 + n } });
    if (changed.status !== 200) throw new Error(`a change answered ${changed.status}`);
    const startedAt = performance.now();
    await headWhere(call, (claims) => claims.rev > rev);
    took.push(Math.round(performance.now() - startedAt));
  }
  return took.sort((a, b) => a - b);
}

async function headWhere(call, fits) {
  for (;;) {
    const { status, body } = await call("GET", HEAD, undefined, client);
    const claims = status === 200 && JSON.parse(Buffer.from(body.split(".")[1], "base64url"));
    if (claims && fits(claims)) return claims;
    await sleep(20);
  }
}

/** Returns the mean of the builds, by the metrics of the object. */
async function buildMs(url) {
  const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
  const sum = (name) => text.split("\n").filter((line) => line.startsWith(`${name}{`)).reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
  return (1_000 * sum("scrip_bundle_build_seconds_sum")) / sum("scrip_bundle_build_seconds_count");
}
