// Flows of a shop through the official client: campaigns, codes, publications and exports.
import assert from "node:assert/strict";
import { done, file, fresh, order, waitForSuccess } from "./shared.mjs";

/** Campaigns: every method. */
export async function campaigns(server) {
  const name = fresh("Campaign ");
  const made = await server.campaigns.create({
    name, campaign_type: "DISCOUNT_COUPONS", type: "STATIC", vouchers_count: 3,
    voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 }, redemption: { quantity: 1 } },
  });
  await waitForSuccess(async () => assert.equal((await server.campaigns.get(name)).vouchers_generation_status, "DONE"));
  assert.equal((await server.campaigns.update(made.id, { description: "for all" })).description, "for all");
  assert.equal((await server.campaigns.list({ limit: 100 })).campaigns.some(({ id }) => id === made.id), true);
  await server.campaigns.disable(made.id);
  assert.equal((await server.campaigns.get(made.id)).active, false);
  await server.campaigns.enable(made.id);
  assert.equal((await server.campaigns.get(made.id)).active, true);
  const one = await server.campaigns.addVoucher(name, {}, { vouchers_count: 1 });
  assert.equal(one.campaign_id, made.id);
  const own = fresh("OWN-");
  assert.equal((await server.campaigns.addCertainVoucher(name, own)).code, own);
  const imported = fresh("IMP-");
  await done(server, await server.campaigns.importVouchers(name, [{ code: imported, active: true }]));
  assert.equal((await server.vouchers.get(imported)).campaign_id, made.id);
  const listed = fresh("CSV-");
  const path = await file("codes.csv", `Code,Active,Colour\n${listed},true,red\n`);
  await done(server, await server.campaigns.importVouchersCSV(made.id, path));
  assert.deepEqual((await server.vouchers.get(listed)).metadata, { Colour: "red" });
  const examined = await server.campaigns.qualifications.examine({ order });
  assert.equal(examined.object, "list");
  const bare = await server.campaigns.create({
    name: fresh("Bare "), campaign_type: "DISCOUNT_COUPONS", type: "AUTO_UPDATE",
    voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 }, redemption: { quantity: 1 } },
  });
  await server.campaigns.delete(bare.id, { force: true });
  await assert.rejects(server.campaigns.get(bare.id), { code: 404 });
}

/** Vouchers: every method. */
export async function vouchers(server) {
  const code = fresh("V-");
  const made = await server.vouchers.create({ code, type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 } });
  assert.equal(made.code, code);
  assert.equal((await server.vouchers.update({ code, additional_info: "seen" })).additional_info, "seen");
  assert.equal((await server.vouchers.update({ code, expiration_date: "2100-01-01T00:00:00Z" })).expiration_date, "2100-01-01T00:00:00.000Z");
  assert.equal("expiration_date" in (await server.vouchers.update({ code, expiration_date: null })), false);
  await server.vouchers.disable(code);
  await server.vouchers.enable(code);
  assert.equal((await server.vouchers.get(code)).active, true);
  assert.equal((await server.vouchers.list({ code })).vouchers.length, 1);
  const second = fresh("W-");
  await done(server, await server.vouchers.import([{ code: second, type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 1 } }]));
  await done(server, await server.vouchers.bulkUpdate([{ code: second, metadata: { size: 4 } }]));
  assert.deepEqual((await server.vouchers.get(second)).metadata, { size: 4 });
  await done(server, await server.vouchers.bulkUpdateMetadata({ codes: [second], metadata: { size: 5 } }));
  assert.deepEqual((await server.vouchers.get(second)).metadata, { size: 5 });
  const third = fresh("X-");
  const path = await file("vouchers.csv", `Code,Voucher Type,Value,Discount Type\n${third},DISCOUNT_VOUCHER,250,AMOUNT\n`);
  await done(server, await server.vouchers.importCSV(path));
  assert.equal((await server.vouchers.get(third)).discount.amount_off, 250);
  assert.equal((await server.vouchers.qualifications.examine({ order })).object, "list");

  const gift = fresh("G-");
  await server.vouchers.create({ code: gift, type: "GIFT_VOUCHER", gift: { amount: 1_000 } });
  assert.equal((await server.vouchers.balance.create(gift, { amount: 500 })).balance, 1_500);
  assert.equal((await server.vouchers.listTransactions(gift)).data.length, 1);
  const exported = await server.vouchers.exportTransactions(gift, { parameters: { fields: ["id", "amount"] } });
  assert.equal(exported.object, "export");

  const session = await server.validations.validateStackable({ redeemables: [{ object: "voucher", id: gift, gift: { credits: 10 } }], order, session: { type: "LOCK" } });
  await server.vouchers.releaseValidationSession(gift, session.session.key);
  await server.vouchers.delete(third, { force: true });
  await assert.rejects(server.vouchers.get(third), { code: 404 });
}

/** Publications and exports: every method. */
export async function distributions(server) {
  const code = fresh("P-");
  await server.vouchers.create({ code, type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 } });
  const source = fresh("customer-");
  const published = await server.distributions.publications.create({ voucher: code, customer: { source_id: source } });
  assert.equal(published.result, "SUCCESS");
  const listed = await server.distributions.publications.list({ voucher: code });
  assert.deepEqual(listed.publications.map(({ id }) => id), [published.id]);

  const made = await server.distributions.exports.create({
    exported_object: "voucher", parameters: { fields: ["code", "voucher_type"], filters: { code: { conditions: { $is: [code] } } } },
  });
  const ready = await waitForSuccess(async () => {
    const read = await server.distributions.exports.get(made.id);
    assert.equal(read.status, "DONE");
    return read;
  });
  const text = await (await fetch(ready.result.url)).text();
  assert.match(text, new RegExp(code));
  assert.equal((await server.distributions.exports.list()).exports.some(({ id }) => id === made.id), true);
  await server.distributions.exports.delete(made.id);
  await assert.rejects(server.distributions.exports.get(made.id), { code: 404 });
}
