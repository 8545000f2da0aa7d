// Measures how fast a hundred thousand codes are created and ten thousand webhooks delivered, and how many redemptions run meanwhile,
// compared with redemptions only. Everything is on 127.0.0.1 and ends by itself.
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "../tests/workerd/harness.mjs";
import { redeem, standalone } from "../tests/workerd/redemption_fixtures.mjs";

const CODES = Number(process.env.BENCH_CODES ?? 100_000);
const DELIVERIES = Number(process.env.BENCH_DELIVERIES ?? 10_000);
const CALLERS = 16;
/** The time in which redemptions are counted without a job. */
const ALONE_MS = 5_000;

export async function measureBulk() {
  const service = await boot({ testHooks: false });
  try {
    const call = caller(service.url);
    return { codes: await codes(call), webhooks: await webhooks(call) };
  } finally {
    await service.stop();
  }
}

/** Returns the redemptions a second of the given number of callers until a job has ended. */
async function meanwhile(call, what) {
  const ready = await Promise.all(Array.from({ length: CALLERS }, () => standalone(call, { quantity: null })));
  let [count, over] = [0, false];
  const startedAt = performance.now();
  const callers = ready.map(async (code) => {
    while (!over) {
      const { status } = await redeem(call, code);
      if (status !== 200) throw new Error(`a redemption is answered ${status}`);
      count += 1;
    }
  });
  const ended = Promise.resolve(what()).finally(() => (over = true));
  await Promise.all([ended, ...callers]);
  const seconds = (performance.now() - startedAt) / 1_000;
  return { seconds, rate: count / seconds };
}

async function made(call) {
  const voucher = { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 } };
  const name = `Codes ${Math.random()}`;
  const { status, body } = await call("POST", "/v1/campaigns", { name, campaign_type: "DISCOUNT_COUPONS", vouchers_count: CODES, voucher });
  if (status !== 200) throw new Error(`a campaign is answered ${status}: ${JSON.stringify(body)}`);
  for (;;) {
    const found = await call("GET", `/v1/campaigns/${body.id}`);
    if (found.body.creation_status === "DONE") return;
    await sleep(100);
  }
}

async function codes(call) {
  const startedAt = performance.now();
  await made(call);
  const alone_s = (performance.now() - startedAt) / 1_000;
  const before = await meanwhile(call, () => sleep(ALONE_MS));
  const during = await meanwhile(call, () => made(call));
  const after = await meanwhile(call, () => sleep(ALONE_MS));
  const usual = (before.rate + after.rate) / 2;
  const row = { codes: CODES, alone_s, beside_s: during.seconds, redemptions: { alone: usual, during: during.rate, ratio: during.rate / usual } };
  console.log("codes", row);
  return row;
}

/** Sends the given number of webhook deliveries: a webhook receives an event of each redemption, until enough of them have arrived. */
async function webhooks(call) {
  let come = 0;
  let enough;
  const delivered = new Promise((done) => (enough = done));
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => {
      response.end();
      come += 1;
      if (come >= DELIVERIES) enough();
    });
  });
  await new Promise((done) => receiver.listen(0, "127.0.0.1", done));
  try {
    const before = await meanwhile(call, () => sleep(ALONE_MS));
    const path = "/management/v1/projects/proj_dev/webhooks";
    const target = { target_url: `http://127.0.0.1:${receiver.address().port}/`, events: ["redemption.succeeded"], active: true };
    const hook = await call("POST", path, target);
    if (hook.status >= 300) throw new Error(`a webhook is answered ${hook.status}: ${JSON.stringify(hook.body)}`);
    const during = await meanwhile(call, () => delivered);
    await call("DELETE", `${path}/${hook.body.id}`, undefined);
    const after = await meanwhile(call, () => sleep(ALONE_MS));
    const usual = (before.rate + after.rate) / 2;
    const row = { deliveries: DELIVERIES, seconds: during.seconds, redemptions: { alone: usual, during: during.rate, ratio: during.rate / usual } };
    console.log("webhooks", row);
    return row;
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
}
