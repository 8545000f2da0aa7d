//! Defines the shapes of vouchers, tiers and categories, and of validity.

use super::{VISIBILITIES, VOUCHER_TYPES};
use crate::shape::{AMOUNT, COUNT, Field, FieldType, KEY, METADATA, TEXTS, may, must};
use crate::shape::{fields_of, one_of, shape};
use crate::wire::offer::{DISCOUNT, GIFT};

/// Recurring windows.
pub const TIMEFRAME: FieldType = shape!(
    "ValidityTimeframe",
    "Recurring windows of validity, counted from the `start_date` of the same object.",
    &[
        must("interval", FieldType::Duration)
            .description("Time from the start of one window to the start of the next."),
        must("duration", FieldType::Duration).description("Length of each window."),
    ]
);
/// Weekdays, 0 for Sunday to 6 for Saturday.
pub const DAYS_OF_WEEK: FieldType = FieldType::List(&FieldType::Int(0, 6), 0, 7);
/// Hours of the day on some weekdays.
pub const HOURS: FieldType = shape!(
    "ValidityHours",
    "Hours of the day on given weekdays, in the project's time zone.",
    &[must(
        "daily",
        FieldType::List(
            &FieldType::Object(&[
                must("start_time", FieldType::Clock).description("Time of day at which the window begins."),
                must("days_of_week", FieldType::List(&FieldType::Int(0, 6), 1, 7))
                    .description("Weekdays of the window, from 0 for Sunday to 6 for Saturday."),
                may("expiration_time", FieldType::Clock).or_null().description(
                    "Time of day at which the window ends, not before `start_time`. `null` or absent means midnight."
                ),
            ]),
            1,
            100
        )
    )
    .description("Windows of hours. A moment in any of them is valid.")]
);

/// The types of vouchers.
pub const VOUCHER_TYPE: FieldType = one_of!(VOUCHER_TYPES);

/// Disclosure to clients of an offer.
pub const VISIBILITY: FieldType = one_of!(VISIBILITIES);

/// The expiration rules of a loyalty campaign's points.
pub const EXPIRATION_RULES: Field = may(
    "expiration_rules",
    FieldType::Object(&[
        must("period_type", FieldType::OneOf(&["FIXED_DAY_OF_YEAR", "MONTH"]))
            .description("Kind of expiration: a number of months after the points arrive, or a fixed day of each year."),
        may("period_value", FieldType::Int(0, 1_000))
            .description("Number of months until the points expire, at the end of that day. Required for `MONTH`; 0 means the day of arrival."),
        may(
            "rounding_type",
            FieldType::OneOf(&[
                "END_OF_MONTH",
                "END_OF_QUARTER",
                "END_OF_HALF_YEAR",
                "END_OF_YEAR",
                "PARTICULAR_MONTH",
            ]),
        )
        .description("Calendar period to the end of which the expiration is postponed. Absent means no postponement."),
        may("rounding_value", FieldType::Int(1, 12)).description("Month of `PARTICULAR_MONTH`, 1 for January."),
        may("fixed_month", FieldType::Int(1, 12))
            .description("Month in which the points expire, 1 for January. Required for `FIXED_DAY_OF_YEAR`."),
        may("fixed_day", FieldType::Int(1, 31))
            .description("Day of the month at the end of which the points expire. Required for `FIXED_DAY_OF_YEAR`."),
    ]),
)
.description("Rules by which the points expire. Absent means that points do not expire.");

/// The loyalty card that a campaign defines.
pub const CARD: FieldType = shape!(
    "LoyaltyCardDefinition",
    "Loyalty card as a campaign defines it for new cards.",
    &[
        must("points", COUNT).description("Number of points on a new card."),
        may("balance", COUNT)
            .description("Number of spendable points on a new card. Equal to `points`; another number in a request is ignored or refused."),
        EXPIRATION_RULES,
    ]
);

