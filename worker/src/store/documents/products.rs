//! Queries of products, SKUs and collections of them.

use crate::store::document_list::clause::Clause;
use serde_json::Value as Json;

/// Narrows a list of products and SKUs to those that a collection lists, each with its `object` and `id`.
pub fn narrow_to_listed(clause: &mut Clause, listed: &Json) {
    let condition = "kind || '/' || id IN (SELECT json_extract(value, '$.object') || '/' || json_extract(value, '$.id') FROM json_each({}))";
    clause.and(condition, listed.to_string());
}
