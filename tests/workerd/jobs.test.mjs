// Tests that jobs leave room for requests. While a hundred thousand codes are created or deleted with their campaign, validations take less
// than three times as long as without jobs. Times are compared within one run, as medians, because a machine has other work at times.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { AIM_ALONE_MS, AIM_MOST_MS, AIM_MS, FIRST, LEAST, MOST, JobPacer, aimMs, nextRows, restMs } from "../../worker/shell/job_pacer.mjs";
import { boot, caller } from "./harness.mjs";
import { fresh, order, standalone } from "./redemption_fixtures.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("jobs");
const SLOWER = 3;
const TIMES = 300;
const EVERY = 20;
const TRIES = 3;
let service;
let call;

before(async () => {
  service = await boot({ testHooks: false });
  call = caller(service.url);
});
after(() => service?.stop());

check(`validations during a 100,000-code job and during a campaign's deletion take less than ${SLOWER} times as long`, async (context) => {
  const code = await standalone(call, { quantity: 10 });
  const validate = () => call("POST", "/v1/validations", { redeemables: [{ object: "voucher", id: code }], order });
  await median(validate);
  const worst = { "codes are made": Infinity, "they are removed": Infinity };
  for (let turn = 0; turn < TRIES && Object.values(worst).some((ratio) => ratio >= SLOWER); turn += 1) {
    const alone = await median(validate);
    const campaign = await begin();
    const during = { "codes are made": await median(validate, campaign.action) };
    const { progress } = await action(campaign.action);
    // The creation ends with its campaign, and the deletion covers the created codes.
    const removal = await call("DELETE", `/v1/campaigns/${campaign.id}`);
    assert.equal(removal.status, 202, JSON.stringify(removal.body));
    during["they are removed"] = await median(validate, removal.body.async_action_id);
    const again = await idle(validate, removal.body.async_action_id);
    for (const [what, ms] of Object.entries(during)) {
      const ratio = ms / Math.max(alone, again);
      worst[what] = Math.min(worst[what], ratio);
      context.diagnostic(`while ${what}: ${ms.toFixed(1)} ms beside ${alone.toFixed(1)} and ${again.toFixed(1)} alone, ${progress} % made`);
    }
  }
  for (const [what, ratio] of Object.entries(worst)) {
    assert.ok(ratio < SLOWER, `while ${what}, validations took ${ratio.toFixed(1)} times as long, in the best of ${TRIES} runs`);
  }
}, { timeout: 400_000 });

check("the size of a slice follows from the last one", () => {
  assert.equal(nextRows(100, AIM_MS), 100, "what fits stays");
  assert.equal(nextRows(100, AIM_MS * 1.25), 80, "a little too much");
  assert.equal(nextRows(400, 1_000), 200, "a machine that was busy once is no slower one");
  assert.equal(nextRows(100, 0), 125, "more, with care, also where a clock stands still");
  const grown = Array.from({ length: 50 }).reduce((rows) => nextRows(rows, 0), FIRST);
  const shrunk = Array.from({ length: 50 }).reduce((rows) => nextRows(rows, 60_000), FIRST);
  assert.deepEqual([grown, shrunk], [MOST, LEAST], "never more than that, never less");
  assert.deepEqual([aimMs(1), aimMs(3 * AIM_MS), aimMs(60_000)], [AIM_MS, 1.5 * AIM_MS, AIM_MOST_MS], "longer beside many who ask");
  assert.equal(aimMs(0), AIM_ALONE_MS, "and without requests");
  assert.equal(nextRows(100, AIM_MS, AIM_MS * 1.1), 110);
  // Jobs get a third of the time at most, on any machine.
  for (const took of [3, 6, 50, 1_000]) assert.ok(took / (took + restMs(took)) <= 1 / 3);
  assert.ok(restMs(0) > 0);
});

check("jobs get about a third of the time with any number of callers, and nearly all of it without one", async () => {
  for (const rowMs of [0.01, 0.05, 0.2]) {
    for (const callers of [1, 4, 16, 64]) {
      const { share } = await worked({ callers, rowMs });
      assert.ok(share > 0.2 && share <= 0.35, `with ${callers} callers, at ${rowMs} ms a row, it had ${share}`);
    }
    const { share } = await worked({ callers: 0, rowMs });
    assert.ok(share > 0.8, `without requests, at ${rowMs} ms a row, it had ${share}`);
  }
});

check("a caller that polls the progress of a job takes little of its time", async () => {
  for (const rowMs of [0.01, 0.05, 0.2]) {
    const { share } = await worked({ callers: 0, rowMs, looksMs: 100 });
    assert.ok(share > 0.75, `at ${rowMs} ms a row, it had ${share}`);
  }
});

/**
 * Returns the share of a modelled object's time that jobs get. A number of callers send again at once, and one polls every `looksMs`; a request
 * takes a millisecond.
 */
async function worked({ callers, rowMs, looksMs = Infinity }) {
  let [time, working, served, looks] = [0, 0, 0, looksMs];
  const turn = () => {
    time += 1;
    served += 1;
  };
  const object = {
    now: () => time,
    served: () => served,
    // A timer fires after all that waited before it.
    async sleep(ms) {
      const end = time + ms;
      for (let turns = 0; callers > 0 && (time < end || turns < callers); turns += 1) turn();
      for (; looks < time; looks += looksMs) turn();
      time = Math.max(time, end);
    },
    async exclusively(job) {
      const startedAt = time;
      job();
      time += 1;
      working += time - startedAt;
      return time - startedAt;
    },
    slice(rows) {
      time += rows * rowMs;
      return 0;
    },
  };
  const pacer = new JobPacer(object);
  for (let burst = 0; burst < 3; burst += 1) await pacer.runBurst();
  return { share: working / time };
}

/** Creates a campaign of a hundred thousand codes; returns it with the job that creates them. */
async function begin() {
  const campaign = {
    name: fresh("JOB-"), type: "AUTO_UPDATE", vouchers_count: 100_000,
    voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 500 }, redemption: { quantity: 1 } },
  };
  const { status, body } = await call("POST", "/v1/campaigns", campaign);
  assert.equal(status, 200, JSON.stringify(body));
  const { body: actions } = await call("GET", "/v1/async-actions?limit=1");
  return { id: body.id, action: actions.async_actions[0].id };
}

/** Returns the median time of some validations in ms, one after the other; they end with the job named by `until`. */
async function median(validate, until) {
  const times = [];
  while (times.length < TIMES) {
    const { status, body, ms } = await validate();
    assert.equal(status, 200, JSON.stringify(body));
    times.push(ms);
    if (until && times.length % EVERY === 0 && (await action(until)).status === "DONE") break;
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

/** Waits for the end of a job; returns the median time without it. */
async function idle(validate, id) {
  while ((await action(id)).status === "IN_PROGRESS") await validate();
  return median(validate);
}

async function action(id) {
  const { status, body } = await call("GET", `/v1/async-actions/${id}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}
