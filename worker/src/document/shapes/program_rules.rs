//! The shape of the earning rules of a campaign, and which of its blocks belong together. It must not know what earns.

use crate::document::choice::{Choice, choice};
use crate::document::fields::{KEY, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME};
use scrip::shape::{Field, INT_MAX, Kind, may, must, object};
use scrip::wire::voucher::EXPIRATION_RULES;
use scrip::{fields_of, shape};

/// The name of what happens.
const NAME: Kind = Kind::Name(300);

const FORMULA: Field = may("points_formula", Kind::Name(2_000)).says("How many instead, where it comes to a number");

const STEP: &[Field] = &[
    must("every", Kind::Int(1, INT_MAX)).says("For every whole one of so many"),
    must("points", Kind::Int(0, INT_MAX)).says("So many points"),
    FORMULA,
];
const GOODS: Kind = Kind::OneOf(&["products_collection", "product", "sku"]);

/// Points for every so many of a number.
const OF_NUMBER: Kind = Kind::Object(STEP);
/// Of a number of custom data.
const OF_DATA: Kind = Kind::Object(fields_of!(STEP, &[must("property", KEY).says("The name of the number")]));
/// Of some lines of an order.
const OF_LINES: Kind = Kind::Object(fields_of!(
    STEP,
    &[
        may("object", GOODS).says("What kind of goods count"),
        may("id", KEY),
        may("applicable_to", Kind::List(&Kind::Object(&[must("object", GOODS), must("id", KEY)]), 0, 100))
            .says("The goods that count, where there are several"),
    ]
));

/// How many points, and of what.
const HOW_MANY: &[Field] = &[
    may("points", Kind::Int(1, INT_MAX)).says("How many"),
    FORMULA,
    may("calculation_type", Kind::OneOf(CALCULATION_TYPES)).says("To what they are proportional"),
    may(
        "order",
        Kind::Object(&[
            may("amount", OF_NUMBER).says("Of the amount before discounts"),
            may("total_amount", OF_NUMBER).says("Of what is paid"),
            may("metadata", OF_DATA).says("Of a number of its custom data"),
        ]),
    )
    .says("In proportion to the order"),
    may(
        "order_items",
        Kind::Object(&[
            may("quantity", OF_LINES).says("Of how many pieces there are"),
            may("amount", OF_LINES).says("Of their amount before discounts"),
            may("subtotal_amount", OF_LINES).says("Of what is paid for them"),
        ]),
    )
    .says("In proportion to some of its lines"),
    may("customer", Kind::Object(&[must("metadata", OF_DATA).says("Of a number of their custom data")]))
        .says("In proportion to the customer"),
    may("custom_event", Kind::Object(&[must("metadata", OF_DATA).says("Of a number of its custom data")]))
        .says("In proportion to the event"),
];

/// What is earned.
pub const POINTS: Kind = shape!(
    "CampaignPoints",
    "Points that are earned",
    fields_of!(&[must("type", Kind::OneOf(POINTS_TYPES))], HOW_MANY)
);
/// The same where a rule has points already.
const POINTS_CHANGED: Kind = Kind::Object(fields_of!(
    &[may("type", Kind::OneOf(POINTS_TYPES)).says("That of the rule where it is left out")],
    HOW_MANY
));
const POINTS_TYPES: &[&str] = &["FIXED", "PROPORTIONAL"];

const CALCULATION_TYPES: &[&str] = &[
    "ORDER_AMOUNT",
    "ORDER_TOTAL_AMOUNT",
    "ORDER_METADATA",
    "ORDER_ITEMS_QUANTITY",
    "ORDER_ITEMS_AMOUNT",
    "ORDER_ITEMS_SUBTOTAL_AMOUNT",
    "CUSTOMER_METADATA",
    "CUSTOM_EVENT_METADATA",
];

/// Which block comes with which type.
pub const TYPES: &[Choice] =
    &[choice("loyalty", "type", &[("FIXED", &["points"]), ("PROPORTIONAL", &["calculation_type"])])];
