// Makes the calls of a soak, with and without an Idempotency-Key, and records them with their answers. They are redemptions, locks,
// rollbacks, publications, imports, additions to cards, creation of codes and the deletion of a campaign.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { order } from "../workerd/redemption_fixtures.mjs";

/** Clients at a time. */
const CLIENTS = 8;
/** The time limit for the answers before a kill. */
const PATIENCE_MS = 2_000;
/** The number of codes with which the campaign of a round begins. */
const CODES = 300;
/** The redemption limit of each code. `lockable` is small, because it is used up at the end. */
const QUANTITIES = { plenty: null, scarce: 25, lockable: 30 };
const CARD = 20_000;

const DISCOUNT = { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 500 } };

/** The relative frequency of each kind of call. */
const SHARES = { redeem: 30, spend: 20, rollBack: 15, lock: 10, redeemLocked: 5, publish: 15, load: 5, bring: 3, make: 1, drop: 1 };

/** Creates the fixtures of a round, before any kill. `earlier` has those of the previous round. */
export async function createFixtures(call, round, seed, earlier) {
  const name = `${seed}-${round}`;
  const made = async (path, body) => {
    const { status, body: answer } = await call("POST", path, body);
    assert.equal(status, 200, `${path}: ${JSON.stringify(answer)}`);
  };
  const codes = {};
  for (const [kind, quantity] of Object.entries(QUANTITIES)) {
    codes[kind] = `${kind.toUpperCase()}-${name}`;
    await made(`/v1/vouchers/${codes[kind]}`, { ...DISCOUNT, redemption: { quantity } });
  }
  const cards = [`CARD-${name}-1`, `CARD-${name}-2`];
  for (const card of cards) {
    await made(`/v1/vouchers/${card}`, { type: "GIFT_VOUCHER", gift: { amount: CARD }, redemption: { quantity: null } });
  }
  const campaign = `CAMPAIGN-${name}`;
  // One type creates a code on the spot when a publication finds none, the other refuses.
  const type = round % 2 === 0 ? "STATIC" : "AUTO_UPDATE";
  // Its codes are created while the clients work already, and while it is killed.
  await made("/v1/campaigns", {
    name: campaign, type, vouchers_count: CODES, voucher: { ...DISCOUNT, redemption: { quantity: 1 } },
  });
  return {
    name, codes, cards, campaign, type, earlier, quantities: QUANTITIES, card: CARD, count: CODES, clients: CLIENTS,
    // The calls, in the order of sending.
    calls: [],
    // Acknowledged redemptions and keys of unused locks, for later steps.
    redeemed: [],
    locked: [],
    dropped: false,
  };
}

/**
 * Lets the clients work until the given number of calls was answered, kills the service shortly after, and records which calls were lost. A call that
 * breaks off before that is an error. `phase` distinguishes the loads of one round.
 */
export async function load(call, play, { createRandom, phase, answers, later, kill }) {
  let dying = false;
  let answered = 0;
  let enough;
  const reached = new Promise((done) => (enough = done));
  const ended = Array.from({ length: CLIENTS }, async (_, client) => {
    const random = createRandom(play.name, phase, client);
    for (let step = 0; ; step += 1) {
      const entry = next(play, random, { client, mark: `${play.name}.${phase}.${client}.${step}` });
      play.calls.push(entry);
      await perform(call, entry).catch((error) => {
        if (!dying) throw error;
        entry.lost = true;
      });
      if (entry.lost) return;
      learn(play, entry);
      answered += 1;
      if (answered === answers) enough();
    }
  });
  // On a busy machine the calls do not come as fast.
  await Promise.race([reached, sleep(PATIENCE_MS, undefined, { ref: false }), ...ended]);
  await sleep(later);
  dying = true;
  await Promise.all([kill(), ...ended]);
}

