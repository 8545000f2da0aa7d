//! The shapes of rewards and their assignments. It must not know who has points.

use crate::document::fields::KEY;
use scrip::shape;
use scrip::shape::{COUNT, Kind, may, must, object};
use scrip::wire::reward::PARAMETERS;

/// A reward.
pub const REWARD: Kind = shape!(
    "RewardDefinition",
    "What points may be exchanged for",
    &[
        must("id", KEY),
        must("name", Kind::Text).or_null(),
        must("type", Kind::OneOf(&["CAMPAIGN", "COIN", "MATERIAL"])),
        must("parameters", PARAMETERS).says("What is given"),
        must("stock", COUNT).or_null(),
        must("redeemed", COUNT).or_null().says("How many pieces are gone"),
        must("attributes", Kind::Map),
        must("metadata", Kind::Map),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["reward"]),
    ]
);

/// The assignment of a reward.
pub const ASSIGNMENT: Kind = shape!(
    "RewardAssignment",
    "A reward of a loyalty program, with what it costs there",
    &[
        must("id", KEY),
        must("reward_id", KEY),
        must("related_object_id", KEY),
        must("related_object_type", Kind::Text),
        may(
            "parameters",
            Kind::Object(&[must(
                "loyalty",
                Kind::Object(&[
                    may("points", COUNT).says("What it costs"),
                    may("auto_redeem", Kind::Bool).says("Kept as it was sent"),
                ]),
            )
            .says("In points")]),
        )
        .says("What it costs"),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["reward_assignment"]),
    ]
);

/// A reward that a member can get.
pub const LOYALTY_REWARD: Kind = shape!(
    "MemberReward",
    "A reward, and what a program asks for it",
    &[
        must("reward", REWARD).says("What is given"),
        must("assignment", ASSIGNMENT).says("What it costs"),
        object(&["loyalty_reward"]),
    ]
);
