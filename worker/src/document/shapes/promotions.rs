//! The shapes of campaigns, tiers and stacks. It must not know what they take off.

use crate::document::fields::{DISCOUNT, GIFT, KEY, LOYALTY_CARD, VOUCHER_TYPE};
use crate::document::shapes::program_tiers::QUALIFICATION;
use scrip::shape::{COUNT, Field, KEYS, Kind, may, must, object};
use scrip::wire::voucher::{
    ASSIGNMENTS, CAMPAIGN_OF_TIER, CATEGORIES, DAYS_OF_WEEK, HOURS, OF_TIER, SUMMARY_OF_TIER, TIMEFRAME, VALIDITY,
};
use scrip::{fields_of, shape};

/// What a promotion tier shows.
pub const OF_KEPT_TIER: &[Field] = fields_of!(
    OF_TIER,
    &[
        must("campaign", CAMPAIGN_OF_TIER).says("Its campaign"),
        may("summary", SUMMARY_OF_TIER).says("What was redeemed of it"),
        must("validation_rule_assignments", ASSIGNMENTS),
    ],
);

/// A promotion tier.
pub const TIER: Kind = shape!("PromotionTier", "A promotion tier", OF_KEPT_TIER);

/// A promotion stack.
pub const STACK: Kind = shape!(
    "PromotionStack",
    "Promotion tiers that are applied together",
    &[
        must("id", KEY),
        must("name", KEY),
        must("campaign_id", KEY),
        must("category_id", KEY).or_null(),
        must("categories", CATEGORIES),
        must(
            "tiers",
            Kind::Object(&[
                must("ids", KEYS).says("The tiers, in the order in which they are applied"),
                must("hierarchy_mode", Kind::OneOf(&["MANUAL"])).says("Who orders them"),
            ]),
        )
        .says("Its tiers"),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["promotion_stack"]),
    ]
);

/// How who refers is rewarded.
const REFERRAL: Kind = Kind::Object(&[
    may("conversion_event_type", Kind::OneOf(&["redemption", "custom_event"])).says("What counts as a referral"),
    may("custom_event", Kind::Object(&[may("id", KEY), may("name", KEY)])).says("The event that counts"),
    may(
        "referee_reward",
        Kind::Object(&[
            may("type", Kind::OneOf(&["LOYALTY_CARD", "GIFT_VOUCHER"])),
            may("amount", COUNT).says("Points or minor units"),
            may("related_object_parent", Kind::Object(&[may("id", KEY), may("name", KEY), may("object", Kind::Text)]))
                .says("The campaign whose card it is"),
        ]),
    )
    .says("What who was referred is given"),
]);

/// How codes are made, as a campaign keeps it.
const MADE: Kind = Kind::Object(&[
    must("length", Kind::Int(0, 128)),
    must("charset", Kind::Text),
    must("pattern", Kind::Text),
    may("prefix", Kind::Text),
    may("postfix", Kind::Text),
]);

/// A campaign.
pub const CAMPAIGN: Kind = shape!(
    "Campaign",
    "A campaign: vouchers that are alike, a loyalty program, or promotion tiers",
    fields_of!(
        &[
            must("id", KEY),
            must("name", KEY),
            must("description", Kind::Text).or_null(),
            must(
                "campaign_type",
                Kind::OneOf(&["PROMOTION", "GIFT_VOUCHERS", "REFERRAL_PROGRAM", "DISCOUNT_COUPONS", "LOYALTY_PROGRAM"]),
            )
            .says("What it hands out"),
            must("type", Kind::OneOf(&["AUTO_UPDATE", "STATIC", "STANDALONE"]))
                .says("Whether it makes codes by itself"),
            must("join_once", Kind::Bool),
            must("auto_join", Kind::Bool),
            must("use_voucher_metadata_schema", Kind::Bool).says("Whether custom data of its vouchers has a schema"),
            must("activity_duration_after_publishing", Kind::Duration)
                .or_null()
                .says("How long a code holds after it was handed out"),
            must("vouchers_count", COUNT).says("How many codes it has"),
            must("vouchers_generation_status", Kind::Text).says("Whether its codes are made"),
            must("creation_status", Kind::Text).says("Whether it is ready"),
            must("protected", Kind::Bool).says("Whether it may be changed"),
            must("metadata", Kind::Map),
            must("validation_rules_assignments", ASSIGNMENTS),
            must("created_at", Kind::DateTime),
            must("updated_at", Kind::DateTime).or_null(),
            may(
                "voucher",
                Kind::Object(&[
                    must("type", VOUCHER_TYPE),
                    may("discount", DISCOUNT),
                    may("gift", GIFT),
                    may("loyalty_card", LOYALTY_CARD),
                    must("code_config", MADE),
                    must(
                        "redemption",
                        Kind::Object(&[must("quantity", COUNT)
                            .or_null()
                            .says("How often one may be redeemed; any number when null")]),
                    ),
                    must("is_referral_code", Kind::Bool),
                    may("start_date", Kind::DateTime),
                    may("expiration_date", Kind::DateTime),
                    may("validity_timeframe", TIMEFRAME),
                    may("validity_day_of_week", DAYS_OF_WEEK),
                    may("validity_hours", HOURS),
                ]),
            )
            .says("What its vouchers are like"),
            may(
                "promotion",
                Kind::Object(&[
                    object(&["list"]),
                    must("data_ref", Kind::OneOf(&["tiers"])),
                    must("tiers", Kind::List(&TIER, 0, usize::MAX)).says("What is listed"),
                    must("total", COUNT),
                    must("has_more", Kind::Bool),
                ]),
            )
            .says("Its tiers"),
            may("referral_program", REFERRAL).says("How who refers is rewarded"),
            may("loyalty_tiers_expiration", QUALIFICATION),
            object(&["campaign"]),
        ],
        VALIDITY,
    )
);

