// Tests that points are earned and refunded exactly once, under parallel calls and crashes.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "./harness.mjs";
import { cardOf, club, countTransactions, made, member } from "./points_fixtures.mjs";
import { fresh, redeem, standalone } from "./redemption_fixtures.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("points");
const ROUNDS = 8;
const CALLERS = 12;
const CARDS = 300;
/** The most redemptions for each lot that is swept at the same time. */
const FOR_A_LOT = 8;
const DAY_MS = 86_400_000;
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

const many = (count, what) => Promise.all(Array.from({ length: count }, (_, place) => what(place)));

check("one order paid by 50 parallel calls earns once, and cancelled by 20 gives back once", async () => {
  const refunds = { earned_points: { type: "REFUNDABLE", methods: [{ type: "REVOKE_FROM_BALANCE", mode: "REVOKE_TO_ZERO" }] } };
  const { program } = await club(call, { earns: 123, definition: { refunds } });
  const one = await member(call, program, 1);
  const customer = { id: one.customer };
  const source_id = fresh("order-");
  const order = await made(call, "POST", "/v1/orders", { source_id, amount: 12_345, customer });
  const paid = await many(50, (place) => (place % 2 === 0
    ? call("PUT", `/v1/orders/${order.id}`, { status: "PAID" })
    : call("POST", "/v1/orders", { source_id, status: "PAID", customer })));
  for (const { status, body } of paid) assert.equal(status, 200, JSON.stringify(body));
  assert.equal((await cardOf(call, one)).balance.points, 124);
  await many(20, () => call("PUT", `/v1/orders/${order.id}`, { status: "CANCELED" }));
  const card = await cardOf(call, one);
  assert.deepEqual([card.balance.points, card.lifetime_bucket.points.earned, card.lifetime_bucket.points.returned], [1, 123, 123]);
  assert.deepEqual(await countTransactions(call, one), { POINTS_RETURNED: 1, POINTS_EARNED: 1, ADMIN_CREDIT: 1 });
});

check(`kill -9 while orders are paid, ${ROUNDS} rounds: every order earned once, none was lost, none doubled`, async (context) => {
  const { program } = await club(call, { earns: 1 });
  const one = await member(call, program, 1);
  const paid = new Set();
  let unanswered = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const open = await payUntilKilled(one, paid);
    unanswered += open.length;
    await service.restart();
    for (const source of open) {
      await pay(one, source);
      paid.add(source);
    }
    const card = await cardOf(call, one);
    assert.deepEqual([card.balance.points, card.lifetime_bucket.points.earned], [paid.size + 1, paid.size], `after round ${round + 1}`);
  }
  assert.equal((await countTransactions(call, one)).POINTS_EARNED, paid.size);
  assert.ok(unanswered >= ROUNDS, `only ${unanswered} requests were in flight at ${ROUNDS} kills: the load was too light to prove anything`);
  context.diagnostic(`${paid.size} orders, ${unanswered} unanswered at a kill and paid again`);
}, { timeout: 400_000 });

check(`the points of ${CARDS} cards expire while ${CALLERS} callers redeem as fast as they can`, async (context) => {
  const points_expiration = { type: "ROLLING_EXPIRATION", rolling_expiration: { period: { value: 1, unit: "DAY" } } };
  const { program } = await club(call, { definition: { points_expiration } });
  // They arrive three days ago. Calls with a clock of their own set no alarm.
  const then = { "scrip-test-now": String(Date.now() - 3 * DAY_MS) };
  const due = async () => (await made(call, "GET", "/test-hooks/rows")).due;
  const before = await due();
  for (let place = 0; place < CARDS; place += 1) await member((...parts) => call(...parts, then), program, 1);
  const code = await standalone(call, { quantity: null });
  await member(call, program, 1);
  const found = await due();
  let [redeemed, left] = [0, found];
  const callers = many(CALLERS, async () => {
    while (left > before + 2 && redeemed < FOR_A_LOT * CARDS) {
      const { status, body } = await redeem(call, code);
      assert.equal(status, 200, JSON.stringify(body));
      redeemed += 1;
    }
  });
  while (left > before + 2 && redeemed < FOR_A_LOT * CARDS) left = await due();
  await callers;
  context.diagnostic(`${found - left} lots beside ${redeemed} redemptions`);
  assert.ok(left <= before + 2, `after ${redeemed} redemptions, ${left} of ${found} were due`);
});

function pay({ customer: id }, source_id) {
  return made(call, "POST", "/v1/orders", { source_id, amount: 100, status: "PAID", customer: { id } });
}

/** Pays orders as fast as the callers can until the process is killed; returns the orders that got no answer. */
async function payUntilKilled(one, paid) {
  let alive = true;
  const open = [];
  const callers = Array.from({ length: CALLERS }, async () => {
    while (alive) {
      const source = fresh("order-");
      try {
        await pay(one, source);
        paid.add(source);
      } catch (error) {
        // A dead process gives no answer; any other error is a failure of the test.
        if (error instanceof assert.AssertionError || alive) throw error;
        open.push(source);
      }
    }
  });
  await sleep(100 + Math.random() * 600);
  alive = false;
  await service.kill9();
  await Promise.all(callers);
  return open;
}
