// Tests that guessing codes from a page is throttled, and that other callers are not slowed: other addresses, valid codes, the shop's own
// servers. It uses the real runtime and the real clock.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller, pageHeaders as page } from "./harness.mjs";
import { fresh, order, redeem, standalone } from "./redemption_fixtures.mjs";
import { setupText } from "../../worker/tools/setup.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("guesses");
let service;
let unnamed;
let call;
let right;

before(async () => {
  const setup = { ...JSON.parse(setupText()), address_header: "X-Real-IP" };
  // The limit of calls in general is another matter, which would come first.
  for (const project of setup.projects) project.rate_limits = { client: {} };
  service = await boot({ setup: JSON.stringify(setup) });
  unnamed = await boot();
  call = caller(service.url);
  right = await standalone(call, { quantity: 1_000_000 });
});
after(() => Promise.all([service?.stop(), unnamed?.stop()]));

/** Returns the answer to a validation from a page, of these codes and with these headers. */
async function validateCodes(codes, headers = {}, url = service.url) {
  const startedAt = performance.now();
  const redeemables = codes.map((id) => ({ object: "voucher", id }));
  const send = () => fetch(`${url}/client/v1/validations`, {
    method: "POST", headers: { ...page, ...headers }, body: JSON.stringify({ redeemables, order }),
  });
  // On a busy machine a connection breaks now and then; calls counted here may be repeated.
  const reply = await send().catch(send);
  const body = await reply.json();
  return { status: reply.status, body, headers: reply.headers, ms: performance.now() - startedAt };
}

const from = (address) => ({ "x-real-ip": address });

/** Sends wrong codes, a number of them at a time; returns the counts of answered and of throttled calls, and the duration. */
async function attack(times, parallel, headers, url) {
  const counts = { answered: 0, away: 0, seconds: 0 };
  const startedAt = performance.now();
  let left = times;
  await Promise.all(Array.from({ length: parallel }, async () => {
    while (left > 0) {
      left -= 1;
      const { status } = await validateCodes([fresh("NO-")], headers(), url);
      assert.ok([200, 429].includes(status), String(status));
      counts[status === 200 ? "answered" : "away"] += 1;
    }
  }));
  return { ...counts, seconds: (performance.now() - startedAt) / 1_000 };
}

/** Returns the median. */
function median(numbers) {
  return numbers.sort((one, other) => one - other)[numbers.length >> 1];
}

check("from one address thousands of guesses become a few, and all other callers are served meanwhile", async () => {
  const meanwhile = [];
  let attacking = true;
  const others = (async () => {
    while (attacking) {
      const { ms, status } = await redeem(call, right);
      assert.equal(status, 200);
      meanwhile.push(ms);
      const other = await validateCodes([right], from("192.0.2.200"));
      assert.equal(other.body.valid, true, "another address is not concerned");
      await sleep(50);
    }
  })();
  const forged = () => ({ ...from("192.0.2.1"), "x-forwarded-for": `198.51.100.${Math.ceil(Math.random() * 250)}`, "cf-connecting-ip": "198.51.100.1" });
  const { answered, seconds } = await attack(1_000, 16, forged);
  attacking = false;
  await others;
  assert.ok(answered <= 33 + seconds / 30, `${answered} of 1,000 guesses were answered`);
  assert.ok(median(meanwhile) < (seconds * 1_000) / 4, `a redemption took ${median(meanwhile)} ms of an attack of ${seconds} s`);
});

check("a throttled caller gets the same answer for a valid code, with the time to come again", async () => {
  const address = from("192.0.2.2");
  const burst = await Promise.all(Array.from({ length: 40 }, () => validateCodes([fresh("NO-")], address)));
  assert.ok(burst.some(({ status }) => status === 429));
  const [wrong, correct] = [await validateCodes([fresh("NO-")], address), await validateCodes([right], address)];
  for (const answer of [wrong, correct]) {
    assert.equal(answer.status, 429);
    assert.deepEqual(answer.body, { code: 429, message: "Too many requests hit the API too quickly." });
    assert.equal(answer.headers.get("scrip-wrong-codes"), null);
    assert.ok(Number(answer.headers.get("retry-after")) >= 1);
    assert.match(answer.headers.get("access-control-expose-headers"), /retry-after/);
  }
  assert.ok(Math.abs(wrong.headers.get("retry-after") - correct.headers.get("retry-after")) <= 1);
});

check("`Retry-After` is observed", async () => {
  const address = { ...from("192.0.2.3") };
  const now = Date.now();
  const at = (seconds) => ({ ...address, "scrip-test-now": String(now + seconds * 1_000) });
  const thirty = Array.from({ length: 30 }, () => fresh("NO-"));
  assert.equal((await validateCodes(thirty, at(0))).status, 200);
  const away = await validateCodes([right], at(0));
  assert.equal(away.status, 429);
  const seconds = Number(away.headers.get("retry-after"));
  assert.equal(seconds, (30 - 16) * 30);
  assert.equal((await validateCodes([right], at(seconds - 1))).status, 429);
  assert.equal((await validateCodes([right], at(seconds))).body.valid, true);
});

check("answers about useless codes leave at fixed times, regardless of the reason; valid ones at once", async () => {
  const expired = fresh("OLD-");
  const voucher = { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 500 }, expiration_date: "2026-01-01T00:00:00Z" };
  assert.equal((await call("POST", `/v1/vouchers/${expired}`, voucher)).status, 200);
  for (const code of [fresh("NO-"), expired]) {
    const { ms, body } = await validateCodes([code], from("192.0.2.4"));
    assert.equal(body.redeemables[0].result.error.key, "not_found");
    assert.ok(ms >= 49, `${ms} ms`);
  }
});

check("thousands of addresses, each with a mistake: all are answered, and so is a valid code of another address", async () => {
  let next = 0;
  const turn = async () => {
    for (let number = next; number < 3_000; number = next) {
      next += 1;
      const { status } = await validateCodes([fresh("NO-")], from(`10.1.${number >> 8}.${number & 255}`));
      assert.equal(status, 200);
    }
  };
  await Promise.all(Array.from({ length: 48 }, turn));
  assert.equal((await validateCodes([right], from("192.0.2.5"))).body.valid, true);
}, { timeout: 400_000 });

check("without a named header only the key counts, regardless of the caller's headers", async () => {
  const ours = caller(unnamed.url);
  const code = await standalone(ours, { quantity: 1_000 });
  const waits = { right: [], wrong: [] };
  for (let round = 0; round < 150; round += 1) {
    const { body, ms } = await validateCodes([code], {}, unnamed.url);
    assert.equal(body.valid, true);
    waits.right.push(ms);
    if (round % 15 === 0) waits.wrong.push((await validateCodes([fresh("NO-")], {}, unnamed.url)).ms);
  }
  assert.ok(median(waits.right) < median(waits.wrong), `a right code waited for ${median(waits.right)} ms, a wrong one ${median(waits.wrong)}`);
  let number = 0;
  const { answered, away, seconds } = await attack(800, 32, () => {
    number += 1;
    return { "x-forwarded-for": `10.0.${number >> 8}.${number & 255}`, "x-real-ip": `10.0.${number >> 8}.${number & 255}` };
  }, unnamed.url);
  assert.ok(answered <= 270 + seconds, `${answered} guesses were answered`);
  assert.ok(away > 0);
  assert.equal((await redeem(ours, code)).status, 200, "a server's key is not limited");
});
