//! Queries of segments.

use super::any_kind::count;
use crate::store::Store;
use crate::store::document::{COLUMNS, Document};
use crate::store::document_list::clause::Clause;
use crate::store::sql::Fault;

/// Counts the segments that select customers by a filter.
pub fn count_filtered(store: &Store<'_>) -> Result<i64, Fault> {
    count(store.row(
        "SELECT COUNT(*) FROM document WHERE kind = 'segment' AND json_extract(body, '$.type') <> 'static'",
        &[],
    )?)
}

/// Lists the segments that may contain a customer, without the customers that they list: those with a filter, and static ones
/// that list the customer. The newest come first.
pub fn list_candidates_of(store: &Store<'_>, customer_id: &str) -> Result<Vec<Document>, Fault> {
    let columns = COLUMNS.replace("body", "json_remove(body, '$.customers')");
    let statement = format!(
        "SELECT {columns} FROM document
         WHERE kind = 'segment' AND (json_extract(body, '$.type') <> 'static' OR EXISTS (
           SELECT 1 FROM json_each(body, '$.customers') WHERE value = +?1)) ORDER BY created_at DESC, seq DESC"
    );
    store.documents(&statement, &[customer_id.into()])
}

/// Narrows a list of customers to those that a static segment lists.
pub fn narrow_to_listed(clause: &mut Clause, segment_id: &str) {
    let condition = "id IN (SELECT value FROM json_each((SELECT body FROM document WHERE kind = 'segment' AND id = {}), '$.customers'))";
    clause.and(condition, segment_id);
}
