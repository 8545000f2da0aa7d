//! Fields that several areas share, and the parameters that every list takes. It must not know any operation.

use crate::http::listing::{BY_AGE_ASKED, CURSOR_ASKED};
use crate::http::shape::{Field, INT_MAX, Kind, may};

pub use scrip::shape::KEY;
pub use scrip::wire::customer::ADDRESS;
pub use scrip::wire::offer::{DISCOUNT, GIFT};
pub use scrip::wire::voucher::{
    CARD as LOYALTY_CARD, DAYS_OF_WEEK as VALIDITY_DAY_OF_WEEK, HOURS as VALIDITY_HOURS, OWN_CARD, REDEMPTION,
    TIMEFRAME as VALIDITY_TIMEFRAME, VOUCHER_TYPE,
};

/// How codes are made.
pub const CODE_CONFIG: Kind = Kind::Object(&[
    may("length", Kind::Int(1, 128)),
    may("charset", Kind::Name(1_000)),
    may("prefix", Kind::Text),
    may("postfix", Kind::Text),
    may("pattern", Kind::Name(500)),
    may("initial_count", Kind::Int(0, INT_MAX)),
]);

/// The fields of a customer; the same wherever one is sent.
pub const CUSTOMER: &[Field] = scrip::wire::customer::CUSTOMER.fields();

/// A customer inside another body.
pub const BUYER: Kind = Kind::Named(&scrip::wire::customer::CUSTOMER);

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
/// What a list by age takes that is gone through by cursors.
pub const LISTED_BY_AGE: &[Field] = &[LIMIT, BY_AGE_ASKED, may("filters", Kind::Map), CURSOR_ASKED];
/// Before and after a moment.
pub const BEFORE_AFTER: Kind = Kind::Object(&[may("before", Kind::DateTime), may("after", Kind::DateTime)]);
