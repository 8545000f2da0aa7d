//! Validation rules and their assignments: the parent of an assignment is the object, the holder is the rule.

use super::any_kind::{CountedIds, counted_ids};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Lists the validation rules that use a collection, up to a number.
pub fn list_rules_with_collection(store: &Store<'_>, collection_id: &str, limit: i64) -> Result<CountedIds, Fault> {
    // The text of a document that uses a collection contains its id between quotes.
    let rows = store.rows(
        "SELECT id, COUNT(*) OVER () FROM document WHERE kind = 'validation_rules' AND instr(body, '\"' || ?1 || '\"') > 0 ORDER BY seq LIMIT +?2",
        &[collection_id.into(), limit.into()],
    )?;
    counted_ids(&rows)
}

/// Finds the first assignments of a rule.
pub fn find_first_assignments(store: &Store<'_>, rule: &str) -> Result<CountedIds, Fault> {
    let rows = store.rows(
        "SELECT id, COUNT(*) OVER () FROM document WHERE kind = 'validation_rules_assignment' AND holder = +?1 ORDER BY seq LIMIT 10",
        &[rule.into()],
    )?;
    counted_ids(&rows)
}

/// Counts the assignments of each of some rules; a rule without any is left out.
pub fn count_assignments(store: &Store<'_>, rules: &[&str]) -> Result<BTreeMap<String, i64>, Fault> {
    let rows = store.rows(
        "SELECT holder, COUNT(*) FROM document
         WHERE kind = 'validation_rules_assignment' AND holder IN (SELECT value FROM json_each(?1)) GROUP BY holder",
        &[Json::from(rules.to_vec()).to_string().into()],
    )?;
    rows.iter().map(|row| Ok((sql::text(row, 0)?.to_owned(), sql::int(row, 1)?))).collect()
}

/// Lists the assignments of some objects, the oldest first.
pub fn list_assignments(store: &Store<'_>, objects: &[&str]) -> Result<Vec<Document>, Fault> {
    store.select(
        "kind = 'validation_rules_assignment' AND parent IN (SELECT value FROM json_each(?1)) ORDER BY seq",
        &[Json::from(objects.to_vec()).to_string().into()],
    )
}
