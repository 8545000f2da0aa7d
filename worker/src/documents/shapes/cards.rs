//! The shape of card definitions, their sections with defaults, and the blocks that belong together.

use crate::documents::common_fields::KEY;
use crate::documents::shapes::points::{
    CURRENT_PERIOD, DATES, EXPIRATION, EXPIRATIONS, NAME, PERIOD, PERIODS, ROUNDINGS,
};
use crate::documents::tagged_blocks::{TaggedBlock, tagged_block};
use scrip::shape::{Field, FieldType, INT_MAX, may, must, object};
use scrip::{fields_of, shape};
use serde_json::{Value as Json, json};

/// A number of points, one at least.
const MOST: Field = must("max", FieldType::Int(1, INT_MAX)).description("Maximum number of points.");

const CODE_CONFIG: FieldType = shape!(
    "CardCodeConfig",
    "Form of the codes of cards.",
    &[
        may("length", FieldType::Int(1, 128))
            .description("Number of random characters in a code. Default 10. Ignored in requests that have a `pattern`."),
        may("charset", FieldType::Name(1_000)).description("Characters that the random part of a code is drawn from. Default is the setting of the project, else alphanumeric characters."),
        may("prefix", FieldType::Text).description("Text at the start of every code. Empty by default."),
        may("postfix", FieldType::Text).description("Text at the end of every code. Empty by default."),
        may("pattern", FieldType::Name(500)).description("Form of the code between prefix and postfix, with `#` for each random character. Default is 10 random characters."),
    ]
);

const PENDING: FieldType = shape!(
    "PendingPoints",
    "Rule for the time between earning points and spending points.",
    &[
        may("type", FieldType::OneOf(&["IMMEDIATE", "PERIOD_BASED", "FIXED_DATES", "EVENT_BASED"])).description(
            "Type of the rule. Determines which block is present. `IMMEDIATE` means that points are never pending."
        ),
        may(
            "period_based",
            FieldType::Object(&[must("period", PERIOD)
                .description("Period from the day of earning to the first day on which the points can be spent.")])
        )
        .description("Settings of `PERIOD_BASED`: points become available after a fixed period."),
        may(
            "fixed_dates",
            FieldType::Object(&[must("dates", DATES).description(
                "Days of every year. Points become available on the first that comes after the day of earning."
            )])
        )
        .description("Settings of `FIXED_DATES`: points become available on fixed days of every year."),
        may(
            "event_based",
            FieldType::Object(&[
                must("event_types", FieldType::List(&KEY, 1, 10)).description(
                    "IDs of the event schemas. The first event of one of these schemas makes the points available."
                ),
                must("cancel_period", PERIOD).description(
                    "Period from the day of earning, at whose end points without such an event are cancelled."
                ),
            ])
        )
        .description("Settings of `EVENT_BASED`: points become available with a custom event of the customer."),
    ]
);

/// Limits of some types. A macro, because `fields_of!` needs constants.
macro_rules! limits {
    ($types:expr, $most:expr, $fields:expr) => {
        FieldType::Object(&[
            may("type", FieldType::OneOf(&["NO_LIMIT", "LIMITED"]))
                .description("`LIMITED` if `limits` apply. Default `NO_LIMIT`."),
            may(
                "limits",
                FieldType::List(
                    &FieldType::Object(fields_of!(
                        &[must("type", FieldType::OneOf($types))
                            .description("Type of the limit. Determines which other fields are present.")],
                        $fields
                    )),
                    0,
                    $most,
                ),
            )
            .description("Limits that apply. Empty with `NO_LIMIT`."),
        ])
    };
}

const BY_TIME: &[Field] = &[
    may("max", FieldType::Int(1, INT_MAX)).description("Maximum number of points: on the card, pending points included (`BALANCE_BASED`), or ever spent less refunds (`SPENDING_BASED`)."),
    may("period", CURRENT_PERIOD).description("Calendar period of a `TIME_BASED` limit."),
    may("points", FieldType::Object(&[MOST])).description("Number of points that the period of a `TIME_BASED` limit allows."),
];

