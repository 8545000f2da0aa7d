//! The shapes that documents about points share: expiration, calculations, hours, limits, stock; and the blocks of them that
//! belong together.

use crate::documents::common_fields::KEY;
use crate::documents::tagged_blocks::{TaggedBlock, tagged_block};
use scrip::shape;
use scrip::shape::{COUNT, Field, FieldType, INT_MAX, may, must};

/// A name of a document of a loyalty program.
pub const NAME: FieldType = FieldType::Name(200);

/// Days, months or years.
pub const LONG_UNITS: FieldType = FieldType::OneOf(&["DAY", "MONTH", "YEAR"]);

/// A day of every year.
const YEARLY: FieldType = FieldType::Object(&[
    must("day", FieldType::Int(1, 31))
        .description("Day of the month. A day beyond the end of the month means its last day."),
    must("month", FieldType::Int(1, 12)).description("Month of the year, 1 for January."),
]);

/// Days of every year.
pub const DATES: FieldType = FieldType::List(&YEARLY, 1, 20);

/// A length of days, months or years.
pub const PERIOD: FieldType = shape!(
    "PointsPeriod",
    "Length of time in calendar units.",
    &[
        must("value", FieldType::Int(1, 90)).description("Number of units in the period."),
        must("unit", LONG_UNITS).description("Calendar unit of the period.")
    ]
);

/// Current period: a day, a week, ...
pub const CURRENT_PERIOD: FieldType = shape!(
    "CurrentPeriod",
    "Current calendar period, in the project's time zone.",
    &[
        may("type", FieldType::OneOf(&["CURRENT_PERIOD"])).description("Type of the period. Always `CURRENT_PERIOD`."),
        must(
            "current_period",
            FieldType::Object(&[must("unit", FieldType::OneOf(&["DAY", "WEEK", "MONTH", "QUARTER", "YEAR"]))
                .description("Calendar unit of the period. Counting restarts with each new unit.")])
        )
        .description("Settings of the current period."),
    ]
);

/// Expiration of points.
pub const EXPIRATION: FieldType = shape!(
    "PointsExpiration",
    "Rule for the expiration of points. Points can be spent until the end of their last day, in the project's time zone.",
    &[
        may(
            "type",
            FieldType::OneOf(&["NO_EXPIRATION", "ROLLING_EXPIRATION", "CALENDAR_EXPIRATION", "SLIDING_EXPIRATION"])
        )
        .description("Type of the expiration. Determines which block of settings is present."),
        may(
            "rolling_expiration",
            FieldType::Object(&[
                must("period", PERIOD).description("Period from the day on which points arrive to their last day."),
                may(
                    "rounding",
                    FieldType::Object(&[
                        may(
                            "type",
                            FieldType::OneOf(&[
                                "END_OF_MONTH",
                                "END_OF_QUARTER",
                                "END_OF_HALF_YEAR",
                                "END_OF_YEAR",
                                "END_OF_PARTICULAR_MONTH",
                            ])
                        )
                        .description("Calendar unit whose end becomes the last day."),
                        may("value", FieldType::Int(1, 12))
                            .description("Month of `END_OF_PARTICULAR_MONTH`, 1 for January. Absent for other types."),
                    ])
                )
                .description("Extension of the last day to the end of a calendar unit. Absent means no extension."),
            ])
        )
        .description("Settings of `ROLLING_EXPIRATION`: points expire a fixed period after they arrive."),
        may(
            "calendar_expiration",
            FieldType::Object(&[must("expiration_dates", DATES)
                .description("Days of every year at whose end points expire. Points expire on the first that comes.")])
        )
        .description("Settings of `CALENDAR_EXPIRATION`: points expire on fixed days of every year."),
        may(
            "sliding_expiration",
            FieldType::Object(&[
                may("earning_activity", FieldType::Bool)
                    .description("`true` if earning points restarts the period. Pending points count as earned."),
                may("spending_activity", FieldType::Bool).description("`true` if spending points restarts the period."),
                may("custom_activity", FieldType::Bool)
                    .description("`true` if a custom event of the member restarts the period."),
                may("custom_activity_types", FieldType::List(&KEY, 0, 10)).description(
                    "IDs of the event schemas whose events restart the period. Absent means all custom events."
                ),
                must("period", PERIOD)
                    .description("Period from the day of the last activity to the last day of the points."),
            ])
        )
        .description("Settings of `SLIDING_EXPIRATION`: points expire after a period without activity."),
    ]
);

