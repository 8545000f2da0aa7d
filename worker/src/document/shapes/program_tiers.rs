//! The shapes of tiers of loyalty campaigns, and of which points lead to them. It must not know who is in one.

use crate::document::fields::KEY;
use crate::document::shapes::loyalty::{ASSIGNMENT, REWARD};
use scrip::shape::{Field, INT_MAX, Kind, may, must, object};
use scrip::{fields_of, shape};

/// Which points lead to the tiers of a campaign, and when a tier is lost.
pub const QUALIFICATION: Kind = shape!(
    "LoyaltyTiersExpiration",
    "Which points lead to the tiers of a loyalty campaign, and how long",
    &[
        may("qualification_type", Kind::OneOf(&["BALANCE", "POINTS_IN_PERIOD"]))
            .says("Whether the points on the card count, or those that came in a period"),
        may("qualification_period", Kind::OneOf(&["MONTH", "QUARTER", "HALF_YEAR", "YEAR"]))
            .says("The period of the calendar"),
        may(
            "start_date",
            Kind::Object(&[must("type", Kind::OneOf(&["IMMEDIATE", "NEXT_PERIOD"])).says("At once or then")])
        )
        .says("From when on a tier is held"),
        may(
            "expiration_date",
            Kind::Object(&[
                must("type", Kind::OneOf(&["END_OF_PERIOD", "END_OF_NEXT_PERIOD", "BALANCE_DROP", "CUSTOM"]))
                    .says("With what it ends"),
                may("extend", Kind::Text).says("By how much that is put off"),
                may(
                    "rounding",
                    Kind::Object(&[
                        may("type", Kind::OneOf(&["MONTH", "QUARTER", "HALF_YEAR", "YEAR", "CUSTOM"]))
                            .says("To what it is rounded"),
                        may("strategy", Kind::OneOf(&["START", "END"])).says("To which side"),
                        may("unit", Kind::OneOf(&["MONTH"])),
                        may("value", Kind::Int(0, INT_MAX)).says("How many"),
                    ])
                )
                .says("What it is rounded to"),
            ])
        )
        .says("When a tier is lost"),
    ]
);

/// What becomes of points.
const MAPPING: Kind = Kind::Object(&[
    must("type", Kind::OneOf(&["MULTIPLY", "CUSTOM"])).says("Times a number, or a number instead"),
    may("multiplier", Kind::Number(0, 1_000_000)).says("The number of times, with at most 6 decimals"),
    may("points", Kind::Int(0, INT_MAX)).says("How many instead"),
]);

const RANGE: Kind = Kind::Object(&[
    may("from", Kind::Int(0, INT_MAX)).says("The least that lead to it"),
    may("to", Kind::Int(0, INT_MAX)).says("The most"),
]);

const OF_TIER: &[Field] = &[
    must("name", Kind::Name(300)),
    may("earning_rules", Kind::MapOf(&MAPPING)).says("What it makes of points that are earned, by earning rules"),
    may("rewards", Kind::MapOf(&MAPPING)).says("What it makes of prices, by rewards or their assignments"),
    must("points", RANGE).says("The points that lead to it"),
];

/// What a tier says at its beginning.
pub const CREATE: &[Field] = fields_of!(OF_TIER, &[may("metadata", Kind::Map)]);

/// A tier of a campaign.
pub const TIER: Kind = shape!(
    "CampaignLoyaltyTier",
    "A tier of a loyalty campaign, and what it is good for",
    fields_of!(
        OF_TIER,
        &[
            must("id", KEY),
            must("campaign_id", KEY),
            must("config", Kind::Object(&[must("points", RANGE).says("The points that lead to it")]))
                .says("The same as points, kept for older clients"),
            must("metadata", Kind::Map),
            must("created_at", Kind::DateTime),
            must("updated_at", Kind::DateTime).or_null(),
            object(&["loyalty_tier"]),
        ]
    )
);

/// A reward whose price a tier says.
pub const TIER_REWARD: Kind = shape!(
    "LoyaltyTierReward",
    "A reward that costs something else in a tier",
    &[
        must("reward", REWARD).says("What is given"),
        must("assignment", ASSIGNMENT).says("What it costs outside of the tier"),
        object(&["loyalty_tier_reward"]),
    ]
);
