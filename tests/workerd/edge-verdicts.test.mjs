// Tests the answers of the entry by copies of the rules: they are those of the object, never by older rules, and they go on without the object.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { developmentText } from "../../worker/tools/setup.mjs";
import { boot, breakProjectObjects, caller, pageHeaders as page } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("edge verdicts");
const edgeSecret = "a secret of the tests, long enough";
const validations = "/client/v1/validations";
const qualifications = "/client/v1/qualifications";
const order = { amount: 10_000 };
let folder;
let service;
let call;
let tier;

/** Returns the setup; `client` has further settings of clients. */
function setupWith(client = {}) {
  const setup = JSON.parse(developmentText());
  // The limit of calls in general is another matter, which would come first.
  for (const project of setup.projects) Object.assign(project, { rate_limits: { client: {} }, client: { ...project.client, ...client } });
  return JSON.stringify({ ...setup, address_header: "X-Real-IP" });
}

async function start(options = {}) {
  service = await boot({ data: folder, setup: setupWith(), edgeSecret, ...options });
  call = caller(service.url);
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "scrip-edge-"));
  await start();
  const campaign = await call("POST", "/v1/campaigns", { name: "Tiers", campaign_type: "PROMOTION" });
  assert.equal(campaign.status, 200, JSON.stringify(campaign.body));
  tier = await call("POST", `/v1/promotions/${campaign.body.id}/tiers`, { name: "Ten", action: { discount: { type: "PERCENT", percent_off: 10 } } });
  assert.equal(tier.status, 200, JSON.stringify(tier.body));
  tier = tier.body.id;
  for (const [code, visibility] of [["SEALED", "sealed"], ["HIDDEN", "server"]]) {
    const voucher = { visibility, discount: { type: "AMOUNT", amount_off: 500 } };
    assert.equal((await call("POST", `/v1/vouchers/${code}`, voucher)).status, 200);
  }
  const product = { source_id: "mug", name: "Mug", price: 700 };
  assert.equal((await call("POST", "/v1/products", product)).status, 200);
});
after(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Sends a request of a page; returns its status, text, and headers. */
async function send(path, body, headers = {}) {
  const reply = await fetch(`${service.url}${path}`, { method: "POST", headers: { ...page, ...headers }, body: JSON.stringify(body) });
  return { status: reply.status, text: await reply.text(), by: reply.headers.get("scrip-answered"), headers: reply.headers };
}
const ofTier = () => ({ redeemables: [{ object: "promotion_tier", id: tier }], order });
const ofCode = (id) => ({ redeemables: [{ object: "voucher", id }], order });
const ofGoods = () => ({
  redeemables: [{ object: "promotion_tier", id: tier }], order: { items: [{ source_id: "mug", related_object: "product", quantity: 2 }] },
});

/** Sends a request until the entry answers it, and returns that answer. */
const sendUntilEdge = (path, body) => waitUntil(async () => {
  const answer = await send(path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.by === "edge" && answer;
}, () => `an answer of the entry to ${JSON.stringify(body)}`);

check("an answer of the entry has the bytes and the headers of the object's", async () => {
  const requests = [[validations, ofTier()], [validations, ofCode("SEALED")], [validations, ofGoods()], [qualifications, { order }], [qualifications, {}]];
  for (const [path, body] of requests) {
    const edge = await sendUntilEdge(path, body);
    const { now, seed } = JSON.parse(edge.headers.get("scrip-context"));
    const object = await send(path, body, { "scrip-test-now": now, "scrip-test-seed": seed });
    assert.equal(object.by, "object");
    assert.equal(edge.text, object.text);
    assert.equal(edge.headers.get("scrip-context"), object.headers.get("scrip-context"));
    assert.equal(edge.headers.get("scrip-revision"), object.headers.get("scrip-revision"));
    for (const name of ["content-type", "access-control-allow-origin", "access-control-expose-headers", "vary"]) {
      assert.equal(edge.headers.get(name), object.headers.get(name), name);
    }
    assert.equal(edge.headers.get("x-request-id")?.length, object.headers.get("x-request-id")?.length);
  }
});

check("a body of any length and form is answered by the entry, and refusals come as of any call", async () => {
  await sendUntilEdge(validations, ofTier());
  const text = JSON.stringify(ofTier());
  const inPieces = () => new Blob([text]).stream();
  const request = (body, headers = {}) =>
    fetch(`${service.url}${validations}`, { method: "POST", headers: { ...page, ...headers }, body, ...(typeof body === "string" ? {} : { duplex: "half" }) });
  // The shell reads only a short body of a known length before the engine.
  const lengths = [];
  for (const body of [text, `${text}${" ".repeat(70_000)}`, inPieces()]) {
    const reply = await request(body);
    const answer = await reply.text();
    assert.deepEqual([reply.status, reply.headers.get("scrip-answered")], [200, "edge"], answer);
    lengths.push(answer.length);
  }
  assert.deepEqual(lengths, Array(3).fill(lengths[0]));
  for (const body of [text, inPieces()]) assert.equal((await request(body, { "x-client-token": "wrong" })).status, 401);
  for (const body of ["", "{", `${text}${" ".repeat(11_000_000)}`]) {
    const { status, by } = await request(body).then(async (reply) => ({ status: reply.status, by: reply.headers.get("scrip-answered"), text: await reply.text() }));
    assert.ok(status >= 400 && status < 500 && by === null, `${status} for a body of ${body.length}`);
  }
});

check("what only the object can decide is the object's", async () => {
  await sendUntilEdge(validations, ofTier());
  const named = { customer: { source_id: "anna" } };
  for (const [path, body, headers] of [
    [validations, ofCode("HIDDEN")], [validations, ofCode("UNKNOWN")], [validations, { ...ofCode("SEALED"), ...named }],
    [validations, { ...ofTier(), session: { type: "LOCK" } }], [validations, { ...ofTier(), options: { expand: ["trace"] } }],
    [validations, ofTier(), { "idempotency-key": "one" }], [qualifications, { order, options: { optimise: true } }],
    [qualifications, { order, options: { expand: ["redeemable"] } }],
  ]) {
    const answer = await send(path, body, headers);
    assert.deepEqual([answer.status, answer.by], [200, "object"], `${JSON.stringify(body)} ${answer.text}`);
  }
  // Its horizon is over.
  assert.equal((await send(validations, ofTier(), { "scrip-test-now": String(Date.now() + 20 * 86_400_000) })).by, "object");
  // It is refused.
  assert.equal((await send(validations, { redeemables: [] })).status, 400);
});

check("a caller that has changed an offer reads the change in the next answer", async () => {
  let byEntry = 0;
  for (let percent = 11; percent < 61; percent += 1) {
    const changed = await call("PUT", `/v1/promotions/tiers/${tier}`, { action: { discount: { type: "PERCENT", percent_off: percent } } });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    for (let again = 0; again < 3; again += 1) {
      const answer = await send(validations, ofTier());
      assert.equal(JSON.parse(answer.text).order.total_discount_amount, percent * 100, `${percent} by ${answer.by}`);
      byEntry += answer.by === "edge" ? 1 : 0;
    }
    // Now and then the build catches up.
    if (percent % 20 === 0) byEntry += (await sendUntilEdge(validations, ofTier())).text.includes(`"total_discount_amount":${percent * 100}`) ? 1 : 0;
  }
  assert.ok(byEntry >= 3, `${byEntry} answers of the entry`);
  // Goods are part of the rules.
  await sendUntilEdge(validations, ofGoods());
  for (const price of [800, 900]) {
    assert.equal((await call("PUT", "/v1/products/mug", { price })).status, 200);
    assert.equal(JSON.parse((await send(validations, ofGoods())).text).order.initial_amount ?? JSON.parse((await send(validations, ofGoods())).text).order.amount, 2 * price);
  }
  assert.equal(JSON.parse((await sendUntilEdge(validations, ofGoods())).text).order.amount, 1_800);
});

check("wrong codes count as before, and who has too many gets no answer of the entry to a code", async () => {
  await sendUntilEdge(validations, ofCode("SEALED"));
  const from = { "x-real-ip": "203.0.113.7" };
  const guesses = Array.from({ length: 30 }, (_, at) => ({ object: "voucher", id: `GUESS-${at}` }));
  const guessed = await send(validations, { redeemables: guesses, order }, from);
  assert.deepEqual([guessed.status, guessed.by], [200, "object"]);
  assert.equal((await send(validations, ofCode("SEALED"), from)).status, 429);
  assert.equal((await send(validations, ofCode("SEALED"), { "x-real-ip": "203.0.113.8" })).by, "edge");
});

check("with another secret the object answers until the part is encrypted anew", async () => {
  await service.stop();
  await start({ edgeSecret: "another secret of the tests" });
  assert.equal((await send(validations, ofTier())).by, "object");
  await sendUntilEdge(validations, ofTier());
});

check("without a secret, and where the project says so, only the object answers", async () => {
  for (const options of [{ edgeSecret: undefined }, { setup: setupWith({ edge: false }) }]) {
    await service.stop();
    await start(options);
    for (let again = 0; again < 3; again += 1) assert.equal((await send(validations, ofTier())).by, "object");
  }
});

check("without the object, final carts are answered and others may be repeated", async () => {
  await service.stop();
  await start();
  await sendUntilEdge(validations, ofCode("SEALED"));
  await sendUntilEdge(validations, ofGoods());
  const before = JSON.parse((await send(validations, ofTier())).text).order.total_amount;
  await service.stop();
  await breakProjectObjects(folder);
  await start();
  for (const body of [ofTier(), ofCode("SEALED"), ofGoods()]) {
    const answer = await send(validations, body);
    assert.deepEqual([answer.status, answer.by], [200, "edge"], answer.text);
  }
  assert.equal(JSON.parse((await send(validations, ofTier())).text).order.total_amount, before);
  assert.equal((await send(qualifications, { order })).by, "edge");
  for (const body of [ofCode("HIDDEN"), { ...ofCode("SEALED"), customer: { source_id: "anna" } }, { ...ofTier(), options: { expand: ["trace"] } }]) {
    const answer = await send(validations, body);
    assert.deepEqual([answer.status, answer.headers.get("retry-after"), JSON.parse(answer.text).key], [503, "1", "service_unavailable"], answer.text);
  }
  // The rules still answer right codes, so a guess without an answer counts as a wrong one.
  const guesser = { "x-real-ip": "203.0.113.9" };
  const statuses = [];
  for (let at = 0; at < 60 && statuses.at(-1) !== 429; at += 1) statuses.push((await send(validations, ofCode(`GUESS-${at}`), guesser)).status);
  assert.deepEqual([statuses[0], statuses.at(-1)], [503, 429]);
  assert.equal((await send(validations, ofCode("SEALED"), guesser)).status, 429);
  // Its effect is unknown.
  assert.equal((await send(validations, { ...ofTier(), session: { type: "LOCK" } })).status, 500);
});
