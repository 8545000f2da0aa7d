//! Columns of CSV files that are known: how they may be called, where their cells go, and how a refusal of what came of one names it. It must
//! not know how a file is read.

use scrip::wire::problem::shortened;
use serde::{Deserialize, Serialize};

/// What the text of a cell is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// A text.
    Text,
    /// A number.
    Number,
    /// A whole one. `15.00` is none, and stays a text: of money nobody can say whether it counts cents or what has a hundred of them.
    Whole,
    /// Whether something is so: `true`, `yes`, `1` and their contraries.
    Flag,
    /// A list, as JSON or with commas.
    List,
    /// JSON.
    Json,
    /// Nothing: exports have such columns, and nobody can say what they tell.
    Passed,
}

/// A column that is known.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// How it may be called: in small letters, other signs than letters and digits as `_`.
    pub names: &'static [&'static str],
    /// Where its cells go, `address.city`.
    pub to: &'static str,
    /// What they are read as.
    pub cell: Cell,
    /// What comes of them in the body of a call, where that is not the same place.
    becomes: &'static [&'static str],
}

/// A column of these names.
pub const fn column(names: &'static [&'static str], to: &'static str, cell: Cell) -> Column {
    Column { names, to, cell, becomes: &[] }
}

impl Column {
    /// Its cells become one of these fields.
    pub const fn becomes(mut self, fields: &'static [&'static str]) -> Column {
        self.becomes = fields;
        self
    }
}

/// What the columns of a file become, and how the file calls them. Where two become the same, the one that is known first comes first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Named(Vec<(String, String, String)>);

impl Named {
    /// Of the known columns those that a file has, by where their cells go.
    pub fn of<'n>(known: &[Column], called: impl Fn(&str) -> Option<&'n str>) -> Named {
        let mut named = Vec::new();
        for column in known.iter().filter(|column| column.cell != Cell::Passed) {
            let Some(name) = called(column.to) else { continue };
            let own = [column.to];
            let fields = if column.becomes.is_empty() { &own[..] } else { column.becomes };
            named.extend(fields.iter().map(|field| ((*field).to_owned(), column.to.to_owned(), shortened(name))));
        }
        Named(named)
    }

    /// The same details of a refusal, with the column of the file in place of the field that it became; `has` says whether the row at hand has
    /// a cell that goes somewhere, because a field may come of several.
    pub fn told(&self, details: &str, has: impl Fn(&str) -> bool) -> String {
        let said = details.strip_prefix("Property .").and_then(|rest| rest.split_once(' '));
        let found = said.and_then(|(path, told)| {
            let is_of = |field: &str| {
                path.strip_prefix(field).is_some_and(|below| below.is_empty() || below.starts_with(['.', '[']))
            };
            let (_, _, name) = self.0.iter().find(|(field, to, _)| is_of(field) && has(to))?;
            Some(format!("Column `{name}` {told}"))
        });
        found.unwrap_or_else(|| details.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_column_that_the_row_has() {
        const KNOWN: &[Column] = &[
            column(&["amount"], "row.amount", Cell::Whole).becomes(&["gift.amount"]),
            column(&["value"], "row.value", Cell::Text).becomes(&["gift.amount", "discount.amount_off"]),
            column(&["active"], "active", Cell::Flag),
            column(&["id"], "", Cell::Passed),
        ];
        let called = |to: &str| {
            [("row.amount", "Amount"), ("row.value", "Wert"), ("active", "On?")]
                .into_iter()
                .find(|(known, _)| *known == to)
                .map(|(_, name)| name)
        };
        let named = Named::of(KNOWN, called);
        let told = |details: &str, has: &[&str]| named.told(details, |to| has.contains(&to));
        let both = ["row.amount", "row.value", "active"];
        assert_eq!(told("Property .gift.amount must be an integer", &both), "Column `Amount` must be an integer");
        assert_eq!(
            told("Property .gift.amount must be an integer", &["row.value"]),
            "Column `Wert` must be an integer"
        );
        assert_eq!(told("Property .discount.amount_off must be >= 0", &both), "Column `Wert` must be >= 0");
        assert_eq!(told("Property .active[0] must be a boolean", &both), "Column `On?` must be a boolean");
        for other in ["Property .actively must", "Property .gift must", "Payload must have required property 'x'", ""] {
            assert_eq!(told(other, &both), other);
        }
    }
}
