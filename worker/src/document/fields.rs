//! Fields that several areas share, and the parameters that every list takes. It must not know any operation.

use crate::http::shape::{Field, INT_MAX, Kind, may, must};

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
    "ADD_MISSING_ITEMS",
    "ADD_NEW_ITEMS",
    "ADD_SAME_ITEMS",
    "ADD_MANY_ITEMS",
    "REPLACE_ITEMS",
]);

const UNIT_PRODUCT: Kind = Kind::Object(&[may("id", KEY), may("source_id", KEY), may("name", Kind::Text)]);
const UNIT_SKU: Kind =
    Kind::Object(&[may("id", KEY), may("source_id", KEY), may("sku", Kind::Text), may("name", Kind::Text)]);

/// One of many units that a discount adds.
const UNIT: Kind = Kind::Object(&[
    may("unit_off", Kind::Int(0, INT_MAX)),
    may("unit_off_formula", Kind::Text),
    must("unit_type", KEY),
    must("effect", Kind::OneOf(&["ADD_NEW_ITEMS", "ADD_MISSING_ITEMS"])),
    may("product", UNIT_PRODUCT),
    may("sku", UNIT_SKU),
]);

/// A discount of any type (endpoints.md section 1, shape S7); what its type needs is checked apart.
pub const DISCOUNT: Kind = Kind::Object(&[
    must("type", Kind::OneOf(&["AMOUNT", "PERCENT", "FIXED", "UNIT"])),
    may("amount_off", Kind::Int(0, INT_MAX)),
    may("amount_off_formula", Kind::Text),
    may("percent_off", Kind::Number(0, 100)),
    may("percent_off_formula", Kind::Text),
    may("fixed_amount", Kind::Int(0, INT_MAX)),
    may("fixed_amount_formula", Kind::Text),
    may("amount_limit", Kind::Int(0, INT_MAX)),
    may("aggregated_amount_limit", Kind::Int(0, INT_MAX)),
    may("unit_off", Kind::Int(0, INT_MAX)),
    may("unit_off_formula", Kind::Text),
    may("unit_type", KEY),
    may("product", UNIT_PRODUCT),
    may("sku", UNIT_SKU),
    may("units", Kind::List(&UNIT, 1, 100)),
    may("is_dynamic", Kind::Bool),
    may("effect", EFFECTS),
]);

/// A gift card.
pub const GIFT: Kind = Kind::Object(&[
    must("amount", Kind::Int(0, INT_MAX)),
    may("balance", Kind::Int(0, INT_MAX)),
    may("subtracted_amount", Kind::Int(0, INT_MAX)),
    may("effect", Kind::OneOf(&["APPLY_TO_ORDER", "APPLY_TO_ITEMS"])),
]);

/// When points of a program expire.
const EXPIRATION_RULES: Field = may(
    "expiration_rules",
    Kind::Object(&[
        must("period_type", Kind::OneOf(&["FIXED_DAY_OF_YEAR", "MONTH"])),
        may("period_value", Kind::Int(1, 1_000)),
        may(
            "rounding_type",
            Kind::OneOf(&["END_OF_MONTH", "END_OF_QUARTER", "END_OF_HALF_YEAR", "END_OF_YEAR", "PARTICULAR_MONTH"]),
        ),
        may("rounding_value", Kind::Int(1, 12)),
        may("fixed_month", Kind::Int(1, 12)),
        may("fixed_day", Kind::Int(1, 31)),
    ]),
);

/// The loyalty card that a program gives.
pub const LOYALTY_CARD: Kind =
    Kind::Object(&[must("points", Kind::Int(0, INT_MAX)), may("balance", Kind::Int(0, INT_MAX)), EXPIRATION_RULES]);

/// A loyalty card that comes with what has already happened to it.
pub const OWN_CARD: Kind = Kind::Object(&[
    must("points", Kind::Int(0, INT_MAX)),
    may("balance", Kind::Int(0, INT_MAX)),
    may("subtracted_points", Kind::Int(0, INT_MAX)),
    may("expired_points", Kind::Int(0, INT_MAX)),
    may("pending_points", Kind::Int(0, INT_MAX)),
    may("next_expiration_date", Kind::Date),
    may("next_expiration_points", Kind::Int(0, INT_MAX)),
    EXPIRATION_RULES,
]);

/// The types of vouchers.
pub const VOUCHER_TYPE: Kind = Kind::OneOf(&["DISCOUNT_VOUCHER", "GIFT_VOUCHER", "LOYALTY_CARD"]);

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

/// The same metadata for many; a call that names none changes none.
pub const BULK_METADATA: &[Field] = &[may("source_ids", Kind::List(&KEY, 0, 20_000)), may("metadata", Kind::Map)];

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

/// When the recurring windows of a document begin, for filters; nothing where it has none.
pub const TIMEFRAME: &str =
    "CASE WHEN json_extract(body, '$.validity_timeframe') IS NOT NULL THEN json_extract(body, '$.start_date') END";
/// The weekdays of a document, for filters.
pub const DAYS: &str = "each json_extract(body, '$.validity_day_of_week')";

/// `limit` of every list.
pub const LIMIT: Field = may("limit", Kind::Int(1, 100));
/// `page` of most lists.
pub const PAGE: Field = may("page", Kind::Int(1, 100));
/// `page` of the lists that end one earlier.
pub const PAGE_99: Field = may("page", Kind::Int(1, 99));
/// Before and after a moment.
pub const BEFORE_AFTER: Kind = Kind::Object(&[may("before", Kind::DateTime), may("after", Kind::DateTime)]);
