// Flows of a shop through the official client: loyalty campaigns and rewards.
import assert from "node:assert/strict";
import { fresh, order, waitForSuccess } from "./shared.mjs";

async function program(server) {
  return server.loyalties.create({
    name: fresh("Loyalty "), type: "AUTO_UPDATE", join_once: true,
    voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 0 }, redemption: { quantity: null } },
  });
}

/** Loyalty campaigns: every method. */
export async function loyalties(server) {
  const campaign = await program(server);
  assert.equal((await server.loyalties.get(campaign.id)).id, campaign.id);
  assert.equal((await server.loyalties.update({ id: campaign.id, description: "points" })).description, "points");
  assert.equal((await server.loyalties.list({ limit: 100 })).campaigns.some(({ id }) => id === campaign.id), true);
  await tiers(server, campaign);
  await earning(server, campaign);
  await members(server, campaign);
  const other = await program(server);
  await server.loyalties.delete(other.id, { force: true });
  await assert.rejects(server.loyalties.get(other.id), { code: 404 });
}

async function tiers(server, campaign) {
  const [tier] = await server.loyalties.createTiers(campaign.id, [{ name: "Gold", points: { from: 100 } }]);
  assert.equal((await server.loyalties.getTier(campaign.id, tier.id)).name, "Gold");
  assert.equal((await server.loyalties.listTiers(campaign.id)).data.length, 1);
  assert.equal((await server.loyalties.listLoyaltyTierEarningRules(campaign.id, tier.id)).object, "list");
  assert.equal((await server.loyalties.listLoyaltyTierRewards(campaign.id, tier.id)).object, "list");
}

async function earning(server, campaign) {
  const rule = { event: "order.paid", loyalty: { type: "FIXED", points: 10 }, source: { banner: "Ten points" } };
  const [made] = await server.loyalties.createEarningRule(campaign.id, [rule]);
  assert.equal((await server.loyalties.getEarningRule(campaign.id, made.id)).id, made.id);
  await server.loyalties.updateEarningRule(campaign.id, { id: made.id, loyalty: { points: 20 } });
  await server.loyalties.disableEarningRule(campaign.id, made.id);
  assert.equal((await server.loyalties.enableEarningRule(campaign.id, made.id)).active, true);
  assert.equal((await server.loyalties.listEarningRules(campaign.id)).data.length, 1);
  const [deleted] = await server.loyalties.createEarningRule(campaign.id, [rule]);
  await server.loyalties.deleteEarningRule(campaign.id, deleted.id);
  await assert.rejects(server.loyalties.getEarningRule(campaign.id, deleted.id), { code: 404 });
}

async function members(server, campaign) {
  const source = fresh("customer-");
  const { code } = await server.loyalties.createMember(campaign.id, { customer: { source_id: source } });
  const friend = await server.loyalties.createMember(campaign.id, { customer: { source_id: fresh("customer-") } });
  assert.equal((await server.loyalties.getMember(campaign.id, code)).code, code);
  assert.equal((await server.loyalties.getMember(null, code)).code, code);
  assert.equal((await server.loyalties.listMembers(campaign.id)).vouchers.length, 2);
  await server.loyalties.addOrRemoveCardBalance(code, { points: 300 }, campaign.id);
  await server.loyalties.addPoints(campaign.id, code, { points: 200 });
  await server.orders.create({ ...order, status: "PAID", customer: { source_id: source } });
  await waitForSuccess(async () => assert.equal((await server.loyalties.getMember(campaign.id, code)).loyalty_card.balance, 520));
  await server.loyalties.transferPoints(campaign.id, friend.code, [{ code, points: 20, source_id: fresh("transfer-") }]);
  assert.equal((await server.loyalties.getMember(null, friend.code)).loyalty_card.balance, 20);
  assert.equal((await server.loyalties.getPointsExpiration(campaign.id, code)).object, "list");
  assert.equal((await server.loyalties.listCardTransactions(code, campaign.id)).data.length, 4);
  assert.equal((await server.loyalties.exportCardTransactions(code, campaign.id)).object, "export");
  assert.equal((await server.loyalties.listMemberActivity(campaign.id, code)).data.length > 0, true);
  assert.equal((await server.loyalties.listMemberLoyaltyTiers(code)).data.length, 1);
  await assigned(server, campaign, code);
}

async function assigned(server, campaign, code) {
  const product = await server.products.create({ name: "Mug", source_id: fresh("product-") });
  const reward = await server.rewards.create({ name: fresh("Mug "), type: "MATERIAL", parameters: { product: { id: product.id } } });
  const assignment = await server.loyalties.createRewardAssignments(campaign.id, [{ reward: reward.id, parameters: { loyalty: { points: 100 } } }]);
  assert.equal((await server.loyalties.getRewardAssignment(campaign.id, assignment.id)).id, assignment.id);
  await server.loyalties.updateRewardAssignment(campaign.id, { id: assignment.id, parameters: { loyalty: { points: 50 } } });
  assert.equal((await server.loyalties.listRewardAssignments(campaign.id)).data.length, 1);
  assert.equal((await server.loyalties.getRewardDetails(campaign.id, assignment.id)).id, reward.id);
  assert.equal((await server.loyalties.listMemberRewards(code)).data.length, 1);
  const redeemed = await server.loyalties.redeemReward(campaign.id, code, { reward: { id: reward.id } });
  assert.equal(redeemed.result, "SUCCESS");
  await server.loyalties.deleteRewardAssignment(campaign.id, assignment.id);
  await assert.rejects(server.loyalties.getRewardAssignment(campaign.id, assignment.id), { code: 404 });
}

/** Rewards and their assignments: every method. */
export async function rewards(server) {
  const campaign = await program(server);
  const product = await server.products.create({ name: "Mug", source_id: fresh("product-") });
  const made = await server.rewards.create({ name: fresh("Mug "), type: "MATERIAL", parameters: { product: { id: product.id } } });
  assert.equal((await server.rewards.get(made.id)).id, made.id);
  assert.equal((await server.rewards.update({ id: made.id, name: `${made.name}!` })).name, `${made.name}!`);
  assert.equal((await server.rewards.list({ limit: 100 })).data.some(({ id }) => id === made.id), true);
  const assignment = await server.rewards.createAssignment(made.id, { campaign: campaign.id, parameters: { loyalty: { points: 5 } } });
  assert.equal((await server.rewards.getAssignment(made.id, assignment.id)).id, assignment.id);
  await server.rewards.updateAssignment(made.id, { id: assignment.id, parameters: { loyalty: { points: 6 } } });
  assert.equal((await server.rewards.listAssignments(made.id)).data.length, 1);
  await server.rewards.deleteAssignment(made.id, assignment.id);
  await server.rewards.delete(made.id);
  await assert.rejects(server.rewards.get(made.id), { code: 404 });
}