const EARNING_LIMITS: FieldType = shape!(
    "EarningLimits",
    "Limits on the points that earning rules add to a card. Points beyond a limit are cut off.",
    &[
        may("global", limits!(&["BALANCE_BASED", "TIME_BASED"], 1, BY_TIME))
            .description("Limit on the whole card: on its balance, or on the points earned in a calendar period."),
        may(
            "transactions",
            limits!(
                &["POINTS", "SPENDING"],
                2,
                &[
                    may("max", FieldType::Int(1, INT_MAX))
                        .description("Maximum number of points from one effect of an earning rule (`POINTS`)."),
                    may("min_amount", FieldType::Int(1, INT_MAX)).description(
                        "Minimum total of an order that earns points, after discounts and in minor units (`SPENDING`)."
                    ),
                ]
            )
        )
        .description("Limits on the points earned at once, with one order or event."),
    ]
);

const SPENDING_LIMITS: FieldType = shape!(
    "SpendingLimits",
    "Limits on the points that a member may spend from a card. A spending beyond a limit is rejected.",
    &[
        may("global", limits!(&["SPENDING_BASED", "TIME_BASED"], 1, BY_TIME)).description("Limit on the whole card: on all spending, or on spending in a calendar period. Refunds do not count as spent."),
        may("transactions", limits!(&["POINTS"], 1, &[MOST])).description("Limit on the points spent at once."),
    ]
);

const REFUNDS: FieldType = shape!(
    "PointsRefunds",
    "Rules for points when an order is cancelled or reduced.",
    &[
        may(
            "spent_points",
            FieldType::Object(&[
                may("type", FieldType::OneOf(&["NONE", "REFUNDABLE"]))
                    .description("`REFUNDABLE` if spent points return to the card. Default `NONE`."),
                may(
                    "methods",
                    FieldType::List(
                        &FieldType::Object(&[
                            must("type", FieldType::OneOf(&["RETURN_POINTS"]))
                                .description("Type of the method. Always `RETURN_POINTS`."),
                            must("mode", FieldType::OneOf(&["REFUND_ALL", "REFUND_ITEM", "REFUND_AMOUNT"]))
                                .description("Measure of a partial return: none before the whole order is returned, the items returned, or the amount returned."),
                        ]),
                        0,
                        1
                    )
                )
                .description("Method of the refund. Empty with `NONE`."),
            ])
        )
        .description("Rule for points that the order was paid with."),
        may(
            "earned_points",
            FieldType::Object(&[
                may("type", FieldType::OneOf(&["NONE", "REFUNDABLE"]))
                    .description("`REFUNDABLE` if earned points are revoked. Default `NONE`."),
                may(
                    "methods",
                    FieldType::List(
                        &FieldType::Object(&[
                            must("type", FieldType::OneOf(&["REVOKE_FROM_PENDING", "REVOKE_FROM_BALANCE"]))
                                .description("Points that are revoked: pending points only, or pending points and then the balance. `REVOKE_FROM_PENDING` needs pending points."),
                            may("mode", FieldType::OneOf(&["REVOKE_TO_ZERO", "REVOKE_BELOW_ZERO"]))
                                .description("Lower bound of the balance with `REVOKE_FROM_BALANCE`: zero or none. `REVOKE_BELOW_ZERO` needs `allow_negative`."),
                        ]),
                        0,
                        1
                    )
                )
                .description("Method of the revocation. Empty with `NONE`."),
            ])
        )
        .description("Rule for points that the order earned."),
    ]
);

const PAY: FieldType = shape!(
    "PayWithPoints",
    "Rule for paying orders with points.",
    &[
        may("type", FieldType::OneOf(&["NO_PAYMENTS", "EXCHANGE_RATIO"]))
            .description("`EXCHANGE_RATIO` if orders can be paid with points. Default `NO_PAYMENTS`."),
        may(
            "exchange_ratio",
            FieldType::Object(&[must(
                "formula",
                FieldType::Either(&[FieldType::Name(2_000), FieldType::Number(-INT_MAX, INT_MAX)])
            )
            .description("Number of points that one minor unit costs, as a number or a formula on the order and the customer. Must be above 0 for a payment.")])
        )
        .description("Settings of `EXCHANGE_RATIO`."),
    ]
);

