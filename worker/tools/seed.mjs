// Decides what a first local start contains: the stacking rules and the campaigns that the demo and the README use.
// It speaks to the service as any client would.
import { Remedy, say } from "./say.mjs";
import { managementHeaders, serverHeaders } from "./setup.mjs";

const PROJECT = "proj_dev";

const stackingRules = {
  redeemables_limit: 30,
  applicable_redeemables_limit: 5,
  applicable_exclusive_redeemables_limit: 1,
  redeemables_application_mode: "PARTIAL",
  redeemables_sorting_rule: "REQUESTED_ORDER",
  discount_calculation_mode: "DISCOUNTED_AMOUNT",
};

const campaigns = [
  {
    name: "Welcome",
    campaign_type: "DISCOUNT_COUPONS",
    type: "STANDALONE",
    voucher: {
      type: "DISCOUNT_VOUCHER",
      code: "WELCOME10",
      discount: { type: "PERCENT", percent_off: 10, effect: "APPLY_TO_ORDER" },
      redemption: { quantity: null },
      code_config: { pattern: "WELCOME10" },
    },
  },
  {
    name: "Newsletter",
    campaign_type: "DISCOUNT_COUPONS",
    type: "AUTO_UPDATE",
    join_once: true,
    vouchers_count: 10,
    voucher: {
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 500, effect: "APPLY_TO_ORDER" },
      redemption: { quantity: 1 },
      code_config: { pattern: "NEWS-########" },
    },
  },
  {
    name: "Gift Cards",
    campaign_type: "GIFT_VOUCHERS",
    type: "AUTO_UPDATE",
    vouchers_count: 5,
    voucher: {
      type: "GIFT_VOUCHER",
      gift: { amount: 5000, effect: "APPLY_TO_ORDER" },
      redemption: { quantity: null },
      code_config: { pattern: "GIFT-########" },
    },
  },
];

/** Fills the development project. What is there already stays, so that a seeding cut short can be repeated. */
export async function seed(url) {
  await post(`${url}/management/v1/projects/${PROJECT}/stacking-rules`, managementHeaders, stackingRules);
  for (const campaign of campaigns) await post(`${url}/v1/campaigns`, serverHeaders, campaign);
  say(`seeded the project ${PROJECT} with the campaigns ${campaigns.map(({ name }) => `"${name}"`).join(", ")}`);
}

async function post(url, headers, body) {
  const reply = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (reply.ok || reply.status === 409) return;
  throw new Remedy(`seeding failed: POST ${new URL(url).pathname} answered ${reply.status} ${await reply.text()}`);
}
