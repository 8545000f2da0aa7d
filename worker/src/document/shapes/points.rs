//! The shapes that documents about points share: when points lapse, how many are proportional to what, hours, limits, stock; and which
//! of their blocks belong together. It must not know what any of them does.

use crate::document::choice::{Choice, choice};
use crate::document::fields::KEY;
use scrip::shape;
use scrip::shape::{COUNT, Field, INT_MAX, Kind, may, must};

/// A name of a document of a loyalty program.
pub const NAME: Kind = Kind::Name(200);

/// Days, months or years.
pub const LONG_UNITS: Kind = Kind::OneOf(&["DAY", "MONTH", "YEAR"]);

/// A day of every year.
const YEARLY: Kind = Kind::Object(&[must("day", Kind::Int(1, 31)), must("month", Kind::Int(1, 12))]);

/// Days of every year.
pub const DATES: Kind = Kind::List(&YEARLY, 1, 20);

/// A length of days, months or years.
pub const PERIOD: Kind = shape!(
    "PointsPeriod",
    "A length of time",
    &[must("value", Kind::Int(1, 90)).says("How many"), must("unit", LONG_UNITS)]
);

/// The period that is running: a day, a week, ...
pub const CURRENT_PERIOD: Kind = shape!(
    "CurrentPeriod",
    "A period of the calendar that is running",
    &[
        may("type", Kind::OneOf(&["CURRENT_PERIOD"])),
        must(
            "current_period",
            Kind::Object(&[must("unit", Kind::OneOf(&["DAY", "WEEK", "MONTH", "QUARTER", "YEAR"]))])
        ),
    ]
);

/// When points lapse.
pub const EXPIRATION: Kind = shape!(
    "PointsExpiration",
    "When points lapse",
    &[
        may("type", Kind::OneOf(&["NO_EXPIRATION", "ROLLING_EXPIRATION", "CALENDAR_EXPIRATION", "SLIDING_EXPIRATION"])),
        may(
            "rolling_expiration",
            Kind::Object(&[
                must("period", PERIOD),
                may(
                    "rounding",
                    Kind::Object(&[
                        may(
                            "type",
                            Kind::OneOf(&[
                                "END_OF_MONTH",
                                "END_OF_QUARTER",
                                "END_OF_HALF_YEAR",
                                "END_OF_YEAR",
                                "END_OF_PARTICULAR_MONTH",
                            ])
                        ),
                        may("value", Kind::Int(1, 12)).says("The month, 1 for January"),
                    ])
                )
                .says("To the end of what it is put off"),
            ])
        ),
        may("calendar_expiration", Kind::Object(&[must("expiration_dates", DATES)])),
        may(
            "sliding_expiration",
            Kind::Object(&[
                may("earning_activity", Kind::Bool),
                may("spending_activity", Kind::Bool),
                may("custom_activity", Kind::Bool),
                may("custom_activity_types", Kind::List(&KEY, 0, 10)),
                must("period", PERIOD),
            ])
        ),
    ]
);

/// Which block comes with which way of lapsing.
pub const EXPIRATIONS: &[(&str, &[&str])] = &[
    ("NO_EXPIRATION", &[]),
    ("ROLLING_EXPIRATION", &["rolling_expiration"]),
    ("CALENDAR_EXPIRATION", &["calendar_expiration"]),
    ("SLIDING_EXPIRATION", &["sliding_expiration"]),
];

/// The month alone has a value.
pub const ROUNDINGS: &[(&str, &[&str])] = &[
    ("END_OF_MONTH", &[]),
    ("END_OF_QUARTER", &[]),
    ("END_OF_HALF_YEAR", &[]),
    ("END_OF_YEAR", &[]),
    ("END_OF_PARTICULAR_MONTH", &["value"]),
];

/// A period of the calendar says its unit.
pub const PERIODS: &[(&str, &[&str])] = &[("CURRENT_PERIOD", &["current_period"])];

