//! Indexes that answer the conditions and orders of lists, as data.
//!
//! Some always exist, because decisions and changes read by them too. The others are made on demand (`made_indexes.rs`), so that a project
//! without such lists does not pay for them with every change.

use crate::store::index::validity_sql::IS_INACTIVE;

/// An index for lists.
#[derive(Debug, Clone, Copy)]
pub struct Index {
    /// Its name in the schema.
    pub name: &'static str,
    /// Leading column.
    pub column: &'static str,
    /// Kinds that it contains; empty for all kinds.
    kinds: &'static [&'static str],
    /// True if it orders documents of the same value by age, so that a page of them is read without sorting.
    pub is_by_age: bool,
    /// Table, columns and condition of an index that is made on demand; `None` for one that always exists.
    pub made_on: Option<&'static str>,
}

const fn by_age(kind: &'static [&'static str], name: &'static str, column: &'static str) -> Index {
    Index { name, column, kinds: kind, is_by_age: true, made_on: None }
}

const fn of_all(name: &'static str, column: &'static str) -> Index {
    Index { name, column, kinds: &[], is_by_age: false, made_on: None }
}

const fn on_demand(
    kind: &'static [&'static str],
    name: &'static str,
    column: &'static str,
    made_on: &'static str,
) -> Index {
    Index { made_on: Some(made_on), ..by_age(kind, name, column) }
}

/// The index of a kind by age.
pub const CREATED: &str = "document_created";

/// The column of the age.
pub const AGE: &str = "created_at";

/// The index of all kinds by key, which no two of a kind share.
pub const KEY: &str = "document_key";

/// Campaign of a redemption: that of its voucher or of its promotion tier. A macro, because other constants contain it.
macro_rules! campaign_of_redemption {
    () => {
        "COALESCE(json_extract(body, '$.related_object_parent_id'), json_extract(body, '$.voucher.campaign_id'))"
    };
}

/// Name of that campaign: as of the redemption for a voucher, the current one for a promotion tier.
macro_rules! campaign_name_of_redemption {
    () => {
        "COALESCE(json_extract(body, '$.voucher.campaign'), (SELECT of.key FROM document AS of
           WHERE of.kind = 'campaign' AND of.id = json_extract(document.body, '$.related_object_parent_id')))"
    };
}

pub(crate) use {campaign_name_of_redemption, campaign_of_redemption};

const VOUCHER: &[&str] = &["voucher"];
const CUSTOMER: &[&str] = &["customer"];
const ORDER: &[&str] = &["order"];
const REDEMPTION: &[&str] = &["redemption"];

