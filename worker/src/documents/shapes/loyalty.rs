//! The shape of a reward with its price; rewards and their assignments are declared next to the engine's readers.

use scrip::shape;
use scrip::shape::{FieldType, must, object};
pub use scrip::wire::reward::{ASSIGNMENT, DEFINITION as REWARD};

/// A reward that a member can get.
pub const LOYALTY_REWARD: FieldType = shape!(
    "MemberReward",
    "Reward for the holder of a loyalty card, with its price.",
    &[
        must("reward", REWARD).description("Reward that can be exchanged for points."),
        must("assignment", ASSIGNMENT)
            .description("Assignment of the reward to the campaign, with the price in the tier of the card."),
        object(&["loyalty_reward"]),
    ]
);
