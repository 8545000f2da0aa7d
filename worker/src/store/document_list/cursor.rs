//! Pages of a list that continue after a position: the values by which the last document of a page is sorted.

use super::clause::Statement;
use super::selection::Selection;
use super::sort_order::direction;
use crate::store::Store;
use crate::store::document::{self, COLUMNS, Document};
use crate::store::sql::{Fault, SqlValue};
use serde_json::Value as Json;

/// A column by which a list is sorted, and true if it is descending.
pub type SortColumn = (&'static str, bool);

/// Position of a document in a list: its values of the columns by which the list is sorted.
#[derive(Debug)]
pub struct ListPosition(Vec<SqlValue>);

impl ListPosition {
    /// Reads the position of [`ListPosition::to_json`] in a list of a number of columns.
    pub fn of_json(values: &[Json], columns: usize) -> Option<ListPosition> {
        let values: Option<Vec<SqlValue>> = values
            .iter()
            .map(|value| match value {
                Json::Number(number) => number.as_i64().map(SqlValue::Int),
                Json::String(text) => Some(SqlValue::Text(text.clone())),
                _ => Some(SqlValue::Null),
            })
            .collect();
        values.filter(|values| values.len() == columns).map(ListPosition)
    }

    /// Returns the values as JSON.
    pub fn to_json(&self) -> Vec<Json> {
        let value = |value: &SqlValue| match value {
            SqlValue::Null => Json::Null,
            SqlValue::Int(number) => (*number).into(),
            SqlValue::Text(text) => text.as_str().into(),
        };
        self.0.iter().map(value).collect()
    }
}

/// A page of documents, and the position of its last one, if more follow.
pub struct CursorPage {
    /// The documents.
    pub documents: Vec<Document>,
    /// Position after which the next page begins.
    pub next: Option<ListPosition>,
}

impl Selection {
    /// Narrows it to the documents after a position.
    pub fn continue_after(&mut self, columns: &[SortColumn], position: &ListPosition) {
        self.and_group("AND", bound(columns, &position.0));
        self.and_group("OR", beyond(columns, &position.0));
    }

    /// Lists the documents of a page in the order of columns.
    pub fn list_sorted(&self, store: &Store<'_>, columns: &[SortColumn], limit: i64) -> Result<CursorPage, Fault> {
        let named: Vec<&str> = columns.iter().map(|(column, _)| *column).collect();
        let sorted: Vec<String> =
            columns.iter().map(|(column, falls)| format!("{column} {}", direction(*falls))).collect();
        let selected = format!("{COLUMNS}, {}", named.join(", "));
        let by_condition = if self.sorts { "+" } else { "" };
        // One document more than the page: it exists if another page follows.
        let tail = format!("ORDER BY {by_condition}{} LIMIT {}", sorted.join(", "), limit.saturating_add(1));
        let (statement, params) = self.statement(&selected, &tail);
        let rows = store.rows(&statement, params)?;
        let size = usize::try_from(limit).unwrap_or(0);
        // A page without rows has no last one.
        let last = rows.get(size).and_then(|_| rows.get(size.saturating_sub(1)));
        let next = last.map(|last| ListPosition(last.iter().skip(document::WIDTH).cloned().collect()));
        let documents = rows.iter().take(size).map(|row| document::read(row)).collect::<Result<_, Fault>>()?;
        Ok(CursorPage { documents, next })
    }
}

/// Returns the bound in the first column of documents after a position, which an index finds at once.
fn bound(columns: &[SortColumn], place: &[SqlValue]) -> Vec<Statement> {
    let first = columns.iter().zip(place).next();
    let bound = first.filter(|(_, value)| **value != SqlValue::Null).map(|((column, falls), value)| {
        (format!("{column} {} {{}}", if *falls { "<=" } else { ">=" }), vec![value.clone()])
    });
    bound.into_iter().collect()
}

/// Returns the conditions for documents after a position: equal in the first columns, and beyond it in the next.
fn beyond(columns: &[SortColumn], place: &[SqlValue]) -> Vec<Statement> {
    let mut equal: Vec<(String, SqlValue)> = Vec::new();
    let mut ways = Vec::new();
    for ((column, falls), value) in columns.iter().zip(place) {
        let sign = if *falls { "<" } else { ">" };
        let last = format!("{column} {sign} {{}}");
        let tests: Vec<&str> = equal.iter().map(|(text, _)| text.as_str()).chain([last.as_str()]).collect();
        let values = equal.iter().map(|(_, value)| value.clone()).chain([value.clone()]).collect();
        ways.push((format!("({})", tests.join(" AND ")), values));
        equal.push((format!("{column} = {{}}"), value.clone()));
    }
    ways
}
