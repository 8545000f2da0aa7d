//! The shape of earning rules, and the blocks that belong together.

use crate::documents::common_fields::KEY;
use crate::documents::shapes::points::{
    CALCULATIONS, CURRENT_PERIOD, EXPIRATION, EXPIRATIONS, GOODS_NAMES, HOURS, HOURS_CHOICE, NAME, PERIODS,
    PROPORTIONAL, ROUNDINGS,
};
use crate::documents::tagged_blocks::{TaggedBlock, tagged_block};
use scrip::shape::{Field, FieldType, INT_MAX, may, must, object};
use scrip::wire::rules::TESTS;
use scrip::{fields_of, shape};

const TRIGGER: FieldType = shape!(
    "EarningTrigger",
    "Event that an earning rule waits for.",
    &[
        may("event", FieldType::OneOf(&["customer.order.paid", "customer.custom_event", "customer.segment.entered"]))
            .description(
                "Type of the event: an order becomes paid, a custom event is sent, or the customer enters a segment."
            ),
        may("custom_event", FieldType::Object(&[must("schema_id", KEY).description("ID of the event schema.")]))
            .description("Custom event that triggers the rule. Present only with `customer.custom_event`."),
        may("segment", FieldType::Object(&[must("id", KEY)])).description(
            "Segment whose entry by a customer triggers the rule. Present only with `customer.segment.entered`."
        ),
    ]
);

const TIER_RULES: FieldType = shape!(
    "EarningTiers",
    "Tiers that a member must be in to match an earning.",
    &[
        may("type", FieldType::OneOf(&["NO_REQUIREMENTS", "ANY_OF"]))
            .description("`ANY_OF` if the member must be in one of the tiers of `any_of`. Default `NO_REQUIREMENTS`."),
        may(
            "any_of",
            FieldType::List(
                &FieldType::Object(&[
                    must("tier_structure_id", KEY).description("ID of the tier structure."),
                    must("tier_ids", FieldType::List(&KEY, 1, 100))
                        .description("IDs of tiers in this structure. One of them is enough."),
                ]),
                1,
                100
            )
        )
        .description("Accepted tiers by tier structure. Present only with `ANY_OF`."),
    ]
);

/// Declares an effect with the older name of the granted incentive, and with the later name if `$later` has it.
macro_rules! effect {
    ($name:literal, $types:expr, $later:expr) => {
        shape!(
            $name,
            "Points or an incentive that an earning grants.",
            fields_of!(
                &[
                    may("type", FieldType::OneOf($types))
                        .description("Type of the effect. Determines which block is present."),
                    may(
                        "points",
                        FieldType::Object(&[
                            must("value", FieldType::Int(0, INT_MAX)).description("Number of points."),
                            must("card_definition_id", KEY).description(
                                "ID of the card definition. The points go to the member's card of this definition."
                            ),
                            may("points_expiration", EXPIRATION).description(
                                "Rule for the expiration of these points. Absent means the rule of the card definition."
                            ),
                        ])
                    )
                    .description("Fixed number of points. Present only with `POINTS`."),
                    may(
                        "points_proportional",
                        FieldType::Object(fields_of!(
                            PROPORTIONAL,
                            &[may("points_expiration", EXPIRATION).description(
                                "Rule for the expiration of these points. Absent means the rule of the card definition."
                            )]
                        ))
                    )
                    .description(
                        "Points in proportion to a number of the event. Present only with `POINTS_PROPORTIONAL`."
                    ),
                    may("incentive", FieldType::Object(&[must("id", KEY)]))
                        .description("Incentive of which the member receives one unit. Present only with `INCENTIVE`."),
                ],
                $later
            )
        )
    };
}

const NOTHING: &[Field] = &[];
const EFFECT: FieldType = effect!("EarningEffect", &["POINTS", "POINTS_PROPORTIONAL", "INCENTIVE"], NOTHING);
const SENT_EFFECT: FieldType = effect!(
    "EarningEffectRequest",
    &["POINTS", "POINTS_PROPORTIONAL", "INCENTIVE", "BENEFIT"],
    &[may("benefit", FieldType::Object(&[must("id", KEY)]))
        .description("Incentive under its later name, with either form of its ID. Excludes `incentive`.")]
);