/// The sections that may be left out.
pub const SECTIONS: &[Field] = &[
    may("code_config", CODE_CONFIG).description("Form of the codes of cards. Default is 10 random characters."),
    may("points_expiration", EXPIRATION)
        .description("Rule for the expiration of points, unless an earning rule has its own. Default `NO_EXPIRATION`."),
    may("pending_points", PENDING)
        .description("Rule for the time before earned points can be spent. Default `IMMEDIATE`."),
    may("earning_limits", EARNING_LIMITS)
        .description("Limits on the points that earning rules add to a card. None by default."),
    may("spending_limits", SPENDING_LIMITS)
        .description("Limits on the points that a member may spend from a card. None by default."),
    may("refunds", REFUNDS).description("Rules for points when an order is cancelled or reduced. None by default."),
    may(
        "balance_settings",
        FieldType::Object(&[must("allow_negative", FieldType::Bool).description(
            "`true` if the balance of a card may fall below zero. Allowed with `NO_EXPIRATION` only. Default `false`.",
        )]),
    )
    .description("Settings of the balance."),
    may("pay_with_points", PAY).description("Rule for paying orders with points. Default `NO_PAYMENTS`."),
    may("metadata", FieldType::Map),
];

/// A card definition.
pub const CARD_DEFINITION: FieldType = shape!(
    "CardDefinition",
    "Template for the points cards of members: codes, expiration, limits and refunds.",
    fields_of!(
        &[
            must("id", KEY),
            must("name", NAME).description("Name of the card definition."),
            must("type", FieldType::OneOf(&["INDIVIDUAL"]))
                .description("Type of the cards. Always `INDIVIDUAL`: each card belongs to one member."),
            must("status", FieldType::OneOf(&["DRAFT", "ACTIVE", "DELETED"]))
                .description("Status of the card definition. Active programs need an active card definition."),
        ],
        SECTIONS,
        &[
            must("created_at", FieldType::DateTime),
            must("updated_at", FieldType::DateTime).or_null(),
            object(&["card_definition"])
        ],
    )
);

const LIMITED: &[(&str, &[&str])] = &[("NO_LIMIT", &[]), ("LIMITED", &["limits"])];
const REFUNDED: &[(&str, &[&str])] = &[("NONE", &[]), ("REFUNDABLE", &["methods"])];

/// Blocks that belong together.
pub const CHOICES: &[TaggedBlock] = &[
    tagged_block("points_expiration", "type", EXPIRATIONS),
    tagged_block("points_expiration.rolling_expiration.rounding", "type", ROUNDINGS),
    tagged_block(
        "pending_points",
        "type",
        &[
            ("IMMEDIATE", &[]),
            ("PERIOD_BASED", &["period_based"]),
            ("FIXED_DATES", &["fixed_dates"]),
            ("EVENT_BASED", &["event_based"]),
        ],
    ),
    tagged_block("earning_limits.global", "type", LIMITED),
    tagged_block(
        "earning_limits.global.limits[]",
        "type",
        &[("BALANCE_BASED", &["max"]), ("TIME_BASED", &["period", "points"])],
    ),
    tagged_block("earning_limits.global.limits[].period", "type", PERIODS),
    tagged_block("earning_limits.transactions", "type", LIMITED),
    tagged_block(
        "earning_limits.transactions.limits[]",
        "type",
        &[("POINTS", &["max"]), ("SPENDING", &["min_amount"])],
    ),
    tagged_block("spending_limits.global", "type", LIMITED),
    tagged_block(
        "spending_limits.global.limits[]",
        "type",
        &[("SPENDING_BASED", &["max"]), ("TIME_BASED", &["period", "points"])],
    ),
    tagged_block("spending_limits.global.limits[].period", "type", PERIODS),
    tagged_block("spending_limits.transactions", "type", LIMITED),
    tagged_block("refunds.spent_points", "type", REFUNDED),
    tagged_block("refunds.earned_points", "type", REFUNDED),
    tagged_block(
        "refunds.earned_points.methods[]",
        "type",
        &[("REVOKE_FROM_PENDING", &[]), ("REVOKE_FROM_BALANCE", &["mode"])],
    ),
    tagged_block("pay_with_points", "type", &[("NO_PAYMENTS", &[]), ("EXCHANGE_RATIO", &["exchange_ratio"])]),
];

/// Returns the defaults of a card definition.
pub fn defaults() -> Json {
    let no_limits =
        json!({ "global": { "type": "NO_LIMIT", "limits": [] }, "transactions": { "type": "NO_LIMIT", "limits": [] } });
    json!({
        "code_config": {}, "points_expiration": { "type": "NO_EXPIRATION" }, "pending_points": { "type": "IMMEDIATE" },
        "earning_limits": no_limits, "spending_limits": no_limits,
        "refunds": { "spent_points": { "type": "NONE", "methods": [] }, "earned_points": { "type": "NONE", "methods": [] } },
        "balance_settings": { "allow_negative": false }, "pay_with_points": { "type": "NO_PAYMENTS" }, "metadata": {},
    })
}
