// Checks after a crash that acknowledged answers, documents, counts and balances agree. It uses the public API only, as a shop could.
import assert from "node:assert/strict";

const PAGE = 100;

/** Checks a round whose lost calls with a key were sent again; returns the counts to check again at the end. */
export async function checkConsistency(call, play) {
  const read = reader(call);
  const totals = { redemptions: 0, rollbacks: 0 };
  const customers = new Map();
  for (const code of [...Object.values(play.codes), ...play.cards]) {
    const found = await redemptionsOf(read, play, code);
    totals.redemptions += found.successes.length;
    totals.rollbacks += found.rollbacks.length;
    for (const one of [...found.successes, ...found.rollbacks]) {
      const count = customers.get(one.customer.source_id) ?? { total_succeeded: 0, total_rollback_succeeded: 0 };
      count[one.object === "redemption" ? "total_succeeded" : "total_rollback_succeeded"] += 1;
      customers.set(one.customer.source_id, count);
    }
    const voucher = await read(`/v1/vouchers/${code}`);
    const net = found.successes.length - found.rollbacks.length;
    assert.equal(voucher.redemption.redeemed_quantity, net, `${code}: counted as redeemed, and documents of it`);
    const kind = Object.keys(play.codes).find((one) => play.codes[one] === code);
    if (play.quantities[kind]) assert.ok(net <= play.quantities[kind], `${code} was redeemed ${net} times`);
    if (play.cards.includes(code)) await checkCard(read, play, voucher, found);
    await checkOrders(read, found);
  }
  for (const [name, counts] of customers) {
    const { summary } = await read(`/v1/customers/${name}`);
    for (const [what, count] of Object.entries(counts)) assert.equal(summary.redemptions[what], count, `${name}: ${what}`);
  }
  const codes = await checkCampaign(read, call, play);
  await checkImports(read, call, play);
  return { ...totals, codes };
}

/** Returns a reader that requires 200: it reads a document, or with `all` every row of a list. */
function reader(call) {
  const read = async (path) => {
    const { status, body } = await call("GET", path);
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
    return body;
  };
  read.all = async (path, rows) => {
    const all = [];
    for (let page = 1; ; page += 1) {
      const listed = (await read(`${path}&limit=${PAGE}&page=${page}`))[rows];
      all.push(...listed);
      if (listed.length < PAGE) return all;
    }
  };
  return read;
}

/** Returns the redemptions and rollbacks of a code, each compared with its answer. */
async function redemptionsOf(read, play, code) {
  const listed = await read.all(`/v1/redemptions?filters[voucher_code][conditions][$is][0]=${code}`, "redemptions");
  const successes = listed.filter((one) => one.object === "redemption" && one.result === "SUCCESS");
  const rollbacks = listed.filter((one) => one.object === "redemption_rollback" && one.result === "SUCCESS");
  const calls = play.calls.filter((entry) => entry.kind === "redemption" && entry.code === code);
  match(calls, successes, (entry) => entry.answer.body.redemptions[0].id);
  const ids = new Set(successes.map((one) => one.id));
  const undone = play.calls.filter((entry) => entry.kind === "rollback" && ids.has(entry.of));
  match(undone, rollbacks, (entry) => entry.answer.body.id);
  const rolledBack = new Set(rollbacks.map((one) => one.redemption));
  assert.equal(rolledBack.size, rollbacks.length, `${code}: a redemption was rolled back twice`);
  for (const one of rollbacks) assert.ok(ids.has(one.redemption), `${one.id} rolls back ${one.redemption}, which is not there`);
  for (const entry of undone.filter(({ answer }) => answer?.body.key === "already_rolled_back")) {
    assert.ok(rolledBack.has(entry.of), `${entry.mark}: ${entry.of} was called rolled back and is not`);
  }
  for (const one of successes) {
    assert.equal(one.status, rolledBack.has(one.id) ? "ROLLED_BACK" : "SUCCEEDED", `${one.id} beside its rollbacks`);
  }
  return { successes, rollbacks, rolledBack };
}

/**
 * Checks that every acknowledged success has exactly one document, under the id in its answer. A refusal has none, and a lost call has one
 * or none. No document may exist without a call.
 */
function match(calls, documents, idOf) {
  const byMark = new Map();
  for (const one of documents) byMark.set(one.metadata.mark, [...(byMark.get(one.metadata.mark) ?? []), one.id]);
  for (const entry of calls) {
    const found = byMark.get(entry.mark) ?? [];
    const what = `${entry.kind} ${entry.mark}${entry.key ? " with a key" : ""}: ${entry.lost ? "lost" : entry.answer.status}`;
    if (entry.lost) assert.ok(found.length <= 1, `${what}, and there are ${found}`);
    else if (entry.answer.status === 200) assert.deepEqual(found, [idOf(entry)], what);
    else assert.deepEqual(found, [], what);
    byMark.delete(entry.mark);
  }
  assert.deepEqual([...byMark.keys()], [], "documents without a call");
}