/// Trigger and effects of an earning rule, with effects of this shape and with identifying fields. A macro, because `fields_of!` needs constants.
macro_rules! earnings {
    ($effect:expr, $which:expr) => {{
        const EFFECTS: FieldType = FieldType::List(&$effect, 1, 100);
        const FIELDS: &[Field] = fields_of!(
            $which,
            &[
                may("name", FieldType::Text).or_null().description("Name of the earning. `null` without a name."),
                may("rules", FieldType::Named(&TESTS)).or_null().description("Tests on customer, member, order or event that must pass. `null` means that the earning always matches."),
                may("tier_rules", TIER_RULES).description("Tiers that the member must be in. None are required by default."),
                must("effects", EFFECTS).description("Effects of the earning. Each is granted on its own: one that cannot be granted does not prevent the others."),
            ]
        );
        FieldType::List(&FieldType::Object(FIELDS), 1, 100)
    }};
}

const COOLDOWN: FieldType = FieldType::Object(&[
    may("type", FieldType::OneOf(&["NO_COOLDOWN", "FIXED_COOLDOWN"]))
        .description("`FIXED_COOLDOWN` if a pause applies. Default `NO_COOLDOWN`."),
    may(
        "fixed_cooldown",
        FieldType::Object(&[must(
            "period",
            FieldType::Object(&[
                must("value", FieldType::Int(1, 10_000)).description("Number of units in the pause."),
                must("unit", FieldType::OneOf(&["HOUR", "DAY", "WEEK", "MONTH", "YEAR"]))
                    .description("Unit of the pause."),
            ]),
        )
        .description("Length of the pause, counted from the last time.")]),
    )
    .description("Settings of `FIXED_COOLDOWN`."),
]);

const FREQUENCY: FieldType = FieldType::Object(&[
    may("type", FieldType::OneOf(&["NO_LIMIT", "LIMITED"]))
        .description("`LIMITED` if `limits` apply. Default `NO_LIMIT`."),
    may(
        "limits",
        FieldType::List(
            &FieldType::Object(&[
                may("type", FieldType::OneOf(&["TIME_BASED"])).description("Type of the limit. Always `TIME_BASED`."),
                must("period", CURRENT_PERIOD).description("Calendar period in which times are counted."),
                must(
                    "triggers",
                    FieldType::Object(&[
                        must("max", FieldType::Int(1, INT_MAX)).description("Maximum number of times in the period.")
                    ]),
                )
                .description("Number of times that one member may use the rule or buy the reward in the period."),
            ]),
            0,
            1,
        ),
    )
    .description("Limits that apply."),
]);

const EARNINGS: FieldType = earnings!(EFFECT, &[must("id", KEY)]);
const NEW_EARNINGS: FieldType = earnings!(SENT_EFFECT, NOTHING);
const SENT_EARNINGS: FieldType =
    earnings!(SENT_EFFECT, &[may("id", KEY).description("ID of the earning to keep. Absent creates a new earning.")]);
const MESSAGE: FieldType = FieldType::Object(&[
    must("message", NAME).description("Text for customers when the rule grants nothing. Stored and returned only.")
]);

/// Limits of earning per member; spending on rewards has limits of this shape too.
pub const TRIGGER_LIMITS: FieldType = shape!(
    "TriggerLimits",
    "Limits on how often one member can use an earning rule or buy a reward.",
    &[
        may("cooldown", COOLDOWN).description("Pause after each time. None by default."),
        may("frequency", FREQUENCY).description("Maximum number of times in a calendar period. No limit by default."),
    ]
);

/// Optional fields that are stored as sent.
const PLAIN: &[Field] = &[
    may("error", MESSAGE).or_null().description("Message of the rule for customers. `null` without one."),
    may("validity_hours", HOURS).or_null().description(
        "Hours of the week in which the rule applies, in the project's time zone. `null` means at any time.",
    ),
    may("start_date", FieldType::DateTime)
        .or_null()
        .description("Moment from which the rule applies, in UTC. `null` means no start."),
    may("end_date", FieldType::DateTime).or_null().description(
        "Moment after which the rule no longer applies, in UTC. Must be later than `start_date`. `null` means no end.",
    ),
    may("trigger_limits", TRIGGER_LIMITS)
        .description("Limits on how often the rule grants something to one member. None by default."),
    may("metadata", FieldType::Map),
];

