//! The shape of card definitions, the sections of one with their defaults, and which of their blocks belong together. It must not know
//! what a section does.

use crate::document::choice::{Choice, choice};
use crate::document::fields::KEY;
use crate::document::shapes::points::{
    CURRENT_PERIOD, DATES, EXPIRATION, EXPIRATIONS, NAME, PERIOD, PERIODS, ROUNDINGS,
};
use scrip::shape::{Field, INT_MAX, Kind, may, must, object};
use scrip::{fields_of, shape};
use serde_json::{Value as Json, json};

/// A number of points, one at least.
const MOST: Field = must("max", Kind::Int(1, INT_MAX));

const CODE_CONFIG: Kind = shape!(
    "CardCodeConfig",
    "How the codes of cards are made",
    &[
        may("length", Kind::Int(1, 128)),
        may("charset", Kind::Name(1_000)),
        may("prefix", Kind::Text),
        may("postfix", Kind::Text),
        may("pattern", Kind::Name(500)),
    ]
);

const PENDING: Kind = shape!(
    "PendingPoints",
    "How long points wait before they can be spent",
    &[
        may("type", Kind::OneOf(&["IMMEDIATE", "PERIOD_BASED", "FIXED_DATES", "EVENT_BASED"])),
        may("period_based", Kind::Object(&[must("period", PERIOD)])).says("They wait so long"),
        may("fixed_dates", Kind::Object(&[must("dates", DATES)])).says("They wait for these days"),
        may(
            "event_based",
            Kind::Object(&[
                must("event_types", Kind::List(&KEY, 1, 10)).says("The ids of the events"),
                must("cancel_period", PERIOD).says("After so long they are cancelled"),
            ])
        )
        .says("They wait for an event"),
    ]
);

/// Limits of some types.
macro_rules! limits {
    ($types:expr, $most:expr, $fields:expr) => {
        Kind::Object(&[
            may("type", Kind::OneOf(&["NO_LIMIT", "LIMITED"])),
            may(
                "limits",
                Kind::List(&Kind::Object(fields_of!(&[must("type", Kind::OneOf($types))], $fields)), 0, $most),
            ),
        ])
    };
}

const BY_TIME: &[Field] =
    &[may("max", Kind::Int(1, INT_MAX)), may("period", CURRENT_PERIOD), may("points", Kind::Object(&[MOST]))];

const EARNING_LIMITS: Kind = shape!(
    "EarningLimits",
    "How many points may be earned",
    &[
        may("global", limits!(&["BALANCE_BASED", "TIME_BASED"], 1, BY_TIME)).says("On the card"),
        may(
            "transactions",
            limits!(
                &["POINTS", "SPENDING"],
                2,
                &[may("max", Kind::Int(1, INT_MAX)), may("min_amount", Kind::Int(1, INT_MAX))]
            )
        )
        .says("With one order or event"),
    ]
);

const SPENDING_LIMITS: Kind = shape!(
    "SpendingLimits",
    "How many points may be spent",
    &[
        may("global", limits!(&["SPENDING_BASED", "TIME_BASED"], 1, BY_TIME)).says("Of the card"),
        may("transactions", limits!(&["POINTS"], 1, &[MOST])).says("At once"),
    ]
);

const REFUNDS: Kind = shape!(
    "PointsRefunds",
    "What becomes of points when an order is returned",
    &[
        may(
            "spent_points",
            Kind::Object(&[
                may("type", Kind::OneOf(&["NONE", "REFUNDABLE"])),
                may(
                    "methods",
                    Kind::List(
                        &Kind::Object(&[
                            must("type", Kind::OneOf(&["RETURN_POINTS"])),
                            must("mode", Kind::OneOf(&["REFUND_ALL", "REFUND_ITEM", "REFUND_AMOUNT"])),
                        ]),
                        0,
                        1
                    )
                ),
            ])
        )
        .says("Of points that it was paid with"),
        may(
            "earned_points",
            Kind::Object(&[
                may("type", Kind::OneOf(&["NONE", "REFUNDABLE"])),
                may(
                    "methods",
                    Kind::List(
                        &Kind::Object(&[
                            must("type", Kind::OneOf(&["REVOKE_FROM_PENDING", "REVOKE_FROM_BALANCE"])),
                            may("mode", Kind::OneOf(&["REVOKE_TO_ZERO", "REVOKE_BELOW_ZERO"])),
                        ]),
                        0,
                        1
                    )
                ),
            ])
        )
        .says("Of points that were earned with it"),
    ]
);