/// What came of a campaign. Which numbers there are follows from its type.
pub const CAMPAIGN_SUMMARY: Kind = shape!(
    "CampaignSummary",
    "What came of a campaign",
    &[
        must("campaign", CAMPAIGN),
        must("redemptions", COUNT).says("All that were tried"),
        must("redemptions_succeeded", COUNT).says("Those that were done"),
        must("redemptions_failed", COUNT).says("As long as these are kept"),
        must("rollbacks", COUNT).says("All that were tried"),
        must("rollbacks_succeeded", COUNT).says("Redemptions that were undone"),
        must("rollbacks_failed", COUNT).says("As long as these are kept"),
        must("validations", COUNT).says("Nothing: a validation is not written down"),
        must("validations_succeeded", COUNT).says("Nothing: a validation is not written down"),
        must("validations_failed", COUNT).says("Nothing: a validation is not written down"),
        must("orders_amount", COUNT).says("The value of the orders, in minor units"),
        must("orders_rolledback_amount", COUNT).says("What of that was undone"),
        may("vouchers_created", COUNT).says("Vouchers that were made and still are"),
        may("vouchers_deleted", COUNT).says("Those in the bin"),
        may("publications", COUNT).says("Vouchers that were published"),
        may("publications_succeeded", COUNT).says("The same"),
        may("publications_failed", COUNT).says("None: what fails is not written down"),
        may("discounted_amount", COUNT).says("What was taken off, in minor units"),
        may("rolledback_discounted_amount", COUNT).says("What of that was undone"),
        may("created_vouchers_amount", COUNT).says("What vouchers were made with, in minor units"),
        may("amount_added", COUNT).says("Given by hand"),
        may("amount_deleted", COUNT).says("Nothing: what goes has no balance"),
        may("amount_redeemed", COUNT).says("Spent"),
        may("amount_rolledback", COUNT).says("Given back"),
        may("amount_subtracted", COUNT).says("Taken by hand"),
        may("created_vouchers_points", COUNT).says("What cards were made with"),
        may("points_deleted", COUNT).says("Nothing: what goes has no balance"),
        may("points_subtracted", COUNT).says("Taken by hand"),
        may("points_added", COUNT).says("Given by hand"),
        may("points_rewarded", COUNT).says("Earned"),
        may("points_redeemed", COUNT).says("Spent"),
        may("points_rolledback", COUNT).says("Given back"),
        may("points_expired", COUNT).says("Lapsed"),
        may("points_transferred_out", COUNT).says("Moved to another card"),
        may("points_transferred_in", COUNT).says("Moved from another card"),
        may("pending_points_added", COUNT).says("Points that began to wait"),
        may("pending_points_subtracted", COUNT).says("Taken by hand of those that wait"),
        may("pending_points_activated", COUNT).says("Points that waited and can be spent"),
        may("pending_points_canceled", COUNT).says("Points that waited and were canceled"),
        may("referred_customers", COUNT).says("Whom codes were passed on to"),
        object(&["campaign_summary"]),
    ]
);
