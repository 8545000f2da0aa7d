// Decides the few steps that every test of redemptions takes: a code to redeem, a redemption, and how often it counted.
// Only the documented interface is used.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";

/** The order of every redemption here. */
export const order = { amount: 10_000, items: [{ product_id: "prod_shoe", quantity: 2, price: 5_000 }] };

/** A name that nobody has used. */
export function fresh(prefix) {
  return `${prefix}${randomBytes(5).toString("hex").toUpperCase()}`;
}

/** A new discount code, good for `quantity` redemptions. */
export async function standalone(call, { quantity }) {
  const code = fresh("OFF-");
  const voucher = { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 500 }, redemption: { quantity } };
  const { status, body } = await call("POST", `/v1/vouchers/${code}`, voucher);
  assert.equal(status, 200, JSON.stringify(body));
  return code;
}

/** A new gift card with `amount` on it. */
export async function giftCard(call, { amount }) {
  const code = fresh("GIFT-");
  const voucher = { type: "GIFT_VOUCHER", gift: { amount }, redemption: { quantity: null } };
  const { status, body } = await call("POST", `/v1/vouchers/${code}`, voucher);
  assert.equal(status, 200, JSON.stringify(body));
  return code;
}

/** Redeems a code for the order of this file. */
export function redeem(call, code, headers = {}, more = {}) {
  return call("POST", "/v1/redemptions", { redeemables: [{ object: "voucher", id: code, ...more }], order }, headers);
}

/** How often a code counts as redeemed. */
export async function redeemedOf(call, code) {
  const { status, body } = await call("GET", `/v1/vouchers/${code}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.redemption.redeemed_quantity;
}

/** What is left on a gift card. */
export async function balanceOf(call, code) {
  const { status, body } = await call("GET", `/v1/vouchers/${code}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.gift.balance;
}

/** The code of a listed redemption. */
export function codeOf(redemption) {
  return redemption.voucher?.code;
}