/// Fields of a new earning rule.
pub const CREATE: &[Field] = fields_of!(
    &[
        must("name", NAME).description("Name of the earning rule."),
        may("status", FieldType::OneOf(&["DRAFT", "ACTIVE"]))
            .description("Initial status of the rule. Default `DRAFT`."),
        must("trigger", TRIGGER).description("Event that the rule waits for."),
        must("earnings", NEW_EARNINGS)
            .description("Earnings in order of priority. The first that matches is granted, later ones are ignored."),
    ],
    PLAIN
);

/// Fields of a change of an earning rule.
pub const UPDATE: &[Field] = fields_of!(
    &[
        may("name", NAME).description("Name of the earning rule."),
        may("trigger", TRIGGER).description("Event that the rule waits for. Can change in a draft only."),
        may("earnings", SENT_EARNINGS).description("Earnings in order of priority, replacing all earlier ones. The first that matches is granted, later ones are ignored."),
    ],
    PLAIN
);

/// An earning rule.
pub const EARNING_RULE: FieldType = shape!(
    "EarningRule",
    "Rule by which members of loyalty programs earn points and incentives for an event.",
    fields_of!(
        &[
            must("id", KEY),
            must("name", NAME).description("Name of the earning rule."),
            must("status", FieldType::OneOf(&["DRAFT", "ACTIVE", "INACTIVE", "DELETED"]))
                .description("Status of the rule. Only active rules grant anything."),
            must("trigger", TRIGGER).description("Event that the rule waits for."),
            must("earnings", EARNINGS).description(
                "Earnings in order of priority. The first that matches is granted, later ones are ignored."
            ),
        ],
        PLAIN,
        &[
            must("created_at", FieldType::DateTime),
            must("updated_at", FieldType::DateTime).or_null(),
            object(&["earning_rule"])
        ],
    )
);

/// Blocks that belong together.
pub const CHOICES: &[TaggedBlock] = &[
    tagged_block(
        "trigger",
        "event",
        &[
            ("customer.order.paid", &[]),
            ("customer.custom_event", &["custom_event"]),
            ("customer.segment.entered", &["segment"]),
        ],
    ),
    tagged_block("earnings[].tier_rules", "type", &[("NO_REQUIREMENTS", &[]), ("ANY_OF", &["any_of"])]),
    tagged_block(
        "earnings[].effects[]",
        "type",
        &[("POINTS", &["points"]), ("POINTS_PROPORTIONAL", &["points_proportional"]), ("INCENTIVE", &["incentive"])],
    ),
    tagged_block("earnings[].effects[].points.points_expiration", "type", EXPIRATIONS),
    tagged_block("earnings[].effects[].points.points_expiration.rolling_expiration.rounding", "type", ROUNDINGS),
    tagged_block("earnings[].effects[].points_proportional", "calculation_type", CALCULATIONS),
    tagged_block("earnings[].effects[].points_proportional.points_expiration", "type", EXPIRATIONS),
    tagged_block(
        "earnings[].effects[].points_proportional.points_expiration.rolling_expiration.rounding",
        "type",
        ROUNDINGS,
    ),
    tagged_block("earnings[].effects[].points_proportional.order_items.amount.applicable_to[]", "type", GOODS_NAMES),
    tagged_block(
        "earnings[].effects[].points_proportional.order_items.subtotal_amount.applicable_to[]",
        "type",
        GOODS_NAMES,
    ),
    tagged_block("earnings[].effects[].points_proportional.order_items.quantity.applicable_to[]", "type", GOODS_NAMES),
    HOURS_CHOICE,
    tagged_block("trigger_limits.cooldown", "type", &[("NO_COOLDOWN", &[]), ("FIXED_COOLDOWN", &["fixed_cooldown"])]),
    tagged_block("trigger_limits.frequency", "type", &[("NO_LIMIT", &[]), ("LIMITED", &["limits"])]),
    tagged_block("trigger_limits.frequency.limits[]", "type", &[("TIME_BASED", &["period", "triggers"])]),
    tagged_block("trigger_limits.frequency.limits[].period", "type", PERIODS),
];
