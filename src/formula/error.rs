//! Decides how it is said why a text is no formula. It must not know how the text was read.

use std::fmt;

/// Why a text is no formula, as a sentence that follows the name of a field: ``has an unexpected `)` at 12``. Places
/// count letters from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaError {
    pub(crate) before: &'static str,
    /// The word that it is about, and its place.
    pub(crate) word: Option<(String, usize)>,
    pub(crate) after: &'static str,
}

impl FormulaError {
    /// The sentence.
    pub fn text(&self) -> String {
        match &self.word {
            Some((word, place)) => [self.before, "`", word, "` at ", &place.to_string(), self.after].concat(),
            None => [self.before, self.after].concat(),
        }
    }
}

/// As [`FormulaError::text`].
impl fmt::Display for FormulaError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}
