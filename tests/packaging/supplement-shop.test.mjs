// Tests the supplement in a shop: one of older rules, and a local clock that is wrong by a day.
import assert from "node:assert/strict";
import { countTests } from "../browser/test_report.mjs";
import { answerSupplements, serveCustomers, tokenOf, vip, vipCart } from "./customer_fixtures.mjs";
import { open, server, useShops } from "./shop_fixtures.mjs";
import { HOUR, SECOND } from "./shop_server.mjs";
import { skewLocalClock, tick } from "./virtual_time.mjs";

const check = countTests("packaging");
useShops();

/** The facts that a verdict lacks without a supplement. */
const WITHOUT = ["condition/7", "customer/anna"];
const customer = () => tokenOf("anna");
const requestedSupplements = () => server.paths().filter((path) => path.endsWith("/bundle/me")).length;

check("a supplement of older rules is not used: verdicts are provisional until another one is fetched", async () => {
  serveCustomers();
  const shop = await open({ customer });
  assert.equal((await shop.check(vipCart)).valid, true);
  const changed = vip("changed");
  server.serveRules(changed, { rev: 3_000 });
  answerSupplements(vip());
  assert.equal((await shop.refresh()).fresh, true, "the rules are the newest");
  requestedSupplements();
  for (const verdict of [shop.checkNow(vipCart), await shop.check(vipCart)]) {
    assert.deepEqual([verdict.kind, verdict.missing, verdict.asOf.revision.rev], ["provisional", WITHOUT, 3_000]);
  }
  assert.equal(requestedSupplements(), 0, "a failed attempt is not repeated at once");
  await tick(11 * SECOND);
  assert.equal((await shop.check(vipCart)).kind, "provisional", "it is fetched again, and is still of the older rules");
  assert.equal(requestedSupplements(), 1);
  answerSupplements(changed);
  await tick(11 * SECOND);
  const verdict = await shop.check(vipCart);
  assert.deepEqual([verdict.kind, verdict.valid, requestedSupplements()], ["final", true, 1]);
});

/** Serves rules that the service has changed just now: its caches have the former head, its supplements belong to the changed rules. */
function serveFormerHead() {
  const changed = vip("changed");
  server.serveRules(vip());
  answerSupplements(changed);
  return () => {
    server.serveRules(changed, { rev: 3_000 });
    answerSupplements(changed);
  };
}

check("a supplement of newer rules: both are fetched again after 1, 2 and 4 seconds, and then only by a check", async () => {
  serveFormerHead();
  const shop = await open({ customer, poll: true });
  const requests = [];
  for (let second = 0; second <= 20; second += 1) {
    if (requestedSupplements() > 0) requests.push(second);
    const { kind, missing } = shop.checkNow(vipCart);
    assert.deepEqual([kind, missing], ["provisional", WITHOUT], `after ${second} s`);
    await tick(SECOND);
  }
  assert.deepEqual(requests, [0, 1, 3, 7]);
  assert.equal((await shop.check(vipCart)).kind, "provisional");
  assert.equal(requestedSupplements(), 1, "a check after ten seconds");
});

check("the next head arrives while a supplement of its core waits: verdicts about the customer are final after a second", async () => {
  const serveChanged = serveFormerHead();
  const shop = await open({ customer, poll: true });
  assert.deepEqual(shop.checkNow(vipCart).missing, WITHOUT);
  serveChanged();
  await tick(SECOND);
  const verdict = shop.checkNow(vipCart);
  assert.deepEqual([verdict.kind, verdict.valid, verdict.asOf.revision.rev], ["final", true, 3_000]);
  requestedSupplements();
  await tick(20 * SECOND);
  assert.equal(requestedSupplements(), 0, "nothing is fetched again");
});

check("without polls a check fetches a supplement of newer rules again after a second, not before", async () => {
  const serveChanged = serveFormerHead();
  const shop = await open({ customer });
  serveChanged();
  await tick(0.9 * SECOND, 100);
  assert.deepEqual((await shop.check(vipCart)).missing, WITHOUT);
  await tick(0.2 * SECOND, 100);
  assert.deepEqual(shop.checkNow(vipCart).missing, WITHOUT, "no timer fetches it");
  const verdict = await shop.check(vipCart);
  assert.deepEqual([verdict.kind, verdict.valid], ["final", true]);
});

for (const [name, skew] of [["a day ahead", 24 * HOUR], ["a day behind", -24 * HOUR]]) {
  check(`a supplement counts within its time on a clock that is ${name}`, async () => {
    skewLocalClock(skew);
    serveCustomers();
    const shop = await open({ customer });
    const verdict = await shop.check(vipCart);
    assert.deepEqual([verdict.kind, verdict.valid], ["final", true]);
    await tick(290 * SECOND);
    assert.equal(shop.checkNow(vipCart).valid, true, "within its time");
    await tick(11 * SECOND);
    assert.deepEqual(shop.checkNow(vipCart).missing, WITHOUT, "after its end");
    assert.equal((await shop.check(vipCart)).valid, true, "the next one");
  });
}
