//! The shape of the earning rules of a campaign, and the blocks that belong together.

use crate::documents::common_fields::{KEY, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME};
use crate::documents::tagged_blocks::{TaggedBlock, tagged_block};
use scrip::shape::{Field, FieldType, INT_MAX, may, must, object};
use scrip::wire::voucher::EXPIRATION_RULES;
use scrip::{fields_of, shape};

/// Type of event names.
const NAME: FieldType = FieldType::Name(300);

const FORMULA: Field =
    may("points_formula", FieldType::Name(2_000))
        .description("Formula for the number of points, per step if the points are proportional. Takes precedence over `points` if the result is a number.");

const STEP: &[Field] = &[
    must("every", FieldType::Int(1, INT_MAX))
        .description("Size of one step: minor units of an amount, units of a quantity, or the unit of the metadata value. Only whole steps count."),
    must("points", FieldType::Int(0, INT_MAX)).description("Number of points per step."),
    FORMULA,
];
const GOODS: FieldType = FieldType::OneOf(&["products_collection", "product", "sku"]);

/// Points for every step of a number.
const OF_NUMBER: FieldType = FieldType::Object(STEP);
/// Points for every step of a number in metadata.
const OF_DATA: FieldType = FieldType::Object(fields_of!(
    STEP,
    &[must("property", KEY)
        .description("Key of the metadata property with the number. Dots lead into nested objects.")]
));
/// Points for some lines of an order.
const OF_LINES: FieldType = FieldType::Object(fields_of!(
    STEP,
    &[
        may("object", GOODS).description(
            "Type of the goods that count. Required together with `id`, unless `applicable_to` lists goods."
        ),
        may("id", KEY).description(
            "ID of the goods that count. Required together with `object`, unless `applicable_to` lists goods."
        ),
        may(
            "applicable_to",
            FieldType::List(
                &FieldType::Object(&[
                    must("object", GOODS).description("Type of the goods."),
                    must("id", KEY).description("ID of the product, SKU or collection."),
                ]),
                0,
                100,
            ),
        )
        .description("Goods that count, in addition to those of `object` and `id`. An order item counts once."),
    ]
));

/// Number of points, and the amount that they are proportional to.
const HOW_MANY: &[Field] = &[
    may("points", FieldType::Int(1, INT_MAX)).description("Number of points of type `FIXED`."),
    FORMULA,
    may("calculation_type", FieldType::OneOf(CALCULATION_TYPES))
        .description("Value to which points of type `PROPORTIONAL` are proportional. Determines which block of settings is present, and must suit the event."),
    may(
        "order",
        FieldType::Object(&[
            may("amount", OF_NUMBER).description("Points by the amount of the order before discounts."),
            may("total_amount", OF_NUMBER).description("Points by the amount of the order after discounts."),
            may("metadata", OF_DATA).description("Points by a number in the metadata of the order."),
        ]),
    )
    .description("Settings for points that are proportional to the order."),
    may(
        "order_items",
        FieldType::Object(&[
            may("quantity", OF_LINES).description("Points by the quantity of the items."),
            may("amount", OF_LINES).description("Points by the amount of the items before discounts."),
            may("subtotal_amount", OF_LINES).description("Points by the amount of the items after discounts."),
        ]),
    )
    .description("Settings for points that are proportional to some order items."),
    may("customer", FieldType::Object(&[must("metadata", OF_DATA).description("Points by a number in the metadata of the customer.")]))
        .description("Settings for points that are proportional to a value of the customer."),
    may("custom_event", FieldType::Object(&[must("metadata", OF_DATA).description("Points by a number in the metadata of the custom event.")]))
        .description("Settings for points that are proportional to a value of the custom event."),
];

