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
    /// An unexpected token.
    Unexpected(String),
    /// The string ends too early.
    Unfinished,
    /// Brackets nest too deep.
    TooDeep,
}

impl LogicError {
    /// Returns the message, to follow the name of a field.
    pub fn text(&self) -> String {
        let (before, token, after) = match self {
            LogicError::UnknownKey(key) => ("names the rule `", key.as_str(), "`, which does not exist"),
            LogicError::Unexpected(token) => ("has an unexpected `", token.as_str(), "`"),
            LogicError::Unfinished => ("ends too early", "", ""),
            LogicError::TooDeep => ("nests deeper than 32 brackets", "", ""),
        };
        [before, token, after].concat()
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
        let tokens: Vec<&str> = spaced.split_whitespace().collect();
        if tokens.is_empty() {
            return Ok(Expression::All((0..keys.len()).map(Expression::Leaf).collect()));
        }
        let mut reader = LogicReader { tokens: &tokens, keys, wrong: None };
        let expression = reader.read(0, true);
        if let Some(token) = reader.tokens.first() {
            reader.fail(LogicError::Unexpected((*token).to_owned()));
        }
        reader.wrong.map_or(Ok(expression), Err)
    }

    /// Returns whether the expression passes, given which tests do.
    pub fn holds(&self, test: &mut impl FnMut(usize) -> bool) -> bool {
        // Most rules are one list of tests, evaluated without a call for each.
        let mut part = |part: &Expression| match part {
            Expression::Leaf(position) => test(*position),
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
    pub fn first_failing(&self, test: &mut dyn FnMut(usize) -> bool) -> Option<usize> {
        match self {
            Expression::Leaf(position) => (!test(*position)).then_some(*position),
            Expression::All(parts) => {
                let mut first = None;
                for part in parts {
                    // A test later than the first failed one is not evaluated.
                    let is_later = |known: usize| matches!(part, Expression::Leaf(position) if *position > known);
                    if !first.is_some_and(is_later) {
                        first = first.into_iter().chain(part.first_failing(test)).min();
                    }
                }
                first
            }
            Expression::Any(parts) => {
                let mut first = usize::MAX;
                for part in parts {
                    first = first.min(part.first_failing(test)?);
                }
                Some(first)
            }
        }
    }

    /// Returns whether the expression contains a test.
    pub fn references(&self, position: usize) -> bool {
        match self {
            Expression::Leaf(own) => *own == position,
            Expression::All(parts) | Expression::Any(parts) => parts.iter().any(|part| part.references(position)),
        }
    }

    /// Calls `visit` with the position of every test, once for each occurrence.
    pub fn each_position(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Expression::Leaf(position) => visit(*position),
            Expression::All(parts) | Expression::Any(parts) => parts.iter().for_each(|part| part.each_position(visit)),
        }
    }

    /// Prints the expression over tests with these keys, so that parsing it gives an equal one.
    pub fn print(&self, keys: &[Text]) -> String {
        let (parts, token) = match self {
            Expression::Leaf(position) => return keys.get(*position).map(Text::to_string).unwrap_or_default(),
            Expression::All(parts) => (parts, " and "),
            Expression::Any(parts) => (parts, " or "),
        };
        let print = |part: &Expression| match part {
            Expression::Leaf(_) => part.print(keys),
            Expression::All(_) | Expression::Any(_) => format!("({})", part.print(keys)),
        };
        parts.iter().map(print).collect::<Vec<String>>().join(token)
    }
}

/// A parser of logic strings. It continues after an error, which stands for no tests; the first error is reported.
struct LogicReader<'a> {
    tokens: &'a [&'a str],
    keys: &'a [Text],
    wrong: Option<LogicError>,
}

impl<'a> LogicReader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.tokens.first().is_some_and(|first| first.eq_ignore_ascii_case(token));
        if found {
            self.next();
        }
        found
    }

    /// Records an error and stops reading.
    #[cold]
    fn fail(&mut self, wrong: LogicError) {
        self.tokens = &[];
        self.wrong.get_or_insert(wrong);
    }

    /// Parses parts joined by `or`, or those of one of them, which are joined by `and`.
    fn read(&mut self, depth: usize, any: bool) -> Expression {
        let token = if any { "or" } else { "and" };
        let join = if any { Expression::Any } else { Expression::All };
        let mut parts = Vec::new();
        loop {
            parts.push(if any { self.read(depth, false) } else { self.factor(depth) });
            if !self.accept(token) {
                return joined(parts, join);
            }
        }
    }

    fn factor(&mut self, depth: usize) -> Expression {
        let wrong = if depth > DEEPEST {
            LogicError::TooDeep
        } else if self.accept("(") {
            // The depth is checked before it grows.
            let inner = self.read(depth.saturating_add(1), true);
            match self.next() {
                Some(")") => return inner,
                Some(token) => LogicError::Unexpected(token.to_owned()),
                None => LogicError::Unfinished,
            }
        } else {
            match self.next() {
                None => LogicError::Unfinished,
                Some(token) if [")", "and", "or"].iter().any(|name| token.eq_ignore_ascii_case(name)) => {
                    LogicError::Unexpected(token.to_owned())
                }
                Some(token) => match self.keys.iter().position(|key| key == token) {
                    Some(position) => return Expression::Leaf(position),
                    None => LogicError::UnknownKey(token.to_owned()),
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