const PAY: Kind = shape!(
    "PayWithPoints",
    "Whether orders can be paid with points",
    &[
        may("type", Kind::OneOf(&["NO_PAYMENTS", "EXCHANGE_RATIO"])),
        may(
            "exchange_ratio",
            Kind::Object(&[must("formula", Kind::Either(&[Kind::Name(2_000), Kind::Number(-INT_MAX, INT_MAX)]))
                .says("A formula for what a point is worth")])
        ),
    ]
);

/// The sections that may be left out.
pub const SECTIONS: &[Field] = &[
    may("code_config", CODE_CONFIG),
    may("points_expiration", EXPIRATION),
    may("pending_points", PENDING).says("How long points wait before they can be spent"),
    may("earning_limits", EARNING_LIMITS),
    may("spending_limits", SPENDING_LIMITS),
    may("refunds", REFUNDS),
    may("balance_settings", Kind::Object(&[must("allow_negative", Kind::Bool)])),
    may("pay_with_points", PAY),
    may("metadata", Kind::Map),
];

/// A card definition.
pub const CARD_DEFINITION: Kind = shape!(
    "CardDefinition",
    "What the cards of a loyalty program are like",
    fields_of!(
        &[
            must("id", KEY),
            must("name", NAME),
            must("type", Kind::OneOf(&["INDIVIDUAL"])),
            must("status", Kind::OneOf(&["DRAFT", "ACTIVE", "DELETED"])),
        ],
        SECTIONS,
        &[
            must("created_at", Kind::DateTime),
            must("updated_at", Kind::DateTime).or_null(),
            object(&["card_definition"])
        ],
    )
);

const LIMITED: &[(&str, &[&str])] = &[("NO_LIMIT", &[]), ("LIMITED", &["limits"])];
const REFUNDED: &[(&str, &[&str])] = &[("NONE", &[]), ("REFUNDABLE", &["methods"])];

/// Which blocks belong together.
pub const CHOICES: &[Choice] = &[
    choice("points_expiration", "type", EXPIRATIONS),
    choice("points_expiration.rolling_expiration.rounding", "type", ROUNDINGS),
    choice(
        "pending_points",
        "type",
        &[
            ("IMMEDIATE", &[]),
            ("PERIOD_BASED", &["period_based"]),
            ("FIXED_DATES", &["fixed_dates"]),
            ("EVENT_BASED", &["event_based"]),
        ],
    ),
    choice("earning_limits.global", "type", LIMITED),
    choice(
        "earning_limits.global.limits[]",
        "type",
        &[("BALANCE_BASED", &["max"]), ("TIME_BASED", &["period", "points"])],
    ),
    choice("earning_limits.global.limits[].period", "type", PERIODS),
    choice("earning_limits.transactions", "type", LIMITED),
    choice("earning_limits.transactions.limits[]", "type", &[("POINTS", &["max"]), ("SPENDING", &["min_amount"])]),
    choice("spending_limits.global", "type", LIMITED),
    choice(
        "spending_limits.global.limits[]",
        "type",
        &[("SPENDING_BASED", &["max"]), ("TIME_BASED", &["period", "points"])],
    ),
    choice("spending_limits.global.limits[].period", "type", PERIODS),
    choice("spending_limits.transactions", "type", LIMITED),
    choice("refunds.spent_points", "type", REFUNDED),
    choice("refunds.earned_points", "type", REFUNDED),
    choice(
        "refunds.earned_points.methods[]",
        "type",
        &[("REVOKE_FROM_PENDING", &[]), ("REVOKE_FROM_BALANCE", &["mode"])],
    ),
    choice("pay_with_points", "type", &[("NO_PAYMENTS", &[]), ("EXCHANGE_RATIO", &["exchange_ratio"])]),
];

/// What a card definition says where its author says nothing.
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