/// Earned points.
pub const POINTS: FieldType = shape!(
    "CampaignPoints",
    "Number of points that an earning rule grants, fixed or proportional.",
    fields_of!(
        &[must("type", FieldType::OneOf(POINTS_TYPES))
            .description("Type of the calculation: a fixed number, or a number proportional to a value.")],
        HOW_MANY
    )
);
/// Changed points of an existing rule.
const POINTS_CHANGED: FieldType = FieldType::Object(fields_of!(
    &[may("type", FieldType::OneOf(POINTS_TYPES))
        .description("Type of the calculation. Default: the present type of the rule.")],
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

/// Blocks by type.
pub const TYPES: &[TaggedBlock] =
    &[tagged_block("loyalty", "type", &[("FIXED", &["points"]), ("PROPORTIONAL", &["calculation_type"])])];
/// Blocks by calculation.
pub const CALCULATIONS: &[TaggedBlock] = &[tagged_block(
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
    FieldType::Object(&[
        must("period_type", FieldType::OneOf(&["DAY"])).description("Unit of the period. Always `DAY`."),
        must("period_value", FieldType::Int(1, 90)).description("Number of days for which points stay pending."),
    ]),
)
.description("Period for which earned points stay pending. Allowed for the event `order.paid` only; absent means that points can be spent at once.");

const EXPIRATION: Field = EXPIRATION_RULES
    .description("Expiration of the points that the rule grants. Absent means the expiration rules of the campaign.");

/// Fields of a change of a rule.
pub const CHANGES: &[Field] = fields_of!(
    &[may("loyalty", POINTS_CHANGED)
        .description("Number of points that the rule grants. Replaces the present setting.")],
    TERMS
);

/// Fields of a new rule that may change later.
const TERMS: &[Field] = &[
    may("validation_rule_id", KEY).description(
        "ID of the validation rule that an event must satisfy. In a change, `null` removes the assignment.",
    ),
    may("source", FieldType::Object(&[may("banner", FieldType::Text).description("Text of the rule for customers.")]))
        .description("Presentation of the rule."),
    may("active", FieldType::Bool)
        .description("`true` if events earn points by the rule. Default for a new rule: `true`."),
    may("start_date", FieldType::DateTime)
        .description("Moment from which events earn points by the rule, in UTC. Absent means no start."),
    may("expiration_date", FieldType::DateTime)
        .description("Moment after which events no longer earn points by the rule, in UTC. Absent means no end."),
    PENDING,
    EXPIRATION,
    TIMEFRAME,
    DAY_OF_WEEK,
    HOURS,
    may("metadata", FieldType::Map),
];

const TIMEFRAME: Field = may("validity_timeframe", VALIDITY_TIMEFRAME).description(
    "Recurring windows in which events earn points by the rule, counted from `start_date`, which is then required.",
);
const DAY_OF_WEEK: Field = may("validity_day_of_week", VALIDITY_DAY_OF_WEEK).description(
    "Weekdays on which events earn points by the rule, from 0 for Sunday to 6 for Saturday. Absent means every day.",
);
const HOURS: Field = may("validity_hours", VALIDITY_HOURS).description("Hours of the day in which events earn points by the rule. Cannot be combined with `validity_timeframe` or `validity_day_of_week`.");

const SEGMENT: FieldType = FieldType::Object(&[must("id", KEY)]);
const EVENT: FieldType = FieldType::Object(&[must("schema_id", KEY).description("ID of the event schema.")]);

/// Fields of a new rule.
pub const CREATE: &[Field] = fields_of!(
    TERMS,
    &[
        may("loyalty", POINTS).description("Number of points that the rule grants. Required."),
        may("event", NAME)
            .description("Event that earns points: `order.paid`, `customer.segment.entered`, or the name of a custom event. Required unless `custom_event` names the event."),
        may("segment", SEGMENT)
            .description("Segment that a customer must enter. Required by `customer.segment.entered`, refused otherwise."),
        may("custom_event", EVENT)
            .description("Schema of the custom event. Default: the schema with the name of the event."),
    ]
);

/// An earning rule of a campaign.
pub const CAMPAIGN_RULE: FieldType = shape!(
    "CampaignEarningRule",
    "Earning rule of a loyalty campaign: the event that earns points, and their number.",
    &[
        must("id", KEY),
        must("event", NAME).description(
            "Event that earns points: `order.paid`, `customer.segment.entered`, or the name of a custom event."
        ),
        may("segment", SEGMENT)
            .description("Segment that a customer must enter. Present only for `customer.segment.entered`."),
        may("custom_event", EVENT).description("Schema of the custom event. Present only for custom events."),
        must("loyalty", POINTS).description("Number of points that the rule grants."),
        must(
            "source",
            FieldType::Object(&[
                may("banner", FieldType::Text).description("Text of the rule for customers."),
                must("object_id", KEY).description("ID of the campaign of the rule."),
                must("object_type", FieldType::OneOf(&["campaign"]))
                    .description("Type of the owner of the rule. Always `campaign`."),
            ]),
        )
        .description("Presentation of the rule, and its campaign."),
        must("validation_rule_id", KEY)
            .or_null()
            .description("ID of the validation rule that an event must satisfy. `null` if the rule has none."),
        must("automation_id", KEY)
            .description("Identifier for compatibility with earlier clients. No operation uses the value."),
        must("active", FieldType::Bool).description("`true` if events earn points by the rule."),
        may("start_date", FieldType::DateTime)
            .description("Moment from which events earn points by the rule, in UTC. Absent means no start."),
        may("expiration_date", FieldType::DateTime)
            .description("Moment after which events no longer earn points by the rule, in UTC. Absent means no end."),
        PENDING,
        EXPIRATION,
        TIMEFRAME,
        DAY_OF_WEEK,
        HOURS,
        must("metadata", FieldType::Map),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["earning_rule"]),
    ]
);

/// Points that an order would earn.
pub const ESTIMATE: FieldType = shape!(
    "PointsEstimation",
    "Estimate of the points that an order would earn in a loyalty campaign.",
    &[
        must(
            "campaign",
            FieldType::Object(&[
                must("id", KEY),
                must("name", KEY).description("Name of the campaign."),
                object(&["campaign"]),
            ]),
        )
        .description("Loyalty campaign of the estimate."),
        must("points_estimation", FieldType::Int(0, INT_MAX))
            .description("Number of points that the order would earn by all rules, after the changes of the tier."),
    ]
);
