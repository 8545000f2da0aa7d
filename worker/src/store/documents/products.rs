//! Queries of products, SKUs and collections of them.

use crate::store::Store;
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::sql::Fault;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Lists the products or SKUs at these positions, in the order in which they were stored.
pub fn list_at(store: &Store<'_>, kind: &str, seqs: &BTreeSet<i64>) -> Result<Vec<Document>, Fault> {
    let seqs: Json = seqs.iter().copied().collect();
    store.select(
        // Without the sign before the column, SQLite reads the whole kind by its index.
        "seq IN (SELECT value FROM json_each(?2)) AND +kind = ?1 ORDER BY seq",
        &[kind.into(), seqs.to_string().into()],
    )
}

/// Narrows a list of products and SKUs to those that a collection lists, each with its `object` and `id`.
pub fn narrow_to_listed(clause: &mut Clause, listed: &Json) {
    let condition = "kind || '/' || id IN (SELECT json_extract(value, '$.object') || '/' || json_extract(value, '$.id') FROM json_each({}))";
    clause.and(condition, listed.to_string());
    let named = "id IN (SELECT json_extract(value, '$.id') FROM json_each({}))";
    clause.and_narrow("document_id", named, listed.to_string());
}
