// Decides that points are earned, given back and spent exactly once, however many ask at once and whenever the process dies.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "./harness.mjs";
import { ask, cardOf, member, program, told } from "./program.mjs";
import { fresh } from "./shop.mjs";
import { tally } from "./tally.mjs";

const check = tally("points");
const ROUNDS = 8;
const CALLERS = 12;
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

const many = (count, what) => Promise.all(Array.from({ length: count }, (_, place) => what(place)));

check("one order paid by 50 parallel calls earns once, and called off by 20 gives back once", async () => {
  const one = await member(call, await program(call));
  const source_id = fresh("order-");
  const order = await ask(call, "POST", "/v1/orders", { source_id, amount: 12_345, customer: { source_id: one.source } });
  const paid = await many(50, (place) => (place % 2 === 0
    ? call("PUT", `/v1/orders/${order.id}`, { status: "PAID" })
    : call("POST", "/v1/orders", { source_id, status: "PAID", customer: { source_id: one.source } })));
  for (const { status, body } of paid) assert.equal(status, 200, JSON.stringify(body));
  assert.equal((await cardOf(call, one)).balance.points, 123);
  await many(20, () => call("PUT", `/v1/orders/${order.id}`, { status: "CANCELED" }));
  const card = await cardOf(call, one);
  assert.deepEqual([card.balance.points, card.lifetime_bucket.points.earned, card.lifetime_bucket.points.returned], [0, 123, 123]);
  assert.deepEqual([...(await told(call, one))].sort(), [["POINTS_EARNED", 1], ["POINTS_RETURNED", 1]]);
});

check("200 parallel purchases of the last 10 of a reward give exactly 10", async () => {
  const club = await program(call);
  const one = await member(call, club);
  await ask(call, "POST", `${one.card}/points`, { points: 100_000 });
  const reward = await lastTen(club);
  const answers = await many(200, () => call("POST", `${one.path}/rewards/purchases`, { reward_id: reward }));
  const taken = answers.filter(({ status }) => status === 202);
  assert.equal(taken.length, 10);
  for (const { status, body } of answers) assert.ok(status === 202 || status === 423, `${status} ${JSON.stringify(body)}`);
  const card = await cardOf(call, one);
  assert.equal(card.balance.points, 100_000 - 10 * 7);
  assert.equal(card.lifetime_bucket.points.spent, 70);
  const { data } = await ask(call, "GET", `${one.path}/rewards/purchases?limit=100`);
  assert.deepEqual(data.map(({ status }) => status), Array(10).fill("APPROVED"));
});

/** A reward for 7 points of which a program has ten. */
async function lastTen(club) {
  const product = await ask(call, "POST", "/v1/products", { source_id: fresh("prod-"), name: "Mug" });
  const reward = await ask(call, "POST", "/v2/loyalties/rewards", {
    name: fresh("mug-"), type: "MATERIAL", material: { product: { id: product.id }, type: "PRODUCT" }, status: "ACTIVE",
    costs: [{ spending: [{ name: "seven", points: 7, card_definition_id: club.definition }] }],
  });
  const stock = { type: "LIMITED", limited: { quantity: 10 } };
  await ask(call, "POST", `/v2/loyalties/programs/${club.id}/rewards/batch`, { assign: [{ id: reward.id, stock }] });
  return reward.id;
}

check("100 parallel payments from one card never exceed it", async () => {
  const club = await program(call, { pay_with_points: { type: "EXCHANGE_RATIO", exchange_ratio: { formula: 1 } } });
  const one = await member(call, club);
  await ask(call, "POST", `${one.card}/points`, { points: 1_000 });
  const answers = await many(100, async () => {
    const order = await ask(call, "POST", "/v1/orders", { source_id: fresh("order-"), amount: 5_000, customer: { source_id: one.source } });
    const payment_limit = { type: "POINTS_LIMIT", points_limit: { max: 30 } };
    return call("POST", `${one.path}/orders/payments`, { card_id: one.card_id, order: { id: order.id }, payment_limit });
  });
  const paid = answers.filter(({ status }) => status === 202).length;
  for (const { status, body } of answers) assert.ok(status === 202 || status === 423, `${status} ${JSON.stringify(body)}`);
  const card = await cardOf(call, one);
  assert.equal(card.balance.points, 0);
  assert.equal(card.lifetime_bucket.points.spent, 1_000);
  // 33 payments of thirty points, and one of the ten that were left.
  assert.equal(paid, 34);
});

check(`kill -9 while orders are paid, ${ROUNDS} rounds: every order earned once, none was lost, none doubled`, async (context) => {
  const one = await member(call, await program(call));
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
    assert.deepEqual([card.balance.points, card.lifetime_bucket.points.earned], [paid.size, paid.size], `after round ${round + 1}`);
  }
  assert.equal((await told(call, one)).get("POINTS_EARNED"), paid.size);
  assert.ok(unanswered >= ROUNDS, `only ${unanswered} requests were in flight at ${ROUNDS} kills: the load was too light to prove anything`);
  context.diagnostic(`${paid.size} orders, ${unanswered} unanswered at a kill and paid again`);
}, { timeout: 240_000 });

function pay({ source }, source_id) {
  return ask(call, "POST", "/v1/orders", { source_id, amount: 100, status: "PAID", customer: { source_id: source } });
}

/** Callers pay orders as fast as they can until the process is killed; gives the orders that got no answer. */
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
        // A dead process answers nobody; anything else is a failure of the test.
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
