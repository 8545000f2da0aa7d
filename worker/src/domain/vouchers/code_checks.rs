//! Decides which texts can be codes (docs/spec/calculation.md#19, D26), and which `code_config` produces only such codes.

use scrip::wire::Problem;
use scrip::wire::problem::shortened;

/// Format characters of Unicode (general category Cf), as ranges. Most are invisible, so that codes with and without one look identical.
const FORMAT: &[(char, char)] = &[
    ('\u{ad}', '\u{ad}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{2064}'),
    ('\u{2066}', '\u{206f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{fff9}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0001}', '\u{e0001}'),
    ('\u{e0020}', '\u{e007f}'),
];

/// Tests if a character is a format character of Unicode.
pub fn is_format(character: char) -> bool {
    FORMAT.iter().any(|(first, last)| (*first..=*last).contains(&character))
}

/// Returns the violated bound of a text with a control or format character; the latter is named by its code point.
fn hidden_in(text: &str) -> Option<String> {
    if text.chars().any(char::is_control) {
        return Some("contain control characters".to_owned());
    }
    let character = text.chars().find(|character| is_format(*character))?;
    Some(format!("contain the format character U+{:04X}", u32::from(character)))
}

/// Refuses a text that cannot be a code, as the value of a field.
pub fn check_code(code: &str, path: &str) -> Result<(), Problem> {
    if let Some(hidden) = hidden_in(code).filter(|_| !code.trim().is_empty()) {
        return Err(Problem::bound(path, &format!("must NOT {hidden}"), code));
    }
    let bound = if code.trim().is_empty() {
        "must NOT be blank"
    } else if is_dots(code) {
        "must NOT be `.` or `..`"
    } else if code.trim() != code {
        "must NOT begin or end with a space"
    } else {
        return Ok(());
    };
    Err(Problem::bound(path, bound, code))
}

fn is_dots(code: &str) -> bool {
    matches!(code, "." | "..")
}

/// Returns the error of prefix, pattern or postfix that produce texts which cannot be codes. `#` is a character of the charset.
pub fn config_fault(parts: [(&str, &str); 3], charset: &[char]) -> Option<String> {
    let details = |name: &str, text: &str, bound: &str| {
        Some(format!("The {name} must NOT {bound} (actual value is `{}`)", shortened(text)))
    };
    if let Some((name, text, hidden)) = parts.into_iter().find_map(|(name, text)| Some((name, text, hidden_in(text)?)))
    {
        return details(name, text, &hidden);
    }
    let mut filled = parts.into_iter().filter(|(_, text)| !text.is_empty());
    if let Some((name, text)) = filled.clone().next().filter(|(_, text)| text.starts_with(char::is_whitespace)) {
        return details(name, text, "begin with a space");
    }
    if let Some((name, text)) = filled.clone().next_back().filter(|(_, text)| text.ends_with(char::is_whitespace)) {
        return details(name, text, "end with a space");
    }
    let is_dot = |character: char| character == '.' || character == '#' && charset.contains(&'.');
    let length: usize = parts.iter().map(|(_, text)| text.chars().count()).sum();
    let may_be_dots = length <= 2 && parts.iter().all(|(_, text)| text.chars().all(is_dot));
    let (name, text) = filled.next_back().filter(|_| may_be_dots)?;
    details(name, text, "make the code `.` or `..`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_no_codes_are_refused_by_their_place() {
        for (code, bound) in [
            ("", "must NOT be blank"),
            ("  ", "must NOT be blank"),
            (".", "must NOT be `.` or `..`"),
            ("..", "must NOT be `.` or `..`"),
            ("A\u{0}B", "must NOT contain control characters"),
            ("A\nB", "must NOT contain control characters"),
            ("A\u{200b}B", "must NOT contain the format character U+200B"),
            ("\u{200b}", "must NOT contain the format character U+200B"),
            ("A\u{202e}", "must NOT contain the format character U+202E"),
            ("\u{feff}A", "must NOT contain the format character U+FEFF"),
            ("\u{e0041}A", "must NOT contain the format character U+E0041"),
            (" A", "must NOT begin or end with a space"),
            ("A\u{a0}", "must NOT begin or end with a space"),
        ] {
            let details = check_code(code, "code").map_err(|problem| problem.to_string());
            assert_eq!(details, Err(format!("Property .code {bound} (actual value is `{code}`)")));
        }
        for code in ["...", "A B", ".A", "a/b", "ß", "%2F"] {
            assert_eq!(check_code(code, "code"), Ok(()));
        }
    }

    #[test]
    fn parts_that_make_no_codes_are_named() {
        let fault = |prefix, pattern, postfix, charset: &str| {
            let charset: Vec<char> = charset.chars().collect();
            config_fault([("prefix", prefix), ("pattern", pattern), ("postfix", postfix)], &charset)
        };
        let details = |text: &str| Some(text.to_owned());
        assert_eq!(
            fault(" A", "##", "", "ab"),
            details("The prefix must NOT begin with a space (actual value is ` A`)")
        );
        assert_eq!(
            fault("", "## ", "", "ab"),
            details("The pattern must NOT end with a space (actual value is `## `)")
        );
        assert_eq!(
            fault("", "##", "\t", "ab"),
            details("The postfix must NOT contain control characters (actual value is `\t`)")
        );
        assert_eq!(
            fault("", "##", "", "a."),
            details("The pattern must NOT make the code `.` or `..` (actual value is `##`)")
        );
        assert_eq!(
            fault(".", "", ".", "a"),
            details("The postfix must NOT make the code `.` or `..` (actual value is `.`)")
        );
        assert_eq!(
            fault("A\u{200b}", "##", "", "a"),
            details("The prefix must NOT contain the format character U+200B (actual value is `A\u{200b}`)")
        );
        for (prefix, pattern, postfix, charset) in
            [("", "###", "", "a."), (".", "##", "", "a"), ("A ", "#", " B", "a"), ("", "##", "", "ab")]
        {
            assert_eq!(fault(prefix, pattern, postfix, charset), None);
        }
    }
}
