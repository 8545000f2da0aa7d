// Tests that a token made by a shop proves its customer to the running service, and that no other token does.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, before } from "node:test";
import { credentials } from "../../worker/tools/setup.mjs";
import { customerToken } from "./customer-token.mjs";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("customer tokens");
const project = "proj_dev";
let service;
let call;
let key;

before(async () => {
  service = await boot();
  call = caller(service.url);
  key = (await call("GET", `/management/v1/projects/${project}/customer-token-key`)).body;
  const code = { discount: { type: "AMOUNT", amount_off: 100 } };
  assert.equal((await call("POST", "/v1/vouchers/OPEN", code)).status, 200);
});
after(() => service?.stop());

/** Returns the answer to a page that locks with a token. */
function lock(token) {
  const { id, token: secret } = credentials.client;
  const headers = { "x-client-application-id": id, "x-client-token": secret, origin: "http://localhost:3000", "x-customer-token": token };
  const body = { redeemables: [{ object: "voucher", id: "OPEN" }], order: { amount: 1_000 }, session: { type: "LOCK", key: "cart" } };
  return call("POST", "/client/v1/validations", body, headers);
}

async function refused(token, details) {
  const { status, body } = await lock(token);
  assert.deepEqual([status, body.key], [401, "invalid_customer_token"], JSON.stringify(body));
  assert.match(body.details, details);
}

check("a token made by the formula proves the customer", async () => {
  const { status, body } = await lock(customerToken(key, project, "anna"));
  assert.equal(status, 200, JSON.stringify(body));
  const { sessions } = (await call("GET", "/v1/sessions")).body;
  assert.deepEqual(sessions.map(({ owner, customer }) => [owner, customer]), [["customer", "anna"]]);
});

check("a token made by the service proves the customer", async () => {
  const { body } = await call("POST", "/v1/customer-tokens", { customer: { source_id: "anna" } });
  assert.equal((await lock(body.token)).status, 200);
});

check("a token does not count before its nbf", async () => {
  const now = Math.floor(Date.now() / 1000);
  await refused(customerToken(key, project, "anna", 900, now, { nbf: now + 600 }), /by its `nbf` it begins in \d+ s/);
  await refused(customerToken(key, project, "anna", 900, now, { nbf: "soon" }), /whole seconds since 1970/);
  assert.equal((await lock(customerToken(key, project, "anna", 900, now, { nbf: now }))).status, 200);
});

check("a token that is forged, changed, cut, expired or for another project proves no customer", async () => {
  const token = customerToken(key, project, "anna");
  const [head, body, seal] = token.split(".");
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const bert = part({ ...JSON.parse(Buffer.from(body, "base64url")), sub: "bert" });
  await refused(`${head}.${bert}.${seal}`, /changed/);
  await refused(`${part({ alg: "none", kid: key.id })}.${body}.`, /HS256 \(actual algorithm is `none`\)/);
  const long = part({ alg: "HS512", kid: key.id });
  const longer = createHmac("sha512", key.secret).update(`${long}.${body}`).digest("base64url");
  await refused(`${long}.${body}.${longer}`, /HS256 \(actual algorithm is `HS512`\)/);
  await refused(token.slice(0, -9), /cut short/);
  await refused(customerToken({ ...key, secret: "guessed" }, project, "anna"), /another secret/);
  await refused(customerToken({ ...key, id: "ctk_other" }, project, "anna"), /no key of the project/);
  await refused(customerToken(key, "proj_other", "anna"), /another project/);
  const now = Math.floor(Date.now() / 1000);
  await refused(customerToken(key, project, "anna", 300, now - 600), /ended \d+ s ago/);
  await refused(customerToken(key, project, "anna", 300, now + 600), /begins in \d+ s/);
  await refused(customerToken(key, project, "anna", 3_601), /1 to 3600/);
  await refused(customerToken(key, project, "anna".repeat(2_500)), /8192 bytes/);
});

check("no token and no secret is in the log", async () => {
  const log = await readFile(service.log, "utf8");
  assert.ok(!log.includes(key.secret) && !log.includes(customerToken(key, project, "anna").slice(0, 60)));
});