/// A loyalty card with its past changes.
pub const OWN_CARD: FieldType = shape!(
    "LoyaltyCard",
    "Points of one loyalty card.",
    &[
        must("points", COUNT).description("Number of points ever added to the card."),
        may("balance", COUNT).description("Number of points that can be spent now."),
        may("subtracted_points", COUNT)
            .description("Number of points that were subtracted other than by redemptions and expiration."),
        may("expired_points", COUNT).description("Number of points that have expired."),
        may("pending_points", COUNT).description("Number of earned points that cannot be spent yet."),
        may("next_expiration_date", FieldType::Date).or_null()
            .description("Last day on which the next points to expire can be spent, in the project's time zone. `null` if none expire."),
        may("next_expiration_points", COUNT).or_null()
            .description("Number of points that expire after `next_expiration_date`. `null` if none expire."),
        EXPIRATION_RULES,
    ]
);

/// The maximum number of redemptions of a voucher.
pub const REDEMPTION: FieldType = FieldType::Object(&[may("quantity", FieldType::Int(1, crate::shape::INT_MAX))
    .takes_null()
    .description("Number of redemptions of a voucher. `null` means no limit; absent means the default of the type.")]);

const OF_CATEGORY: &[Field] = &[
    must("id", KEY),
    must("name", KEY).description("Name of the category, unique in the project."),
    must("hierarchy", COUNT).description(
        "Rank of the category; a lower number comes first. Used if the stacking rules sort by `CATEGORY_HIERARCHY`.",
    ),
    must("object", FieldType::OneOf(&["category"])),
];

/// A category of redeemables.
pub const CATEGORY: FieldType = shape!(
    "StoredCategory",
    "Group of campaigns, vouchers, promotion tiers and stacks, which stacking rules refer to.",
    fields_of!(
        OF_CATEGORY,
        &[must("created_at", FieldType::DateTime), must("updated_at", FieldType::DateTime).or_null()],
    )
);

/// A category in a decision.
pub const LISTED_CATEGORY: FieldType = shape!(
    "Category",
    "Category of a redeemable, with its role in the stacking rules.",
    fields_of!(
        OF_CATEGORY,
        &[
            may("created_at", FieldType::DateTime),
            may("updated_at", FieldType::DateTime).or_null(),
            may("stacking_rules_type", FieldType::OneOf(&["JOINT", "EXCLUSIVE"]))
                .description("Role in the stacking rules: `EXCLUSIVE` redeemables exclude those of other categories, except for `JOINT` ones. Absent without a role."),
        ],
    )
);
/// The categories of an object.
pub const CATEGORIES: FieldType = FieldType::List(&LISTED_CATEGORY, 0, 1);

/// The assignment of a validation rule.
pub const ASSIGNMENT: FieldType = shape!(
    "ValidationRulesAssignment",
    "Assignment of a validation rule to an object, which the rule then restricts.",
    &[
        must("id", KEY),
        must("rule_id", KEY).description("ID of the validation rule."),
        may("related_object_id", KEY).description("ID of the object that the rule is assigned to."),
        may("related_object_type", FieldType::Text).description("Type of the object that the rule is assigned to."),
        may("created_at", FieldType::DateTime),
        may("updated_at", FieldType::DateTime).or_null(),
        may("validation_status", FieldType::OneOf(&["VALID", "PARTIALLY_VALID", "INVALID"]))
            .description("Result of the rule in a qualification: `PARTIALLY_VALID` if tests were omitted, `INVALID` if a product bundle is missing. Always `VALID` elsewhere."),
        may("validation_omitted_rules", TEXTS)
            .description("Names of tests that the qualification omitted. Empty outside qualifications."),
        may("object", FieldType::OneOf(&["validation_rules_assignment"])),
    ]
);

/// The rules of an object, in a list.
pub const ASSIGNMENTS: FieldType = shape!(
    "ValidationRulesAssignments",
    "List of the validation rules that are assigned to an object.",
    &[
        must("object", FieldType::OneOf(&["list"])),
        must("data_ref", FieldType::OneOf(&["data"]))
            .description("Name of the member that contains the assignments. Always `data`."),
        must("data", FieldType::List(&ASSIGNMENT, 0, usize::MAX))
            .description("Assignments of the object, the oldest first."),
        must("total", COUNT).description("Number of assignments."),
    ]
);

