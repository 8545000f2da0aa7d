// Tests the running service with the package's `fetchBundle`. A bundle is fetched once for each change, the same for every customer, and
// each answer of the service carries the time.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { credentials } from "../../worker/tools/setup.mjs";
import { scrip } from "../support/package.mjs";
import { customerToken } from "./customer-token.mjs";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("bundle");
const origin = "http://localhost:3000";
const key = credentials.client;
const client = { "x-client-application-id": key.id, "x-client-token": key.token, origin };
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

const open = (name) => ({
  name, type: "STANDALONE", campaign_type: "DISCOUNT_COUPONS",
  voucher: { discount: { type: "AMOUNT", amount_off: 100 }, code_config: { pattern: `${name}-CODE` } },
});
const verdict = (bundle, code) => {
  const request = { redeemables: [{ object: "voucher", id: code }], order: { amount: 1_000 } };
  return bundle.prepared.validateObject(request).valid;
};

check("a bundle is confirmed until one of its objects is changed", async () => {
  assert.equal((await call("POST", "/v1/campaigns", open("ONE"))).status, 200);
  const first = await scrip.fetchBundle(service.url, key, undefined, { origin });
  assert.equal(first.fresh, true);
  assert.equal(verdict(first, "ONE-CODE"), true);
  assert.equal((await call("POST", "/v1/vouchers/PRIVATE", { discount: { type: "AMOUNT", amount_off: 100 } })).status, 200);
  const second = await scrip.fetchBundle(service.url, key, first, { origin });
  assert.equal(second.prepared, first.prepared);
  const confirmed = await call("GET", "/client/v1/bundle", undefined, { ...client, "if-none-match": `W/${first.etag}` });
  assert.equal(confirmed.status, 304);
  assert.equal(confirmed.headers.get("etag"), first.etag);
  assert.equal((await call("POST", "/v1/campaigns", open("TWO"))).status, 200);
  const third = await scrip.fetchBundle(service.url, key, second, { origin });
  assert.notEqual(third.etag, first.etag);
  assert.equal(verdict(third, "TWO-CODE"), true);
});

check("a customer's token is checked, and the bundle is that of all customers", async () => {
  const secret = (await call("GET", "/management/v1/projects/proj_dev/customer-token-key")).body;
  const named = await scrip.fetchBundle(service.url, key, undefined, { origin, customerToken: customerToken(secret, "proj_dev", "anna") });
  const plain = await scrip.fetchBundle(service.url, key, undefined, { origin });
  assert.equal(named.etag, plain.etag);
  const forged = customerToken({ ...secret, secret: "guessed" }, "proj_dev", "anna");
  await assert.rejects(scrip.fetchBundle(service.url, key, undefined, { origin, customerToken: forged }), { status: 401 });
});

check("every answer has one Date, which pages may read, and a clock that is right is not corrected", async () => {
  const answers = [
    await call("GET", "/health"), await call("GET", "/v1/vouchers"), await call("GET", "/v1/vouchers/NONE"), await call("GET", "/v1/nothing"),
    await call("GET", "/v1/vouchers", undefined, { "x-app-token": "wrong" }), await call("POST", "/v1/vouchers", "no object"),
    await call("GET", "/openapi.json"), await call("GET", "/client/v1/bundle", undefined, client),
    await call("GET", "/client/v1/bundle", undefined, { ...client, "if-none-match": "*" }),
    await call("OPTIONS", "/client/v1/bundle", undefined, { ...client, "access-control-request-method": "GET" }),
  ];
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 404, 404, 401, 400, 200, 200, 304, 204]);
  for (const { status, headers } of answers) {
    const date = headers.get("date");
    assert.match(date, /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/, `${status}`);
    assert.ok(Math.abs(Date.parse(date) - Date.now()) < 20_000, date);
  }
  assert.match(answers[7].headers.get("access-control-expose-headers"), /\bdate, etag\b/);
  const { clock } = await scrip.fetchBundle(service.url, key, undefined, { origin });
  assert.equal(clock.offset, 0);
});
