// Measures points on plain workerd. It times the reading of a member with many transactions compared with one with few, and counts
// redemptions while the points of many cards expire in one instant. Everything is on 127.0.0.1 and ends by itself.
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "../tests/workerd/harness.mjs";
import { club, made, member } from "../tests/workerd/points_fixtures.mjs";
import { redeem, standalone } from "../tests/workerd/redemption_fixtures.mjs";

const MANY = 10_000;
const FEW = 10;
const READS = Number(process.env.BENCH_READS ?? 200);
const CARDS = Number(process.env.BENCH_CARDS ?? 100_000);
const CALLERS = 16;
/** Cards that are copies of one, and the number of copies per call. */
const ALIKE = 10_000;
const COPIES = 250;
const DAY_MS = 86_400_000;
/** The time in which redemptions are counted without other work. */
const ALONE_MS = 8_000;

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

export async function measurePoints() {
  const service = await boot();
  try {
    const call = caller(service.url);
    return { ...(READS > 0 ? { reads: await reads(call) } : {}), ...(CARDS > 0 ? { sweep: await sweep(call) } : {}) };
  } finally {
    await service.stop();
  }
}

/** Runs one call at a time for each caller. */
async function each(count, what) {
  let next = 0;
  await Promise.all(Array.from({ length: CALLERS }, async () => {
    while (next < count) await what(next++);
  }));
}

/** Reads the two members by turns, so that a slow period affects both. */
async function reads(call) {
  const { program } = await club(call, { earns: 0 });
  const sizes = { few: FEW, many: MANY };
  const members = {};
  for (const [name, count] of Object.entries(sizes)) {
    members[name] = await member(call, program, 1);
    const { path, card } = members[name];
    await each(count - 1, () => made(call, "POST", `${path}/cards/${card}/points`, { points: 1 }));
  }
  const paths = {
    "the member": ({ path }) => path,
    "a page of transactions": ({ path, card }) => `${path}/cards/${card}/transactions?limit=100`,
    "the membership": ({ customer }) => `/v2/loyalties/memberships/${customer}`,
  };
  const rows = {};
  for (const [what, path] of Object.entries(paths)) {
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

/** Returns redemptions a second, before, after, and while the points expire. */
async function sweep(call) {
  const period = { value: 1, unit: "DAY" };
  const points_expiration = { type: "ROLLING_EXPIRATION", rolling_expiration: { period } };
  const { program } = await club(call, { definition: { points_expiration } });
  // All arrive on one morning three days ago and expire at the end of the next day, which is past. Calls with a clock of their own set no
  // alarm.
  const morning = Math.floor(Date.now() / DAY_MS) * DAY_MS - 3 * DAY_MS + DAY_MS / 3;
  const then = (place) => (method, path, body) => call(method, path, body, { "scrip-test-now": String(morning + place) });
  const before = await due(call);
  for (let made = 0; made < CARDS; made += ALIKE) await several(call, then(made), program, Math.min(ALIKE, CARDS - made));
  const code = await standalone(call, { quantity: null });
  const alone = [await redemptions(call, code, () => sleep(ALONE_MS))];
  // The first call by the real clock wakes the object for all that is due: for the expired points.
  await member(call, program, 1);
  const most = before + 2;
  let left = await due(call);
  const found = left;
  const during = await redemptions(call, code, async () => {
    // Counting the rest takes longer, the more there is.
    for (; left > most; left = await due(call)) await sleep(Math.max(200, CARDS / 10));
  });
  alone.push(await redemptions(call, code, () => sleep(ALONE_MS)));
  const usual = (alone[0].rate + alone[1].rate) / 2;
  const row = {
    cards: CARDS, swept: found - left, seconds: during.seconds, lots_a_second: (found - left) / during.seconds,
    alone: alone.map(({ rate }) => rate), during: during.rate, ratio: during.rate / usual, longest_ms: { alone: alone[0].longest, during: during.longest },
  };
  console.log("sweep", row);
  return row;
}

/** Creates the given number of members: one by calls, and the others as copies of it, because calls would take an hour for all. */
async function several(call, then, program, count) {
  const { customer } = await member(then, program, 1);
  for (let first = 1; first < count; first += COPIES) {
    const body = { customer_id: customer, first, count: Math.min(COPIES, count - first) };
    await made(call, "POST", "/test-hooks/copies", body);
  }
}

/** Returns the redemptions a second until a job is over, and the longest of them. */
async function redemptions(call, code, until) {
  let [count, longest, going] = [0, 0, true];
  const startedAt = performance.now();
  const callers = Array.from({ length: CALLERS }, async () => {
    while (going) {
      const { status, ms } = await redeem(call, code);
      if (status !== 200) throw new Error(`a redemption answered ${status}`);
      [count, longest] = [count + 1, Math.max(longest, ms)];
    }
  });
  try {
    await until();
  } finally {
    going = false;
    await Promise.all(callers);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  return { rate: count / seconds, seconds, longest };
}

const due = async (call) => (await made(call, "GET", "/test-hooks/rows")).due;