/// The validity in an answer.
pub const VALIDITY: &[Field] = &[
    may("active", FieldType::Bool).description("`true` if enabled. An object that is disabled cannot be redeemed."),
    may("start_date", FieldType::DateTime).or_null()
        .description("Moment from which a redemption is possible, in UTC. `null` or absent means no bound."),
    may("expiration_date", FieldType::DateTime).or_null()
        .description("Moment after which a redemption is no longer possible, in UTC. `null` or absent means no end."),
    may("validity_timeframe", TIMEFRAME).or_null()
        .description("Recurring windows in which a redemption is possible, counted from `start_date`. `null` or absent means at any time."),
    may("validity_day_of_week", DAYS_OF_WEEK).or_null()
        .description("Weekdays on which a redemption is possible, 0 for Sunday to 6 for Saturday, in the project's time zone. `null` or absent means every day."),
    may("validity_hours", HOURS).or_null()
        .description("Hours of the day in which a redemption is possible. `null` or absent means at any time."),
    may("category", KEY).or_null().description("Name of the category. `null` or absent without a category."),
    may("category_id", KEY).or_null().description("ID of the category. `null` or absent without a category."),
    may("categories", CATEGORIES)
        .description("Category of the object, or else of its campaign. Empty without a category or when not requested with `expand`."),
];

/// An image of a code.
const IMAGE: FieldType = shape!(
    "Image",
    "Image of the code of a voucher.",
    &[
        must("id", KEY),
        must("url", FieldType::Text).description("Public address of the image in SVG, which needs no credentials."),
    ]
);

/// The images of a code.
const ASSETS: FieldType = shape!(
    "Assets",
    "Images of the code of a voucher.",
    &[
        must("qr", IMAGE).or_null().description("QR code. `null` for a code of more than 2953 bytes."),
        must("barcode", IMAGE).or_null()
            .description("Barcode (Code 128). `null` for a code of more than 80 characters or with characters outside printable ASCII."),
    ]
);

/// A voucher with its counts.
pub const VOUCHER: FieldType = shape!(
    "Voucher",
    "Stored code that can be redeemed: a discount coupon, gift card, loyalty card or referral code.",
    fields_of!(
        &[
            must("id", KEY),
            must("code", KEY).description("Code of the voucher, unique in the project."),
            may("campaign", KEY)
                .or_null()
                .description("Name of the campaign of the voucher. `null` or absent without a campaign."),
            may("campaign_id", KEY)
                .or_null()
                .description("ID of the campaign of the voucher. `null` or absent without a campaign."),
            may("type", VOUCHER_TYPE)
                .description("Type of the voucher, which decides between `discount`, `gift` and `loyalty_card`."),
            may("discount", DISCOUNT)
                .or_null()
                .description("Discount of the voucher. `null` or absent unless the type is `DISCOUNT_VOUCHER`."),
            may("gift", GIFT)
                .or_null()
                .description("Balance of the gift card. `null` or absent unless the type is `GIFT_VOUCHER`."),
            may("loyalty_card", OWN_CARD)
                .or_null()
                .description("Points of the loyalty card. `null` or absent unless the type is `LOYALTY_CARD`."),
        ],
        VALIDITY,
        &[
            may("visibility", VISIBILITY).or_null().description(
                "Disclosure to clients of a voucher without a campaign, as set. `null` or absent means the default: `sealed` for a discount of unlimited quantity, otherwise `server`. Within a campaign the setting of the campaign applies.",
            ),
            may("additional_info", FieldType::Text)
                .or_null()
                .description("Note of the merchant on the voucher. `null` or absent without a note."),
            METADATA,
            may("is_referral_code", FieldType::Bool).description("`true` if the voucher is a referral code."),
            may("holder_id", KEY).description("ID of the customer who owns the voucher. Absent without a holder."),
            may("referrer_id", KEY)
                .description("ID of the customer who passes a referral code on. Absent on other vouchers."),
            may("created_at", FieldType::DateTime),
            may("updated_at", FieldType::DateTime).or_null(),
            may(
                "redemption",
                FieldType::Object(&[
                    may("quantity", COUNT)
                        .or_null()
                        .description("Number of redemptions that are allowed in total. `null` means no limit."),
                    may("redeemed_quantity", COUNT)
                        .description("Number of redemptions so far, without those rolled back."),
                    may("redeemed_amount", COUNT)
                        .description("Amount spent from a gift card so far, in minor units. Present on gift cards."),
                    may("redeemed_points", COUNT)
                        .description("Number of points spent from a loyalty card so far. Present on loyalty cards."),
                    may("object", FieldType::OneOf(&["list"])),
                    may("url", FieldType::Text).description("Path of the list of redemptions of the voucher."),
                ])
            )
            .description("Limit on the redemptions of the voucher, and the redemptions so far."),
            may(
                "publish",
                FieldType::Object(&[
                    must("object", FieldType::OneOf(&["list"])),
                    must("count", COUNT).description("Number of publications of the voucher."),
                    must("url", FieldType::Text).description("Path of the list of publications of the voucher.")
                ])
            )
            .description("Publications of the voucher so far."),
            may("validation_rules_assignments", ASSIGNMENTS)
                .description("Validation rules that are assigned to the voucher."),
            may("assets", ASSETS).description("Images of the code."),
            may("object", FieldType::OneOf(&["voucher"])),
        ],
    )
);

