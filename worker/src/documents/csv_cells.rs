//! Conversion of values to cells of CSV files, and back. A spreadsheet reads a cell that begins with `=`, `+`, `-`, `@`, a tab or a
//! carriage return as a formula. Such a text is written after an apostrophe, which reading removes. Where `;` separates cells, a
//! spreadsheet begins another cell after each `;` and each line break of a text, so what follows these is guarded as well. An
//! empty cell has no value, so an empty text is written as a single apostrophe.

use crate::store::sql::Fault;
use serde_json::Value as Json;
use std::borrow::Cow;

/// Formats a value as a cell: null as an empty cell, a list or an object as its JSON.
pub fn cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => guarded(text).into_owned(),
        Json::Array(_) | Json::Object(_) => guarded(&value.to_string()).into_owned(),
        other => other.to_string(),
    }
}

/// Writes a line of cells, its end included.
pub fn line<C: AsRef<str>>(cells: impl Iterator<Item = C>) -> Result<String, Fault> {
    let broken = |message: String| Fault::new(format!("a line cannot be written: {message}"));
    let mut writer = csv::WriterBuilder::new().buffer_capacity(1_024).from_writer(Vec::new());
    for cell in cells {
        writer.write_field(cell.as_ref()).map_err(|error| broken(error.to_string()))?;
    }
    writer.write_record(None::<&[u8]>).map_err(|error| broken(error.to_string()))?;
    let bytes = writer.into_inner().map_err(|error| broken(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| broken(error.to_string()))
}

/// Guards a text so that spreadsheets read it neither as a formula nor as an empty cell.
fn guarded(text: &str) -> Cow<'_, str> {
    let is_danger = match text.strip_prefix('\'') {
        None => text.is_empty() || is_formula(text) && !is_number(text),
        // A text that looks guarded is guarded, so that it is read back unchanged.
        Some(rest) => is_guard(rest),
    };
    let inner = with_later_parts(text, |part| {
        let content = part.trim_start_matches('\'');
        (is_formula(content) && (content != part || !is_number(content))).then(|| format!("'{part}"))
    });
    if is_danger { Cow::Owned(format!("'{inner}")) } else { inner }
}

/// Returns the text of a cell without its guards.
pub fn unguard(cell: &str) -> Cow<'_, str> {
    let is_guarded = |part: &str| part.starts_with('\'') && is_formula(part.trim_start_matches('\''));
    let text = with_later_parts(cell, |part| part.strip_prefix('\'').filter(|_| is_guarded(part)).map(str::to_owned));
    match text.strip_prefix('\'').filter(|rest| is_guard(rest)) {
        Some(rest) => Cow::Owned(rest.to_owned()),
        None => text,
    }
}

/// Replaces what follows each `;` and each line break of a text, where `change` returns a replacement.
fn with_later_parts(text: &str, change: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    let ends = [';', '\n', '\r'];
    if !text.contains(ends) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split_inclusive(ends);
    let mut changed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let content = part.trim_end_matches(ends);
        changed.push_str(change(content).as_deref().unwrap_or(content));
        changed.extend(part.strip_prefix(content));
    }
    Cow::Owned(changed)
}

/// Returns true if an apostrophe before this text guards it.
fn is_guard(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('\'') || is_formula(rest)
}

/// Returns true for a formula. Spreadsheets also accept full-width forms and text after an empty line; some skip invisible marks
/// and control characters.
fn is_formula(text: &str) -> bool {
    let begins = |sign: char| {
        matches!(sign, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '\u{ff1d}' | '\u{ff0b}' | '\u{ff0d}' | '\u{ff20}')
    };
    let is_mark = |sign: char| {
        let is_direction = matches!(sign, '\u{61c}' | '\u{202a}'..='\u{202e}');
        is_direction
            || matches!(sign, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let is_passed_over = |sign: char| sign.is_whitespace() || sign.is_control() || is_mark(sign);
    text.starts_with(begins) || text.trim_start_matches(is_passed_over).starts_with(begins)
}

/// Returns true if a text is exactly a number: `-5` stays one.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (integer, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits(integer) && are_digits(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_cell_is_a_formula_and_every_text_is_read_back() {
        for (text, message) in [
            ("=1+1", "'=1+1"),
            ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
            ("-5", "-5"),
            ("-5.25", "-5.25"),
            ("+4917012345", "+4917012345"),
            ("-5-3", "'-5-3"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r'=1"),
            (" =1", "' =1"),
            ("\u{a0}\u{feff}=1", "'\u{a0}\u{feff}=1"),
            ("\u{3000}-1", "'\u{3000}-1"),
            (" plain", " plain"),
            ("\n=1", "'\n'=1"),
            (" \n=1", "' \n'=1"),
            ("\0=1", "'\0=1"),
            ("\u{1f}\u{7f}=1", "'\u{1f}\u{7f}=1"),
            ("\u{202e}\u{ad}@A1", "'\u{202e}\u{ad}@A1"),
            ("a;=1;", "a;'=1;"),
            ("a; +cmd|' /C calc'!A0;-5;'=1;'tis", "a;' +cmd|' /C calc'!A0;-5;''=1;'tis"),
            ("a\r\n=1\n\n@A1", "a\r\n'=1\n\n'@A1"),
            (";;", ";;"),
            ("a;'", "a;'"),
            ("=1;'-5;''", "'=1;''-5;''"),
            ("\u{ff1d}1+1", "'\u{ff1d}1+1"),
            ("\u{ff0b}1", "'\u{ff0b}1"),
            ("\u{ff0d}1", "'\u{ff0d}1"),
            ("\u{ff20}SUM(A1)", "'\u{ff20}SUM(A1)"),
            ("'\n1", "''\n1"),
            ("'\u{ff1d}1", "''\u{ff1d}1"),
            ("'=1", "''=1"),
            ("''", "'''"),
            ("'tis", "'tis"),
            ("", "'"),
            ("'", "''"),
            ("plain", "plain"),
        ] {
            assert_eq!(cell(&json!(text)), message);
            assert_eq!(unguard(message), text);
        }
    }

    #[test]
    fn values_and_lines() {
        assert_eq!(cell(&Json::Null), "");
        assert_eq!(cell(&json!(true)), "true");
        assert_eq!(cell(&json!({ "a": [1, "x"] })), r#"{"a":[1,"x"]}"#);
        let message = line(["a,b", "say \"x\"", "two\nlines", ""].into_iter());
        assert_eq!(message, Ok("\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\n".to_owned()));
        assert_eq!(line([""].into_iter()), Ok("\"\"\n".to_owned()));
    }
}
