// Decides what a first local start contains: the stacking rules and the campaigns that the demo and the README use.
// It speaks to the service as any client would.
import { Remedy, say } from "./say.mjs";
import { managementHeaders, serverHeaders } from "./setup.mjs";

const PROJECT = "proj_dev";

// A cart keeps the codes that hold when another one does not; everything else stays as a project starts.
const stackingRules = { redeemables_application_mode: "PARTIAL" };

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
  const rules = `${url}/management/v1/projects/${PROJECT}/stacking-rules`;
  const { data } = await (await send("GET", rules, managementHeaders)).json();
  await send("PUT", `${rules}/${data[0].id}`, managementHeaders, stackingRules);
  for (const campaign of campaigns) await send("POST", `${url}/v1/campaigns`, serverHeaders, campaign);
  say(`seeded the project ${PROJECT} with the campaigns ${campaigns.map(({ name }) => `"${name}"`).join(", ")}`);
}

/** What exists already is as good as made. */
async function send(method, url, headers, body) {
  const reply = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  if (reply.ok || reply.status === 409) return reply;
  throw new Remedy(`seeding failed: ${method} ${new URL(url).pathname} answered ${reply.status} ${await reply.text()}`);
}
