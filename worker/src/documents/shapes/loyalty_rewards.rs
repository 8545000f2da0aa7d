//! The shapes of the rewards of loyalty programs: their items, costs and tagged blocks.

use crate::documents::common_fields::KEY;
use crate::documents::shapes::activities::activity;
use crate::documents::shapes::earnings::TRIGGER_LIMITS;
use crate::documents::shapes::loyalty_gifts::{COUPONS, GIFTS, MATERIAL, MATERIALS};
use crate::documents::shapes::points::{HOURS, HOURS_CHOICE, NAME, PERIODS};
use crate::documents::tagged_blocks::{TaggedBlock, tagged_block};
use scrip::shape::{Field, FieldType, INT_MAX, may, must, object};
use scrip::wire::rules::TESTS;
use scrip::{fields_of, shape};

const TYPES: FieldType = FieldType::OneOf(&["MATERIAL", "DIGITAL"]);
const DIGITAL: FieldType = shape!(
    "DigitalReward",
    "Voucher or points that a reward gives.",
    &[
        may("type", FieldType::OneOf(&["DISCOUNT_COUPONS", "GIFT_VOUCHERS", "LOYALTY_CARD_POINTS"]))
            .description("Type of the gift. Determines which block is present."),
        COUPONS,
        GIFTS,
        may(
            "loyalty_card_points",
            FieldType::Object(&[
                must("points", FieldType::Int(1, INT_MAX)).description("Number of points."),
                must("card_definition_id", KEY)
                    .description("ID of the card definition. The points go to the member's card of this definition.")
            ])
        )
        .description("Points that are added to a card of the member. Present only with `LOYALTY_CARD_POINTS`."),
    ]
);

/// Granted item of a reward, by its type.
pub const GRANTED_ITEM: TaggedBlock =
    tagged_block("", "type", &[("MATERIAL", &["material"]), ("DIGITAL", &["digital"])]);
/// Blocks that belong together.
pub const CHOICES: &[TaggedBlock] = &[
    GRANTED_ITEM,
    MATERIALS,
    tagged_block(
        "digital",
        "type",
        &[
            ("DISCOUNT_COUPONS", &["discount_coupons"]),
            ("GIFT_VOUCHERS", &["gift_vouchers"]),
            ("LOYALTY_CARD_POINTS", &["loyalty_card_points"]),
        ],
    ),
    HOURS_CHOICE,
    tagged_block("purchase_limits.cooldown", "type", &[("NO_COOLDOWN", &[]), ("FIXED_COOLDOWN", &["fixed_cooldown"])]),
    tagged_block("purchase_limits.frequency", "type", &[("NO_LIMIT", &[]), ("LIMITED", &["limits"])]),
    tagged_block("purchase_limits.frequency.limits[]", "type", &[("TIME_BASED", &["period", "triggers"])]),
    tagged_block("purchase_limits.frequency.limits[].period", "type", PERIODS),
];

/// Fields of a cost, in addition to its id.
const SPENDING: &[Field] = &[
    may("name", NAME).or_null().description("Name of the price. `null` without a name."),
    must("points", FieldType::Int(1, INT_MAX)).description("Number of points that the reward costs."),
    must("card_definition_id", KEY)
        .description("ID of the card definition. The member's card of this definition pays."),
];

/// Costs of a reward, with ids or without. A macro, because `fields_of!` needs constants.
macro_rules! costs {
    ($id:expr) => {
        FieldType::List(
            &FieldType::Object(fields_of!(
                $id,
                &[
                    may("rules", FieldType::Named(&TESTS)).description("Tests on customer and member for which the cost applies. Absent means that the cost always applies."),
                    must("spending", FieldType::List(&FieldType::Object(fields_of!($id, SPENDING)), 1, 1))
                        .description("Points to pay. Exactly one entry."),
                ]
            )),
            1,
            10,
        )
    };
}
/// No fields: new costs have no id.
const NEW: &[Field] = &[];
const COSTS: &str = "Prices of the reward in order of priority. The first that applies to the member is paid.";

/// Optional fields that are stored as sent.
const PLAIN: &[Field] = &[
    may("material", MATERIAL).description("Goods that the customer receives. Present only with `MATERIAL`."),
    may("digital", DIGITAL).description("Voucher or points that the customer receives. Present only with `DIGITAL`."),
    may("start_date", FieldType::DateTime).or_null().description("Moment from which the reward can be bought, in UTC. `null` means no start."),
    may("end_date", FieldType::DateTime).or_null().description("Moment after which the reward can no longer be bought, in UTC. Must be later than `start_date`. `null` means no end."),
    may("validity_hours", HOURS).description("Hours of the week in which the reward can be bought, in the project's time zone. Any time by default."),
    may("purchase_limits", TRIGGER_LIMITS).description("Limits on how often one member may buy the reward. None by default."),
    may("refunds", FieldType::Object(&[must("type", FieldType::OneOf(&["NONE", "REFUNDABLE"])).description("`REFUNDABLE` if a purchase can be refunded. Default `NONE`.")]))
        .description("Rule for refunds of purchases."),
    may("metadata", FieldType::Map),
];

/// Fields of a new reward.
pub const CREATE: &[Field] = fields_of!(
    &[
        must("name", NAME).description("Name of the reward."),
        must("type", TYPES).description("Type of the reward. Determines if `material` or `digital` is present."),
        may("status", FieldType::OneOf(&["DRAFT", "ACTIVE"]))
            .description("Initial status of the reward. Default `DRAFT`."),
        must("costs", costs!(NEW)).description(COSTS),
    ],
    PLAIN
);
/// Fields of a change of a reward.
pub const UPDATE: &[Field] = fields_of!(
    &[
        may("name", NAME).description("Name of the reward."),
        may("type", TYPES).description("Type of the reward. Determines if `material` or `digital` is present."),
        may("costs", costs!(&[may("id", KEY).description("ID of the entry to keep. Absent creates a new entry.")]))
            .description(COSTS)
    ],
    PLAIN
);

/// A reward.
pub const REWARD: FieldType = shape!(
    "LoyaltyReward",
    "Reward that members of loyalty programs buy with points.",
    fields_of!(
        &[
            must("id", KEY),
            must("name", NAME).description("Name of the reward."),
            must("type", TYPES).description("Type of the reward. Determines if `material` or `digital` is present."),
            must("status", FieldType::OneOf(&["DRAFT", "ACTIVE", "INACTIVE", "DELETED"]))
                .description("Status of the reward. Only active rewards can be bought."),
            must("costs", costs!(&[must("id", KEY)])).description(COSTS),
        ],
        PLAIN,
        &[
            must("created_at", FieldType::DateTime),
            must("updated_at", FieldType::DateTime).or_null(),
            object(&["reward"])
        ],
    )
);

/// Activity of a reward.
pub const ACTIVITY: FieldType = activity!("LoyaltyRewardActivity", "reward_id");
