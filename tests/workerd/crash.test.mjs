// Tests that an acknowledged redemption survives the sudden death of the process, and that a retry with its Idempotency-Key is never
// counted twice. Twenty times: load, SIGKILL at a random time, restart, compare.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "./harness.mjs";
import { fresh, redeem, redeemedOf, standalone } from "./redemption_fixtures.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("kill -9");
const ROUNDS = 20;
const CALLERS = 16;
let service;

before(async () => {
  service = await boot();
});
after(() => service?.stop());

check(`kill -9 under load, ${ROUNDS} rounds: no acknowledged redemption is lost, no retry counts twice`, async (context) => {
  const call = caller(service.url);
  const code = await standalone(call, { quantity: 1_000_000 });
  const acknowledged = new Map();
  let unanswered = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const open = await loadUntilKilled(call, code, acknowledged);
    unanswered += open.length;
    await service.restart();
    for (const key of open) {
      const retried = await redeem(call, code, { "idempotency-key": key });
      assert.equal(retried.status, 200, JSON.stringify(retried.body));
      acknowledged.set(key, retried.body.redemptions[0].id);
    }
    // Every key belongs to exactly one redemption: no more were counted, no fewer.
    assert.equal(await redeemedOf(call, code), acknowledged.size, `after round ${round + 1}`);
  }
  assert.equal(new Set(acknowledged.values()).size, acknowledged.size);
  for (const [key, id] of sample([...acknowledged], 50)) {
    const replayed = await redeem(call, code, { "idempotency-key": key });
    assert.equal(replayed.body.redemptions[0].id, id);
    assert.equal((await call("GET", `/v1/redemptions/${id}`)).status, 200);
  }
  assert.equal(await redeemedOf(call, code), acknowledged.size);
  assert.ok(unanswered >= ROUNDS, `only ${unanswered} requests were in flight at ${ROUNDS} kills: the load was too light to prove anything`);
  context.diagnostic(`${acknowledged.size} redemptions, ${unanswered} unanswered at a kill and retried`);
}, { timeout: 400_000 });

/** Redeems as fast as the callers can until the process is killed; returns the keys that got no answer. */
async function loadUntilKilled(call, code, acknowledged) {
  let alive = true;
  const open = [];
  const callers = Array.from({ length: CALLERS }, async () => {
    while (alive) {
      const key = fresh("KEY-");
      try {
        const answer = await redeem(call, code, { "idempotency-key": key });
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        acknowledged.set(key, answer.body.redemptions[0].id);
      } catch (error) {
        // A dead process gives no answer; any other error is a failure of the test.
        if (error instanceof assert.AssertionError || alive) throw error;
        open.push(key);
      }
    }
  });
  await sleep(100 + Math.random() * 600);
  alive = false;
  await service.kill9();
  await Promise.all(callers);
  return open;
}

/** Returns some members of a list, spread over its length. */
function sample(list, count) {
  const stride = Math.max(1, Math.floor(list.length / count));
  return list.filter((_, at) => at % stride === 0);
}
