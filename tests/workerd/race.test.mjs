// Decides that what is scarce is never sold twice, however many ask for it at once.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { boot, caller } from "./harness.mjs";
import { balanceOf, giftCard, redeem, redeemedOf, standalone } from "./shop.mjs";
import { tally } from "./tally.mjs";

const check = tally("races");
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

function grouped(answers) {
  const groups = new Map();
  for (const one of answers) groups.set(one.status, [...(groups.get(one.status) ?? []), one]);
  return groups;
}
