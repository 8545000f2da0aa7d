//! The shapes of tiers of loyalty campaigns, and of the points that lead to them.

use crate::documents::common_fields::KEY;
use crate::documents::shapes::loyalty::{ASSIGNMENT, REWARD};
use scrip::shape::{Field, FieldType, INT_MAX, may, must, object};
use scrip::{fields_of, shape};

pub use scrip::wire::voucher::QUALIFICATION;

/// Conversion of points.
const MAPPING: FieldType = FieldType::Object(&[
    must("type", FieldType::OneOf(&["MULTIPLY", "CUSTOM"]))
        .description("Type of the change: `MULTIPLY` the points, or replace them by a `CUSTOM` number."),
    may("multiplier", FieldType::Number(0, 1_000_000))
        .description("Factor of the points, with at most 6 decimals. The result is rounded to the nearest whole number. Required by `MULTIPLY`."),
    may("points", FieldType::Int(0, INT_MAX))
        .description("Number of points that replaces the original. Required by `CUSTOM`."),
]);

const RANGE: FieldType = FieldType::Object(&[
    may("from", FieldType::Int(0, INT_MAX)).description("Lowest number of points in the range. Default 0."),
    may("to", FieldType::Int(0, INT_MAX))
        .description("Highest number of points in the range. Absent means no upper bound."),
]);

const OF_TIER: &[Field] = &[
    must("name", FieldType::Name(300)).description("Name of the tier."),
    may("earning_rules", FieldType::MapOf(&MAPPING))
        .description("Changes to the points that members of the tier earn, by the ID of the earning rule."),
    may("rewards", FieldType::MapOf(&MAPPING))
        .description("Changes to the prices in points, by the ID of the reward or of its assignment. An assignment takes precedence."),
    must("points", RANGE)
        .description("Range of points in which a card is in the tier. Ranges of a campaign do not overlap."),
];

/// Fields of a new tier.
pub const CREATE: &[Field] = fields_of!(OF_TIER, &[may("metadata", FieldType::Map)]);

/// A tier of a campaign.
pub const TIER: FieldType = shape!(
    "CampaignLoyaltyTier",
    "Tier of a loyalty campaign, with its changes to earned points and prices.",
    fields_of!(
        OF_TIER,
        &[
            must("id", KEY),
            must("campaign_id", KEY).description("ID of the loyalty campaign."),
            must(
                "config",
                FieldType::Object(&[
                    must("points", RANGE).description("Range of points in which a card is in the tier.")
                ])
            )
            .description("Copy of `points` for compatibility with earlier clients."),
            must("metadata", FieldType::Map),
            must("created_at", FieldType::DateTime),
            must("updated_at", FieldType::DateTime).or_null(),
            object(&["loyalty_tier"]),
        ]
    )
);

/// A reward with the price that a tier sets.
pub const TIER_REWARD: FieldType = shape!(
    "LoyaltyTierReward",
    "Reward whose price a tier changes.",
    &[
        must("reward", REWARD).description("Reward that the tier changes."),
        must("assignment", ASSIGNMENT)
            .description("Assignment of the reward to the campaign, with the price outside the tier."),
        object(&["loyalty_tier_reward"]),
    ]
);
