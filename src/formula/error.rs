//! Defines the error of an invalid formula, and its message.

use std::fmt;

/// The error of an invalid formula, as a message that follows the name of a field: ``has an unexpected `)` at 12``.
/// Positions count characters from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaError {
    pub(crate) before: &'static str,
    /// The token in question, and its position.
    pub(crate) token: Option<(String, usize)>,
    pub(crate) after: &'static str,
}

impl FormulaError {
    /// Returns the message.
    pub fn text(&self) -> String {
        match &self.token {
            Some((token, position)) => format!("{}`{token}` at {position}{}", self.before, self.after),
            None => format!("{}{}", self.before, self.after),
        }
    }
}

/// Prints [`FormulaError::text`].
impl fmt::Display for FormulaError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}
