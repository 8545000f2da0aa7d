//! Indexes that answer the conditions and orders of lists, as data.

use crate::store::index::validity_sql::IS_INACTIVE;

/// An index of the document table, for lists.
#[derive(Debug)]
pub struct Index {
    /// Its name in the schema.
    pub name: &'static str,
    /// Leading column.
    pub column: &'static str,
    /// Kinds that it contains; empty for all kinds.
    kinds: &'static [&'static str],
    /// True if it orders documents of the same value by age, so that a page of them is read without sorting.
    pub is_by_age: bool,
}

const fn by_age(kind: &'static [&'static str], name: &'static str, column: &'static str) -> Index {
    Index { name, column, kinds: kind, is_by_age: true }
}

const fn of_all(name: &'static str, column: &'static str) -> Index {
    Index { name, column, kinds: &[], is_by_age: false }
}

/// The index of a kind by age.
pub const CREATED: &str = "document_created";

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
const REDEMPTION: &[&str] = &["redemption"];

/// The better index of a kind comes first.
const INDEXES: &[Index] = &[
    by_age(VOUCHER, "voucher_campaign", "parent"),
    by_age(VOUCHER, "voucher_type", "json_extract(body, '$.type')"),
    by_age(VOUCHER, "voucher_category", "json_extract(body, '$.category')"),
    by_age(VOUCHER, "voucher_category_id", "json_extract(body, '$.category_id')"),
    by_age(VOUCHER, "voucher_start", "json_extract(body, '$.start_date')"),
    by_age(VOUCHER, "voucher_end", "json_extract(body, '$.expiration_date')"),
    by_age(VOUCHER, "voucher_referral", "json_extract(body, '$.is_referral_code')"),
    by_age(VOUCHER, "voucher_inactive", IS_INACTIVE),
    by_age(VOUCHER, "voucher_changed", "updated_at"),
    by_age(CUSTOMER, "customer_email", "json_extract(marks, '$.email')"),
    by_age(CUSTOMER, "customer_city", "json_extract(marks, '$.city')"),
    by_age(CUSTOMER, "customer_changed", "updated_at"),
    by_age(&["order"], "order_changed", "updated_at"),
    by_age(REDEMPTION, "redemption_result", "json_extract(body, '$.result')"),
    by_age(REDEMPTION, "redemption_campaign", campaign_of_redemption!()),
    by_age(REDEMPTION, "redemption_code", "json_extract(body, '$.voucher.code')"),
    by_age(&["publication"], "publication_campaign", "parent"),
    by_age(&["publication"], "publication_customer", "json_extract(body, '$.customer_id')"),
    of_all("document_id", "id"),
    of_all(KEY, "key"),
    of_all("document_parent", "parent"),
    of_all("document_holder", "holder"),
];

/// Indexes with all documents of a kind in the order of a column.
const ORDERS: &[Index] = &[
    Index { name: KEY, column: "key", kinds: VOUCHER, is_by_age: false },
    by_age(VOUCHER, "voucher_changed", "updated_at"),
    by_age(CUSTOMER, "customer_changed", "updated_at"),
    by_age(&["order"], "order_changed", "updated_at"),
    by_age(REDEMPTION, "redemption_code", "json_extract(body, '$.voucher.code')"),
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