/// The better index of a kind comes first.
const INDEXES: &[Index] = &[
    by_age(VOUCHER, "voucher_campaign", "parent"),
    on_demand(
        VOUCHER,
        "voucher_type",
        "json_extract(body, '$.type')",
        "document (json_extract(body, '$.type'), created_at, seq) WHERE kind = 'voucher'",
    ),
    on_demand(
        VOUCHER,
        "voucher_category",
        "json_extract(body, '$.category')",
        "document (json_extract(body, '$.category'), created_at, seq) WHERE kind = 'voucher' AND json_extract(body, '$.category') IS NOT NULL",
    ),
    on_demand(
        VOUCHER,
        "voucher_category_id",
        "json_extract(body, '$.category_id')",
        "document (json_extract(body, '$.category_id'), created_at, seq)
           WHERE kind = 'voucher' AND json_extract(body, '$.category_id') IS NOT NULL",
    ),
    on_demand(
        VOUCHER,
        "voucher_start",
        "json_extract(body, '$.start_date')",
        "document (json_extract(body, '$.start_date'), created_at, seq) WHERE kind = 'voucher' AND json_extract(body, '$.start_date') IS NOT NULL",
    ),
    on_demand(
        VOUCHER,
        "voucher_end",
        "json_extract(body, '$.expiration_date')",
        "document (json_extract(body, '$.expiration_date'), created_at, seq)
           WHERE kind = 'voucher' AND json_extract(body, '$.expiration_date') IS NOT NULL",
    ),
    on_demand(
        VOUCHER,
        "voucher_referral",
        "json_extract(body, '$.is_referral_code')",
        "document (created_at, seq) WHERE kind = 'voucher' AND json_extract(body, '$.is_referral_code') = 1",
    ),
    on_demand(
        VOUCHER,
        "voucher_inactive",
        IS_INACTIVE,
        "document (created_at, seq) WHERE kind = 'voucher' AND COALESCE(json_extract(body, '$.active'), 1) = 0",
    ),
    VOUCHER_CHANGED,
    by_age(CUSTOMER, "customer_email", "json_extract(marks, '$.email')"),
    on_demand(
        CUSTOMER,
        "customer_city",
        "json_extract(marks, '$.city')",
        "document (json_extract(marks, '$.city'), created_at, seq) WHERE kind = 'customer' AND json_extract(marks, '$.city') IS NOT NULL",
    ),
    CUSTOMER_CHANGED,
    ORDER_CHANGED,
    on_demand(
        REDEMPTION,
        "redemption_by_result",
        "json_extract(body, '$.result')",
        "redemption (json_extract(body, '$.result'), created_at, seq)",
    ),
    by_age(REDEMPTION, "redemption_by_campaign", campaign_of_redemption!()),
    REDEMPTION_CODE,
    by_age(&["publication"], "publication_campaign", "parent"),
    by_age(&["publication"], "publication_customer", "json_extract(body, '$.customer_id')"),
    of_all("document_id", "id"),
    of_all(KEY, "key"),
    of_all("document_parent", "parent"),
    of_all("document_holder", "holder"),
];

const VOUCHER_CHANGED: Index = on_demand(
    VOUCHER,
    "voucher_changed",
    "updated_at",
    "document (updated_at, created_at, seq) WHERE kind = 'voucher'",
);

const CUSTOMER_CHANGED: Index = on_demand(
    CUSTOMER,
    "customer_changed",
    "updated_at",
    "document (updated_at, created_at, seq) WHERE kind = 'customer'",
);

const ORDER_CHANGED: Index = on_demand(ORDER, "orders_by_change", "updated_at", "orders (updated_at, created_at, seq)");

const REDEMPTION_CODE: Index = on_demand(
    REDEMPTION,
    "redemption_by_code",
    "json_extract(body, '$.voucher.code')",
    "redemption (json_extract(body, '$.voucher.code'), created_at, seq)",
);

/// Indexes with all documents of a kind in the order of a column. All kinds of documents have [`CREATED`].
const ORDERS: &[Index] = &[
    on_demand(ORDER, "orders_by_age", AGE, "orders (created_at, seq)"),
    on_demand(REDEMPTION, "redemption_by_age", AGE, "redemption (created_at, seq)"),
    Index { kinds: VOUCHER, ..of_all(KEY, "key") },
    VOUCHER_CHANGED,
    CUSTOMER_CHANGED,
    ORDER_CHANGED,
    REDEMPTION_CODE,
];

fn found(indexes: &'static [Index], kind: &str, column: &str) -> Option<&'static Index> {
    indexes.iter().find(|index| index.column == column && (index.kinds.is_empty() || index.kinds.contains(&kind)))
}

/// Returns the index of the documents of a kind by the value of a column.
pub fn by_value(kind: &str, column: &str) -> Option<&'static Index> {
    found(INDEXES, kind, column)
}

/// Returns the index of all documents of a kind in the order of a column, and within it by age.
pub fn in_order(kind: &str, column: &str) -> Option<&'static Index> {
    found(ORDERS, kind, column)
}

/// Returns the indexes that are made on demand; one may come twice.
pub fn made_on_demand() -> impl Iterator<Item = &'static Index> {
    INDEXES.iter().chain(ORDERS).filter(|index| index.made_on.is_some())
}
