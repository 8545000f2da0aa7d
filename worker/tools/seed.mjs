// Creates the campaigns of a first local start, which the demo and the README use. The stacking rules stay the default ones. It calls the
// service as any client would.
import { PROJECT, seedLoyaltyProgram, send } from "./seed_loyalty.mjs";
import { print } from "./console.mjs";
import { serverHeaders } from "./setup.mjs";

/** The text that marks a data folder with all of these objects; it changes when objects are added. */
export const SEEDED = "campaigns, club";

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
    // In addition to the amount that each of these gift cards has from the start.
    referral_program: {
      conversion_event_type: "redemption",
      referee_reward: { type: "GIFT_VOUCHER", amount: 900, related_object_parent: { name: "Friends' gifts", object: "CAMPAIGN" } },
    },
  },
];

/** Creates the objects in the development project. Existing ones stay, so that an interrupted seeding can be repeated. */
export async function seed(url) {
  for (const campaign of campaigns) await send("POST", `${url}/v1/campaigns`, serverHeaders, campaign);
  await seedLoyaltyProgram(url);
  print(`seeded the project ${PROJECT} with the campaigns ${campaigns.map(({ name }) => `"${name}"`).join(", ")} and a points program`);
}
