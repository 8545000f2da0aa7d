// Tests sealed codes on the running service: their keys are derived by the object's WebCrypto after a build, and the package opens the boxes.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { credentials } from "../../worker/tools/setup.mjs";
import { pieces } from "../support/package.mjs";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("sealed codes");
const origin = "http://localhost:3000";
const key = credentials.client;
const discount = { type: "AMOUNT", amount_off: 100 };
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

const claimsOf = (bundle) => JSON.parse(Buffer.from(bundle.head.split(".")[1], "base64url"));
const typing = (code) => ({ redeemables: [{ object: "voucher", id: code }], order: { amount: 1_000 } });
const boxesOf = (bundle) => Object.keys(JSON.parse(Buffer.from(bundle.core)).sealed_codes.boxes).length;

/** Fetches the bundle until it fits. */
async function bundleWhere(fits, lastGood) {
  let bundle;
  await waitUntil(async () => {
    bundle = await pieces.fetchBundle(service.url, key, lastGood, { origin });
    return fits(bundle);
  }, () => `a bundle; the last one leaves out ${claimsOf(bundle).left_out} and has ${boxesOf(bundle)} boxes`, { pause: 100 });
  return bundle;
}
const hasAllCodes = (bundle) => !claimsOf(bundle).left_out.includes("codes");

check("the keys of sealed codes are derived after a build, which does not wait for them", async () => {
  const campaign = { name: "Sealed", type: "STANDALONE", campaign_type: "DISCOUNT_COUPONS", voucher: { discount, code_config: { pattern: "SEALED" } } };
  assert.equal((await call("POST", "/v1/campaigns", campaign)).status, 200);
  for (let at = 0; at < 20; at += 1) assert.equal((await call("POST", `/v1/vouchers/ALONE-${at}`, { discount })).status, 200);
  const bundle = await bundleWhere((found) => hasAllCodes(found) && boxesOf(found) === 21);
  for (const code of ["SEALED", "ALONE-0", "ALONE-19"]) {
    assert.deepEqual(bundle.prepared.validateObject(typing(code)).missing, [`voucher/${code}`]);
    assert.equal(await bundle.codes.open(typing(code)), true);
    const { valid, missing } = bundle.prepared.validateObject(typing(code));
    assert.deepEqual([valid, missing], [true, undefined]);
  }
  assert.equal(await bundle.codes.open(typing("NOBODYS")), false);
});

check("a new code is sealed, and one that is set to `server` is not any more", async () => {
  const first = await bundleWhere(hasAllCodes);
  assert.equal((await call("POST", "/v1/vouchers/NEW", { discount })).status, 200);
  const second = await bundleWhere((found) => hasAllCodes(found) && boxesOf(found) === boxesOf(first) + 1, first);
  assert.equal(await second.codes.open(typing("NEW")), true);
  assert.equal((await call("PUT", "/v1/vouchers/NEW", { visibility: "server" })).status, 200);
  const third = await bundleWhere((found) => boxesOf(found) === boxesOf(first), second);
  assert.equal(await third.codes.open(typing("NEW")), false);
});

check("keys that a killed process had not stored are derived by the next one", async () => {
  const first = await bundleWhere(hasAllCodes);
  for (let at = 0; at < 10; at += 1) assert.equal((await call("POST", `/v1/vouchers/LATE-${at}`, { discount })).status, 200);
  await service.kill9();
  await service.restart();
  const second = await bundleWhere((found) => hasAllCodes(found) && boxesOf(found) === boxesOf(first) + 10);
  assert.equal(await second.codes.open(typing("LATE-9")), true);
});
