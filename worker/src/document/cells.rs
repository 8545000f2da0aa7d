//! Values as cells of CSV files, and back. A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return for a
//! formula, so that such a text goes out behind an apostrophe, which is taken off when it comes back. An empty cell says nothing, so that
//! a text that is empty is an apostrophe alone. It must not know any column.

use crate::store::sql::Fault;
use serde_json::Value as Json;
use std::borrow::Cow;

/// What a value says in a cell: nothing of a null, a list or an object as its JSON.
pub fn cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => guarded(text).into_owned(),
        other => other.to_string(),
    }
}

/// A line of cells, its end included.
pub fn line<C: AsRef<str>>(cells: impl Iterator<Item = C>) -> Result<String, Fault> {
    let broken = |told: String| Fault::new(format!("a line cannot be written: {told}"));
    let mut writer = csv::WriterBuilder::new().buffer_capacity(1_024).from_writer(Vec::new());
    for cell in cells {
        writer.write_field(cell.as_ref()).map_err(|error| broken(error.to_string()))?;
    }
    writer.write_record(None::<&[u8]>).map_err(|error| broken(error.to_string()))?;
    let bytes = writer.into_inner().map_err(|error| broken(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| broken(error.to_string()))
}

/// A text that no spreadsheet takes for a formula, and nobody for nothing.
fn guarded(text: &str) -> Cow<'_, str> {
    let mut letters = text.chars();
    let is_danger = match letters.next() {
        None => true,
        Some(first) if begins_formula(first) => !is_number(text),
        // What looks as if it were guarded is guarded, so that the same comes back.
        Some('\'') => letters.next().is_none_or(|second| second == '\'' || begins_formula(second)),
        Some(_) => false,
    };
    if is_danger { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// The text that a cell says, as it was before it was guarded.
pub fn bare(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.is_empty() || rest.starts_with(|letter| letter == '\'' || begins_formula(letter)) => rest,
        _ => cell,
    }
}

fn begins_formula(letter: char) -> bool {
    matches!(letter, '=' | '+' | '-' | '@' | '\t' | '\r')
}

/// Whether a text is a number and nothing else: `-5` stays one.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits(whole) && are_digits(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_cell_is_a_formula_and_every_text_comes_back() {
        for (text, told) in [
            ("=1+1", "'=1+1"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-5", "-5"),
            ("-5.25", "-5.25"),
            ("+4917012345", "+4917012345"),
            ("-5-3", "'-5-3"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("'=1", "''=1"),
            ("''", "'''"),
            ("'tis", "'tis"),
            ("", "'"),
            ("'", "''"),
            ("plain", "plain"),
        ] {
            assert_eq!(cell(&json!(text)), told);
            assert_eq!(bare(told), text);
        }
    }

    #[test]
    fn values_and_lines() {
        assert_eq!(cell(&Json::Null), "");
        assert_eq!(cell(&json!(true)), "true");
        assert_eq!(cell(&json!({ "a": [1, "x"] })), r#"{"a":[1,"x"]}"#);
        let told = line(["a,b", "say \"x\"", "two\nlines", ""].into_iter());
        assert_eq!(told, Ok("\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\n".to_owned()));
        assert_eq!(line([""].into_iter()), Ok("\"\"\n".to_owned()));
    }
}
