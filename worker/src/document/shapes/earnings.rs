//! The shape of earning rules, and which of its blocks belong together. It must not know what earns.

use crate::document::choice::{Choice, choice};
use crate::document::fields::KEY;
use crate::document::shapes::points::{
    CALCULATIONS, CURRENT_PERIOD, EXPIRATION, EXPIRATIONS, GOODS_NAMES, HOURS, HOURS_CHOICE, NAME, PERIODS,
    PROPORTIONAL, ROUNDINGS,
};
use scrip::shape::{Field, INT_MAX, Kind, may, must, object};
use scrip::wire::rules::TESTS;
use scrip::{fields_of, shape};

const TRIGGER: Kind = shape!(
    "EarningTrigger",
    "What points are earned for",
    &[
        may("event", Kind::OneOf(&["customer.order.paid", "customer.custom_event", "customer.segment.entered"]))
            .says("What happens"),
        may("custom_event", Kind::Object(&[must("schema_id", KEY)])).says("Which event"),
        may("segment", Kind::Object(&[must("id", KEY)])).says("Which segment"),
    ]
);

const TIER_RULES: Kind = shape!(
    "EarningTiers",
    "Who earns, by tier",
    &[
        may("type", Kind::OneOf(&["NO_REQUIREMENTS", "ANY_OF"])),
        may(
            "any_of",
            Kind::List(
                &Kind::Object(&[must("tier_structure_id", KEY), must("tier_ids", Kind::List(&KEY, 1, 100))]),
                1,
                100
            )
        ),
    ]
);

/// An effect with the older name of what is handed out, and with the later one where `$later` has it.
macro_rules! effect {
    ($name:literal, $types:expr, $later:expr) => {
        shape!(
            $name,
            "What is earned",
            fields_of!(
                &[
                    may("type", Kind::OneOf($types)),
                    may(
                        "points",
                        Kind::Object(&[
                            must("value", Kind::Int(0, INT_MAX)).says("How many"),
                            must("card_definition_id", KEY),
                            may("points_expiration", EXPIRATION),
                        ])
                    )
                    .says("A number of points"),
                    may(
                        "points_proportional",
                        Kind::Object(fields_of!(PROPORTIONAL, &[may("points_expiration", EXPIRATION)]))
                    ),
                    may("incentive", Kind::Object(&[must("id", KEY)])),
                ],
                $later
            )
        )
    };
}

const NOTHING: &[Field] = &[];
const EFFECT: Kind = effect!("EarningEffect", &["POINTS", "POINTS_PROPORTIONAL", "INCENTIVE"], NOTHING);
const SENT_EFFECT: Kind = effect!(
    "SentEarningEffect",
    &["POINTS", "POINTS_PROPORTIONAL", "INCENTIVE", "BENEFIT"],
    &[may("benefit", Kind::Object(&[must("id", KEY)]))]
);

/// What is earned when, with effects of this shape and whatever says which it is.
macro_rules! earnings {
    ($effect:expr, $which:expr) => {{
        const EFFECTS: Kind = Kind::List(&$effect, 1, 100);
        const FIELDS: &[Field] = fields_of!(
            $which,
            &[
                may("name", Kind::Text).or_null(),
                may("rules", Kind::Named(&TESTS)).or_null(),
                may("tier_rules", TIER_RULES),
                must("effects", EFFECTS).says("What is earned"),
            ]
        );
        Kind::List(&Kind::Object(FIELDS), 1, 100)
    }};
}

const COOLDOWN: Kind = Kind::Object(&[
    may("type", Kind::OneOf(&["NO_COOLDOWN", "FIXED_COOLDOWN"])),
    may(
        "fixed_cooldown",
        Kind::Object(&[must(
            "period",
            Kind::Object(&[
                must("value", Kind::Int(1, 10_000)).says("How many"),
                must("unit", Kind::OneOf(&["HOUR", "DAY", "WEEK", "MONTH", "YEAR"])),
            ]),
        )]),
    )
    .says("How long"),
]);

const FREQUENCY: Kind = Kind::Object(&[
    may("type", Kind::OneOf(&["NO_LIMIT", "LIMITED"])),
    may(
        "limits",
        Kind::List(
            &Kind::Object(&[
                may("type", Kind::OneOf(&["TIME_BASED"])),
                must("period", CURRENT_PERIOD),
                must("triggers", Kind::Object(&[must("max", Kind::Int(1, INT_MAX))])),
            ]),
            0,
            1,
        ),
    ),
]);

