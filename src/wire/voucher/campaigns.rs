//! The shapes of promotion tiers, of stacks and of what campaigns contain.

use super::{
    ASSIGNMENTS, CAMPAIGN_OF_TIER, CARD, CATEGORIES, DAYS_OF_WEEK, HOURS, OF_TIER, SUMMARY_OF_TIER, TIMEFRAME,
    VOUCHER_TYPE,
};
use crate::shape::{COUNT, Field, FieldType, INT_MAX, KEY, KEYS, may, must, object};
use crate::shape::{fields_of, shape};
use crate::wire::offer::{DISCOUNT, GIFT};

/// The members of a promotion tier.
pub const STORED_TIER_FIELDS: &[Field] = fields_of!(
    OF_TIER,
    &[
        must("campaign", CAMPAIGN_OF_TIER).description("Promotion that the tier belongs to."),
        may("summary", SUMMARY_OF_TIER).description("Redemptions of the tier so far."),
        must("validation_rule_assignments", ASSIGNMENTS).description("Validation rules that are assigned to the tier."),
    ],
);

/// A promotion tier.
pub const PROMOTION_TIER: FieldType =
    shape!("PromotionTier", "Discount of a promotion, which is redeemed without a code.", STORED_TIER_FIELDS);

/// A promotion stack.
pub const STACK: FieldType = shape!(
    "PromotionStack",
    "Several tiers of one promotion that are redeemed together, in a fixed order.",
    &[
        must("id", KEY),
        must("name", KEY).description("Name of the stack."),
        must("campaign_id", KEY).description("ID of the promotion that the stack belongs to."),
        must("category_id", KEY).or_null().description("ID of the category of the stack. `null` without a category."),
        must("categories", CATEGORIES)
            .description("Category of the stack, or else of the promotion. Empty without a category."),
        must(
            "tiers",
            FieldType::Object(&[
                must("ids", KEYS).description("IDs of the tiers, in the order in which they are applied."),
                must("hierarchy_mode", FieldType::OneOf(&["MANUAL"]))
                    .description("Order of the tiers. Always `MANUAL`, the order of `ids`."),
            ]),
        )
        .description("Tiers of the stack and their order."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["promotion_stack"]),
    ]
);

/// Custom event of a referral program.
const CUSTOM_EVENT: Field = may(
    "custom_event",
    FieldType::Object(&[may("id", KEY), may("name", KEY).description("Name of the custom event.")]),
)
.description(
    "Custom event that completes a referral. Has an effect only if `conversion_event_type` is `custom_event`.",
);

/// Settings of a referral program in answers.
pub(super) const REFERRAL: FieldType = FieldType::Object(&[
    may("conversion_event_type", FieldType::OneOf(&["redemption", "custom_event"])).description(
        "Event that completes a referral: a redemption of the code or a custom event. Absent means `redemption`.",
    ),
    CUSTOM_EVENT,
    may(
        "referee_reward",
        FieldType::Object(&[
            may("type", FieldType::OneOf(&["LOYALTY_CARD", "GIFT_VOUCHER"]))
                .description("Type of the card that receives the reward."),
            may("amount", COUNT)
                .description("Amount of the reward: points for a loyalty card, minor units for a gift card."),
            may(
                "related_object_parent",
                FieldType::Object(&[
                    may("id", KEY),
                    may("name", KEY).description("Name of the campaign."),
                    may("object", FieldType::Text),
                ]),
            )
            .description("Campaign of the card."),
        ]),
    )
    .description("Reward of the referee, granted once for each campaign. Absent means no reward."),
]);

/// Settings of a referral program in requests.
pub(super) const REFERRAL_REQUEST: FieldType = FieldType::Object(&[
    may("conversion_event_type", FieldType::OneOf(&["redemption", "custom_event"])).description(
        "Event that completes a referral: a redemption of the code or a custom event. Default `redemption`.",
    ),
    CUSTOM_EVENT,
    may(
        "referee_reward",
        FieldType::Object(&[
            may("type", FieldType::OneOf(&["LOYALTY_CARD", "GIFT_VOUCHER"]))
                .description("Type of the card that receives the reward."),
            may("amount", COUNT).description(
                "Amount of the reward: points for a loyalty card, minor units for a gift card. Default 0.",
            ),
            may(
                "related_object_parent",
                FieldType::Object(&[
                    may("id", KEY),
                    may("name", KEY).description("Name of the campaign. Has an effect only without `id`."),
                    may("object", FieldType::Text),
                ]),
            )
            .description("Campaign of the card. Without a campaign no reward is granted."),
        ]),
    )
    .description("Reward of the referee, granted once for each campaign. Absent means no reward."),
]);

/// The settings of generated codes, as stored in a campaign.
const MADE: FieldType = FieldType::Object(&[
    must("length", FieldType::Int(0, 128)).description("Number of generated characters in a code."),
    must("charset", FieldType::Text).description("Characters that generated characters are drawn from."),
    must("pattern", FieldType::Text)
        .description("Pattern of a code between prefix and postfix, with `#` for each generated character."),
    may("prefix", FieldType::Text).description("Text at the beginning of each code. Absent means none."),
    may("postfix", FieldType::Text).description("Text at the end of each code. Absent means none."),
]);

