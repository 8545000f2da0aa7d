//! Fields that several areas share, and the parameters that every list takes. It must not know any operation.

use crate::shape::{Field, INT_MAX, Kind, may, must};

/// A name or another key: long enough for any caller, short enough for an index.
pub const KEY: Kind = Kind::Name(1_000);

/// What is redeemable when, the same on campaigns and vouchers.
pub const VALIDITY_TIMEFRAME: Kind =
    Kind::Object(&[must("interval", Kind::Duration), must("duration", Kind::Duration)]);
/// 0 for Sunday to 6 for Saturday.
pub const VALIDITY_DAY_OF_WEEK: Kind = Kind::List(&Kind::Int(0, 6), 0, 7);
/// Hours of the day on some weekdays.
pub const VALIDITY_HOURS: Kind = Kind::Object(&[must(
    "daily",
    Kind::List(
        &Kind::Object(&[
            must("start_time", Kind::Clock),
            must("days_of_week", Kind::List(&Kind::Int(0, 6), 1, 7)),
            must("expiration_time", Kind::Clock),
        ]),
        1,
        100,
    ),
)]);

/// The effects of a discount, of any type.
const EFFECTS: Kind = Kind::OneOf(&[
    "APPLY_TO_ORDER",
    "APPLY_TO_ITEMS",
    "APPLY_TO_ITEMS_PROPORTIONALLY",
    "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY",
    "APPLY_TO_ITEMS_BY_QUANTITY",
]);

/// A discount of any type; what its type needs is checked apart.
pub const DISCOUNT: Kind = Kind::Object(&[
    must("type", Kind::OneOf(&["AMOUNT", "PERCENT"])),
    may("amount_off", Kind::Int(0, INT_MAX)),
    may("percent_off", Kind::Number(0, 100)),
    may("amount_limit", Kind::Int(0, INT_MAX)),
    may("aggregated_amount_limit", Kind::Int(0, INT_MAX)),
    may("amount_off_formula", Kind::Text),
    may("percent_off_formula", Kind::Text),
    may("is_dynamic", Kind::Bool),
    may("effect", EFFECTS),
]);

/// A gift card.
pub const GIFT: Kind = Kind::Object(&[
    must("amount", Kind::Int(0, INT_MAX)),
    may("balance", Kind::Int(0, INT_MAX)),
    may("effect", Kind::OneOf(&["APPLY_TO_ORDER", "APPLY_TO_ITEMS"])),
]);

/// How codes are made.
pub const CODE_CONFIG: Kind = Kind::Object(&[
    may("length", Kind::Int(1, 128)),
    may("charset", Kind::Name(1_000)),
    may("prefix", Kind::Text),
    may("postfix", Kind::Text),
    may("pattern", Kind::Name(500)),
    may("initial_count", Kind::Int(0, INT_MAX)),
]);

/// How often a voucher may be redeemed.
pub const REDEMPTION: Kind = Kind::Object(&[may("quantity", Kind::Int(1, INT_MAX))]);

/// The kinds of vouchers that can be made now.
pub const VOUCHER_TYPE: Kind = Kind::OneOf(&["DISCOUNT_VOUCHER", "GIFT_VOUCHER"]);

/// The fields of a customer; the same wherever one is sent.
pub const CUSTOMER: &[Field] = &[
    may("id", KEY),
    may("source_id", KEY),
    may("name", Kind::Text),
    may("description", Kind::Text),
    may("email", Kind::Text),
    may("phone", Kind::Text),
    may("birthday", Kind::Date),
    may("birthdate", Kind::Date),
    may("address", ADDRESS),
    may("metadata", Kind::Map),
];

/// An address.
pub const ADDRESS: Kind = Kind::Object(&[
    may("city", Kind::Text),
    may("state", Kind::Text),
    may("line_1", Kind::Text),
    may("line_2", Kind::Text),
    may("country", Kind::Text),
    may("postal_code", Kind::Text),
]);

/// A price of the catalogue, in minor units.
pub const PRICE: Kind = Kind::Int(0, INT_MAX);

/// What lists of the catalogue can be ordered by, as published.
pub const CATALOGUE_ORDER: Field = may(
    "order",
    Kind::OneOf(&[
        "created_at",
        "-created_at",
        "updated_at",
        "-updated_at",
        "type",
        "-type",
        "code",
        "-code",
        "campaign",
        "-campaign",
        "category",
        "-category",
    ]),
);
/// The parameters of a list of products or SKUs.
pub const CATALOGUE_LIST: &[Field] =
    &[LIMIT, PAGE, CATALOGUE_ORDER, may("start_date", Kind::DateTime), may("end_date", Kind::DateTime)];

/// `limit` of every list.
pub const LIMIT: Field = may("limit", Kind::Int(1, 100));
/// `page` of most lists.
pub const PAGE: Field = may("page", Kind::Int(1, 100));
/// `page` of the lists that end one earlier.
pub const PAGE_99: Field = may("page", Kind::Int(1, 99));
/// Before and after a moment.
pub const BEFORE_AFTER: Kind = Kind::Object(&[may("before", Kind::DateTime), may("after", Kind::DateTime)]);