const EARNINGS: Kind = earnings!(EFFECT, &[must("id", KEY)]);
const NEW_EARNINGS: Kind = earnings!(SENT_EFFECT, NOTHING);
const SENT_EARNINGS: Kind = earnings!(SENT_EFFECT, &[may("id", KEY).says("Which earning it stays")]);
const MESSAGE: Kind = Kind::Object(&[must("message", NAME).says("What is told where nothing is earned")]);

/// How often one member earns; spending on rewards is limited in the same words.
pub const TRIGGER_LIMITS: Kind = shape!(
    "TriggerLimits",
    "How often it acts for one member",
    &[
        may("cooldown", COOLDOWN).says("How long it rests after it acted"),
        may("frequency", FREQUENCY).says("How often it acts in a period"),
    ]
);

/// What may be left out, and stays as it is sent.
const PLAIN: &[Field] = &[
    may("error", MESSAGE).or_null(),
    may("validity_hours", HOURS).or_null(),
    may("start_date", Kind::DateTime).or_null(),
    may("end_date", Kind::DateTime).or_null(),
    may("trigger_limits", TRIGGER_LIMITS),
    may("metadata", Kind::Map),
];

/// What a new earning rule is sent as.
pub const CREATE: &[Field] = fields_of!(
    &[
        must("name", NAME),
        may("status", Kind::OneOf(&["DRAFT", "ACTIVE"])),
        must("trigger", TRIGGER),
        must("earnings", NEW_EARNINGS),
    ],
    PLAIN
);

/// What an earning rule is changed by.
pub const UPDATE: &[Field] =
    fields_of!(&[may("name", NAME), may("trigger", TRIGGER), may("earnings", SENT_EARNINGS)], PLAIN);

/// An earning rule.
pub const EARNING_RULE: Kind = shape!(
    "EarningRule",
    "What points and incentives are earned for",
    fields_of!(
        &[
            must("id", KEY),
            must("name", NAME),
            must("status", Kind::OneOf(&["DRAFT", "ACTIVE", "INACTIVE", "DELETED"])),
            must("trigger", TRIGGER),
            must("earnings", EARNINGS),
        ],
        PLAIN,
        &[must("created_at", Kind::DateTime), must("updated_at", Kind::DateTime).or_null(), object(&["earning_rule"])],
    )
);

/// Which blocks belong together.
pub const CHOICES: &[Choice] = &[
    choice(
        "trigger",
        "event",
        &[
            ("customer.order.paid", &[]),
            ("customer.custom_event", &["custom_event"]),
            ("customer.segment.entered", &["segment"]),
        ],
    ),
    choice("earnings[].tier_rules", "type", &[("NO_REQUIREMENTS", &[]), ("ANY_OF", &["any_of"])]),
    choice(
        "earnings[].effects[]",
        "type",
        &[("POINTS", &["points"]), ("POINTS_PROPORTIONAL", &["points_proportional"]), ("INCENTIVE", &["incentive"])],
    ),
    choice("earnings[].effects[].points.points_expiration", "type", EXPIRATIONS),
    choice("earnings[].effects[].points.points_expiration.rolling_expiration.rounding", "type", ROUNDINGS),
    choice("earnings[].effects[].points_proportional", "calculation_type", CALCULATIONS),
    choice("earnings[].effects[].points_proportional.points_expiration", "type", EXPIRATIONS),
    choice("earnings[].effects[].points_proportional.points_expiration.rolling_expiration.rounding", "type", ROUNDINGS),
    choice("earnings[].effects[].points_proportional.order_items.amount.applicable_to[]", "type", GOODS_NAMES),
    choice("earnings[].effects[].points_proportional.order_items.subtotal_amount.applicable_to[]", "type", GOODS_NAMES),
    choice("earnings[].effects[].points_proportional.order_items.quantity.applicable_to[]", "type", GOODS_NAMES),
    HOURS_CHOICE,
    choice("trigger_limits.cooldown", "type", &[("NO_COOLDOWN", &[]), ("FIXED_COOLDOWN", &["fixed_cooldown"])]),
    choice("trigger_limits.frequency", "type", &[("NO_LIMIT", &[]), ("LIMITED", &["limits"])]),
    choice("trigger_limits.frequency.limits[]", "type", &[("TIME_BASED", &["period", "triggers"])]),
    choice("trigger_limits.frequency.limits[].period", "type", PERIODS),
];