/** Sends the call of an entry and keeps its answer. A kill does not explain an internal failure. */
export async function perform(call, entry) {
  const answer = await call(entry.method, entry.path, entry.body, entry.key ? { "idempotency-key": entry.key } : {});
  assert.ok(answer.status < 500, `${entry.mark} ${entry.path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  entry.answer = { status: answer.status, body: answer.body };
  entry.lost = false;
}

/** Keeps the redemptions and locks that later steps use. */
export function learn(play, { kind, answer, session }) {
  if (answer.status !== 200) return;
  if (kind === "redemption") play.redeemed.push(answer.body.redemptions[0].id);
  if (kind === "lock" && answer.body.valid) play.locked.push(session);
}

/** Returns the next call of a client. A call without its preconditions becomes a redemption. */
function next(play, random, { client, mark }) {
  const key = random.withProbability(0.6) ? `key-${mark}` : undefined;
  const entry = (kind, path, body, more = {}) => ({ kind, method: "POST", path, body, mark, key, ...more });
  const customer = { source_id: `client-${play.name}-${client}` };
  const redemption = (code, more = {}, session = undefined) =>
    entry("redemption", "/v1/redemptions", {
      redeemables: [{ object: "voucher", id: code, ...more }], order, customer, metadata: { mark },
      ...(session ? { session: { type: "LOCK", key: session } } : {}),
    }, { code, session, client });
  const steps = {
    redeem: () => redemption(play.codes[random.pick(["plenty", "scarce", "lockable"])]),
    spend: () => redemption(random.pick(play.cards), { gift: { credits: random.int(1, 300) } }),
    // Also one that is rolled back already.
    rollBack: () => {
      if (play.redeemed.length === 0) return steps.redeem();
      const of = random.pick(play.redeemed);
      return entry("rollback", `/v1/redemptions/${of}/rollback`, { metadata: { mark } }, { of });
    },
    lock: () => {
      const session = `lock-${mark}`;
      const body = {
        redeemables: [{ object: "voucher", id: play.codes.lockable }], order,
        session: { type: "LOCK", key: session, ttl: 1, ttl_unit: "HOURS" },
      };
      return entry("lock", "/v1/validations", body, { session });
    },
    redeemLocked: () => {
      if (play.locked.length === 0) return steps.lock();
      return redemption(play.codes.lockable, {}, play.locked.splice(random.int(0, play.locked.length - 1), 1)[0]);
    },
    // A customer of its own discloses the fate of a publication whose answer was lost.
    publish: () =>
      entry("publication", "/v1/publications", {
        campaign: { name: play.campaign, count: 1 }, customer: { source_id: `holder-${mark}` }, metadata: { mark },
      }, { holder: `holder-${mark}` }),
    load: () => {
      const card = random.pick(play.cards);
      return entry("addition", `/v1/vouchers/${card}/balance`, { amount: random.int(1, 100), source_id: mark }, { card });
    },
    bring: () => steps[random.pick(["bringVouchers", "bringCodes", "bringCustomers"])](),
    bringVouchers: () => {
      const names = numbered(`ALONE-${mark}`, random.int(10, 60));
      return entry("import", "/v1/vouchers/import", names.map((code) => ({ code, ...DISCOUNT })), { names, of: "vouchers" });
    },
    bringCodes: () => {
      const names = numbered(`INTO-${mark}`, random.int(10, 60));
      return entry("import", `/v1/campaigns/${play.campaign}/import`, names.map((code) => ({ code })), { names, of: "campaign" });
    },
    bringCustomers: () => {
      const names = numbered(`brought-${mark}`, random.int(10, 60));
      return entry("import", "/v1/customers/bulk/async", names.map((source_id) => ({ source_id })), { names, of: "customers" });
    },
    make: () => {
      const count = random.int(2, 200);
      return entry("making", `/v1/campaigns/${play.campaign}/vouchers?vouchers_count=${count}`, { metadata: { mark } }, { count });
    },
    drop: () => {
      if (!play.earlier || play.dropped) return steps.redeem();
      play.dropped = true;
      return entry("removal", `/v1/campaigns/${play.earlier.campaign}`, undefined, { method: "DELETE", key: undefined });
    },
  };
  return steps[random.shares(SHARES)]();
}

function numbered(prefix, count) {
  return Array.from({ length: count }, (_, at) => `${prefix}-${at}`);
}
