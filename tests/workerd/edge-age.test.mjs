// Tests the age of answers of the entry where the objects may be in another process, as on Cloudflare: never older than the project allows.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { developmentText } from "../../worker/tools/setup.mjs";
import { bootChanged, breakProjectObjects, caller, pageHeaders as page } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("edge age");
const SECONDS = 600;
const path = "/client/v1/validations";
let folder;
let service;
let call;
let tier;

/** Removes the binding by which the entry knows that the objects are in its process; Cloudflare has none. */
const withoutFolder = (config) => {
  const binding = '(name = "DISK", service = "objects"),';
  assert.ok(config.includes(binding));
  return config.replace(binding, "");
};

/** Starts the service with some settings of clients. */
async function start(client) {
  const setup = JSON.parse(developmentText());
  for (const project of setup.projects) Object.assign(project, { rate_limits: { client: {} }, client: { ...project.client, ...client } });
  const env = { SCRIP_SETUP: JSON.stringify(setup), SCRIP_EDGE_SECRET: "a secret of the tests, long enough" };
  service = await bootChanged(folder, withoutFolder, env);
  call = caller(service.url);
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "scrip-edge-age-"));
  await start({ edge: SECONDS });
  const campaign = await call("POST", "/v1/campaigns", { name: "Tiers", campaign_type: "PROMOTION" });
  const made = await call("POST", `/v1/promotions/${campaign.body.id}/tiers`, { name: "Ten", action: discountOf(10) });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  tier = made.body.id;
});
after(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const discountOf = (percent) => ({ discount: { type: "PERCENT", percent_off: percent } });

/** Sends a cart at a time by the clock of the test, or now; returns who has answered, and the discount in percent. */
async function send(now, more = {}, headers = {}) {
  if (now !== undefined) headers["scrip-test-now"] = String(now);
  const body = JSON.stringify({ redeemables: [{ object: "promotion_tier", id: tier }], order: { amount: 10_000 }, ...more });
  const reply = await fetch(`${service.url}${path}`, { method: "POST", headers: { ...page, ...headers }, body });
  const text = await reply.text();
  const answer = { status: reply.status, by: reply.headers.get("scrip-answered"), retry: reply.headers.get("retry-after") };
  return { ...answer, percent: reply.status === 200 ? JSON.parse(text).order.total_discount_amount / 100 : undefined };
}

/** Sends a cart now until the entry answers it, and returns that answer. */
const untilEdge = () => waitUntil(async () => {
  // Without a clock of its own, because the object sets no alarm for the demand of such a request.
  const answer = await send();
  assert.equal(answer.status, 200);
  return answer.by === "edge" && answer;
}, "an answer of the entry");

check("an answer is of the object once its rules are older than the seconds, which confirms them", async () => {
  assert.equal((await untilEdge()).percent, 10);
  const late = Date.now() + SECONDS * 1_000 + 1;
  assert.deepEqual([(await send(late)).by, (await send(late)).by], ["object", "edge"]);
  // The request itself takes some time.
  const next = late + SECONDS * 1_000;
  assert.deepEqual([(await send(next - 5_000)).by, (await send(next + 1)).by], ["edge", "object"]);
});

check("a change is in every answer after the seconds, and in each after one of the object", async () => {
  const confirmed = Date.now() + 10 * SECONDS * 1_000;
  await send(confirmed);
  assert.equal((await send(confirmed)).by, "edge");
  assert.equal((await call("PUT", `/v1/promotions/tiers/${tier}`, { action: discountOf(25) })).status, 200);
  // The entry knows nothing of it. Where the next head has not come yet, it answers by the rules of before.
  const soon = await send(confirmed + 1_000);
  assert.ok(soon.percent === 25 || soon.by === "edge", JSON.stringify(soon));
  const late = confirmed + SECONDS * 1_000 + 1;
  assert.deepEqual(await send(late), { status: 200, by: "object", retry: null, percent: 25 });
  let again;
  await waitUntil(async () => {
    again = await send(late);
    assert.equal(again.percent, 25, again.by);
    return again.by === "edge";
  }, "an answer of the entry by the next rules");
});

check("a request with a session confirms the rules as any other does", async () => {
  const late = Date.now() + 20 * SECONDS * 1_000;
  assert.equal((await send(late, { session: { type: "LOCK" } })).by, "object");
  assert.equal((await send(late)).by, "edge");
});

check("the stored answer of a repeated Idempotency-Key confirms nothing", async () => {
  const late = Date.now() + 30 * SECONDS * 1_000;
  const repeat = (now) => send(now, { session: { type: "LOCK" } }, { "idempotency-key": "before the change" });
  assert.equal((await repeat(late)).percent, 25);
  assert.equal((await call("PUT", `/v1/promotions/tiers/${tier}`, { action: discountOf(30) })).status, 200);
  const later = late + SECONDS * 1_000 + 1;
  assert.equal((await send(later)).percent, 30);
  await waitUntil(async () => (await send(later)).by === "edge", "an answer of the entry by the next rules");
  assert.equal((await repeat(later + 1)).percent, 25, "the first answer is returned again");
  assert.equal((await send(later + 2)).by, "edge");
});

check("without seconds only the object answers", async () => {
  await service.stop();
  await start({});
  for (let again = 0; again < 3; again += 1) assert.equal((await send(Date.now())).by, "object");
});

check("while the object does not answer, the entry answers within the seconds and not after them", async () => {
  await service.stop();
  await start({ edge: SECONDS });
  await untilEdge();
  await service.stop();
  await breakProjectObjects(folder);
  await start({ edge: SECONDS });
  // The head says when the object signed it.
  assert.equal((await untilEdge()).percent, 30);
  const late = await send(Date.now() + SECONDS * 1_000 + 1);
  assert.deepEqual([late.status, late.retry], [503, "1"]);
});