/// A promotion tier, without the counts of the service.
pub const OF_TIER: &[Field] = fields_of!(
    &[
        must("id", KEY),
        must("name", KEY).description("Name of the tier."),
        may("banner", FieldType::Text)
            .or_null()
            .description("Text that presents the tier to customers. `null` or absent without one."),
        may("action", FieldType::Object(&[must("discount", DISCOUNT).description("Discount that the tier grants.")]))
            .description("Grant of the tier."),
        may("hierarchy", COUNT).description("Rank of the tier in its promotion; a lower number comes first."),
        must("campaign_id", KEY).or_null().description("ID of the promotion that the tier belongs to."),
        may("promotion_id", KEY).description("ID of the promotion that the tier belongs to. Equal to `campaign_id`."),
        may("visibility", VISIBILITY).or_null().description(
            "Disclosure to clients of the tier, as set: `public` or `server`. A promotion that is `server` has precedence. `null` or absent means `public`.",
        ),
        METADATA,
        may("created_at", FieldType::DateTime),
        may("updated_at", FieldType::DateTime).or_null(),
        must("object", FieldType::OneOf(&["promotion_tier"])),
    ],
    VALIDITY,
);

/// The campaign of a tier.
pub const CAMPAIGN_OF_TIER: FieldType = FieldType::Object(fields_of!(
    &[
        must("id", KEY),
        may("category_id", KEY)
            .or_null()
            .description("ID of the category of the campaign. `null` or absent without a category."),
        must("object", FieldType::OneOf(&["campaign"])),
    ],
    VALIDITY.split_at(6).0,
));

/// The totals of a tier's redemptions.
pub const SUMMARY_OF_TIER: FieldType = FieldType::Object(&[
    must(
        "redemptions",
        FieldType::Object(&[
            must("total_redeemed", COUNT).description("Number of redemptions, without those rolled back.")
        ]),
    )
    .description("Redemptions of the tier."),
    must(
        "orders",
        FieldType::Object(&[
            must("total_amount", AMOUNT).description("Total value of the orders, in minor units."),
            must("total_discount_amount", AMOUNT)
                .description("Total discount that the tier gave on the orders, in minor units."),
        ]),
    )
    .description("Orders that the tier was redeemed on."),
]);

/// A promotion tier in a redemption.
pub const TIER: FieldType = shape!(
    "RedeemedTier",
    "Promotion tier as a redemption returns the tier.",
    fields_of!(
        OF_TIER,
        &[
            may("campaign", CAMPAIGN_OF_TIER)
                .or_null()
                .description("Promotion that the tier belongs to. `null` or absent when not requested with `expand`."),
            may("summary", SUMMARY_OF_TIER)
                .description("Redemptions of the tier so far. Absent when not requested with `expand`."),
            may("validation_rule_assignments", ASSIGNMENTS).description(
                "Validation rules that are assigned to the tier. Absent when not requested with `expand`."
            ),
        ],
    )
);
