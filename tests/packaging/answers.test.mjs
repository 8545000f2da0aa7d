// Tests that the packed package takes the answers of the built Worker as rules. When the package gives a final yes, the Worker gives a yes
// with the same amounts. `worker/tests/it/answers_as_rules.rs` tries many more answers natively.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before } from "node:test";
import { build } from "../../pkg-template/build.mjs";
import { serverHeaders } from "../../worker/tools/setup.mjs";
import { countTests } from "../browser/test_report.mjs";
import { boot } from "../workerd/harness.mjs";

const check = countTests("packaging");
const pkg = new URL("../../pkg/", import.meta.url);
const CODES = ["PLAIN", "OFF", "ENDED", "ONCE", "RULED", "CLOSED"];

let scrip;
let worker;
const answers = {};

async function call(method, path, body) {
  const headers = { ...serverHeaders, "content-type": "application/json" };
  const reply = await fetch(`${worker.url}${path}`, { method, headers, body: body && JSON.stringify(body) });
  const answer = await reply.json().catch(() => undefined);
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${JSON.stringify(answer)}`);
  return answer;
}

const requestFor = (id) => ({ redeemables: [{ object: "voucher", id }], order: { amount: 10_000 } });

before(async () => {
  if (!existsSync(new URL("scrip.wasm", pkg))) await build();
  scrip = await import(new URL("node.js", pkg));
  await scrip.load();
  worker = await boot({ testHooks: false });
  const discount = { type: "AMOUNT", amount_off: 300 };
  const { id: rule } = await call("POST", "/v1/validation-rules", {
    name: "big", rules: { 1: { name: "order.amount", conditions: { $more_than: [1_000_000] } } },
  });
  await call("POST", "/v1/vouchers/PLAIN", { discount });
  await call("POST", "/v1/vouchers/OFF", { discount, active: false });
  await call("POST", "/v1/vouchers/ENDED", { discount, expiration_date: "2020-01-01T00:00:00Z" });
  await call("POST", "/v1/vouchers/ONCE", { discount, redemption: { quantity: 1 } });
  await call("POST", "/v1/vouchers/RULED", { discount, validation_rules: [rule] });
  const { id: campaign } = await call("POST", "/v1/campaigns", { name: "Closed", voucher: { type: "DISCOUNT_VOUCHER", discount } });
  await call("POST", `/v1/campaigns/${campaign}/vouchers/CLOSED`);
  await call("POST", `/v1/campaigns/${campaign}/disable`);
  await call("POST", "/v1/redemptions", requestFor("ONCE"));
  for (const code of CODES) answers[code] = await call("GET", `/v1/vouchers/${code}`);
  answers.vouchers = await call("GET", "/v1/vouchers?limit=100");
  answers.campaigns = await call("GET", "/v1/campaigns?limit=100");
  answers.validation_rules = await call("GET", "/v1/validation-rules?limit=100");
}, { timeout: 600_000 });

after(() => worker?.stop());

/** Returns the verdict of the package under rules. */
function verdict(rules, request) {
  const prepared = scrip.prepare(rules);
  const answer = prepared.validateObject(request);
  prepared.free();
  return answer;
}

const isFinalYes = ({ valid, missing }) => valid === true && missing === undefined;

check("a final yes is the Worker's, with the same amounts", async () => {
  const { vouchers, campaigns, validation_rules } = answers;
  const inputs = [
    ...CODES.map((code) => ({ vouchers: [answers[code]] })),
    { vouchers }, { vouchers, campaigns }, { vouchers, validation_rules }, { vouchers, campaigns, validation_rules },
  ];
  let finals = 0;
  for (const rules of inputs.flatMap((rules) => [rules, { ...rules, complete: true }])) {
    for (const code of CODES) {
      const answer = verdict(rules, requestFor(code));
      if (!isFinalYes(answer)) continue;
      finals += 1;
      const service = await call("POST", "/v1/validations", requestFor(code));
      assert.equal(service.valid, true, code);
      assert.equal(answer.order.total_amount, service.order.total_amount, code);
    }
  }
  assert.ok(finals >= 5, `${finals} times a final yes`);
});

check("a list is given as a member, and not spread", () => {
  assert.ok(isFinalYes(verdict({ vouchers: answers.vouchers }, requestFor("PLAIN"))));
  assert.throws(() => scrip.prepare({ complete: true, ...answers.vouchers }), /^Error: rules: must NOT be a list: /);
});

check("a member outside of every shape is refused by its path", () => {
  const { expiration_date: expirationDate, ...voucher } = answers.ENDED;
  assert.throws(() => scrip.prepare({ vouchers: [{ ...voucher, expirationDate }] }), {
    message: "rules.vouchers[0].expirationDate: is not a field of a voucher; did you mean `expiration_date`?",
    cause: { path: "vouchers[0].expirationDate", text: "is not a field of a voucher; did you mean `expiration_date`?" },
  });
});

check("a customer token names the customer", () => {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const customerToken = `${part({ alg: "HS256" })}.${part({ sub: "ann-ü" })}.${"a".repeat(43)}`;
  const rules = {
    vouchers: [{ code: "VIP", discount: { type: "AMOUNT", amount_off: 100 }, validation_rules: ["r"] }],
    validation_rules: [{ id: "r", rules: { 1: { name: "customer.metadata", property: "level", conditions: { $is: ["gold"] } } } }],
  };
  const anonymous = scrip.prepare(rules).validateObject(requestFor("VIP"));
  assert.equal(anonymous.redeemables[0].result.error.key, "missing_customer");
  assert.equal(anonymous.missing, undefined);
  const proven = scrip.prepare(rules, { customerToken }).validateObject(requestFor("VIP"));
  assert.notEqual(proven.redeemables[0].result.error.key, "missing_customer");
  assert.ok(proven.missing.includes("customer/ann-ü"), JSON.stringify(proven.missing));
  for (const wrong of ["", "a.b.c", 5, `a.${part({})}.c`]) {
    assert.throws(() => scrip.prepare(rules, { customerToken: wrong }), /customerToken must be a JSON Web Token/);
  }
});