/// Blocks by type of expiration.
pub const EXPIRATIONS: &[(&str, &[&str])] = &[
    ("NO_EXPIRATION", &[]),
    ("ROLLING_EXPIRATION", &["rolling_expiration"]),
    ("CALENDAR_EXPIRATION", &["calendar_expiration"]),
    ("SLIDING_EXPIRATION", &["sliding_expiration"]),
];

/// Only the month has a value.
pub const ROUNDINGS: &[(&str, &[&str])] = &[
    ("END_OF_MONTH", &[]),
    ("END_OF_QUARTER", &[]),
    ("END_OF_HALF_YEAR", &[]),
    ("END_OF_YEAR", &[]),
    ("END_OF_PARTICULAR_MONTH", &["value"]),
];

/// Blocks of a period: a calendar period has a unit.
pub const PERIODS: &[(&str, &[&str])] = &[("CURRENT_PERIOD", &["current_period"])];

/// Step of a proportional calculation.
const EVERY: Field = must("every", FieldType::Int(1, INT_MAX)).description("Size of one step: minor units of an amount, units of a quantity, or the unit of the metadata value. Only whole steps count.");
const VALUE: Field = must("value", FieldType::Number(0, INT_MAX))
    .description("Number of points per step. The points of all steps together are rounded down.");
const AMOUNT: FieldType = FieldType::Object(&[EVERY, VALUE]);
const METADATA: FieldType = FieldType::Object(&[
    must("property", KEY).description("Key of the metadata property with the number. Dots lead into nested objects."),
    EVERY,
    VALUE,
]);
const NAMED: FieldType = FieldType::Object(&[must("id", KEY)]);
const GOODS: FieldType = FieldType::Object(&[
    EVERY,
    VALUE,
    must(
        "applicable_to",
        FieldType::List(
            &FieldType::Object(&[
                may("type", FieldType::OneOf(&["product", "sku", "products_collection"]))
                    .description("Type of the goods. Determines which of the other fields is present."),
                may("product", NAMED).description("Product that counts, with all its SKUs."),
                may("sku", NAMED).description("SKU that counts."),
                may("products_collection", NAMED).description("Collection whose products and SKUs count."),
            ]),
            1,
            1_000,
        ),
    )
    .description("Goods whose order items count. An item that several entries name counts once."),
]);

/// Proportional points, without their expiration.
pub const PROPORTIONAL: &[Field] = &[
    may(
        "calculation_type",
        FieldType::OneOf(&[
            "PRE_DISCOUNT_ORDER_AMOUNT",
            "POST_DISCOUNT_ORDER_AMOUNT",
            "PRE_DISCOUNT_ORDER_ITEMS_AMOUNT",
            "POST_DISCOUNT_ORDER_ITEMS_AMOUNT",
            "ORDER_ITEMS_QUANTITY",
            "ORDER_METADATA_VALUE",
            "CUSTOMER_METADATA_VALUE",
            "CUSTOM_EVENT_METADATA_VALUE",
        ]),
    )
    .description("Value to which the points are proportional. Determines which block of settings is present."),
    must("card_definition_id", KEY).description("ID of the card definition whose card receives the points."),
    may(
        "order",
        FieldType::Object(&[
            may("amount", AMOUNT).description("Points by the amount of the order before discounts."),
            may("total_amount", AMOUNT).description("Points by the amount of the order after discounts."),
            may("metadata", METADATA).description("Points by a number in the metadata of the order."),
        ]),
    )
    .description("Settings for points that are proportional to the order."),
    may(
        "customer",
        FieldType::Object(&[
            may("metadata", METADATA).description("Points by a number in the metadata of the customer.")
        ]),
    )
    .description("Settings for points that are proportional to a value of the customer."),
    may(
        "custom_event",
        FieldType::Object(&[
            may("metadata", METADATA).description("Points by a number in the metadata of the custom event.")
        ]),
    )
    .description("Settings for points that are proportional to a value of the custom event."),
    may(
        "order_items",
        FieldType::Object(&[
            may("amount", GOODS).description("Points by the amount of the items before discounts."),
            may("subtotal_amount", GOODS).description("Points by the amount of the items after discounts."),
            may("quantity", GOODS).description("Points by the quantity of the items."),
        ]),
    )
    .description("Settings for points that are proportional to some order items."),
];

