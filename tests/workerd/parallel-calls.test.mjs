// Tests that limited quantities are never sold twice under parallel calls.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { boot, caller } from "./harness.mjs";
import { cardOf, club, made, member } from "./points_fixtures.mjs";
import { balanceOf, giftCard, redeem, redeemedOf, standalone } from "./redemption_fixtures.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("races");
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

check("100 parallel redemptions of a 10-use code succeed exactly 10 times", async () => {
  const code = await standalone(call, { quantity: 10 });
  const answers = await Promise.all(Array.from({ length: 100 }, () => redeem(call, code)));
  const statuses = grouped(answers);
  assert.equal(statuses.get(200)?.length, 10);
  assert.equal(statuses.get(400)?.length, 90);
  for (const { body } of statuses.get(400)) assert.equal(body.key, "quantity_exceeded");
  assert.equal(await redeemedOf(call, code), 10);
});

check("two partial gift spends whose sum exceeds the balance do not both succeed", async () => {
  const code = await giftCard(call, { amount: 1_000 });
  const spend = () => redeem(call, code, {}, { gift: { credits: 600 } });
  const answers = await Promise.all([spend(), spend()]);
  assert.deepEqual(answers.map((one) => one.status).sort(), [200, 400]);
  const refused = answers.find((one) => one.status === 400);
  assert.equal(refused.body.key, "gift_amount_exceeded");
  assert.equal(await balanceOf(call, code), 400);
});

check("one Idempotency-Key sent 20 times at once redeems once and answers alike", async () => {
  const code = await standalone(call, { quantity: 10 });
  const key = { "idempotency-key": `race-${code}` };
  const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(call, code, key)));
  for (const answer of answers) {
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual(answer.body, answers[0].body);
  }
  assert.equal(await redeemedOf(call, code), 1);
});

check("20 parallel rollbacks of one redemption give the code back once", async () => {
  const code = await standalone(call, { quantity: 1 });
  const { body } = await redeem(call, code);
  const id = body.redemptions[0].id;
  const answers = await Promise.all(Array.from({ length: 20 }, () => call("POST", `/v1/redemptions/${id}/rollback`, {})));
  assert.equal(answers.filter((one) => one.status === 200).length, 1);
  for (const { status, body } of answers.filter((one) => one.status !== 200)) {
    assert.equal(status, 400);
    assert.equal(body.key, "already_rolled_back");
  }
  assert.equal(await redeemedOf(call, code), 0);
});

check("200 parallel purchases of the last 10 rewards give exactly 10", async () => {
  const { program, reward } = await club(call, { cost: 1, quantity: 10 });
  const buyers = await Promise.all(Array.from({ length: 20 }, () => member(call, program, 20)));
  const buy = (_, at) => call("POST", `${buyers[at % 20].path}/rewards/purchases`, { reward_id: reward });
  const answers = await Promise.all(Array.from({ length: 200 }, buy));
  const statuses = grouped(answers);
  assert.equal(statuses.get(202)?.length, 10);
  assert.equal(statuses.get(423)?.length, 190);
  for (const { body } of statuses.get(423)) assert.equal(body.key, "reward_out_of_stock");
  const cards = await Promise.all(buyers.map((buyer) => cardOf(call, buyer)));
  const spent = cards.reduce((sum, card) => sum + card.lifetime_bucket.points.spent, 0);
  assert.equal(spent, 10);
  const { data } = await made(call, "GET", `/v2/loyalties/programs/${program}/rewards`);
  assert.equal(data[0].redeemed, 10);
});

check("100 parallel payments from one card never exceed it", async () => {
  const pay_with_points = { type: "EXCHANGE_RATIO", exchange_ratio: { formula: "1" } };
  const { program } = await club(call, { definition: { pay_with_points } });
  const payer = await member(call, program, 250);
  const order = { amount: 10_000, customer: { id: payer.customer } };
  const orders = await Promise.all(Array.from({ length: 100 }, () => made(call, "POST", "/v1/orders", order)));
  const pay = ({ id }) =>
    call("POST", `${payer.path}/orders/payments`, {
      card_id: payer.card,
      order: { id },
      payment_limit: { type: "POINTS_LIMIT", points_limit: { max: 10 } },
    });
  const statuses = grouped(await Promise.all(orders.map(pay)));
  assert.equal(statuses.get(202)?.length, 25);
  for (const { body } of statuses.get(423)) assert.equal(body.key, "zero_card_balance");
  const card = await cardOf(call, payer);
  assert.equal(card.balance.points, 0);
  assert.equal(card.lifetime_bucket.points.spent, 250);
});

check("20 parallel refunds of one purchase give its points back once", async () => {
  const { program, reward } = await club(call, { cost: 5 });
  const buyer = await member(call, program, 5);
  const bought = await made(call, "POST", `${buyer.path}/rewards/purchases`, { reward_id: reward });
  const path = `/v2/loyalties/programs/${program}/rewards/purchases/${bought.transaction.id}/refund`;
  const refund = () => call("POST", path, { policies: { refund: "ALLOW" } });
  const statuses = grouped(await Promise.all(Array.from({ length: 20 }, refund)));
  assert.equal(statuses.get(202)?.length, 1);
  assert.equal(statuses.get(409)?.length, 19);
  assert.equal((await cardOf(call, buyer)).balance.points, 5);
});

function grouped(answers) {
  const groups = new Map();
  for (const one of answers) groups.set(one.status, [...(groups.get(one.status) ?? []), one]);
  return groups;
}
