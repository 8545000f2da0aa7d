// Decides that a customer who is forgotten is in no file of the database any more: neither in rows, nor in what was freed, nor in the log,
// while the service runs and after it has been restarted.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "./harness.mjs";
import { fresh, standalone } from "./shop.mjs";
import { tally } from "./tally.mjs";

const check = tally("erasure");
const SAID = ["anna.nowak@shop.example", "anna.old@shop.example", "Kwiatowa 7/19", "left-handed-anna"];
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

check("whoever was forgotten is in no file", async (context) => {
  const code = await standalone(call, { quantity: 1000 });
  const done = async (method, path, body, headers) => {
    const answer = await call(method, path, body, headers);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  for (let n = 0; n < 40; n += 1) {
    await done("POST", "/v1/customers", { source_id: `person-${n}`, email: `person-${n}@shop.example`, name: `Person ${n}` });
  }
  const [email, old, street, note] = SAID;
  const { id } = await done("POST", "/v1/customers", { source_id: email, email: old, name: "Anna Nowak", address: { line_1: street }, metadata: { note } }, { "idempotency-key": fresh("K-") });
  for (let n = 0; n < 20; n += 1) {
    const redemption = { customer: { source_id: email }, order: { amount: 1000 }, redeemables: [{ object: "voucher", id: code }], metadata: { note } };
    await done("POST", "/v1/redemptions", redemption, { "idempotency-key": fresh("K-") });
    await done("PUT", `/v1/customers/${id}`, { email: n % 2 ? old : email, metadata: { note, n: "x".repeat(n * 7) } });
  }
  assert.deepEqual(await found(), SAID, "the files say too little of her to prove anything");
  const answer = await done("POST", `/v1/customers/${id}/permanent-deletion`);
  assert.equal(answer.status, "DONE");
  await settled(done);
  assert.deepEqual(await found(), [], "while it runs");
  await service.kill9();
  assert.deepEqual(await found(), [], "in what is left of a process that was killed");
  await service.restart();
  assert.equal((await call("GET", `/v1/customers/${id}`)).status, 404);
  const { redemptions } = await done("GET", "/v1/redemptions?limit=100");
  assert.equal(redemptions.filter((redemption) => redemption.customer?.source_id === null).length, 20);
  assert.deepEqual(await found(), [], "after a restart");
  context.diagnostic(`${SAID.length} texts in none of the files`);
});

/** Waits until the work is over that fills what was freed. */
async function settled(done) {
  for (const latest = Date.now() + 30_000; Date.now() < latest; await sleep(100)) {
    const { async_actions } = await done("GET", "/v1/async-actions?limit=1");
    if (async_actions[0].status === "DONE") return;
  }
  assert.fail("the deletion did not end");
}

/** What is in any file of the service's data. */
async function found() {
  const entries = await readdir(service.data, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const bytes = await Promise.all(files.map((file) => readFile(file)));
  return SAID.filter((said) => bytes.some((file) => file.includes(said)));
}
