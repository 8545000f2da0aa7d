// Creates a hundred thousand codes on the built Worker while redemptions run: the job must not delay a redemption for long.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "../workerd/harness.mjs";

const CODES = 100_000;
/** A redemption may wait for one slice of the job, which is a small part of the whole. */
const SLOWEST_SHARE_MAX = 1 / 4;

let worker;
before(async () => {
  worker = await boot({ testHooks: true });
});
after(() => worker?.stop());

test("100,000 codes by async action while redemptions run", { timeout: 600_000 }, async (context) => {
  const call = caller(worker.url);
  const discount = { discount: { type: "AMOUNT", amount_off: 100 } };
  assert.equal((await call("POST", "/v1/vouchers/MEANWHILE", discount)).status, 200);
  const startedAt = performance.now();
  const created = await call("POST", "/v1/campaigns", { name: "Large", vouchers_count: CODES, voucher: discount });
  assert.equal(created.status, 200, JSON.stringify(created.body));
  assert.deepEqual([created.body.vouchers_count, created.body.creation_status], [0, "IN_PROGRESS"]);
  let redeemed = 0;
  let slowest = 0;
  let reported = new Set();
  for (;;) {
    const redemption = await call("POST", "/v1/redemptions", { redeemables: [{ object: "voucher", id: "MEANWHILE" }], order: { amount: 1000 } });
    assert.equal(redemption.status, 200, JSON.stringify(redemption.body));
    redeemed += 1;
    slowest = Math.max(slowest, redemption.ms);
    const [action] = (await call("GET", "/v1/async-actions?limit=1")).body.async_actions;
    reported.add(action.progress);
    if (action.status !== "IN_PROGRESS") {
      assert.equal(action.status, "DONE");
      break;
    }
    await sleep(20);
  }
  const took = performance.now() - startedAt;
  const seconds = (took / 1000).toFixed(1);
  context.diagnostic(`${seconds} s, ${redeemed} redemptions meanwhile, the slowest ${slowest.toFixed(0)} ms, progress reported ${reported.size} times`);
  assert.ok(reported.size > 3, `progress was only ever ${[...reported]}`);
  assert.ok(slowest < SLOWEST_SHARE_MAX * took, `a redemption waited ${slowest} ms of ${took}`);
  assert.equal((await call("GET", "/v1/vouchers?campaign=Large&limit=1")).body.total, CODES);
  assert.equal((await call("GET", "/v1/campaigns/Large")).body.vouchers_count, CODES);
  assert.equal((await call("GET", "/v1/vouchers/MEANWHILE")).body.redemption.redeemed_quantity, redeemed);
});