/// Settings that belong to each calculation.
pub const CALCULATIONS: &[(&str, &[&str])] = &[
    ("PRE_DISCOUNT_ORDER_AMOUNT", &["order.amount"]),
    ("POST_DISCOUNT_ORDER_AMOUNT", &["order.total_amount"]),
    ("PRE_DISCOUNT_ORDER_ITEMS_AMOUNT", &["order_items.amount"]),
    ("POST_DISCOUNT_ORDER_ITEMS_AMOUNT", &["order_items.subtotal_amount"]),
    ("ORDER_ITEMS_QUANTITY", &["order_items.quantity"]),
    ("ORDER_METADATA_VALUE", &["order.metadata"]),
    ("CUSTOMER_METADATA_VALUE", &["customer.metadata"]),
    ("CUSTOM_EVENT_METADATA_VALUE", &["custom_event.metadata"]),
];

/// Members that name goods, by their kind.
pub const GOODS_NAMES: &[(&str, &[&str])] =
    &[("product", &["product"]), ("sku", &["sku"]), ("products_collection", &["products_collection"])];

/// Hours of the day on some weekdays.
const DAILY: FieldType = FieldType::List(
    &FieldType::Object(&[
        must("days_of_week", FieldType::List(&FieldType::Int(0, 6), 1, 7))
            .description("Weekdays of the period, from 0 for Sunday to 6 for Saturday."),
        must("start_time", FieldType::Clock).description("First minute of the period, in the project's time zone."),
        may("end_time", FieldType::Clock).or_null().description(
            "Last minute of the period, in the project's time zone. Absent or `null` means the end of the day.",
        ),
    ]),
    1,
    100,
);

/// Validity hours. The later form has a type, the older one has none.
pub const HOURS: FieldType = shape!(
    "LoyaltyHours",
    "Hours of the day in which a program, reward or earning rule is valid.",
    &[
        may("type", FieldType::OneOf(&["ANY_TIME", "DAILY"])).description(
            "Type of the hours: `ANY_TIME` means all hours, `DAILY` means the periods in `daily`. Absent means `DAILY`."
        ),
        may("daily", DAILY)
            .description("Periods of the day, each on some weekdays. Required unless the type is `ANY_TIME`."),
    ]
);

/// Validity hours that are set, or any time.
pub const HOURS_CHOICE: TaggedBlock =
    tagged_block("validity_hours", "type", &[("ANY_TIME", &[]), ("DAILY", &["daily"])]);

/// Stock of a reward or incentive.
pub const STOCK: FieldType = shape!(
    "LoyaltyStock",
    "Stock of a reward or incentive.",
    &[
        may("type", FieldType::OneOf(&["UNLIMITED", "LIMITED"]))
            .description("Type of the stock: without a limit, or a number of units."),
        may("limited", FieldType::Object(&[must("quantity", COUNT).description("Number of units in stock.")]))
            .description("Settings of a `LIMITED` stock."),
    ]
);

/// A limited stock has a quantity.
pub const STOCKS: &[(&str, &[&str])] = &[("UNLIMITED", &[]), ("LIMITED", &["limited"])];
