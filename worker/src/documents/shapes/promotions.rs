//! The shape of the summary of a campaign; campaigns, tiers and stacks themselves are declared next to the
//! engine's readers.

use scrip::shape;
use scrip::shape::{COUNT, FieldType, may, must, object};
pub use scrip::wire::voucher::{CAMPAIGN, PROMOTION_TIER as TIER, STACK, STORED_TIER_FIELDS};

/// Summary of a campaign. Its type determines the numbers.
pub const CAMPAIGN_SUMMARY: FieldType = shape!(
    "CampaignSummary",
    "Counts and amounts of a campaign in a period. Numbers other than those of redemptions, rollbacks and orders depend on the type of the campaign.",
    &[
        must("campaign", CAMPAIGN).description("Campaign of the summary, without its categories and tiers."),
        must("redemptions", COUNT).description("Number of redemptions, successful and failed."),
        must("redemptions_succeeded", COUNT)
            .description("Number of successful redemptions, including those that were rolled back later."),
        must("redemptions_failed", COUNT).description("Number of failed redemptions that are still on record."),
        must("rollbacks", COUNT).description("Number of rollbacks, successful and failed."),
        must("rollbacks_succeeded", COUNT).description("Number of successful rollbacks."),
        must("rollbacks_failed", COUNT).description("Number of failed rollbacks that are still on record."),
        must("validations", COUNT)
            .description("Number of validations. Always 0, because validations are not recorded."),
        must("validations_succeeded", COUNT)
            .description("Number of successful validations. Always 0, because validations are not recorded."),
        must("validations_failed", COUNT)
            .description("Number of failed validations. Always 0, because validations are not recorded."),
        must("orders_amount", COUNT)
            .description("Total value of the orders of successful redemptions, in minor units."),
        must("orders_rolledback_amount", COUNT)
            .description("Total value of the orders of rolled back redemptions, in minor units."),
        may("vouchers_created", COUNT)
            .description("Number of vouchers that were created in the period and still exist."),
        may("vouchers_deleted", COUNT)
            .description("Number of vouchers that were moved to the trash bin and are still there."),
        may("publications", COUNT).description("Number of publications of vouchers."),
        may("publications_succeeded", COUNT).description("Number of successful publications. Equal to `publications`."),
        may("publications_failed", COUNT)
            .description("Number of failed publications. Always 0, because failures are not recorded."),
        may("discounted_amount", COUNT)
            .description("Total discount of successful redemptions, in minor units. Present for discount coupons and promotions."),
        may("rolledback_discounted_amount", COUNT)
            .description("Total discount of rolled back redemptions, in minor units. Present for discount coupons and promotions."),
        may("created_vouchers_amount", COUNT)
            .description("Total initial balance of the gift cards that were created and still exist, in minor units. Present for gift vouchers."),
        may("amount_added", COUNT)
            .description("Amount added to gift cards outside redemptions and rollbacks, in minor units. Present for gift vouchers."),
        may("amount_deleted", COUNT)
            .description("Amount on deleted gift cards. Always 0, because a deleted card has no balance. Present for gift vouchers."),
        may("amount_redeemed", COUNT)
            .description("Amount spent by redemptions, in minor units. Present for gift vouchers."),
        may("amount_rolledback", COUNT)
            .description("Amount refunded by rollbacks, in minor units. Present for gift vouchers."),
        may("amount_subtracted", COUNT)
            .description("Amount subtracted from gift cards outside redemptions, in minor units. Present for gift vouchers."),
        may("created_vouchers_points", COUNT)
            .description("Total initial points of the loyalty cards that were created and still exist. Present for loyalty campaigns."),
        may("points_deleted", COUNT)
            .description("Number of points on deleted loyalty cards. Always 0, because a deleted card has no balance. Present for loyalty campaigns."),
        may("points_subtracted", COUNT)
            .description("Number of points subtracted from loyalty cards outside redemptions. Present for loyalty campaigns."),
        may("points_added", COUNT)
            .description("Number of points added to loyalty cards outside earning rules and rollbacks. Present for loyalty campaigns."),
        may("points_rewarded", COUNT)
            .description("Number of points granted by earning rules. Present for loyalty campaigns."),
        may("points_redeemed", COUNT)
            .description("Number of points spent by redemptions. Present for loyalty campaigns."),
        may("points_rolledback", COUNT)
            .description("Number of points refunded by rollbacks. Present for loyalty campaigns."),
        may("points_expired", COUNT).description("Number of points that expired. Present for loyalty campaigns."),
        may("points_transferred_out", COUNT)
            .description("Number of points transferred to other cards. Present for loyalty campaigns."),
        may("points_transferred_in", COUNT)
            .description("Number of points transferred from other cards. Present for loyalty campaigns."),
        may("pending_points_added", COUNT)
            .description("Number of points that became pending. Present for loyalty campaigns."),
        may("pending_points_subtracted", COUNT)
            .description("Number of pending points that were subtracted by a balance change. Present for loyalty campaigns."),
        may("pending_points_activated", COUNT)
            .description("Number of pending points that became spendable. Present for loyalty campaigns."),
        may("pending_points_canceled", COUNT)
            .description("Number of pending points that were canceled. Present for loyalty campaigns."),
        may("referred_customers", COUNT)
            .description("Number of customers who became referees of the codes. Present for referral programs."),
        object(&["campaign_summary"]),
    ]
);
