// Measures the requests a second of the built Worker on plain workerd and the CPU time of each, compared with a bare increment of a Durable
// Object in the same rounds. Everything is on 127.0.0.1 and ends by itself.
import autocannon from "autocannon";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { boot, caller } from "../tests/workerd/harness.mjs";
import { serverHeaders } from "../worker/tools/setup.mjs";
import { median } from "./contender.mjs";
import { earning } from "./edge/earning.mjs";
import { cpuMs } from "./processes.mjs";
import { serve } from "./serve.mjs";
import { workload } from "./translate.mjs";

const CONNECTIONS = 16;
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);

export async function measureEdge({ rounds }) {
  const increment = await bootIncrement();
  const worker = await boot({ testHooks: false });
  try {
    const contenders = [
      { name: "bare Durable Object increment", url: `${increment.url}/increment`, body: { order: { amount: 10000 } }, pid: increment.pid },
      ...[...(await requests(worker.url)), ...(await earning(caller(worker.url), worker.url))].map((row) => ({ ...row, pid: worker.pid })),
    ];
    return { connections: CONNECTIONS, seconds: SECONDS, rows: await compare(contenders, rounds) };
  } finally {
    await Promise.all([worker.stop(), increment.stop()]);
  }
}

/** Returns the requests for the Worker, once each has been shown to work. */
export async function requests(url) {
  const call = caller(url);
  const created = await call("POST", "/v1/vouchers", {
    code: `BENCH-${Date.now()}`, type: "DISCOUNT_VOUCHER",
    discount: { type: "PERCENT", percent_off: 10, effect: "APPLY_TO_ORDER" }, redemption: { quantity: null },
  });
  if (created.status !== 200) throw new Error(`no voucher to redeem: ${created.status} ${JSON.stringify(created.body)}`);
  const redeemables = [{ object: "voucher", id: created.body.code }];
  const body = { redeemables, order: { items: workload("w1").request.order.items } };
  for (const path of ["/v1/redemptions", "/v1/validations"]) {
    const tried = await call("POST", path, body);
    const total = tried.body.order?.total_amount;
    if (tried.status !== 200 || total !== 52863) throw new Error(`${path} answered ${tried.status}, total ${total}`);
  }
  return [
    { name: "redemption (`POST /v1/redemptions`), ten lines", url: `${url}/v1/redemptions`, body },
    { name: "validation (`POST /v1/validations`), ten lines", url: `${url}/v1/validations`, body },
  ];
}

async function compare(contenders, rounds) {
  const rates = contenders.map(() => []);
  const times = contenders.map(() => []);
  for (const contender of contenders) await load(contender, 1);
  for (let round = 0; round < rounds; round++) {
    const order = contenders.map((_, place) => [Math.random(), place]).sort(([a], [b]) => a - b);
    for (const [, place] of order) {
      const { rate, cpu_ms: time } = await load(contenders[place], SECONDS);
      rates[place].push(rate);
      times[place].push(time);
    }
    console.log(`workerd, round ${round + 1} of ${rounds}`);
  }
  return contenders.map(({ name }, place) => ({
    name, median: median(rates[place]), least: Math.min(...rates[place]), most: Math.max(...rates[place]),
    to_increment: median(rates[place].map((rate, round) => rate / rates[0][round])),
    cpu_ms: median(times[place]), cpu_to_increment: median(times[place].map((time, round) => time / times[0][round])),
  }));
}

/**
 * Returns the number of requests, those of a second, and the CPU time of each where the process is known; an answer other than 2xx spoils the
 * measurement.
 */
export async function load({ name, url, body, pid }, duration) {
  const before = pid && cpuMs(pid);
  const result = await autocannon({
    url, method: "POST", headers: serverHeaders, body: JSON.stringify(body), connections: CONNECTIONS, duration,
  });
  const bad = result.non2xx + result.errors + result.timeouts;
  if (bad > 0) throw new Error(`${name}: ${bad} of ${result.requests.total} requests failed`);
  const total = result["2xx"];
  return { total, rate: total / result.duration, cpu_ms: pid && (cpuMs(pid) - before) / total };
}

async function bootIncrement() {
  const folder = mkdtempSync(join(tmpdir(), "scrip-bench-"));
  const increment = await serve("increment", [`--directory-path=objects=${folder}`]);
  return {
    url: increment.url,
    pid: increment.pid,
    async stop() {
      await increment.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
