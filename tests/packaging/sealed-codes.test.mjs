// Tests how the package opens the sealed codes of a bundle, against a server that seals as the service does.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { keyPair, rules, sealedCodes, startServer } from "./bundle_server.mjs";
import "../../pkg/node.js";
import * as pieces from "../../pkg/service.js";

const key = { id: "app", token: "secret" };
const pair = keyPair();
const voucher = (code, amount_off) => ({ vouchers: [{ id: `v_${code}`, code, type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off }, active: true }] });
const ruled = {
  ...voucher("RULED", 300),
  validation_rules: [{ id: "val_1", rules: { 1: { name: "order.amount", conditions: { $more_than: [500] } } }, error: { message: "Only large orders" } }],
  validation_rules_assignments: [{ rule_id: "val_1", related_object_id: "v_RULED" }],
};
const contents = { ten: voucher("TEN", 100), twenty: voucher("TWENTY", 200), ruled };
const coreOf = (members = {}) => rules({ case_sensitive_codes: false, sealed_codes: sealedCodes(contents), ...members });
const typing = (...codes) => ({ redeemables: codes.map((id) => ({ object: "voucher", id })), order: { amount: 1_000 } });
const discountOf = ({ order }) => order?.total_discount_amount;

let server;
before(async () => {
  server = await startServer();
});
after(() => server.close());

const fetchWith = (core, lastGood, claims) => {
  server.serve(pair, core, claims);
  return pieces.fetchBundle(server.base, key, lastGood);
};

test("a typed code in any case opens its box, and others stay unknown", async () => {
  const { prepared, codes } = await fetchWith(coreOf());
  assert.deepEqual(prepared.validateObject(typing("Ten")).missing, ["voucher/Ten"], "before it is opened");
  assert.equal(await codes.open(typing("Ten")), true);
  assert.equal(discountOf(prepared.validateObject(typing("Ten"))), 100);
  assert.deepEqual(prepared.validateObject(typing("TWENTY")).missing, ["voucher/TWENTY"]);
  assert.equal(await codes.open(JSON.stringify(typing("TWENTY", "ten", "NONE"))), false, "no box");
  const both = prepared.validateObject(typing("TEN", "twenty"));
  assert.deepEqual([both.missing, discountOf(both)], [undefined, 300]);
  assert.deepEqual(prepared.validateObject(typing("NONE")).missing, ["voucher/NONE"]);
});

test("a box brings the rules of its code", async () => {
  const { prepared, codes } = await fetchWith(coreOf());
  const small = { ...typing("RULED"), order: { amount: 100 } };
  assert.equal(await codes.open(new TextEncoder().encode(JSON.stringify(small))), true);
  const refused = prepared.validateObject(small);
  assert.deepEqual([refused.valid, refused.missing, refused.redeemables[0].result.details.message], [false, undefined, "Only large orders"]);
  assert.equal(discountOf(prepared.validateObject(typing("RULED"))), 300);
});

test("codes are opened once, at the same time, and again from the rules of a later head", async (context) => {
  const derived = context.mock.method(globalThis.crypto.subtle, "deriveBits").mock;
  const first = await fetchWith(coreOf());
  assert.deepEqual(await Promise.all([1, 2, 3].map(() => first.codes.open(typing("TEN", "TWENTY")))), [true, true, true]);
  assert.equal(derived.callCount(), 2);
  // Another core with the same salt: the keys are known, and its own boxes count.
  const changed = { ...contents, ten: voucher("TEN", 150) };
  const second = await fetchWith(coreOf({ sealed_codes: sealedCodes(changed) }), first, { rev: 3_000 });
  assert.notEqual(second.prepared, first.prepared);
  assert.deepEqual(second.prepared.validateObject(typing("TEN")).missing, ["voucher/TEN"]);
  assert.equal(await second.codes.open(typing("TEN")), true);
  assert.deepEqual([discountOf(second.prepared.validateObject(typing("TEN"))), derived.callCount()], [150, 2]);
  // Another salt needs another key.
  const salted = coreOf({ sealed_codes: sealedCodes(contents, { salt: Buffer.alloc(32, 8) }) });
  const third = await fetchWith(salted, second, { rev: 4_000 });
  assert.equal(await third.codes.open(typing("TEN")), true);
  assert.deepEqual([discountOf(third.prepared.validateObject(typing("TEN"))), derived.callCount()], [100, 3]);
});

test("without boxes and without `crypto.subtle` a typed code is provisional", async (context) => {
  const plain = await fetchWith(rules());
  assert.equal(await plain.codes.open(typing("TEN")), false);
  const { prepared, codes } = await fetchWith(coreOf());
  // As in a page that is not served by HTTPS.
  const { crypto } = globalThis;
  context.mock.getter(globalThis, "crypto", () => ({ getRandomValues: (bytes) => crypto.getRandomValues(bytes) }));
  assert.equal(await codes.open(typing("TEN")), false);
  assert.deepEqual(prepared.validateObject(typing("TEN")).missing, ["voucher/TEN"]);
});

test("a request that types no code, or cannot be read, opens nothing", async () => {
  const { prepared, codes } = await fetchWith(coreOf());
  for (const request of [{ redeemables: [{ object: "promotion_tier", id: "TEN" }] }, {}, "no JSON", { redeemables: "TEN" }]) {
    assert.equal(await codes.open(request), true);
  }
  assert.deepEqual(prepared.validateObject(typing("TEN")).missing, ["voucher/TEN"]);
});

test("nothing that was opened is among what a caller stores", async () => {
  const bundle = await fetchWith(coreOf());
  await bundle.codes.open(typing("TEN"));
  const stored = structuredClone({ ...bundle, prepared: undefined });
  assert.deepEqual(stored.codes, {});
  assert.equal(JSON.stringify({ ...bundle, prepared: undefined, core: undefined }).includes("v_TEN"), false);
  const restored = await fetchWith(coreOf(), stored);
  assert.deepEqual(restored.prepared.validateObject(typing("TEN")).missing, ["voucher/TEN"]);
});
