// Creates the fixtures of the tests of redemptions: a code, a redemption, and its count. Only the documented API is used.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";

/** The order of every redemption here. */
export const order = { amount: 10_000, items: [{ product_id: "prod_shoe", quantity: 2, price: 5_000 }] };

/** Returns an unused name. */
export function fresh(prefix) {
  return `${prefix}${randomBytes(5).toString("hex").toUpperCase()}`;
}

/** Creates a discount code with `quantity` redemptions. */
export async function standalone(call, { quantity }) {
  const code = fresh("OFF-");
  const voucher = { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 500 }, redemption: { quantity } };
  const { status, body } = await call("POST", `/v1/vouchers/${code}`, voucher);
  assert.equal(status, 200, JSON.stringify(body));
  return code;
}

/** Creates a gift card with `amount` on it. */
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

/** Returns how often a code counts as redeemed. */
export async function redeemedOf(call, code) {
  const { status, body } = await call("GET", `/v1/vouchers/${code}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.redemption.redeemed_quantity;
}

/** Returns the balance of a gift card. */
export async function balanceOf(call, code) {
  const { status, body } = await call("GET", `/v1/vouchers/${code}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.gift.balance;
}

/** Returns the code of a listed redemption. */
export function codeOf(redemption) {
  return redemption.voucher?.code;
}
