//! Fields that several areas share, and the parameters that every list takes.

use crate::http::list_options::{BY_AGE_PARAMETER, CURSOR_PARAMETER};
use crate::http::shape::{Field, FieldType, INT_MAX, may};

pub use scrip::shape::KEY;
pub use scrip::wire::customer::ADDRESS;
pub use scrip::wire::offer::{DISCOUNT, GIFT};
pub use scrip::wire::voucher::{
    CARD as LOYALTY_CARD, DAYS_OF_WEEK as VALIDITY_DAY_OF_WEEK, HOURS as VALIDITY_HOURS, OWN_CARD, REDEMPTION,
    TIMEFRAME as VALIDITY_TIMEFRAME, VOUCHER_TYPE,
};

/// Configuration of generated codes.
pub const CODE_CONFIG: FieldType = FieldType::Object(&[
    may("length", FieldType::Int(1, 128)).description("Number of random characters of each code, without prefix and postfix. Default 8; ignored when `pattern` is set."),
    may("charset", FieldType::Name(1_000)).description("Characters that are drawn from. Absent means the default of the project."),
    may("prefix", FieldType::Text).description("Text at the beginning of each code."),
    may("postfix", FieldType::Text).description("Text at the end of each code."),
    may("pattern", FieldType::Name(500)).description("Pattern of each code: every `#` becomes a random character, other characters stay."),
    may("initial_count", FieldType::Int(0, INT_MAX)).description("Number of codes at first. The value has no effect."),
]);

/// Fields of a customer in every request.
pub const CUSTOMER: &[Field] = scrip::wire::customer::CUSTOMER.fields();

/// A customer inside another body.
pub const CUSTOMER_OBJECT: FieldType = FieldType::Named(&scrip::wire::customer::CUSTOMER);

/// Metadata for many objects; a call without names changes none.
pub const BULK_METADATA: &[Field] = &[
    may("source_ids", FieldType::List(&KEY, 0, 20_000))
        .description("`source_id` of each object whose metadata changes. Absent or empty means no change."),
    may("metadata", FieldType::Map).description("Metadata that is merged into each object, by key."),
];

/// A price of the catalogue, in minor units.
pub const PRICE: FieldType = FieldType::Int(0, INT_MAX);

/// Orders of the lists of the catalogue, as published.
pub const CATALOGUE_ORDER: Field = may(
    "order",
    FieldType::OneOf(&[
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
)
.description("Sort order; a leading `-` means descending. Default `-created_at`.");
/// The parameters of a list of products or SKUs.
pub const CATALOGUE_LIST: &[Field] = &[
    LIMIT,
    PAGE,
    CATALOGUE_ORDER,
    may("start_date", FieldType::DateTime).description("Earliest creation of the listed objects, in UTC."),
    may("end_date", FieldType::DateTime).description("Latest creation of the listed objects, in UTC."),
];

pub use crate::store::document_list::column::{DAYS, TIMEFRAME};

/// `limit` of every list.
pub const LIMIT: Field =
    may("limit", FieldType::Int(1, 100)).description("Largest number of objects on a page. Default 10.");
/// `page` of most lists.
pub const PAGE: Field =
    may("page", FieldType::Int(1, 100)).description("Number of the page, counted from 1. Default 1.");
/// `page` of the lists with 99 pages.
pub const PAGE_99: Field =
    may("page", FieldType::Int(1, 99)).description("Number of the page, counted from 1. Default 1.");
/// Parameters of a cursor-based list that is ordered by age.
pub const LISTED_BY_AGE: &[Field] = &[
    LIMIT,
    BY_AGE_PARAMETER,
    may("filters", FieldType::Map).description(
        "Conditions by property of the listed objects, each by operator, and the `junction` between them.",
    ),
    CURSOR_PARAMETER,
];
/// Before and after a time.
pub const BEFORE_AFTER: FieldType = FieldType::Object(&[
    may("before", FieldType::DateTime).description("Moment in UTC before which the value lies."),
    may("after", FieldType::DateTime).description("Moment in UTC after which the value lies."),
]);
