//! Rows of statements as texts, in which they pass from JavaScript: a call over the border for each value takes longer than to read it. The other
//! side is `worker/src/host/statement.js`.
//!
//! The heads of all cells come first, then their texts one after the other. The head of a cell is `n` for NULL, `i` and the digits of an
//! integer, or the length of its text in UTF-16 units, as JavaScript counts. Heads are followed by commas, and rows by semicolons.

use crate::store::sql::{Fault, SqlRow, SqlValue};

/// Reads rows: a line of heads, which begins with `+` if further rows follow, and the texts behind it. Appends the rows, and returns true
/// if further ones follow.
pub fn read_rows(written: &str, rows: &mut Vec<SqlRow>) -> Result<bool, Fault> {
    let (heads, text) = written.split_once('\n').ok_or_else(|| Fault::new("rows have no heads"))?;
    let (is_part, heads) = heads.strip_prefix('+').map_or((false, heads), |heads| (true, heads));
    let mut texts = Texts { rest: text, is_ascii: text.is_ascii() };
    for row in heads.split_terminator(';') {
        let cells: Result<SqlRow, Fault> = row.split_terminator(',').map(|head| read_cell(head, &mut texts)).collect();
        rows.push(cells?);
    }
    match texts.rest {
        "" => Ok(is_part),
        rest => Err(Fault::new(format!("rows have {} bytes too many", rest.len()))),
    }
}

fn read_cell(head: &str, texts: &mut Texts<'_>) -> Result<SqlValue, Fault> {
    if head == "n" {
        return Ok(SqlValue::Null);
    }
    // JavaScript has read a larger one as another number.
    let of_integer =
        |digits: &str| digits.parse::<i64>().ok().filter(|number| number.unsigned_abs() < 1 << 53).map(SqlValue::Int);
    let value = match head.strip_prefix('i') {
        Some(digits) => of_integer(digits),
        None => head.parse().ok().and_then(|units| texts.take(units)).map(|text| SqlValue::Text(text.to_owned())),
    };
    value.ok_or_else(|| Fault::new(format!("a column holds `{head}`, neither a whole number nor text")))
}

/// Texts that were not read yet.
struct Texts<'t> {
    rest: &'t str,
    /// True if a byte is a unit of UTF-16.
    is_ascii: bool,
}

impl<'t> Texts<'t> {
    /// Takes the text of some units of UTF-16; `None` if there are fewer, or if they end within a character.
    fn take(&mut self, units: usize) -> Option<&'t str> {
        let (text, rest) = self.rest.split_at_checked(self.bytes_of(units)?)?;
        self.rest = rest;
        Some(text)
    }

    fn bytes_of(&self, units: usize) -> Option<usize> {
        if self.is_ascii {
            return Some(units);
        }
        let mut left = units;
        let mut chars = self.rest.char_indices();
        while left > 0 {
            left = left.checked_sub(chars.next()?.1.len_utf16())?;
        }
        Some(chars.offset())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    /// A statement of `tests/workerd/statement.test.mjs`, which runs it on a real database.
    #[derive(serde::Deserialize)]
    struct Case {
        about: String,
        written: Vec<String>,
        /// Null where a column holds what no column may.
        rows: Option<Vec<Vec<Json>>>,
    }

    fn values(row: &[Json]) -> SqlRow {
        let value = |value: &Json| match value {
            Json::Null => SqlValue::Null,
            Json::String(text) => text.as_str().into(),
            number => number.as_i64().unwrap().into(),
        };
        row.iter().map(value).collect()
    }

    #[test]
    fn the_rows_of_the_real_database_are_read() {
        let cases: Vec<Case> = serde_json::from_str(include_str!("../../../tests/workerd/sql-rows.json")).unwrap();
        assert!(cases.len() >= 9);
        for Case { about, written, rows } in cases {
            let mut read = Vec::new();
            let outcome: Result<Vec<bool>, Fault> = written.iter().map(|part| read_rows(part, &mut read)).collect();
            match rows {
                None => assert!(outcome.is_err(), "{about}"),
                Some(rows) => {
                    assert_eq!(outcome, Ok(vec![false; written.len()]), "{about}");
                    assert_eq!(read, rows.iter().map(|row| values(row)).collect::<Vec<SqlRow>>(), "{about}");
                }
            }
        }
    }

    #[test]
    fn parts_are_appended() {
        let mut rows = Vec::new();
        assert_eq!(read_rows("+1,n,;\na", &mut rows), Ok(true));
        assert_eq!(read_rows("i2,2,;\n\u{10fff}", &mut rows), Ok(false));
        assert_eq!(rows, [vec!["a".into(), SqlValue::Null], vec![2.into(), "\u{10fff}".into()]]);
    }

    #[test]
    fn damaged_rows_are_a_fault() {
        for written in [
            "",
            "i,;\n",
            "x,;\n",
            "bytes,;\n",
            "i1.5,;\n",
            "i1e+21,;\n",
            "iInfinity,;\n",
            "2,;\na",
            "1,;\nab",
            "1,;\n😀",
            "-1,;\n",
            "i9223372036854775808,;\n",
        ] {
            assert!(read_rows(written, &mut Vec::new()).is_err(), "{written}");
        }
    }
}
