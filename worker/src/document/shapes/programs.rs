//! The shapes of loyalty programs and of what is assigned to them. It must not know what an assignment does.

use crate::document::choice::{Choice, choice};
use crate::document::fields::KEY;
use crate::document::shapes::points::{HOURS, HOURS_CHOICE, NAME, STOCK, STOCKS};
use scrip::shape::{COUNT, Field, Kind, may, must, object};
use scrip::{fields_of, shape};

/// What is assigned at once, at most.
pub const MOST: usize = 10;

/// What a program is sent as, but for its name.
const PLAIN: &[Field] = &[
    may("start_date", Kind::DateTime).or_null(),
    may("end_date", Kind::DateTime).or_null(),
    may("validity_hours", HOURS),
    may("metadata", Kind::Map),
];

/// One that is named.
const NAMED: Kind = Kind::Object(&[must("id", KEY)]);
/// A reward that is named, with how many there are for the program.
const STOCKED: Kind = Kind::Object(&[must("id", KEY), must("stock", STOCK).says("How many there are")]);

/// What is assigned to a program in the call that makes it, where there are so many of each.
macro_rules! arrays {
    ($least:expr) => {
        &[
            may("card_definitions", Kind::List(&NAMED, $least, MOST)).or_null(),
            may("earning_rules", Kind::List(&NAMED, $least, MOST)).or_null(),
            may("tier_structures", Kind::List(&NAMED, $least, MOST)).or_null(),
            may("rewards", Kind::List(&STOCKED, $least, MOST)).or_null(),
        ]
    };
}

/// What a new program is sent as.
pub const CREATE: &[Field] =
    fields_of!(&[must("name", NAME), may("status", Kind::OneOf(&["DRAFT", "ACTIVE"]))], PLAIN, arrays!(1));

/// What a program is changed by.
pub const UPDATE: &[Field] = fields_of!(&[may("name", NAME)], PLAIN);

/// Which blocks belong together.
pub const CHOICES: &[Choice] = &[HOURS_CHOICE, choice("rewards[].stock", "type", STOCKS)];

/// What a program always says.
const SHOWN: &[Field] = fields_of!(
    &[must("id", KEY), must("name", NAME), must("status", Kind::OneOf(&["DRAFT", "ACTIVE", "INACTIVE", "DELETED"])),],
    PLAIN,
    &[must("created_at", Kind::DateTime), must("updated_at", Kind::DateTime).or_null(), object(&["program"])],
);

/// A program.
pub const PROGRAM: Kind = shape!("LoyaltyProgram", "A loyalty program", SHOWN);

/// A program as the call that makes it answers.
pub const NEW_PROGRAM: Kind = shape!(
    "NewLoyaltyProgram",
    "A loyalty program, with what was assigned to it at once",
    fields_of!(SHOWN, arrays!(0))
);

/// What is assigned to a program, or no longer.
macro_rules! batch {
    ($assigned:expr) => {
        &[
            may("assign", Kind::List(&$assigned, 0, MOST)),
            may("unassign", Kind::List(&NAMED, 0, MOST)).says("What leaves the program, before anything enters"),
        ]
    };
}

/// What enters and leaves a program.
pub const BATCH: &[Field] = batch!(NAMED);
/// The same of rewards.
pub const REWARD_BATCH: &[Field] = batch!(STOCKED);
/// Which blocks belong together.
pub const BATCH_CHOICES: &[Choice] = &[choice("assign[].stock", "type", STOCKS)];

/// How many there are of a reward for a program.
pub const RESTOCK: &[Field] = &[must("stock", STOCK).says("How many there are")];
/// Which blocks belong together.
pub const RESTOCK_CHOICES: &[Choice] = &[choice("stock", "type", STOCKS)];

/// What enters and leaves, as a batch answers it.
macro_rules! batched {
    ($name:literal, $assigned:expr) => {
        shape!(
            $name,
            "What entered a program, and what left it",
            &[
                must("assigned", Kind::List(&$assigned, 0, MOST)).or_null(),
                must("unassigned", Kind::List(&$assigned, 0, MOST)).or_null(),
            ]
        )
    };
}

/// A card definition of a program.
pub const CARD_DEFINITION: Kind = shape!(
    "ProgramCardDefinition",
    "A card definition of a program",
    &[
        must("card_definition_id", KEY),
        must("card_type", Kind::OneOf(&["INDIVIDUAL"])),
        must("created_at", Kind::DateTime),
        object(&["program_card_definition"]),
    ]
);
/// An earning rule of a program.
pub const EARNING_RULE: Kind = shape!(
    "ProgramEarningRule",
    "An earning rule of a program",
    &[must("earning_rule_id", KEY), must("created_at", Kind::DateTime), object(&["program_earning_rule"])]
);
/// A tier structure of a program.
pub const TIER_STRUCTURE: Kind = shape!(
    "ProgramTierStructure",
    "The tier structure of a program",
    &[must("tier_structure_id", KEY), must("created_at", Kind::DateTime), object(&["program_tier_structure"])]
);
/// A reward of a program.
pub const REWARD: Kind = shape!(
    "ProgramReward",
    "A reward of a program",
    &[
        must("reward_id", KEY),
        must("stock", STOCK).says("How many there are"),
        must("redeemed", COUNT).says("How many are gone"),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["program_reward"]),
    ]
);

/// What a batch of card definitions answers.
pub const CARD_DEFINITIONS: Kind = batched!("ProgramCardDefinitions", CARD_DEFINITION);
/// What a batch of earning rules answers.
pub const EARNING_RULES: Kind = batched!("ProgramEarningRules", EARNING_RULE);
/// What a batch of tier structures answers.
pub const TIER_STRUCTURES: Kind = batched!("ProgramTierStructures", TIER_STRUCTURE);
/// What a batch of rewards answers.
pub const REWARDS: Kind = batched!("ProgramRewards", REWARD);