/** Checks that a card's balance, its transactions, and the redemptions and rollbacks agree. */
async function checkCard(read, play, card, { successes, rollbacks, rolledBack }) {
  const moved = [];
  for (let after = ""; ; ) {
    const page = await read(`/v1/vouchers/${card.code}/transactions?limit=${PAGE}${after}`);
    moved.push(...page.data);
    if (!page.has_more) break;
    after = `&starting_after_id=${moved.at(-1).id}`;
  }
  assert.equal(new Set(moved.map((one) => one.id)).size, moved.length, `${card.code}: a transaction is listed twice`);
  const of = (type) => moved.filter((one) => one.type === type);
  const [additions, spendings, refunds] = [of("CREDITS_ADDITION"), of("CREDITS_REDEMPTION"), of("CREDITS_REFUND")];
  const calls = play.calls.filter((entry) => entry.kind === "addition" && entry.card === card.code);
  const sources = additions.map((one) => one.source_id).sort();
  assert.equal(new Set(sources).size, sources.length, `${card.code} was loaded twice by one call`);
  for (const entry of calls.filter(({ lost }) => !lost)) {
    assert.equal(sources.includes(entry.mark), entry.answer.status === 200, `${entry.mark}: loaded on ${card.code}`);
  }
  const marks = new Set(calls.map(({ mark }) => mark));
  for (const source of sources) assert.ok(marks.has(source), `${card.code} was loaded by ${source} without a call`);
  assert.equal(spendings.length, successes.length, `${card.code}: transactions and redemptions`);
  assert.equal(refunds.length, rollbacks.length, `${card.code}: transactions and rollbacks`);
  const sum = (list, amount) => list.reduce((total, one) => total + amount(one), 0);
  const amountOf = (one) => one.details.balance.amount;
  const spent = sum(successes.filter((one) => !rolledBack.has(one.id)), (one) => one.gift.amount);
  const loaded = sum(additions, amountOf);
  assert.equal(card.gift.amount, play.card + loaded, `${card.code}: all that was ever loaded`);
  assert.equal(card.gift.balance, play.card + loaded - spent, `${card.code}: the balance, and what the redemptions took`);
  assert.equal(card.gift.balance, play.card + sum(moved, amountOf), `${card.code}: the balance, and its transactions`);
  assert.equal(card.redemption.redeemed_amount, spent, `${card.code}: redeemed_amount`);
  assert.ok(card.gift.balance >= 0, `${card.code} is below zero`);
}

/** Checks that the orders of some redemptions exist and name them. */
async function checkOrders(read, { successes, rolledBack }) {
  for (const one of sample(successes, 3)) {
    const order = await read(`/v1/orders/${one.order.id}`);
    const named = order.redemptions[one.id];
    assert.ok(named, `${order.id} does not name ${one.id}`);
    assert.equal(order.status, rolledBack.has(one.id) ? "CANCELED" : "PAID", order.id);
    assert.equal(named.rollback_id !== undefined, rolledBack.has(one.id), `${order.id} beside the rollbacks of ${one.id}`);
  }
}

/** Checks that a campaign has the requested number of codes, and that each published code has exactly one holder. */
async function checkCampaign(read, call, play) {
  const vouchers = await read.all(`/v1/vouchers?campaign=${play.campaign}`, "vouchers");
  const campaign = await read(`/v1/campaigns/${play.campaign}`);
  assert.equal(campaign.vouchers_count, vouchers.length, `${play.campaign}: counted and listed`);
  assert.equal(campaign.vouchers_generation_status, "DONE", play.campaign);
  assert.equal(new Set(vouchers.map((one) => one.code)).size, vouchers.length, `${play.campaign}: a code twice`);
  let left = vouchers.length - play.count;
  for (const entry of play.calls.filter(({ kind, of }) => kind === "making" || (kind === "import" && of === "campaign"))) {
    const mine = entry.kind === "making"
      ? vouchers.filter((one) => one.metadata.mark === entry.mark)
      : vouchers.filter((one) => one.code.startsWith(`INTO-${entry.mark}-`));
    const expected = entry.count ?? entry.names.length;
    if (entry.lost) assert.ok([0, expected].includes(mine.length), `${entry.mark}: lost, ${mine.length} of ${expected} codes`);
    else assert.equal(mine.length, entry.answer.status === 202 ? expected : 0, `${entry.mark}: codes, and ${entry.answer.status}`);
    left -= mine.length;
  }
  // Codes that publications created have a holder, because every other code is counted here.
  const most = play.type === "STATIC" ? 0 : vouchers.filter(({ holder_id }) => holder_id).length;
  assert.ok(left >= 0 && left <= most, `${play.campaign}: ${left} codes without a call, at most ${most} of them on the spot`);
  await checkHolders(call, play, vouchers);
  return vouchers;
}

