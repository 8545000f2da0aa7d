// Runs the rounds of a soak. A round creates its fixtures, lets clients work, and kills the service once or twice in the middle. Then it
// sends lost calls with a key again, and checks the data against the answers.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { caller } from "../workerd/harness.mjs";
import { order } from "../workerd/redemption_fixtures.mjs";
import { checkConsistency, checkLocks, checkRemoval } from "./agree.mjs";
import { perform, learn, load, createFixtures } from "./clients.mjs";
import { createRandom } from "./random.mjs";
import { startService } from "./service.mjs";

/** The most answers before a kill, and the most milliseconds between them and the kill. */
const ANSWERS = 250;
const LATER_MS = 30;
/** The share of rounds with a second kill during recovery. */
const TWICE = 0.25;
const JOBS_MS = 120_000;
/** The number of answered calls of a round that are sent again with their key. */
const REPLAYED = 10;

/** Returns the seed that `SEED` names, or a new one. */
export function chosenSeed() {
  return process.env.SEED ?? String(Math.floor(Math.random() * 1e9));
}

/** Runs the given number of rounds; `report` receives a line for each. Returns the totals. */
export async function chaos({ rounds, seed, report = () => {} }) {
  const service = await startService();
  const total = { rounds: 0, kills: 0, calls: 0, lost: 0, redemptions: 0, rollbacks: 0, codes: 0 };
  let earlier;
  try {
    const counted = [];
    for (let round = 1; round <= rounds; round += 1) {
      const result = await play(service, seed, round, earlier).catch((error) => {
        error.message = `round ${round} of SEED=${seed}: ${error.message} (log: ${service.log})`;
        throw error;
      });
      earlier = result.earlier;
      for (const name of Object.keys(total)) total[name] += result[name];
      counted.push(...result.counted);
      report(`round ${round}: killed ${result.killed.join(" and ")}, ${result.calls} calls, ${result.lost} lost, ${result.redemptions} redemptions`);
    }
    // The counts after each round still apply at the end.
    const call = caller(service.url);
    for (const [code, quantity] of counted) {
      const { body } = await call("GET", `/v1/vouchers/${code}`);
      assert.equal(body.redemption.redeemed_quantity, quantity, `${code} in the end of SEED=${seed}`);
    }
    return total;
  } finally {
    await service.stop();
  }
}

async function play(service, seed, round, earlier) {
  const call = caller(service.url);
  const random = createRandom(seed, round);
  const play = await createFixtures(call, round, seed, earlier);
  const killed = [];
  for (const phase of random.withProbability(TWICE) ? ["first", "second"] : ["only"]) {
    const what = random.pick(["workerd", "node", "both"]);
    const [answers, later, orphaned] = [random.int(1, ANSWERS), random.int(0, LATER_MS), random.int(0, 200)];
    const kill = () => service.kill(what, () => sleep(orphaned));
    await load(call, play, { createRandom: (...names) => createRandom(seed, ...names), phase, answers, later, kill });
    killed.push(what);
  }
  const lost = play.calls.filter((entry) => entry.lost).length;
  await settle(call, play, random);
  const totals = await checkConsistency(call, play);
  await checkRemoval(call, play);
  const redeem = (code, session) =>
    call("POST", "/v1/redemptions", {
      redeemables: [{ object: "voucher", id: code }], order, ...(session ? { session: { type: "LOCK", key: session } } : {}),
    });
  await checkLocks(call, play, redeem);
  const counted = [];
  for (const code of [...Object.values(play.codes), ...play.cards]) {
    counted.push([code, (await call("GET", `/v1/vouchers/${code}`)).body.redemption.redeemed_quantity]);
  }
  return {
    rounds: 1, kills: killed.length, killed, calls: play.calls.length, lost, redemptions: totals.redemptions, rollbacks: totals.rollbacks,
    codes: totals.codes.length, counted, earlier: { campaign: play.campaign, codes: totals.codes },
  };
}

/** Sends lost calls with a key again, twice, and some answered ones; then waits for the jobs. */
async function settle(call, play, random) {
  const again = play.calls.filter((entry) => entry.lost && (entry.key || entry.kind === "lock"));
  for (const entry of again) {
    await perform(call, entry);
    learn(play, entry);
  }
  const answered = play.calls.filter((entry) => entry.key && !entry.lost && entry.answer.status < 300);
  const replayed = [...again.filter((entry) => answered.includes(entry))];
  for (let at = 0; at < REPLAYED && answered.length > 0; at += 1) replayed.push(random.pick(answered));
  for (const entry of replayed) {
    const { status, body } = await call(entry.method, entry.path, entry.body, { "idempotency-key": entry.key });
    assert.deepEqual({ status, body }, entry.answer, `${entry.mark} with its key once more`);
  }
  // A lock that a lost redemption may have used is dropped: its fate follows from the documents.
  for (const entry of play.calls.filter((one) => one.kind === "redemption" && one.session)) {
    if (!entry.lost && entry.answer.status !== 200) play.locked.push(entry.session);
    if (entry.lost && !(await wasRedeemed(call, entry))) play.locked.push(entry.session);
  }
  await idle(call);
}

async function wasRedeemed(call, { code, mark }) {
  for (let page = 1; ; page += 1) {
    const path = `/v1/redemptions?filters[voucher_code][conditions][$is][0]=${code}&limit=100&page=${page}`;
    const { redemptions } = (await call("GET", path)).body;
    if (redemptions.some((one) => one.metadata.mark === mark && one.result === "SUCCESS")) return true;
    if (redemptions.length < 100) return false;
  }
}

/** Waits until no job is running: a crash must not leave one running. */
async function idle(call) {
  const latest = Date.now() + JOBS_MS;
  for (;;) {
    const { body } = await call("GET", "/v1/async-actions?limit=100");
    const open = body.async_actions.filter((one) => one.status === "IN_PROGRESS");
    if (open.length === 0) return;
    assert.ok(Date.now() < latest, `${open.length} jobs never end, such as ${JSON.stringify(open[0])}`);
    await sleep(100);
  }
}
