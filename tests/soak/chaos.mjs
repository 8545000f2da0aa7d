// Decides the course of a soak: a round makes its world, lets clients work, kills the service once or twice in the middle, sends what
// was lost with a key again, and then holds everything to what was answered.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { caller } from "../workerd/harness.mjs";
import { order } from "../workerd/shop.mjs";
import { agree, agreeOnLocks, agreeOnRemoval } from "./agree.mjs";
import { ask, learn, load, world } from "./clients.mjs";
import { dice } from "./dice.mjs";
import { stand } from "./standing.mjs";

/** How many answers come before a kill, and how many ms later it is, at most. */
const ANSWERS = 250;
const LATER_MS = 30;
/** Of the rounds, those that are killed again while they recover. */
const TWICE = 0.25;
const JOBS_MS = 120_000;
/** Answered calls of a round that are sent again with their key. */
const REPLAYED = 10;

/** The seed that `SEED` names, or a new one. */
export function chosenSeed() {
  return process.env.SEED ?? String(Math.floor(Math.random() * 1e9));
}

/** Runs so many rounds; `say` hears of each. Gives what was counted. */
export async function chaos({ rounds, seed, say = () => {} }) {
  const service = await stand();
  const total = { rounds: 0, kills: 0, asked: 0, lost: 0, redemptions: 0, rollbacks: 0, codes: 0 };
  let earlier;
  try {
    const counted = [];
    for (let round = 1; round <= rounds; round += 1) {
      const told = await play(service, seed, round, earlier).catch((error) => {
        error.message = `round ${round} of SEED=${seed}: ${error.message} (log: ${service.log})`;
        throw error;
      });
      earlier = told.earlier;
      for (const name of Object.keys(total)) total[name] += told[name];
      counted.push(...told.counted);
      say(`round ${round}: killed ${told.killed.join(" and ")}, ${told.asked} calls, ${told.lost} lost, ${told.redemptions} redemptions`);
    }
    // What was true after its round is true in the end.
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
  const chance = dice(seed, round);
  const play = await world(call, round, seed, earlier);
  const killed = [];
  for (const spell of chance.chance(TWICE) ? ["first", "second"] : ["only"]) {
    const what = chance.pick(["workerd", "node", "both"]);
    const [answers, later, orphaned] = [chance.int(1, ANSWERS), chance.int(0, LATER_MS), chance.int(0, 200)];
    const kill = () => service.kill(what, () => sleep(orphaned));
    await load(call, play, { dice: (...names) => dice(seed, ...names), spell, answers, later, kill });
    killed.push(what);
  }
  const lost = play.asked.filter((entry) => entry.lost).length;
  await settle(call, play, chance);
  const told = await agree(call, play);
  await agreeOnRemoval(call, play);
  const redeem = (code, session) =>
    call("POST", "/v1/redemptions", {
      redeemables: [{ object: "voucher", id: code }], order, ...(session ? { session: { type: "LOCK", key: session } } : {}),
    });
  await agreeOnLocks(call, play, redeem);
  const counted = [];
  for (const code of [...Object.values(play.codes), ...play.cards]) {
    counted.push([code, (await call("GET", `/v1/vouchers/${code}`)).body.redemption.redeemed_quantity]);
  }
  return {
    rounds: 1, kills: killed.length, killed, asked: play.asked.length, lost, redemptions: told.redemptions, rollbacks: told.rollbacks,
    codes: told.codes.length, counted, earlier: { campaign: play.campaign, codes: told.codes },
  };
}

/** Sends again what was lost with a key, twice, and some of what was answered; then waits for the jobs. */
async function settle(call, play, chance) {
  const again = play.asked.filter((entry) => entry.lost && (entry.key || entry.kind === "lock"));
  for (const entry of again) {
    await ask(call, entry);
    learn(play, entry);
  }
  const answered = play.asked.filter((entry) => entry.key && !entry.lost && entry.answer.status < 300);
  const replayed = [...again.filter((entry) => answered.includes(entry))];
  for (let at = 0; at < REPLAYED && answered.length > 0; at += 1) replayed.push(chance.pick(answered));
  for (const entry of replayed) {
    const { status, body } = await call(entry.method, entry.path, entry.body, { "idempotency-key": entry.key });
    assert.deepEqual({ status, body }, entry.answer, `${entry.mark} with its key once more`);
  }
  // A lock that a lost redemption may have used is not to be counted on: what became of it shows in the documents.
  for (const entry of play.asked.filter((one) => one.kind === "redemption" && one.session)) {
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

/** Waits until no job is under way: a crash must not leave one behind. */
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
