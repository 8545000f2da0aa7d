// Runs the whole flow of the official client of this API, from the npm registry and unmodified, against a local Scrip. The server creates a
// campaign with its codes, publishes, validates, redeems and rolls back; a page does the same with its key.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before } from "node:test";
import { credentials } from "../../worker/tools/setup.mjs";
import { boot } from "../workerd/harness.mjs";
import { fresh } from "../workerd/redemption_fixtures.mjs";
import { countTests } from "../workerd/test_report.mjs";
import { waitForSuccess } from "../wait.mjs";

// Its ESM build names files that Node does not resolve; the package's `main` is the build for Node users.
const { VoucherifyClientSide, VoucherifyServerSide } = createRequire(import.meta.url)("@voucherify/sdk");

const check = countTests("client flows");
const order = { amount: 20_000, items: [{ product_id: "prod_boot", quantity: 2, price: 10_000 }] };
let service;
let server;
let page;

before(async () => {
  // The released build: the one to which a shop would point its client.
  service = await boot({ testHooks: false });
  server = VoucherifyServerSide({
    apiUrl: service.url,
    applicationId: credentials.server.id,
    secretKey: credentials.server.token,
  });
  page = VoucherifyClientSide({
    apiUrl: service.url,
    clientApplicationId: credentials.client.id,
    clientSecretKey: credentials.client.token,
    origin: "http://localhost:3000",
    trackingId: "shopper-1",
  });
});
after(() => service?.stop());

/** Creates a discount campaign and waits until all its codes are generated. */
async function discountCampaign(count, more = {}) {
  const name = fresh("Campaign ");
  const campaign = await server.campaigns.create({
    name,
    campaign_type: "DISCOUNT_COUPONS",
    type: "AUTO_UPDATE",
    vouchers_count: count,
    voucher: {
      type: "DISCOUNT_VOUCHER",
      discount: { type: "PERCENT", percent_off: 10 },
      redemption: { quantity: 2 },
      code_config: { pattern: "SDK-########" },
    },
    ...more,
  });
  assert.match(campaign.id, /^camp_/);
  assert.equal(campaign.object, "campaign");
  await waitForSuccess(async () => {
    const read = await server.campaigns.get(name);
    assert.equal(read.vouchers_generation_status, "DONE");
    assert.equal(read.vouchers_count, count);
  });
  return campaign;
}

/** Returns the error of a refused call. */
async function refusal(call) {
  return call.then(
    (answer) => assert.fail(`expected a refusal, got ${JSON.stringify(answer)}`),
    ({ code, key, request_id }) => {
      assert.match(request_id, /^v-[0-9a-f]{18}$/);
      return { code, key };
    },
  );
}

check("server side: campaign, codes, publish, validate, redeem, roll back", async () => {
  const campaign = await discountCampaign(20);
  const listed = await server.vouchers.list({ campaign: campaign.name, limit: 100 });
  assert.equal(listed.vouchers.length, 20);
  assert.equal(listed.total, 20);
  for (const { code } of listed.vouchers) assert.match(code, /^SDK-[0-9A-Za-z]{8}$/);

  const source = fresh("customer-");
  const publication = await server.distributions.publications.create({
    campaign: { name: campaign.name },
    customer: { source_id: source, name: "Ann Shopper" },
  });
  assert.equal(publication.result, "SUCCESS");
  const { code } = publication.voucher;
  assert.equal((await server.customers.get(source)).source_id, source);

  const redeemables = [{ object: "voucher", id: code }];
  const verdict = await server.validations.validateStackable({ redeemables, order, customer: { source_id: source } });
  assert.equal(verdict.valid, true);
  assert.equal(verdict.order.total_discount_amount, 2_000);
  assert.equal(verdict.order.total_amount, 18_000);

  const redeemed = await server.redemptions.redeemStackable({ redeemables, order, customer: { source_id: source } });
  const [redemption] = redeemed.redemptions;
  assert.equal(redemption.result, "SUCCESS");
  assert.equal(redeemed.order.total_amount, 18_000);
  assert.equal((await server.vouchers.get(code)).redemption.redeemed_quantity, 1);
  assert.equal((await server.redemptions.get(redemption.id)).id, redemption.id);

  const rollback = await server.redemptions.rollback(redemption.id, "returned");
  assert.equal(rollback.object, "redemption_rollback");
  assert.equal(rollback.reason, "returned");
  assert.equal((await server.vouchers.get(code)).redemption.redeemed_quantity, 0);
  assert.deepEqual(await refusal(server.redemptions.rollback(redemption.id, "again")), { code: 400, key: "already_rolled_back" });
});