/// So many points for every so many of something.
const EVERY: Field = must("every", Kind::Int(1, INT_MAX));
const VALUE: Field = must("value", Kind::Number(0, INT_MAX)).says("So many points");
const AMOUNT: Kind = Kind::Object(&[EVERY, VALUE]);
const METADATA: Kind = Kind::Object(&[must("property", KEY), EVERY, VALUE]);
const NAMED: Kind = Kind::Object(&[must("id", KEY)]);
const GOODS: Kind = Kind::Object(&[
    EVERY,
    VALUE,
    must(
        "applicable_to",
        Kind::List(
            &Kind::Object(&[
                may("type", Kind::OneOf(&["product", "sku", "products_collection"])),
                may("product", NAMED),
                may("sku", NAMED),
                may("products_collection", NAMED),
            ]),
            1,
            1_000,
        ),
    ),
]);

/// Points that are proportional to something, without when they lapse.
pub const PROPORTIONAL: &[Field] = &[
    may(
        "calculation_type",
        Kind::OneOf(&[
            "PRE_DISCOUNT_ORDER_AMOUNT",
            "POST_DISCOUNT_ORDER_AMOUNT",
            "PRE_DISCOUNT_ORDER_ITEMS_AMOUNT",
            "POST_DISCOUNT_ORDER_ITEMS_AMOUNT",
            "ORDER_ITEMS_QUANTITY",
            "ORDER_METADATA_VALUE",
            "CUSTOMER_METADATA_VALUE",
            "CUSTOM_EVENT_METADATA_VALUE",
        ]),
    ),
    must("card_definition_id", KEY),
    may(
        "order",
        Kind::Object(&[
            may("amount", AMOUNT).says("Of its amount before discounts"),
            may("total_amount", AMOUNT).says("Of what is to pay"),
            may("metadata", METADATA).says("Of a number of its custom data"),
        ]),
    )
    .says("Of the order"),
    may("customer", Kind::Object(&[may("metadata", METADATA).says("Of a number of the custom data")]))
        .says("Of the customer"),
    may("custom_event", Kind::Object(&[may("metadata", METADATA).says("Of a number of the custom data")]))
        .says("Of the event"),
    may(
        "order_items",
        Kind::Object(&[
            may("amount", GOODS).says("Of what they cost"),
            may("subtotal_amount", GOODS).says("Of what is to pay for them"),
            may("quantity", GOODS).says("Of how many they are"),
        ]),
    ),
];

/// What each calculation is of.
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

/// What goods are named as.
pub const GOODS_NAMES: &[(&str, &[&str])] =
    &[("product", &["product"]), ("sku", &["sku"]), ("products_collection", &["products_collection"])];

/// Hours of the day on some weekdays.
const DAILY: Kind = Kind::List(
    &Kind::Object(&[
        must("days_of_week", Kind::List(&Kind::Int(0, 6), 1, 7)),
        must("start_time", Kind::Clock),
        must("end_time", Kind::Clock).says("Until this time of the day"),
    ]),
    1,
    100,
);

/// The hours in which it holds. The later form has a type, the older none.
pub const HOURS: Kind = shape!(
    "LoyaltyHours",
    "The hours in which it holds",
    &[may("type", Kind::OneOf(&["ANY_TIME", "DAILY"])), may("daily", DAILY)]
);

/// Hours that are told, or any time.
pub const HOURS_CHOICE: Choice = choice("validity_hours", "type", &[("ANY_TIME", &[]), ("DAILY", &["daily"])]);

/// A stock of something.
pub const STOCK: Kind = shape!(
    "LoyaltyStock",
    "How many there are",
    &[
        may("type", Kind::OneOf(&["UNLIMITED", "LIMITED"])),
        may("limited", Kind::Object(&[must("quantity", COUNT)])).says("How many, where they are limited"),
    ]
);

/// A stock that is limited has a quantity.
pub const STOCKS: &[(&str, &[&str])] = &[("UNLIMITED", &[]), ("LIMITED", &["limited"])];
