//! Assignments of validation rules: the parent is the object, the holder is the rule.

use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault, SqlRow};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Some documents by id, and the number of all of them.
#[derive(Debug)]
pub struct FirstIds {
    /// The first ids, as many as a refusal names.
    pub ids: Vec<String>,
    /// The number of documents in all.
    pub total: i64,
}

impl FirstIds {
    /// Reads rows of an id and the number of all rows.
    pub(crate) fn read(rows: &[SqlRow]) -> Result<FirstIds, Fault> {
        let total = rows.first().map_or(Ok(0), |row| sql::int(row, 1))?;
        let ids: Result<Vec<String>, Fault> = rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect();
        Ok(FirstIds { ids: ids?, total })
    }
}

/// Finds the first assignments of a rule.
pub fn find_first_assignments(store: &Store<'_>, rule: &str) -> Result<FirstIds, Fault> {
    let rows = store.rows(
        "SELECT id, COUNT(*) OVER () FROM document WHERE kind = 'validation_rules_assignment' AND holder = +?1 ORDER BY seq LIMIT 10",
        &[rule.into()],
    )?;
    FirstIds::read(&rows)
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

/// Deletes all assignments of an object, at the flush.
pub fn delete_assignments(store: &mut Store<'_>, object: &str) {
    store
        .write("DELETE FROM document WHERE kind = 'validation_rules_assignment' AND parent = +?1", vec![object.into()]);
}
