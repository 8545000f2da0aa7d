//! The shapes of vouchers, tiers and categories, and of what says when something holds. It must not know whether one may be used.

use super::VOUCHER_TYPES;
use crate::shape::{AMOUNT, COUNT, Field, KEY, Kind, METADATA, TEXTS, may, must};
use crate::shape::{fields_of, one_of, shape};
use crate::wire::offer::{DISCOUNT, GIFT};

/// Recurring windows.
pub const TIMEFRAME: Kind = shape!(
    "ValidityTimeframe",
    "Recurring windows, counted from its start",
    &[must("interval", Kind::Duration), must("duration", Kind::Duration)]
);
/// 0 for Sunday to 6 for Saturday.
pub const DAYS_OF_WEEK: Kind = Kind::List(&Kind::Int(0, 6), 0, 7);
/// Hours of the day on some weekdays.
pub const HOURS: Kind = shape!(
    "ValidityHours",
    "Hours of the day on some weekdays",
    &[must(
        "daily",
        Kind::List(
            &Kind::Object(&[
                must("start_time", Kind::Clock),
                must("days_of_week", Kind::List(&Kind::Int(0, 6), 1, 7)),
                must("expiration_time", Kind::Clock),
            ]),
            1,
            100
        )
    )]
);

/// The types of vouchers.
pub const VOUCHER_TYPE: Kind = one_of!(VOUCHER_TYPES);

/// When points of a program expire.
pub const EXPIRATION_RULES: Field = may(
    "expiration_rules",
    Kind::Object(&[
        must("period_type", Kind::OneOf(&["FIXED_DAY_OF_YEAR", "MONTH"])).says("What a period is"),
        may("period_value", Kind::Int(0, 1_000)).says("How many months; none is the end of the day"),
        may(
            "rounding_type",
            Kind::OneOf(&["END_OF_MONTH", "END_OF_QUARTER", "END_OF_HALF_YEAR", "END_OF_YEAR", "PARTICULAR_MONTH"]),
        )
        .says("To which end of a period it is rounded"),
        may("rounding_value", Kind::Int(1, 12)).says("To which month"),
        may("fixed_month", Kind::Int(1, 12)).says("In which month"),
        may("fixed_day", Kind::Int(1, 31)).says("On which day of it"),
    ]),
);

/// The loyalty card that a program gives.
pub const CARD: Kind = shape!(
    "LoyaltyCardDefinition",
    "The loyalty card that a program gives",
    &[must("points", COUNT).says("Points that it begins with"), may("balance", COUNT), EXPIRATION_RULES]
);

/// A loyalty card that comes with what has already happened to it.
pub const OWN_CARD: Kind = shape!(
    "LoyaltyCard",
    "The points of a loyalty card",
    &[
        must("points", COUNT).says("Points that were ever on it"),
        may("balance", COUNT),
        may("subtracted_points", COUNT),
        may("expired_points", COUNT),
        may("pending_points", COUNT),
        may("next_expiration_date", Kind::Date).or_null(),
        may("next_expiration_points", COUNT).or_null(),
        EXPIRATION_RULES,
    ]
);

/// How often a voucher may be redeemed.
pub const REDEMPTION: Kind =
    Kind::Object(&[may("quantity", Kind::Int(1, crate::shape::INT_MAX))
        .says("How often it may be redeemed; any number when left out")]);

const OF_CATEGORY: &[Field] =
    &[must("id", KEY), must("name", KEY), must("hierarchy", COUNT), must("object", Kind::OneOf(&["category"]))];

/// A category of redeemables.
pub const CATEGORY: Kind = shape!(
    "KeptCategory",
    "A category of redeemables",
    fields_of!(OF_CATEGORY, &[must("created_at", Kind::DateTime), must("updated_at", Kind::DateTime).or_null()],)
);

/// A category as a decision names it.
pub const LISTED_CATEGORY: Kind = shape!(
    "Category",
    "A category, with what the stacking rules make of it",
    fields_of!(
        OF_CATEGORY,
        &[
            may("created_at", Kind::DateTime),
            may("updated_at", Kind::DateTime).or_null(),
            may("stacking_rules_type", Kind::OneOf(&["JOINT", "EXCLUSIVE"]))
                .says("Whether it applies with exclusive ones, or alone"),
        ],
    )
);
/// The categories of something.
pub const CATEGORIES: Kind = Kind::List(&LISTED_CATEGORY, 0, 1);

/// The assignment of a validation rule.
pub const ASSIGNMENT: Kind = shape!(
    "ValidationRulesAssignment",
    "What a validation rule guards",
    &[
        must("id", KEY),
        must("rule_id", KEY),
        may("related_object_id", KEY),
        may("related_object_type", Kind::Text),
        may("created_at", Kind::DateTime),
        may("updated_at", Kind::DateTime).or_null(),
        may("validation_status", Kind::OneOf(&["VALID", "PARTIALLY_VALID", "INVALID"])),
        may("validation_omitted_rules", TEXTS),
        may("object", Kind::OneOf(&["validation_rules_assignment"])),
    ]
);

