// Decides what a first local start contains: the stacking rules and the campaigns that the demo and the README use.
// It speaks to the service as any client would.
import { PROJECT, seedClub, send } from "./club.mjs";
import { say } from "./say.mjs";
import { managementHeaders, serverHeaders } from "./setup.mjs";

/** What is written down of a data folder that has all of this; another word when there is more. */
export const SEEDED = "campaigns, club";

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
  {
    name: "Club coupons",
    campaign_type: "DISCOUNT_COUPONS",
    type: "AUTO_UPDATE",
    voucher: {
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 500, effect: "APPLY_TO_ORDER" },
      redemption: { quantity: 1 },
      code_config: { pattern: "CLUB-########" },
    },
  },
  {
    name: "Friends' gifts",
    campaign_type: "GIFT_VOUCHERS",
    type: "AUTO_UPDATE",
    voucher: {
      type: "GIFT_VOUCHER",
      gift: { amount: 100, effect: "APPLY_TO_ORDER" },
      redemption: { quantity: null },
      code_config: { pattern: "HELLO-########" },
    },
  },
  {
    name: "Friends",
    campaign_type: "REFERRAL_PROGRAM",
    type: "AUTO_UPDATE",
    voucher: {
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 500, effect: "APPLY_TO_ORDER" },
      redemption: { quantity: 1000 },
      code_config: { pattern: "FRIEND-########" },
    },
    // Beside what is on each of these gift cards from the start.
    referral_program: {
      conversion_event_type: "redemption",
      referee_reward: { type: "GIFT_VOUCHER", amount: 900, related_object_parent: { name: "Friends' gifts", object: "CAMPAIGN" } },
    },
  },
];

/** Fills the development project. What is there already stays, so that a seeding cut short can be repeated. */
export async function seed(url) {
  const rules = `${url}/management/v1/projects/${PROJECT}/stacking-rules`;
  const { data } = await (await send("GET", rules, managementHeaders)).json();
  await send("PUT", `${rules}/${data[0].id}`, managementHeaders, stackingRules);
  for (const campaign of campaigns) await send("POST", `${url}/v1/campaigns`, serverHeaders, campaign);
  await seedClub(url);
  say(`seeded the project ${PROJECT} with the campaigns ${campaigns.map(({ name }) => `"${name}"`).join(", ")} and a points program`);
}
