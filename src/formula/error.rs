//! Decides how it is said why a text is no formula. It must not know how the text was read.

use std::fmt;

use crate::formula::ast::{DEEPEST, LONGEST, MOST_NODES};

/// Why a text is no formula. Its sentence follows the name of a field: ``has an unexpected `)` at 12``. Places count
/// letters from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormulaError {
    /// There is nothing.
    Empty,
    /// It has this many bytes.
    TooLong(usize),
    /// Brackets nest too deep.
    TooDeep,
    /// It has too many parts.
    TooLarge,
    /// It ends too early.
    Unfinished,
    /// Something else was expected at this word.
    Unexpected(String, usize),
    /// A text that is not closed.
    OpenText(usize),
    /// A number that is too large or too fine, or none at all.
    Number(String, usize),
    /// A name that is called and does not exist.
    UnknownFunction(String, usize),
    /// A name that does not exist.
    UnknownOperand(String, usize),
    /// A function with too few or too many arguments: its name, how many it takes at least and at most, and how many
    /// there are.
    Arguments(&'static str, usize, usize, usize),
    /// An operand with a key that has none, or has something else: its name.
    Key(String, usize),
    /// A text that is no date: the function that takes it, and the text.
    NoDate(&'static str, String),
}

impl fmt::Display for FormulaError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormulaError::Empty => formatter.write_str("is empty"),
            FormulaError::TooLong(bytes) => write!(formatter, "has {bytes} bytes, and at most {LONGEST} are allowed"),
            FormulaError::TooDeep => write!(formatter, "nests deeper than {DEEPEST} levels"),
            FormulaError::TooLarge => write!(formatter, "has more than {MOST_NODES} parts"),
            FormulaError::Unfinished => formatter.write_str("ends too early"),
            FormulaError::Unexpected(word, at) => write!(formatter, "has an unexpected `{word}` at {at}"),
            FormulaError::OpenText(at) => write!(formatter, "has a text at {at} that is not closed"),
            FormulaError::Number(word, at) => {
                write!(formatter, "has `{word}` at {at}, which is no number that can be held exactly")
            }
            FormulaError::UnknownFunction(word, at) => {
                write!(formatter, "names the function `{word}` at {at}, which does not exist")
            }
            FormulaError::UnknownOperand(word, at) => {
                write!(formatter, "names the operand `{word}` at {at}, which does not exist")
            }
            FormulaError::Arguments(name, least, most, found) => {
                let bound = if least == most { "" } else { "at least " };
                let plural = if *found == 1 { "" } else { "s" };
                write!(formatter, "has {name} with {found} argument{plural}, which takes {bound}{least}")
            }
            FormulaError::Key(name, at) => {
                write!(formatter, "has {name} at {at}, which takes a property in double quotes")
            }
            FormulaError::NoDate(name, text) => {
                write!(formatter, "has {name} with `{text}`, which is no date such as `2026-03-01`")
            }
        }
    }
}
