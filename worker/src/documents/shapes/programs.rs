//! The shapes of loyalty programs and of their assignments.

use crate::documents::common_fields::KEY;
use crate::documents::shapes::points::{HOURS, HOURS_CHOICE, NAME, STOCK, STOCKS};
use crate::documents::tagged_blocks::{TaggedBlock, tagged_block};
use scrip::shape::{COUNT, Field, FieldType, may, must, object};
use scrip::{fields_of, shape};

/// Maximum number of assignments in one call.
pub const ASSIGNED_MAX: usize = 10;

/// Fields of a program in requests, without its name.
const PLAIN: &[Field] = &[
    may("start_date", FieldType::DateTime).or_null().description("Moment from which members can earn and spend, in UTC. `null` means no start."),
    may("end_date", FieldType::DateTime).or_null().description("Moment after which members can no longer earn and spend, in UTC. Must be later than `start_date`. `null` means no end."),
    may("validity_hours", HOURS).description("Hours of the week in which members can earn and spend, in the project's time zone. Any time by default."),
    may("metadata", FieldType::Map),
];

/// Reference by id.
const NAMED: FieldType = FieldType::Object(&[must("id", KEY)]);
/// Reference to a reward, with its stock for the program.
const STOCKED: FieldType = FieldType::Object(&[
    must("id", KEY),
    must("stock", STOCK).description("Number of purchases that the program allows in total."),
]);

/// Assignments of a program in the call that creates it, with a minimum number of each. A macro, because `fields_of!` needs constants.
macro_rules! arrays {
    ($least:expr) => {
        &[
            may("card_definitions", FieldType::List(&NAMED, $least, ASSIGNED_MAX)).or_null().description(
                "Card definitions assigned on creation. Each member gets a card of each. `null` means none.",
            ),
            may("earning_rules", FieldType::List(&NAMED, $least, ASSIGNED_MAX))
                .or_null()
                .description("Earning rules assigned on creation. `null` means none."),
            may("tier_structures", FieldType::List(&NAMED, $least, ASSIGNED_MAX))
                .or_null()
                .description("Tier structure assigned on creation. More than one entry is refused. `null` means none."),
            may("rewards", FieldType::List(&STOCKED, $least, ASSIGNED_MAX))
                .or_null()
                .description("Rewards assigned on creation, with their stock. `null` means none."),
        ]
    };
}

/// Fields of a new program.
pub const CREATE: &[Field] = fields_of!(
    &[
        must("name", NAME).description("Name of the loyalty program."),
        may("status", FieldType::OneOf(&["DRAFT", "ACTIVE"])).description(
            "Initial status. Default `DRAFT`. `ACTIVE` needs an active card definition and an active earning rule."
        )
    ],
    PLAIN,
    arrays!(1)
);

/// Fields of a change of a program.
pub const UPDATE: &[Field] = fields_of!(&[may("name", NAME).description("Name of the loyalty program.")], PLAIN);

/// Blocks that belong together.
pub const CHOICES: &[TaggedBlock] = &[HOURS_CHOICE, tagged_block("rewards[].stock", "type", STOCKS)];

/// Members that a program always has.
const PROGRAM_FIELDS: &[Field] = fields_of!(
    &[
        must("id", KEY),
        must("name", NAME).description("Name of the loyalty program."),
        must("status", FieldType::OneOf(&["DRAFT", "ACTIVE", "INACTIVE", "DELETED"]))
            .description("Status of the loyalty program. Members can join, earn and spend only with `ACTIVE`."),
    ],
    PLAIN,
    &[must("created_at", FieldType::DateTime), must("updated_at", FieldType::DateTime).or_null(), object(&["program"])],
);

/// A program.
pub const PROGRAM: FieldType = shape!(
    "LoyaltyProgram",
    "Loyalty program: members hold cards, earn points by rules, reach tiers and buy rewards.",
    PROGRAM_FIELDS
);

/// New program in the response of its creation.
pub const NEW_PROGRAM: FieldType = shape!(
    "LoyaltyProgramWithAssignments",
    "Loyalty program with the objects assigned on creation.",
    fields_of!(PROGRAM_FIELDS, arrays!(0))
);

/// Returns the field with the objects of this type to assign to a program.
const fn assign(object: &'static FieldType) -> Field {
    may("assign", FieldType::List(object, 0, ASSIGNED_MAX))
        .description("Objects to assign, after those in `unassign` are removed. Absent means none.")
}

