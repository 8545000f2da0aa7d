// Decides what is measured of points on plain workerd: how long a member with many transactions takes to be read beside one with few,
// and how many redemptions go on while the points of many cards lapse in one instant. It must not know how either is done.
// Everything is on 127.0.0.1 and ends by itself.
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "../tests/workerd/harness.mjs";
import { club, made, member } from "../tests/workerd/points.mjs";
import { order, redeem, standalone } from "../tests/workerd/shop.mjs";

const MANY = 10_000;
const FEW = 10;
const READS = 200;
const CARDS = Number(process.env.BENCH_CARDS ?? 100_000);
const CALLERS = 16;
const DAY_MS = 86_400_000;

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

export async function measurePoints() {
  const service = await boot();
  try {
    const call = caller(service.url);
    return { reads: await reads(call), ...(CARDS > 0 ? { sweep: await sweep(call) } : {}) };
  } finally {
    await service.stop();
  }
}

/** So many things at once as there are callers. */
async function each(count, what) {
  let next = 0;
  await Promise.all(Array.from({ length: CALLERS }, async () => {
    while (next < count) await what(next++);
  }));
}

/** Reads of the two members by turns, so that a slow moment is both's. */
async function reads(call) {
  const { program } = await club(call, { earns: 0 });
  const sizes = { few: FEW, many: MANY };
  const members = {};
  for (const [name, count] of Object.entries(sizes)) {
    members[name] = await member(call, program, 1);
    const { path, card } = members[name];
    await each(count - 1, () => made(call, "POST", `${path}/cards/${card}/points`, { points: 1 }));
  }
  const asked = {
    "the member": ({ path }) => path,
    "a page of transactions": ({ path, card }) => `${path}/cards/${card}/transactions?limit=100`,
    "the membership": ({ customer }) => `/v2/loyalties/memberships/${customer}`,
  };
  const rows = {};
  for (const [what, path] of Object.entries(asked)) {
    const took = { few: [], many: [] };
    for (let turn = 0; turn < READS; turn += 1) {
      for (const name of turn % 2 ? ["few", "many"] : ["many", "few"]) {
        const { status, ms } = await call("GET", path(members[name]));
        if (status !== 200) throw new Error(`${what}: ${status}`);
        took[name].push(ms);
      }
    }
    rows[what] = { few_ms: median(took.few), many_ms: median(took.many), ratio: median(took.many) / median(took.few) };
    console.log(what, rows[what]);
  }
  return rows;
}

/** Redemptions a second, alone and while the points lapse. */
async function sweep(call) {
  const period = { value: 1, unit: "DAY" };
  const points_expiration = { type: "ROLLING_EXPIRATION", rolling_expiration: { period } };
  const { program } = await club(call, { definition: { points_expiration } });
  const before = await due(call);
  // All come two days ago, within minutes, so that all lapse at the end of one day, which is past; the alarm of the real clock has them next.
  const begun = Date.now() - 2 * DAY_MS;
  const earlier = (at) => (method, path, body) => call(method, path, body, { "scrip-rehearsal-now": String(begun + at) });
  await each(CARDS, (place) => member(earlier(place), program, 1));
  const code = await standalone(call, { quantity: null });
  const rate = async (until) => {
    let [count, going] = [0, true];
    const begun = performance.now();
    const callers = Array.from({ length: CALLERS }, async () => {
      while (going) {
        const { status } = await redeem(call, code);
        if (status !== 200) throw new Error(`a redemption answered ${status}`);
        count += 1;
      }
    });
    await until();
    going = false;
    await Promise.all(callers);
    return { rate: (count * 1_000) / (performance.now() - begun), seconds: (performance.now() - begun) / 1_000 };
  };
  // The first write by the real clock arms the alarm for what is due.
  const during = await rate(async () => {
    for (let left = await due(call); left > before; left = await due(call)) {
      console.log(`${left} cards are due`);
      await sleep(2_000);
    }
  });
  const alone = await rate(() => sleep(10_000));
  const row = { cards: CARDS, alone: alone.rate, during: during.rate, ratio: during.rate / alone.rate, seconds: during.seconds };
  console.log("sweep", row);
  return row;
}

const due = async (call) => (await made(call, "GET", "/rehearsal/rows")).due;
