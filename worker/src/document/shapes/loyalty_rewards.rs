//! The shapes of the rewards of loyalty programs: what they give, what is asked for it, and which of their blocks belong together. It must
//! not know who has points.

use crate::document::choice::{Choice, choice};
use crate::document::fields::KEY;
use crate::document::shapes::activities::activity;
use crate::document::shapes::earnings::TRIGGER_LIMITS;
use crate::document::shapes::loyalty_gifts::{COUPONS, GIFTS, MATERIAL, MATERIALS};
use crate::document::shapes::points::{HOURS, HOURS_CHOICE, NAME, PERIODS};
use scrip::shape::{Field, INT_MAX, Kind, may, must, object};
use scrip::wire::rules::TESTS;
use scrip::{fields_of, shape};

const TYPES: Kind = Kind::OneOf(&["MATERIAL", "DIGITAL"]);
const DIGITAL: Kind = shape!(
    "RewardedCode",
    "A code or points that a reward gives",
    &[
        may("type", Kind::OneOf(&["DISCOUNT_COUPONS", "GIFT_VOUCHERS", "LOYALTY_CARD_POINTS"])),
        COUPONS,
        GIFTS,
        may(
            "loyalty_card_points",
            Kind::Object(&[must("points", Kind::Int(1, INT_MAX)).says("How many"), must("card_definition_id", KEY)])
        )
        .says("Points on a card"),
    ]
);

/// What a reward gives, by its type.
pub const GIVEN: Choice = choice("", "type", &[("MATERIAL", &["material"]), ("DIGITAL", &["digital"])]);
/// Which blocks belong together.
pub const CHOICES: &[Choice] = &[
    GIVEN,
    MATERIALS,
    choice(
        "digital",
        "type",
        &[
            ("DISCOUNT_COUPONS", &["discount_coupons"]),
            ("GIFT_VOUCHERS", &["gift_vouchers"]),
            ("LOYALTY_CARD_POINTS", &["loyalty_card_points"]),
        ],
    ),
    HOURS_CHOICE,
    choice("purchase_limits.cooldown", "type", &[("NO_COOLDOWN", &[]), ("FIXED_COOLDOWN", &["fixed_cooldown"])]),
    choice("purchase_limits.frequency", "type", &[("NO_LIMIT", &[]), ("LIMITED", &["limits"])]),
    choice("purchase_limits.frequency.limits[]", "type", &[("TIME_BASED", &["period", "triggers"])]),
    choice("purchase_limits.frequency.limits[].period", "type", PERIODS),
];

/// What a cost takes, beside its id.
const SPENDING: &[Field] = &[
    may("name", NAME).or_null(),
    must("points", Kind::Int(1, INT_MAX)).says("How many points it costs"),
    must("card_definition_id", KEY),
];

/// What a reward costs, with ids or without.
macro_rules! costs {
    ($id:expr) => {
        Kind::List(
            &Kind::Object(fields_of!(
                $id,
                &[
                    may("rules", Kind::Named(&TESTS)).says("For whom; for everybody where there are none"),
                    must("spending", Kind::List(&Kind::Object(fields_of!($id, SPENDING)), 1, 1))
                        .says("The points that it costs"),
                ]
            )),
            1,
            10,
        )
    };
}
/// What is new has no id.
const NEW: &[Field] = &[];
const COSTS: &str = "What it costs: the first that fits whoever buys it";

/// What may be left out, and stays as it is sent.
const PLAIN: &[Field] = &[
    may("material", MATERIAL).says("The goods that it gives"),
    may("digital", DIGITAL).says("The code or the points that it gives"),
    may("start_date", Kind::DateTime).or_null(),
    may("end_date", Kind::DateTime).or_null(),
    may("validity_hours", HOURS),
    may("purchase_limits", TRIGGER_LIMITS).says("How often one member may buy it"),
    may("refunds", Kind::Object(&[must("type", Kind::OneOf(&["NONE", "REFUNDABLE"]))]))
        .says("Whether its points can be given back"),
    may("metadata", Kind::Map),
];

/// What a new reward is sent as.
pub const CREATE: &[Field] = fields_of!(
    &[
        must("name", NAME),
        must("type", TYPES),
        may("status", Kind::OneOf(&["DRAFT", "ACTIVE"])),
        must("costs", costs!(NEW)).says(COSTS),
    ],
    PLAIN
);
/// What a reward is changed by.
pub const UPDATE: &[Field] =
    fields_of!(&[may("name", NAME), may("type", TYPES), may("costs", costs!(&[may("id", KEY)])).says(COSTS)], PLAIN);

/// A reward.
pub const REWARD: Kind = shape!(
    "LoyaltyReward",
    "What members buy with points",
    fields_of!(
        &[
            must("id", KEY),
            must("name", NAME),
            must("type", TYPES),
            must("status", Kind::OneOf(&["DRAFT", "ACTIVE", "INACTIVE", "DELETED"])),
            must("costs", costs!(&[must("id", KEY)])).says(COSTS),
        ],
        PLAIN,
        &[must("created_at", Kind::DateTime), must("updated_at", Kind::DateTime).or_null(), object(&["reward"])],
    )
);

/// What happened to a reward.
pub const ACTIVITY: Kind = activity!("LoyaltyRewardActivity", "reward_id");