/// Field with the objects to unassign from a program.
const UNASSIGN: Field = may("unassign", FieldType::List(&NAMED, 0, ASSIGNED_MAX))
    .description("Objects to remove from the program. Absent means none.");

/// Fields of a batch of assignments.
pub const BATCH: &[Field] = &[assign(&NAMED), UNASSIGN];
/// Fields of a batch of reward assignments.
pub const REWARD_BATCH: &[Field] = &[assign(&STOCKED), UNASSIGN];
/// Blocks of a batch that belong together.
pub const BATCH_CHOICES: &[TaggedBlock] = &[tagged_block("assign[].stock", "type", STOCKS)];

/// Stock of a reward for a program.
pub const RESTOCK: &[Field] = &[must("stock", STOCK)
    .description("New number of purchases that the program allows in total. Earlier purchases count.")];
/// Tagged blocks of a stock.
pub const RESTOCK_CHOICES: &[TaggedBlock] = &[tagged_block("stock", "type", STOCKS)];

/// Returns the field with the new assignments of this type.
const fn assigned(assignment: &'static FieldType) -> Field {
    must("assigned", FieldType::List(assignment, 0, ASSIGNED_MAX))
        .or_null()
        .description("Assignments that were made. `null` if there were none.")
}

/// Returns the field with the removed assignments of this type.
const fn unassigned(assignment: &'static FieldType) -> Field {
    must("unassigned", FieldType::List(assignment, 0, ASSIGNED_MAX))
        .or_null()
        .description("Assignments that were removed, in their last state. `null` if there were none.")
}

/// A card definition of a program.
pub const CARD_DEFINITION: FieldType = shape!(
    "ProgramCardDefinition",
    "Assignment of a card definition to a loyalty program.",
    &[
        must("card_definition_id", KEY).description("ID of the assigned card definition."),
        must("card_type", FieldType::OneOf(&["INDIVIDUAL"])).description("Type of the cards. Always `INDIVIDUAL`."),
        must("created_at", FieldType::DateTime),
        object(&["program_card_definition"]),
    ]
);
/// An earning rule of a program.
pub const EARNING_RULE: FieldType = shape!(
    "ProgramEarningRule",
    "Assignment of an earning rule to a loyalty program.",
    &[
        must("earning_rule_id", KEY).description("ID of the assigned earning rule."),
        must("created_at", FieldType::DateTime),
        object(&["program_earning_rule"])
    ]
);
/// A tier structure of a program.
pub const TIER_STRUCTURE: FieldType = shape!(
    "ProgramTierStructure",
    "Assignment of a tier structure to a loyalty program.",
    &[
        must("tier_structure_id", KEY).description("ID of the assigned tier structure."),
        must("created_at", FieldType::DateTime),
        object(&["program_tier_structure"])
    ]
);
/// A reward of a program.
pub const REWARD: FieldType = shape!(
    "ProgramReward",
    "Assignment of a reward to a loyalty program, with its stock.",
    &[
        must("reward_id", KEY).description("ID of the assigned reward."),
        must("stock", STOCK).description("Number of purchases that the program allows in total."),
        must("redeemed", COUNT).description("Number of purchases so far, less refunds that returned to the stock."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["program_reward"]),
    ]
);

/// Response of a batch of card definitions.
pub const CARD_DEFINITIONS: FieldType = shape!(
    "ProgramCardDefinitions",
    "Assignments that a batch made and removed.",
    &[assigned(&CARD_DEFINITION), unassigned(&CARD_DEFINITION)]
);
/// Response of a batch of earning rules.
pub const EARNING_RULES: FieldType = shape!(
    "ProgramEarningRules",
    "Assignments that a batch made and removed.",
    &[assigned(&EARNING_RULE), unassigned(&EARNING_RULE)]
);
/// Response of a batch of tier structures.
pub const TIER_STRUCTURES: FieldType = shape!(
    "ProgramTierStructures",
    "Assignments that a batch made and removed.",
    &[assigned(&TIER_STRUCTURE), unassigned(&TIER_STRUCTURE)]
);
/// Response of a batch of rewards.
pub const REWARDS: FieldType =
    shape!("ProgramRewards", "Assignments that a batch made and removed.", &[assigned(&REWARD), unassigned(&REWARD)]);
