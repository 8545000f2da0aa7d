// Decides that a failure inside a commit leaves nothing behind and hurts nobody: thrown, panicked, out of stack, refused by SQL.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { boot, caller } from "./harness.mjs";
import { codeOf, redeem, redeemedOf, standalone } from "./shop.mjs";
import { tally } from "./tally.mjs";

const check = tally("faults");
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

for (const fault of ["throw", "sql", "panic", "overflow"]) {
  check(`${fault} in the middle of a commit: 500 at once, nothing written, the next request is served`, async () => {
    const code = await standalone(call, { quantity: 5 });
    const first = await redeem(call, code);
    assert.equal(first.status, 200, JSON.stringify(first.body));

    const failed = await redeem(call, code, { "scrip-rehearsal-fault": fault });
    assert.equal(failed.status, 500);
    assert.ok(failed.ms < 1_000, `answered after ${failed.ms} ms`);
    const { details, ...body } = failed.body;
    assert.deepEqual(body, {
      code: 500,
      key: "internal_error",
      message: "Internal error",
      request_id: failed.headers.get("x-request-id"),
    });
    assert.doesNotMatch(details ?? "", /rehears|panic|wasm|sql|rust/i, "the caller learns nothing of the inside");
    assert.match(failed.body.request_id, /^v-[0-9a-f]{18}$/);
    assert.equal(await redeemedOf(call, code), 1);
    const { body: listed } = await call("GET", `/v1/redemptions?filters[voucher_code][conditions][$is][0]=${code}`);
    assert.equal(listed.redemptions.filter((one) => codeOf(one) === code).length, 1);

    const next = await redeem(call, code);
    assert.equal(next.status, 200, JSON.stringify(next.body));
    assert.equal(await redeemedOf(call, code), 2);
  });
}

check("a failed first attempt does not use up its Idempotency-Key", async () => {
  const code = await standalone(call, { quantity: 5 });
  const key = { "idempotency-key": "after-a-panic" };
  const failed = await redeem(call, code, { ...key, "scrip-rehearsal-fault": "panic" });
  assert.equal(failed.status, 500);
  const again = await redeem(call, code, key);
  assert.equal(again.status, 200, JSON.stringify(again.body));
  const replayed = await redeem(call, code, key);
  assert.deepEqual(replayed.body, again.body);
  assert.equal(await redeemedOf(call, code), 1);
});

check("panics and overflows among a hundred requests in flight: every neighbour is answered and counted", async () => {
  const code = await standalone(call, { quantity: 1_000 });
  const faults = ["panic", "overflow", "throw"];
  const calls = Array.from({ length: 100 }, (_, at) => {
    const fault = at % 5 === 0 ? { "scrip-rehearsal-fault": faults[at % 3] } : {};
    return redeem(call, code, fault).then((answer) => ({ answer, hurt: at % 5 === 0 }));
  });
  const answers = await Promise.all(calls);
  for (const { answer, hurt } of answers) assert.equal(answer.status, hurt ? 500 : 200, JSON.stringify(answer.body));
  const slowest = Math.max(...answers.map(({ answer }) => answer.ms));
  assert.ok(slowest < 5_000, `the slowest took ${slowest} ms`);
  assert.equal(await redeemedOf(call, code), 80);
});