async function checkHolders(call, play, vouchers) {
  const held = new Map();
  for (const one of vouchers.filter(({ holder_id }) => holder_id)) {
    assert.equal(one.publish.count, 1, `${one.code} is held, and was published ${one.publish.count} times`);
    assert.ok(!held.has(one.holder_id), `${one.holder_id} asked once and holds ${one.code} and ${held.get(one.holder_id)}`);
    held.set(one.holder_id, one.code);
  }
  for (const one of vouchers.filter(({ holder_id }) => !holder_id)) assert.equal(one.publish.count, 0, one.code);
  for (const entry of play.calls.filter(({ kind }) => kind === "publication")) {
    if (!entry.lost && entry.answer.status === 200) {
      const { voucher, customer_id } = entry.answer.body;
      assert.equal(held.get(customer_id), voucher.code, `${entry.mark} was published to ${customer_id}`);
      held.delete(customer_id);
      continue;
    }
    const { status, body } = await call("GET", `/v1/customers/${entry.holder}`);
    if (!entry.lost) assert.equal(status, 404, `${entry.mark} was refused and made a customer`);
    // A publication creates its customer and publishes its code together, or does neither.
    if (status === 200) assert.ok(held.delete(body.id), `${entry.mark} was lost, made a customer, and published nothing`);
  }
  assert.deepEqual([...held], [], "holders without a call");
}

/** Checks that an import is complete, or, when the call was lost, perhaps missing altogether. */
async function checkImports(read, call, play) {
  for (const entry of play.calls.filter(({ kind, of }) => kind === "import" && of !== "campaign")) {
    const found = [];
    for (const name of sample(entry.names, 3)) found.push((await call("GET", `/v1/${entry.of}/${name}`)).status);
    const [first] = found;
    assert.ok(found.every((status) => status === first), `${entry.mark}: a list that is there in part: ${found}`);
    if (!entry.lost) assert.equal(first === 200, entry.answer.status === 202, `${entry.mark}: ${entry.answer.status}`);
  }
  for (const entry of play.calls.filter(({ answer, lost }) => !lost && answer?.body?.async_action_id)) {
    const action = await read(`/v1/async-actions/${entry.answer.body.async_action_id}`);
    assert.equal(action.operation_status, "SUCCESS", `${entry.mark}: ${JSON.stringify(action.result)}`);
    const count = entry.names?.length ?? entry.count ?? play.earlier.codes.length;
    assert.equal(action.result.done_count, count, `${entry.mark}: ${JSON.stringify(action.result)}`);
  }
}

/** Checks that a deleted campaign is absent with all its codes, or, when the answer was lost, perhaps unchanged. */
export async function checkRemoval(call, play) {
  const entry = play.calls.find(({ kind }) => kind === "removal");
  if (!entry) return;
  const { campaign, codes } = play.earlier;
  const campaignReply = await call("GET", `/v1/campaigns/${campaign}`);
  if (entry.lost) assert.ok([200, 404].includes(campaignReply.status), campaign);
  else assert.equal(campaignReply.status === 404, entry.answer.status === 202, `${campaign}: ${entry.answer.status}`);
  const statuses = [];
  for (const { code } of sample(codes, 5)) statuses.push((await call("GET", `/v1/vouchers/${code}`)).status);
  assert.ok(statuses.every((status) => status === campaignReply.status), `${campaign} ${campaignReply.status}, its codes ${statuses}`);
}

/** Checks that acknowledged, unused locks keep their share of a code: other callers get exactly the rest, and the locks get theirs. */
export async function checkLocks(call, play, redeem) {
  const code = play.codes.lockable;
  const count = async () => (await reader(call)(`/v1/vouchers/${code}`)).redemption.redeemed_quantity;
  const free = play.quantities.lockable - (await count()) - play.locked.length;
  assert.ok(free >= 0, `${code}: ${free} left beside ${play.locked.length} locks`);
  for (let at = 0; at < free; at += 1) assert.equal((await redeem(code)).status, 200, `${code}: free piece ${at + 1} of ${free}`);
  assert.equal((await redeem(code)).status, 400, `${code}: what the locks hold was redeemed without them`);
  for (const session of play.locked) {
    const answer = await redeem(code, session);
    assert.equal(answer.status, 200, `${session}: ${JSON.stringify(answer.body)}`);
  }
  assert.equal(await count(), play.quantities.lockable, `${code} is used up`);
}

function sample(list, count) {
  const stride = Math.max(1, Math.floor(list.length / count));
  return list.filter((_, at) => at % stride === 0).slice(0, count + 1);
}
