// Tests that a request with an Idempotency-Key never acts twice on the real runtime, also with a long answer. An answer that the runtime
// could not carry is refused before any write.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { managementHeaders, serverHeaders } from "../../worker/tools/setup.mjs";
import { boot, caller } from "./harness.mjs";
import { redeemedOf } from "./redemption_fixtures.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("kept answers");
/** The longest body that is sent, as in the README. */
const ANSWER_BYTES_MAX = 33_488_896;
const CODES = Array.from({ length: 30 }, (_, at) => `C${at}`);
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
  const path = "/management/v1/projects/proj_dev/stacking-rules";
  const { body } = await call("GET", path);
  const [{ id }] = body[body.data_ref];
  const limits = { redeemables_limit: 30, applicable_redeemables_limit: 30 };
  const changed = await fetch(`${service.url}${path}/${id}`, { method: "PUT", headers: managementHeaders, body: JSON.stringify(limits) });
  assert.equal(changed.status, 200, await changed.text());
  for (const code of CODES) {
    const voucher = { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 1 }, redemption: { quantity: 100 } };
    assert.equal((await call("POST", `/v1/vouchers/${code}`, voucher)).status, 200);
  }
});
after(() => service?.stop());

/** Thirty codes for 500 lines with a long note each: the answer contains all lines 31 times. */
async function redeem(length, headers = {}) {
  const line = (_, at) => ({ product_id: `p${at}`, quantity: 1, price: 1000, metadata: { note: "x".repeat(length) } });
  const order = { items: Array.from({ length: 500 }, line) };
  const body = JSON.stringify({ redeemables: CODES.map((id) => ({ object: "voucher", id })), order });
  const reply = await fetch(`${service.url}/v1/redemptions`, { method: "POST", headers: { ...serverHeaders, ...headers }, body });
  return { status: reply.status, replayed: reply.headers.get("idempotency-replayed"), text: await reply.text() };
}

for (const [length, least] of [[100, 4_000_000], [1_600, 25_000_000]]) {
  check(`an answer of more than ${least / 1e6} MB is given again under its key, also after kill -9, and counts once`, async () => {
    const counted = await redeemedOf(call, "C7");
    const key = { "idempotency-key": `long-${length}` };
    const first = await redeem(length, key);
    assert.equal(first.status, 200, first.text.slice(0, 500));
    assert.ok(first.text.length > least, `${first.text.length} bytes`);
    const again = await redeem(length, key);
    assert.deepEqual([again.status, again.replayed], [200, "true"]);
    assert.ok(again.text === first.text, "the same key answers otherwise");
    await service.kill9();
    await service.restart();
    const later = await redeem(length, key);
    assert.ok(later.text === first.text, "after a restart the same key answers otherwise");
    assert.equal(await redeemedOf(call, "C7"), counted + 1);
  }, { timeout: 400_000 });
}

check("an answer above 32 MiB is a 413, with a key and without, and nothing is written", async () => {
  const counted = await redeemedOf(call, "C7");
  const rows = async () => (await call("GET", "/test-hooks/rows")).body;
  const before = await rows();
  for (const headers of [{ "idempotency-key": "too-long" }, { "idempotency-key": "too-long" }, {}]) {
    const refused = await redeem(2_100, headers);
    assert.equal(refused.status, 413, refused.text.slice(0, 500));
    const { key, details } = JSON.parse(refused.text);
    assert.equal(key, "answer_too_large");
    assert.match(details, new RegExp(`at most ${ANSWER_BYTES_MAX} are sent; nothing was written`));
  }
  assert.deepEqual(await rows(), before);
  assert.equal(await redeemedOf(call, "C7"), counted);
}, { timeout: 400_000 });

check("an answer of exactly the bound arrives, and one of a byte more is refused", async () => {
  // The answer contains each line 31 times and the lock's key once, so that both together make any length.
  const validate = async (more, keyLength) => {
    // Spread over the lines, because a text has a limit of its own.
    const length = (at) => 1_900 + Math.floor(more / 500) + (at < more % 500 ? 1 : 0);
    const line = (_, at) => ({ product_id: `p${at}`, quantity: 1, price: 1000, metadata: { note: "x".repeat(length(at)) } });
    const order = { items: Array.from({ length: 500 }, line) };
    const session = { type: "LOCK", key: "k".repeat(keyLength) };
    const body = JSON.stringify({ redeemables: CODES.map((id) => ({ object: "voucher", id })), order, session });
    const reply = await fetch(`${service.url}/v1/validations`, { method: "POST", headers: serverHeaders, body });
    return { status: reply.status, text: await reply.text() };
  };
  const short = await validate(0, 1);
  assert.equal(short.status, 200, short.text.slice(0, 500));
  const times = (await validate(1, 1)).text.length - short.text.length;
  assert.equal(times, 31);
  const lacking = ANSWER_BYTES_MAX - short.text.length;
  const [more, rest] = [Math.floor(lacking / times), lacking % times];
  const complete = await validate(more, 1 + rest);
  assert.deepEqual([complete.status, complete.text.length], [200, ANSWER_BYTES_MAX]);
  const refused = await validate(more, 2 + rest);
  assert.deepEqual([refused.status, JSON.parse(refused.text).key], [413, "answer_too_large"]);
}, { timeout: 400_000 });
