//! Decides what is said about JSON that cannot be read: the field, the value in backticks, the bound. It must not
//! know what the JSON is for.
//!
//! errors-and-auth.md section 3.1.

use std::fmt;
use std::ops::Deref;

/// How deep arrays and objects may nest. Deeper ones are refused before they are read.
pub const DEEPEST: usize = 64;

/// How many values a request may hold, those inside of others counted: five hundred lines with a hundred and more values of
/// custom data each.
pub const MOST_VALUES: usize = 100_000;

/// How much of a wrong value is repeated.
const LONGEST_VALUE: usize = 120;

/// What is wrong with a payload, as a sentence about one of its properties. It is one pointer, because whatever is read
/// can be this instead, and every reader hands it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem(Box<Said>);

/// What a [`Problem`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The path of the property, such as `redeemables[1]`; empty for the payload itself.
    pub path: String,
    /// What is wrong with it, such as `must be an integer`.
    pub text: String,
}

impl Deref for Problem {
    type Target = Said;

    fn deref(&self) -> &Said {
        &self.0
    }
}

impl Problem {
    /// A problem of the property at this path.
    #[cold]
    pub fn at(path: impl Into<String>, text: impl Into<String>) -> Problem {
        Problem::said(path.into(), text.into())
    }

    #[cold]
    #[inline(never)]
    fn said(path: String, text: String) -> Problem {
        Problem(Box::new(Said { path, text }))
    }

    /// A property that is not there.
    #[cold]
    pub fn missing(path: impl Into<String>, name: &str) -> Problem {
        Problem::said(path.into(), ["should have required property '", name, "'"].concat())
    }

    /// A property with a value that breaks a bound, which names the value.
    #[cold]
    pub fn bound(path: impl Into<String>, bound: &str, value: &str) -> Problem {
        Problem::broken(path.into(), bound, value)
    }

    #[cold]
    #[inline(never)]
    fn broken(path: String, bound: &str, value: &str) -> Problem {
        Problem::said(path, [bound, " (actual value is `", &shortened(value), "`)"].concat())
    }

    /// The same problem of a payload that is itself the property at this path.
    pub fn within(self, outer: &str) -> Problem {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        let path = [outer, dot, &self.path].concat();
        Problem::said(path, self.0.text)
    }
}

impl Problem {
    /// The sentence.
    pub fn sentence(&self) -> String {
        if !self.path.is_empty() {
            return ["Property .", &self.path, " ", &self.text].concat();
        }
        // The wire's own texts differ in this one word.
        match self.text.strip_prefix("should have") {
            Some(rest) => ["Payload must have", rest].concat(),
            None => ["Payload ", &self.text].concat(),
        }
    }
}

/// As [`Problem::sentence`].
impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.sentence())
    }
}

/// As much of a value as a message repeats.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_VALUE) {
        None => text.to_owned(),
        Some((end, _)) => [text.get(..end).unwrap_or_default(), "…"].concat(),
    }
}
