//! Parses the logic string of a rule, which combines its tests.
//!
//! docs/spec/validation-rules.md#2: `expr := term ("or" term)*; term := factor ("and" factor)*`.

use std::fmt;

use crate::text::Text;

/// The maximum nesting of brackets, as [`LogicError::text`] states it.
const DEEPEST: usize = 32;

/// Tests joined by and/or; a leaf is the position of a test in the rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Expression {
    /// One test.
    Leaf(usize),
    /// All of them; an empty list passes.
    All(Vec<Expression>),
    /// At least one of them.
    Any(Vec<Expression>),
}

/// The error of a logic string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogicError {
    /// A key without a test.
    UnknownKey(String),
    /// An unexpected word.
    Unexpected(String),
    /// The string ends too early.
    Unfinished,
    /// Brackets nest too deep.
    TooDeep,
}

impl LogicError {
    /// Returns the message, to follow the name of a field.
    pub fn text(&self) -> String {
        let (before, word, after) = match self {
            LogicError::UnknownKey(key) => ("names the rule `", key.as_str(), "`, which does not exist"),
            LogicError::Unexpected(word) => ("has an unexpected `", word.as_str(), "`"),
            LogicError::Unfinished => ("ends too early", "", ""),
            LogicError::TooDeep => ("nests deeper than 32 brackets", "", ""),
        };
        [before, word, after].concat()
    }
}

/// Prints [`LogicError::text`].
impl fmt::Display for LogicError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

impl Default for Expression {
    fn default() -> Expression {
        Expression::All(Vec::new())
    }
}

impl Expression {
    /// Parses a logic string over tests with these keys. An empty one joins all tests by `and`.
    pub fn parse(logic: &str, keys: &[Text]) -> Result<Expression, LogicError> {
        let spaced = logic.replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        if words.is_empty() {
            return Ok(Expression::All((0..keys.len()).map(Expression::Leaf).collect()));
        }
        let mut reader = LogicReader { words: &words, keys, wrong: None };
        let expression = reader.read(0, true);
        if let Some(word) = reader.words.first() {
            reader.fail(LogicError::Unexpected((*word).to_owned()));
        }
        reader.wrong.map_or(Ok(expression), Err)
    }

    /// Returns whether the expression passes, given which tests do.
    pub fn holds(&self, test: &mut impl FnMut(usize) -> bool) -> bool {
        // Most rules are one list of tests, evaluated without a call for each.
        let mut part = |part: &Expression| match part {
            Expression::Leaf(place) => test(*place),
            Expression::All(_) | Expression::Any(_) => part.holds(test),
        };
        match self {
            Expression::Leaf(_) => part(self),
            Expression::All(parts) => parts.iter().all(part),
            Expression::Any(parts) => parts.iter().any(part),
        }
    }

    /// Returns the first test that makes the expression false (docs/spec/validation-rules.md#8); `None` if it passes. A
    /// failing test with a passing alternative is skipped.
    pub fn blame(&self, test: &mut dyn FnMut(usize) -> bool) -> Option<usize> {
        match self {
            Expression::Leaf(place) => (!test(*place)).then_some(*place),
            Expression::All(parts) => {
                let mut first = None;
                for part in parts {
                    // A test later than the first failed one is not evaluated.
                    let is_later = |known: usize| matches!(part, Expression::Leaf(place) if *place > known);
                    if !first.is_some_and(is_later) {
                        first = first.into_iter().chain(part.blame(test)).min();
                    }
                }
                first
            }
            Expression::Any(parts) => {
                let mut first = usize::MAX;
                for part in parts {
                    first = first.min(part.blame(test)?);
                }
                Some(first)
            }
        }
    }

    /// Returns whether the expression contains a test.
    pub fn mentions(&self, place: usize) -> bool {
        match self {
            Expression::Leaf(own) => *own == place,
            Expression::All(parts) | Expression::Any(parts) => parts.iter().any(|part| part.mentions(place)),
        }
    }

    /// Calls `see` with the position of every test, once for each occurrence.
    pub fn each_place(&self, see: &mut dyn FnMut(usize)) {
        match self {
            Expression::Leaf(place) => see(*place),
            Expression::All(parts) | Expression::Any(parts) => parts.iter().for_each(|part| part.each_place(see)),
        }
    }

    /// Prints the expression over tests with these keys, so that parsing it gives an equal one.
    pub fn print(&self, keys: &[Text]) -> String {
        let (parts, word) = match self {
            Expression::Leaf(place) => return keys.get(*place).map(Text::to_string).unwrap_or_default(),
            Expression::All(parts) => (parts, " and "),
            Expression::Any(parts) => (parts, " or "),
        };
        let print = |part: &Expression| match part {
            Expression::Leaf(_) => part.print(keys),
            Expression::All(_) | Expression::Any(_) => format!("({})", part.print(keys)),
        };
        parts.iter().map(print).collect::<Vec<String>>().join(word)
    }
}

/// A parser of logic strings. It continues after an error, which stands for no tests; the first error is reported.
struct LogicReader<'a> {
    words: &'a [&'a str],
    keys: &'a [Text],
    wrong: Option<LogicError>,
}

impl<'a> LogicReader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.words.first().is_some_and(|first| first.eq_ignore_ascii_case(word));
        if found {
            self.next();
        }
        found
    }

    /// Records an error and stops reading.
    #[cold]
    fn fail(&mut self, wrong: LogicError) {
        self.words = &[];
        self.wrong.get_or_insert(wrong);
    }

    /// Parses parts joined by `or`, or those of one of them, which are joined by `and`.
    fn read(&mut self, depth: usize, any: bool) -> Expression {
        let word = if any { "or" } else { "and" };
        let join = if any { Expression::Any } else { Expression::All };
        let mut parts = Vec::new();
        loop {
            parts.push(if any { self.read(depth, false) } else { self.factor(depth) });
            if !self.takes(word) {
                return joined(parts, join);
            }
        }
    }

    fn factor(&mut self, depth: usize) -> Expression {
        let wrong = if depth > DEEPEST {
            LogicError::TooDeep
        } else if self.takes("(") {
            // The depth is checked before it grows.
            let inner = self.read(depth.saturating_add(1), true);
            match self.next() {
                Some(")") => return inner,
                Some(word) => LogicError::Unexpected(word.to_owned()),
                None => LogicError::Unfinished,
            }
        } else {
            match self.next() {
                None => LogicError::Unfinished,
                Some(word) if [")", "and", "or"].iter().any(|name| word.eq_ignore_ascii_case(name)) => {
                    LogicError::Unexpected(word.to_owned())
                }
                Some(word) => match self.keys.iter().position(|key| key == word) {
                    Some(place) => return Expression::Leaf(place),
                    None => LogicError::UnknownKey(word.to_owned()),
                },
            }
        };
        self.fail(wrong);
        Expression::default()
    }
}

/// Joins several parts; returns a single one as it is.
fn joined(mut parts: Vec<Expression>, join: fn(Vec<Expression>) -> Expression) -> Expression {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            parts.extend(last);
            join(parts)
        }
    }
}