check("server side: two codes at once, and the stack rolled back", async () => {
  const gift = fresh("GIFT-");
  const off = fresh("OFF-");
  await server.vouchers.create({ code: gift, type: "GIFT_VOUCHER", gift: { amount: 5_000 } });
  await server.vouchers.create({ code: off, type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 1_000 } });
  const redeemables = [{ object: "voucher", id: off }, { object: "voucher", id: gift, gift: { credits: 3_000 } }];
  const redeemed = await server.redemptions.redeemStackable({ redeemables, order });
  assert.equal(redeemed.redemptions.length, 2);
  assert.equal(redeemed.order.total_discount_amount, 4_000);
  assert.equal((await server.vouchers.get(gift)).gift.balance, 2_000);
  const undone = await server.redemptions.rollbackStackable(redeemed.parent_redemption.id);
  assert.equal(undone.rollbacks.length, 2);
  assert.equal((await server.vouchers.get(gift)).gift.balance, 5_000);
  assert.equal((await server.vouchers.get(off)).redemption.redeemed_quantity, 0);
});

check("server side: a single code added, a voucher disabled and enabled, a campaign deleted", async () => {
  const campaign = await discountCampaign(1);
  const code = fresh("OWN-");
  const added = await server.campaigns.addCertainVoucher(campaign.name, code);
  assert.equal(added.code, code);
  const redeemables = [{ object: "voucher", id: code }];
  await server.vouchers.disable(code);
  const verdict = await server.validations.validateStackable({ redeemables, order });
  assert.equal(verdict.valid, false);
  assert.equal(verdict.redeemables[0].result.error.key, "voucher_disabled");
  assert.deepEqual(await refusal(server.redemptions.redeemStackable({ redeemables, order })), { code: 400, key: "voucher_disabled" });
  await server.vouchers.enable(code);
  assert.equal((await server.validations.validateStackable({ redeemables, order })).valid, true);
  await server.campaigns.delete(campaign.name, { force: true });
  await waitForSuccess(async () => assert.deepEqual(await refusal(server.vouchers.get(code)), { code: 404, key: "not_found" }));
});

check("server side: codes in bulk are an async action that ends", async () => {
  const campaign = await discountCampaign(2);
  const { async_action_id: id } = await server.campaigns.addVoucher(campaign.name, {}, { vouchers_count: 500 });
  await waitForSuccess(async () => assert.equal((await server.asyncActions.get(id)).status, "DONE"));
  assert.equal((await server.vouchers.list({ campaign: campaign.name, limit: 1 })).total, 502);
});

check("page side: publish, validate, redeem", async () => {
  const campaign = await discountCampaign(5, { join_once: true });
  const publication = await page.publish(campaign.name, {});
  const { code } = publication.voucher;
  assert.equal(publication.result, "SUCCESS");

  const redeemables = [{ object: "voucher", id: code }];
  const verdict = await page.validateStackable({ redeemables, order });
  assert.equal(verdict.valid, true);
  assert.equal(verdict.order.total_discount_amount, 2_000);

  const redeemed = await page.redeemStackable({ redeemables, order });
  assert.equal(redeemed.redemptions[0].result, "SUCCESS");
  const single = await page.redeem(code, { order });
  assert.equal(single.result, "SUCCESS");
  assert.deepEqual(await refusal(page.redeem(code, { order })), { code: 404, key: "not_found" });
  assert.equal((await server.vouchers.get(code)).redemption.redeemed_quantity, 2);
});

check("page side: a foreign origin and a wrong token are refused", async () => {
  const options = { apiUrl: service.url, clientApplicationId: credentials.client.id, clientSecretKey: credentials.client.token };
  const foreign = VoucherifyClientSide({ ...options, origin: "https://shop.example" });
  const call = foreign.validateStackable({ redeemables: [{ object: "voucher", id: "X" }], order });
  assert.deepEqual(await refusal(call), { code: 403, key: "forbidden" });
  const wrong = VoucherifyClientSide({ ...options, clientSecretKey: "wrong", origin: "http://localhost:3000" });
  const { code } = await wrong.validateStackable({ redeemables: [{ object: "voucher", id: "X" }], order }).catch((error) => error);
  assert.equal(code, 401);
});

check("a Bearer token stands in for the keys", async () => {
  const reply = await fetch(`${service.url}/v1/oauth/token`, {
    method: "POST",
    headers: { "x-app-id": credentials.server.id, "x-app-token": credentials.server.token },
    body: new URLSearchParams({ grant_type: "client_credentials", scope: "api" }),
  });
  assert.equal(reply.status, 200);
  const { access_token: token, token_type: type, expires_in: seconds } = await reply.json();
  assert.equal(type, "Bearer");
  assert.equal(seconds, 900);
  const listed = await fetch(`${service.url}/v1/campaigns`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(listed.status, 200);
  const forged = await fetch(`${service.url}/v1/campaigns`, { headers: { authorization: `Bearer ${token}x` } });
  assert.equal(forged.status, 401);
});
