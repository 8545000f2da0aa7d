// Flows of a page through the official client.
import assert from "node:assert/strict";
import { eventNamed, fresh, order } from "./shared.mjs";

/** Every method of the client side. */
export async function page(client, server, manage) {
  const campaign = await server.campaigns.create({
    name: fresh("Page "), campaign_type: "DISCOUNT_COUPONS", type: "STANDALONE",
    voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 }, redemption: { quantity: null }, code_config: { pattern: fresh("OPEN-") } },
  });
  const code = (await server.vouchers.list({ campaign: campaign.name })).vouchers[0].code;
  const redeemables = [{ object: "voucher", id: code }];
  client.setIdentity("shopper-2");
  assert.equal((await client.validate({ code, amount: 1_000 })).valid, true);
  assert.equal((await client.validateStackable({ redeemables, order })).valid, true);
  assert.equal((await client.redeem(code, { order })).result, "SUCCESS");
  assert.equal((await client.redeemStackable({ redeemables, order })).redemptions.length, 1);
  assert.equal((await client.qualifications({ order, scenario: "ALL" })).redeemables.object, "list");
  const last = fresh("LAST-");
  await server.vouchers.create({ code: last, type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 }, redemption: { quantity: 1 } });
  const held = [{ object: "voucher", id: last }];
  const { session } = await server.validations.validateStackable({ redeemables: held, order, session: { type: "LOCK" } });
  const locked = await client.redeemStackable({ redeemables: held, order, session: { type: "LOCK", key: session.key } });
  assert.equal(locked.redemptions.length, 1);
  const own = await server.campaigns.create({
    name: fresh("Own "), campaign_type: "DISCOUNT_COUPONS", type: "AUTO_UPDATE",
    voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 }, redemption: { quantity: 1 } },
  });
  const published = await client.publish(own.name, {});
  assert.equal(published.result, "SUCCESS");
  const customer = fresh("customer-");
  assert.equal((await client.track(await eventNamed(manage), { source_id: customer })).object, "event");
  const made = await client.createCustomer({ source_id: customer });
  assert.equal(made.object, "customer");
  assert.equal((await client.listVouchers({ limit: 5 })).object, "list");
  assert.equal((await client.listConsents()).object, "list");
  await client.updateConsents(customer, []);
}
