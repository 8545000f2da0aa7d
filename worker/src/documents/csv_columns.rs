//! Known columns of CSV files: their names, the targets of their cells, and the translation of refusals to column names.

use scrip::wire::problem::shortened;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Type that the text of a cell is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellType {
    /// A text.
    Text,
    /// A number.
    Number,
    /// A whole number. `15.00` is none, and stays a text: an amount of money could be in cents or in major units.
    Integer,
    /// A boolean: `true`, `yes`, `1` and their contraries.
    Flag,
    /// A list, as JSON or with commas.
    List,
    /// JSON.
    Json,
    /// Ignored: exports have such columns, and their meaning is unknown.
    Passed,
}

/// Known column.
#[derive(Debug, Clone, Copy)]
pub struct CsvColumn {
    /// Accepted names, in lower case, with `_` for characters that are not alphanumeric.
    pub names: &'static [&'static str],
    /// Target path of its cells, such as `address.city`.
    pub to: &'static str,
    /// Type of its cells.
    pub cell: CellType,
    /// Fields in the body of a call that a cell may fill, if they differ from `to`.
    fields: &'static [&'static str],
}

/// Declares a column of these names.
pub const fn column(names: &'static [&'static str], to: &'static str, cell: CellType) -> CsvColumn {
    CsvColumn { names, to, cell, fields: &[] }
}

impl CsvColumn {
    /// Sets the fields that a cell may fill.
    pub const fn with_fields(mut self, fields: &'static [&'static str]) -> CsvColumn {
        self.fields = fields;
        self
    }
}

/// Targets of the columns of a file, and their names in the file. Of two with one target, the one known first comes first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnMap(Vec<(String, String, String)>);

impl ColumnMap {
    /// Returns the known columns that a file has, by the targets of their cells.
    pub fn of<'n>(known: &[CsvColumn], called: impl Fn(&str) -> Option<Cow<'n, str>>) -> ColumnMap {
        let mut named = Vec::new();
        for column in known.iter().filter(|column| column.cell != CellType::Passed) {
            let Some(name) = called(column.to) else { continue };
            let own = [column.to];
            let fields = if column.fields.is_empty() { &own[..] } else { column.fields };
            named.extend(fields.iter().map(|field| ((*field).to_owned(), column.to.to_owned(), shortened(&name))));
        }
        ColumnMap(named)
    }

    /// Replaces fields by columns of the file in the details of a refusal. `has` returns true if the current row has a cell
    /// for a target, because a field may come from several columns.
    pub fn by_column_name(&self, details: &str, has: impl Fn(&str) -> bool) -> String {
        let problem = details.strip_prefix("Property .").and_then(|rest| rest.split_once(' '));
        let found = problem.and_then(|(path, members)| {
            let is_of = |field: &str| {
                path.strip_prefix(field).is_some_and(|below| below.is_empty() || below.starts_with(['.', '[']))
            };
            let (_, _, name) = self.0.iter().find(|(field, to, _)| is_of(field) && has(to))?;
            Some(format!("Column `{name}` {members}"))
        });
        found.unwrap_or_else(|| details.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_column_that_the_row_has() {
        const KNOWN: &[CsvColumn] = &[
            column(&["amount"], "row.amount", CellType::Integer).with_fields(&["gift.amount"]),
            column(&["value"], "row.value", CellType::Text).with_fields(&["gift.amount", "discount.amount_off"]),
            column(&["active"], "active", CellType::Flag),
            column(&["id"], "", CellType::Passed),
        ];
        let called = |to: &str| {
            [("row.amount", "Amount"), ("row.value", "Wert"), ("active", "On?")]
                .into_iter()
                .find(|(known, _)| *known == to)
                .map(|(_, name)| name.into())
        };
        let named = ColumnMap::of(KNOWN, called);
        let members = |details: &str, has: &[&str]| named.by_column_name(details, |to| has.contains(&to));
        let both = ["row.amount", "row.value", "active"];
        assert_eq!(members("Property .gift.amount must be an integer", &both), "Column `Amount` must be an integer");
        assert_eq!(
            members("Property .gift.amount must be an integer", &["row.value"]),
            "Column `Wert` must be an integer"
        );
        assert_eq!(members("Property .discount.amount_off must be >= 0", &both), "Column `Wert` must be >= 0");
        assert_eq!(members("Property .active[0] must be a boolean", &both), "Column `On?` must be a boolean");
        for other in ["Property .actively must", "Property .gift must", "Payload must have required property 'x'", ""] {
            assert_eq!(members(other, &both), other);
        }
    }
}
