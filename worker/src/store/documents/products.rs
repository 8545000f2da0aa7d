//! Queries of products, SKUs and collections of them.

use super::any_kind::{CountedIds, counted_ids};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::sql::Fault;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Deletes the SKUs of a product at the commit.
pub fn delete_skus_of(store: &mut Store<'_>, product_id: &str) {
    store.write("DELETE FROM document WHERE kind = 'sku' AND parent = +?1", vec![product_id.into()]);
}

/// Lists the products or SKUs at these positions, in the order in which they were stored.
pub fn list_at(store: &Store<'_>, kind: &str, seqs: &BTreeSet<i64>) -> Result<Vec<Document>, Fault> {
    let seqs: Json = seqs.iter().copied().collect();
    store.select(
        "seq IN (SELECT value FROM json_each(?2)) AND kind = +?1 ORDER BY seq",
        &[kind.into(), seqs.to_string().into()],
    )
}

/// Lists the validation rules that use a collection, up to a number.
pub fn list_rules_with_collection(store: &Store<'_>, collection_id: &str, limit: i64) -> Result<CountedIds, Fault> {
    // The text of a document that uses a collection contains its id between quotes.
    let rows = store.rows(
        "SELECT id, COUNT(*) OVER () FROM document WHERE kind = 'validation_rules' AND instr(body, '\"' || ?1 || '\"') > 0 ORDER BY seq LIMIT +?2",
        &[collection_id.into(), limit.into()],
    )?;
    counted_ids(&rows)
}

/// Narrows a list of products and SKUs to those that a collection lists, each with its `object` and `id`.
pub fn narrow_to_listed(clause: &mut Clause, listed: &Json) {
    let condition = "kind || '/' || id IN (SELECT json_extract(value, '$.object') || '/' || json_extract(value, '$.id') FROM json_each({}))";
    clause.and(condition, listed.to_string());
}
