// Flows of a shop through the official client: validations, redemptions, promotions, qualifications, rules.
import assert from "node:assert/strict";
import { fresh, order } from "./shared.mjs";

async function code(server, more = {}) {
  const made = fresh("D-");
  await server.vouchers.create({ code: made, type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 }, ...more });
  return made;
}

/** Validations and redemptions: every method. */
export async function decisions(server) {
  const one = await code(server);
  const customer = { source_id: fresh("customer-") };
  assert.equal((await server.validations.validateVoucher(one, { order, customer })).valid, true);
  assert.equal((await server.validations.validate(one, { order, customer })).valid, true);
  assert.equal((await server.validations.validateStackable({ redeemables: [{ object: "voucher", id: one }], order })).valid, true);

  const single = await server.redemptions.redeem(one, { order, customer });
  assert.equal(single.result, "SUCCESS");
  assert.equal((await server.redemptions.get(single.id)).id, single.id);
  assert.equal((await server.redemptions.getForVoucher(one)).redemption_entries.length, 1);
  assert.equal((await server.redemptions.list({ limit: 10 })).redemptions.length > 0, true);
  assert.equal((await server.redemptions.rollback(single.id, { reason: "returned" })).result, "SUCCESS");

  const two = await code(server);
  const redeemables = [{ object: "voucher", id: one }, { object: "voucher", id: two }];
  const stack = await server.redemptions.redeemStackable({ redeemables, order });
  assert.equal(stack.redemptions.length, 2);
  assert.equal((await server.redemptions.rollbackStackable(stack.parent_redemption.id)).rollbacks.length, 2);
  const qualified = await server.qualifications.checkEligibility({ order, scenario: "ALL", options: { limit: 5 } });
  assert.equal(qualified.redeemables.object, "list");
  const most = await server.qualifications.checkEligibility({ order, scenario: "ALL", options: { limit: 100 } });
  assert.equal(most.redeemables.object, "list");
  // A refusal has the message of the rule's author.
  const rule = await server.validationRules.create({
    name: fresh("Rule "), type: "expression", error: { message: "Spend more" },
    rules: { 1: { name: "order.amount", conditions: { $more_than: [9_000_000] } }, logic: "1" },
  });
  const ruled = await code(server, { validation_rules: [rule.id] });
  await assert.rejects(server.redemptions.redeem(ruled, { order }), (refusal) => refusal.code === 400 && refusal.error?.message === "Spend more");
}

/** Promotions, their tiers and their stacks: every method. */
export async function promotions(server) {
  const tier = (name, hierarchy) => ({ name, hierarchy, banner: name, action: { discount: { type: "AMOUNT", amount_off: 100, effect: "APPLY_TO_ORDER" } } });
  const campaign = await server.promotions.create({
    name: fresh("Promotion "), campaign_type: "PROMOTION", promotion: { tiers: [tier("first", 1)] },
  });
  const validated = await server.promotions.validate({ order, customer: { source_id: fresh("c-") } });
  assert.equal(validated.valid, true);
  assert.equal((await server.validations.promotions.validate({ order, customer: { source_id: fresh("c-") } })).valid, true);
  const also = await server.validations.promotions.create({
    name: fresh("Promotion "), campaign_type: "PROMOTION", promotion: { tiers: [tier("also", 1)] },
  });
  assert.equal(also.campaign_type, "PROMOTION");

  const made = await server.promotions.tiers.create(campaign.id, tier("second", 2));
  assert.equal((await server.promotions.tiers.get(made.id)).id, made.id);
  assert.equal((await server.promotions.tiers.list(campaign.id)).tiers.length, 2);
  assert.equal((await server.promotions.tiers.listAll({ limit: 100 })).tiers.some(({ id }) => id === made.id), true);
  assert.equal((await server.promotions.tiers.update({ ...tier("renamed", 2), id: made.id })).banner, "renamed");
  const redeemed = await server.promotions.tiers.redeem(made.id, { order, customer: { source_id: fresh("c-") } });
  assert.equal(redeemed.result, "SUCCESS");
  const body = { name: fresh("Stack "), tiers: { ids: [campaign.promotion.tiers[0].id, made.id] } };
  const stack = await server.promotions.stack.createInCampaign(campaign.id, body);
  assert.equal((await server.promotions.stack.get(campaign.id, stack.id)).id, stack.id);
  assert.equal((await server.promotions.stack.listInCampaign(campaign.id)).data.length, 1);
  assert.equal((await server.promotions.stack.list({ limit: 100 })).data.some(({ id }) => id === stack.id), true);
  assert.equal((await server.promotions.stack.update(campaign.id, stack.id, { name: `${body.name}!` })).name, `${body.name}!`);
  await server.promotions.stack.delete(campaign.id, stack.id);
  await server.promotions.tiers.delete(made.id);
  await assert.rejects(server.promotions.tiers.get(made.id), { code: 404 });
}

/** Validation rules and their assignments: every method whose operation exists. */
export async function rules(server) {
  const rule = await server.validationRules.create({
    name: fresh("Rule "), type: "expression",
    rules: { 1: { name: "order.amount", conditions: { $more_than_or_equal: [1_000] } }, logic: "1" },
  });
  const held = await code(server);
  const assignment = await server.validationRules.createAssignment(rule.id, { voucher: held });
  assert.equal((await server.validationRules.get(rule.id)).id, rule.id);
  assert.equal((await server.validationRules.list({ limit: 100 })).data.some(({ id }) => id === rule.id), true);
  assert.equal((await server.validationRules.listAssignments(rule.id)).data.length, 1);
  assert.equal((await server.validationRules.listRulesAssignments()).data.some(({ id }) => id === assignment.id), true);
  const changedRules = { 1: { name: "order.amount", conditions: { $more_than_or_equal: [30_000] } }, logic: "1" };
  await server.validationRules.update({ id: rule.id, name: "Raised", rules: changedRules });
  assert.equal((await server.validations.validateStackable({ redeemables: [{ object: "voucher", id: held }], order })).valid, false);
  await server.validationRules.deleteAssignment(rule.id, assignment.id);
  await server.validationRules.delete(rule.id);
  await assert.rejects(server.validationRules.get(rule.id), { code: 404 });
}
