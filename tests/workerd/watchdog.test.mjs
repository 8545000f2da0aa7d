// Tests that a process which no longer answers is killed and restarted, and that the request which stalled it wrote nothing. A spin inside
// one event cannot be interrupted from within plain workerd; the supervisor outside does it.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { boot, caller } from "./harness.mjs";
import { redeem, redeemedOf, standalone } from "./redemption_fixtures.mjs";
import { countTests } from "./test_report.mjs";
import { waitForSuccess } from "../wait.mjs";

const check = countTests("watchdog");
let service;

before(async () => {
  service = await boot({ watch: true, silentMs: 3_000 });
});
after(() => service?.stop());

check("a stalled process is replaced and nothing of the stalled request is written", async () => {
  const call = caller(service.url);
  const code = await standalone(call, { quantity: 5 });
  const before = service.pid;
  const stalled = redeem(call, code, { "scrip-test-fault": "stall" }).then(() => "answered", () => "broken off");
  assert.equal(await stalled, "broken off");
  const redeemed = await waitForSuccess(() => redeemedOf(call, code));
  assert.equal(redeemed, 0);
  assert.notEqual(service.pid, before);
  assert.equal((await redeem(call, code)).status, 200);
}, { timeout: 400_000 });
