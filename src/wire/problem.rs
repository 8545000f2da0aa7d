//! Defines the problem of JSON that cannot be read, and its message: the field, the value in backticks, the bound.
//!
//! docs/spec/errors-and-auth.md#3.1.

use std::fmt;
use std::ops::Deref;

/// The maximum nesting of arrays and objects. Deeper ones are refused before they are read.
pub const DEEPEST: usize = 64;

/// The maximum number of values of a request, including nested ones: 500 lines with more than 100 values of metadata
/// each.
pub const VALUES_MAX: usize = 100_000;

/// The maximum length of a repeated wrong value, in characters.
const LONGEST_VALUE: usize = 120;

/// The problem of a payload, as a sentence about one of its properties. It has the size of one pointer, because every
/// reader can return and pass it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem(Box<ProblemText>);

/// The content of a [`Problem`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProblemText {
    /// The path of the property, such as `redeemables[1]`; empty for the payload itself.
    pub path: String,
    /// The problem, such as `must be an integer`.
    pub text: String,
}

impl Deref for Problem {
    type Target = ProblemText;

    fn deref(&self) -> &ProblemText {
        &self.0
    }
}

impl Problem {
    /// Returns a problem of the property at this path.
    #[cold]
    pub fn at(path: impl Into<String>, text: impl Into<String>) -> Problem {
        Problem::with_text(path.into(), text.into())
    }

    #[cold]
    #[inline(never)]
    fn with_text(path: String, text: String) -> Problem {
        Problem(Box::new(ProblemText { path, text }))
    }

    /// Returns the problem of an absent property.
    #[cold]
    pub fn missing(path: impl Into<String>, name: &str) -> Problem {
        Problem::with_text(path.into(), format!("should have required property '{name}'"))
    }

    /// Returns the problem of a property that violates a bound, with its value.
    #[cold]
    pub fn bound(path: impl Into<String>, bound: &str, value: &str) -> Problem {
        Problem::broken(path.into(), bound, value)
    }

    #[cold]
    #[inline(never)]
    fn broken(path: String, bound: &str, value: &str) -> Problem {
        Problem::with_text(path, format!("{bound} (actual value is `{}`)", shortened(value)))
    }

    /// Prepends a path, for a payload that is itself the property at this path.
    pub fn within(self, outer: &str) -> Problem {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        let path = format!("{outer}{dot}{}", self.path);
        Problem::with_text(path, self.0.text)
    }
}

impl Problem {
    /// Returns the message.
    pub fn sentence(&self) -> String {
        if !self.path.is_empty() {
            return format!("Property .{} {}", self.path, self.text);
        }
        // The published texts for the payload differ in this word.
        match self.text.strip_prefix("should have") {
            Some(rest) => format!("Payload must have{rest}"),
            None => format!("Payload {}", self.text),
        }
    }
}

/// Prints [`Problem::sentence`].
impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.sentence())
    }
}

/// Returns the beginning of a value that a message repeats.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_VALUE) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