/// Configuration of the vouchers of a campaign.
pub(super) const OF_VOUCHERS: FieldType = FieldType::Object(&[
    must("type", VOUCHER_TYPE).description("Type of the vouchers."),
    may("discount", DISCOUNT)
        .description("Discount of each voucher. Present for discount coupons and referral codes."),
    may("gift", GIFT).description("Amount on each gift card. Present for gift vouchers."),
    may("loyalty_card", CARD)
        .description("Points on each new card, and their expiration rules. Present for loyalty campaigns."),
    must("code_config", MADE).description("Form of the generated codes."),
    must(
        "redemption",
        FieldType::Object(&[must("quantity", COUNT).or_null()
            .description("Number of redemptions of each voucher. `null` means no limit.")]),
    )
    .description("Limit on the redemptions of each voucher."),
    must("is_referral_code", FieldType::Bool).description("`true` if the vouchers are referral codes."),
    may("start_date", FieldType::DateTime)
        .description("Moment from which new vouchers can be redeemed, in UTC. Same as that of the campaign."),
    may("expiration_date", FieldType::DateTime)
        .description("Moment after which new vouchers can no longer be redeemed, in UTC. Same as that of the campaign."),
    may("validity_timeframe", TIMEFRAME)
        .description("Recurring windows in which new vouchers can be redeemed. Same as those of the campaign."),
    may("validity_day_of_week", DAYS_OF_WEEK)
        .description("Weekdays on which new vouchers can be redeemed, from 0 for Sunday to 6 for Saturday. Same as those of the campaign."),
    may("validity_hours", HOURS)
        .description("Hours of the day in which new vouchers can be redeemed. Same as those of the campaign."),
]);

/// Tiers of a promotion, as its campaign lists these.
pub(super) const PROMOTION: FieldType = FieldType::Object(&[
    object(&["list"]),
    must("data_ref", FieldType::OneOf(&["tiers"]))
        .description("Name of the member that contains the tiers. Always `tiers`."),
    must("tiers", FieldType::List(&PROMOTION_TIER, 0, usize::MAX))
        .description("All tiers of the promotion, in the order of their `hierarchy`."),
    must("total", COUNT).description("Number of tiers of the promotion."),
    must("has_more", FieldType::Bool).description("`true` if more tiers follow. Always `false`."),
]);

/// The points that count for the tiers of a campaign, and the end of a tier.
pub const QUALIFICATION: FieldType = shape!(
    "LoyaltyTiersExpiration",
    "Points that count for the tiers of a loyalty campaign, and the time for which a tier is kept.",
    &[
        may("qualification_type", FieldType::OneOf(&["BALANCE", "POINTS_IN_PERIOD"]))
            .description("Points that count: `BALANCE` of the card, or `POINTS_IN_PERIOD`, the points that a card gained in a calendar period. Default `BALANCE`."),
        may("qualification_period", FieldType::OneOf(&["MONTH", "QUARTER", "HALF_YEAR", "YEAR"]))
            .description("Length of the calendar period, in the project's time zone. Required for `POINTS_IN_PERIOD`."),
        may(
            "start_date",
            FieldType::Object(&[
                must("type", FieldType::OneOf(&["IMMEDIATE", "NEXT_PERIOD"]))
                    .description("Start of a tier: `IMMEDIATE` when the points are reached, or with the `NEXT_PERIOD`. Default `IMMEDIATE`.")
            ])
        )
        .description("Start of a tier. Only `IMMEDIATE` is possible with `BALANCE`."),
        may(
            "expiration_date",
            FieldType::Object(&[
                must("type", FieldType::OneOf(&["END_OF_PERIOD", "END_OF_NEXT_PERIOD", "BALANCE_DROP", "CUSTOM"]))
                    .description("End of a tier. Default `BALANCE_DROP` with `BALANCE`, `END_OF_PERIOD` with `POINTS_IN_PERIOD`; `CUSTOM` is refused once the campaign has tiers."),
                may("extend", FieldType::Text)
                    .description("Time by which the end is postponed. Only no time (`P0D`) is possible once the campaign has tiers. Default `P0D`."),
                may(
                    "rounding",
                    FieldType::Object(&[
                        may("type", FieldType::OneOf(&["MONTH", "QUARTER", "HALF_YEAR", "YEAR", "CUSTOM"]))
                            .description("Unit to which the end is rounded."),
                        may("strategy", FieldType::OneOf(&["START", "END"]))
                            .description("Side of the unit to which the end is rounded."),
                        may("unit", FieldType::OneOf(&["MONTH"])).description("Unit of `value`."),
                        may("value", FieldType::Int(0, INT_MAX)).description("Number of units of a `CUSTOM` rounding."),
                    ])
                )
                .description("Rounding of the end of a tier."),
            ])
        )
        .description("End of a tier."),
    ]
);