/// The rules that guard something, in their list.
pub const ASSIGNMENTS: Kind = shape!(
    "ValidationRulesAssignments",
    "The rules that guard something",
    &[
        must("object", Kind::OneOf(&["list"])),
        must("data_ref", Kind::OneOf(&["data"])),
        must("data", Kind::List(&ASSIGNMENT, 0, usize::MAX)),
        must("total", COUNT),
    ]
);

/// When something holds, as answers say it.
pub const VALIDITY: &[Field] = &[
    may("active", Kind::Bool),
    may("start_date", Kind::DateTime).or_null(),
    may("expiration_date", Kind::DateTime).or_null(),
    may("validity_timeframe", TIMEFRAME).or_null(),
    may("validity_day_of_week", DAYS_OF_WEEK).or_null(),
    may("validity_hours", HOURS).or_null(),
    may("category", KEY).or_null(),
    may("category_id", KEY).or_null(),
    may("categories", CATEGORIES),
];

/// An image of a code.
const IMAGE: Kind = shape!(
    "Image",
    "An image of a code",
    &[must("id", KEY), must("url", Kind::Text).says("Where anybody finds it, in SVG")]
);

/// The images of a code.
const ASSETS: Kind = shape!(
    "Assets",
    "Images of a code; null for what it cannot be drawn as",
    &[
        must("qr", IMAGE).or_null().says("As a QR code; null beyond 2953 bytes"),
        must("barcode", IMAGE)
            .or_null()
            .says("As a bar code (Code 128); null beyond 80 characters and beyond printed ASCII"),
    ]
);

/// A voucher with what has been counted of it.
pub const VOUCHER: Kind = shape!(
    "Voucher",
    "A voucher with what has been counted of it",
    fields_of!(
        &[
            must("id", KEY),
            must("code", KEY),
            may("campaign", KEY).or_null(),
            may("campaign_id", KEY).or_null(),
            may("type", VOUCHER_TYPE),
            may("discount", DISCOUNT).or_null(),
            may("gift", GIFT).or_null(),
            may("loyalty_card", OWN_CARD).or_null(),
        ],
        VALIDITY,
        &[
            may("additional_info", Kind::Text).or_null(),
            METADATA,
            may("is_referral_code", Kind::Bool),
            may("holder_id", KEY),
            may("referrer_id", KEY),
            may("created_at", Kind::DateTime),
            may("updated_at", Kind::DateTime).or_null(),
            may(
                "redemption",
                Kind::Object(&[
                    may("quantity", COUNT).or_null().says("How often it may be redeemed; any number when null"),
                    may("redeemed_quantity", COUNT),
                    may("redeemed_amount", COUNT),
                    may("redeemed_points", COUNT),
                    may("object", Kind::OneOf(&["list"])),
                    may("url", Kind::Text),
                ])
            ),
            may(
                "publish",
                Kind::Object(&[must("object", Kind::OneOf(&["list"])), must("count", COUNT), must("url", Kind::Text)])
            ),
            may("validation_rules_assignments", ASSIGNMENTS),
            may("assets", ASSETS).says("Images of its code"),
            may("object", Kind::OneOf(&["voucher"])),
        ],
    )
);

/// A promotion tier, without what the service counts of it.
pub const OF_TIER: &[Field] = fields_of!(
    &[
        must("id", KEY),
        must("name", KEY),
        may("banner", Kind::Text).or_null(),
        may("action", Kind::Object(&[must("discount", DISCOUNT)])),
        may("hierarchy", COUNT),
        must("campaign_id", KEY).or_null(),
        may("promotion_id", KEY),
        METADATA,
        may("created_at", Kind::DateTime),
        may("updated_at", Kind::DateTime).or_null(),
        must("object", Kind::OneOf(&["promotion_tier"])),
    ],
    VALIDITY,
);

/// The campaign of a tier.
pub const CAMPAIGN_OF_TIER: Kind = Kind::Object(fields_of!(
    &[must("id", KEY), may("category_id", KEY).or_null(), must("object", Kind::OneOf(&["campaign"]))],
    VALIDITY.split_at(6).0,
));

/// What was redeemed of a tier.
pub const SUMMARY_OF_TIER: Kind = Kind::Object(&[
    must("redemptions", Kind::Object(&[must("total_redeemed", COUNT).says("How often it was redeemed")]))
        .says("What was redeemed"),
    must(
        "orders",
        Kind::Object(&[
            must("total_amount", AMOUNT).says("What the orders were worth"),
            must("total_discount_amount", AMOUNT).says("What was taken off them"),
        ]),
    )
    .says("On which orders"),
]);

/// A promotion tier as a redemption shows it.
pub const TIER: Kind = shape!(
    "RedeemedTier",
    "A promotion tier as a redemption shows it",
    fields_of!(
        OF_TIER,
        &[
            may("campaign", CAMPAIGN_OF_TIER).or_null().says("Its campaign, where it is expanded"),
            may("summary", SUMMARY_OF_TIER).says("What was redeemed of it, where it is expanded"),
            may("validation_rule_assignments", ASSIGNMENTS),
        ],
    )
);