/// Which block comes with which calculation.
pub const CALCULATIONS: &[Choice] = &[choice(
    "loyalty",
    "calculation_type",
    &[
        ("ORDER_AMOUNT", &["order.amount"]),
        ("ORDER_TOTAL_AMOUNT", &["order.total_amount"]),
        ("ORDER_METADATA", &["order.metadata"]),
        ("ORDER_ITEMS_QUANTITY", &["order_items.quantity"]),
        ("ORDER_ITEMS_AMOUNT", &["order_items.amount"]),
        ("ORDER_ITEMS_SUBTOTAL_AMOUNT", &["order_items.subtotal_amount"]),
        ("CUSTOMER_METADATA", &["customer.metadata"]),
        ("CUSTOM_EVENT_METADATA", &["custom_event.metadata"]),
    ],
)];

const PENDING: Field = may(
    "pending_points",
    Kind::Object(&[
        must("period_type", Kind::OneOf(&["DAY"])).says("What is counted"),
        must("period_value", Kind::Int(1, 90)).says("How many days"),
    ]),
)
.says("How long points wait before they can be spent");

/// What a rule may change.
pub const CHANGES: &[Field] = fields_of!(&[may("loyalty", POINTS_CHANGED).says("What is earned")], TERMS);

/// What a rule says at its beginning and may change later.
const TERMS: &[Field] = &[
    may("validation_rule_id", KEY).says("The validation rule that must hold"),
    may("source", Kind::Object(&[may("banner", Kind::Text).says("What people are told of it")]))
        .says("Where it stands"),
    may("active", Kind::Bool),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    PENDING,
    EXPIRATION_RULES,
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("metadata", Kind::Map),
];

const SEGMENT: Kind = Kind::Object(&[must("id", KEY)]);
const EVENT: Kind = Kind::Object(&[must("schema_id", KEY)]);

/// What a rule says at its beginning.
pub const CREATE: &[Field] = fields_of!(
    TERMS,
    &[
        may("loyalty", POINTS).says("What is earned"),
        may("event", NAME)
            .says("What happens: `order.paid`, `customer.segment.entered`, or the name of a custom event"),
        may("segment", SEGMENT).says("Which segment"),
        may("custom_event", EVENT).says("Which event"),
    ]
);

/// An earning rule of a campaign.
pub const PROGRAM_RULE: Kind = shape!(
    "CampaignEarningRule",
    "What the members of a loyalty campaign earn points for",
    &[
        must("id", KEY),
        must("event", NAME).says("What happens"),
        may("segment", SEGMENT).says("Which segment"),
        may("custom_event", EVENT).says("Which event"),
        must("loyalty", POINTS).says("What is earned"),
        must(
            "source",
            Kind::Object(&[
                may("banner", Kind::Text).says("What people are told of it"),
                must("object_id", KEY).says("The id of the campaign"),
                must("object_type", Kind::OneOf(&["campaign"])).says("What it belongs to"),
            ]),
        )
        .says("Where it stands"),
        must("validation_rule_id", KEY).or_null().says("The validation rule that must hold"),
        must("automation_id", KEY).says("Kept for older clients"),
        must("active", Kind::Bool),
        may("start_date", Kind::DateTime),
        may("expiration_date", Kind::DateTime),
        PENDING,
        EXPIRATION_RULES,
        may("validity_timeframe", VALIDITY_TIMEFRAME),
        may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
        may("validity_hours", VALIDITY_HOURS),
        must("metadata", Kind::Map),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["earning_rule"]),
    ]
);

/// What an order would bring.
pub const ESTIMATE: Kind = shape!(
    "PointsEstimation",
    "How many points an order would bring in a loyalty campaign",
    &[
        must("campaign", Kind::Object(&[must("id", KEY), must("name", KEY), object(&["campaign"])]))
            .says("The campaign"),
        must("points_estimation", Kind::Int(0, INT_MAX)).says("How many points"),
    ]
);
