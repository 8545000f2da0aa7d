//! Parses formulas into the tree.
//!
//! docs/spec/calculation.md#6. Operators by rising precedence: `OR`, `AND`, one test, `+ -`, `* / %`, the sign `-`.
//! Arguments are separated by semicolons. Texts are in double quotes, where `\"` is a quote and `\\` a backslash. Names
//! are written as in the table of the specification, including case.

use crate::count::Countable;
use crate::formula::ast::{
    CALL, CASE, DEEPEST, FUNCTIONS, Formula, FormulaNode, FormulaOperand, Function, LONGEST, NodeKind, Precedence,
    STEPS_MAX, TESTS,
};
use crate::formula::error::FormulaError;
use crate::formula::ratio::Ratio;
use crate::formula::value::Date;
use crate::text::Text;

impl Formula {
    /// Parses a formula of at most 2000 bytes.
    ///
    /// ```
    /// use scrip::formula::Formula;
    /// let formula = Formula::parse("IF(ORDER_AMOUNT>150; 15; 10)").unwrap();
    /// assert_eq!(formula.to_string(), "IF(ORDER_AMOUNT > 150;15;10)");
    /// let error = Formula::parse("ORDER_AMOUNT * )").unwrap_err();
    /// assert_eq!(error.to_string(), "has an unexpected `)` at 16");
    /// ```
    pub fn parse(text: &str) -> Result<Formula, FormulaError> {
        let token = Token { kind: TokenKind::End, text: "", at: 0 };
        let mut reader = FormulaReader { text, end: 0, token, steps: Vec::new(), error: None };
        match reader.integer() {
            Some(()) => Ok(Formula { steps: reader.steps }),
            // An early end of parsing has set the error.
            None => Err(reader.error.unwrap_or(FormulaError { before: "is no formula", token: None, after: "" })),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    Number,
    /// Includes the quotes.
    Text,
    Name,
    Sign,
    End,
}

#[derive(Debug, Clone, Copy)]
struct Token<'a> {
    kind: TokenKind,
    text: &'a str,
    /// The start, in bytes.
    at: usize,
}

/// The parser. It stops with `None` and leaves the error here, instead of a result in every step.
struct FormulaReader<'a> {
    text: &'a str,
    /// The end of the current token, in bytes.
    end: usize,
    /// The current token.
    token: Token<'a>,
    steps: Vec<FormulaNode>,
    error: Option<FormulaError>,
}

impl<'a> FormulaReader<'a> {
    fn integer(&mut self) -> Option<()> {
        if self.text.len() > LONGEST {
            return self.fail("is longer than 2000 bytes");
        }
        self.step()?;
        if self.token.kind == TokenKind::End {
            return self.fail("is empty");
        }
        self.infix(0, 0)?;
        if self.token.kind == TokenKind::End { Some(()) } else { self.unexpected() }
    }

    fn fail(&mut self, before: &'static str) -> Option<()> {
        self.error = Some(FormulaError { before, token: None, after: "" });
        None
    }

    /// Fails at a token.
    fn fault(&mut self, before: &'static str, token: Token<'_>, after: &'static str) -> Option<()> {
        let position = self.text.get(..token.at).map_or(0, |before| before.chars().count()).plus_one();
        self.error = Some(FormulaError { before, token: Some((token.text.to_owned(), position)), after });
        None
    }

    fn unexpected(&mut self) -> Option<()> {
        match self.token.kind {
            TokenKind::End => self.fail("ends too early"),
            _ => self.fault("has an unexpected ", self.token, ""),
        }
    }

    /// Moves to the next token and returns the one before it.
    fn step(&mut self) -> Option<Token<'a>> {
        let text = self.text;
        let left = text.get(self.end..)?;
        let rest = left.trim_ascii_start();
        let at = text.len().checked_sub(rest.len())?;
        let (kind, length) = match rest.bytes().next() {
            None => (TokenKind::End, 0),
            Some(b'0'..=b'9') => {
                (TokenKind::Number, run(rest, |character| character.is_ascii_digit() || character == b'.'))
            }
            Some(b'"') => (TokenKind::Text, closing(rest)),
            Some(b'<' | b'>') if rest.as_bytes().get(1) == Some(&b'=') => (TokenKind::Sign, 2),
            Some(character) if is_of_name(character) => (TokenKind::Name, run(rest, is_of_name)),
            Some(_) => (TokenKind::Sign, 1),
        };
        let next = Token { kind, text: rest.get(..length)?, at };
        if kind == TokenKind::Text && length == 0 {
            self.fault("has a text that is not closed, ", Token { text: rest, ..next }, "")?;
        }
        self.end = at.checked_add(length)?;
        Some(std::mem::replace(&mut self.token, next))
    }

    /// Returns whether the current token is this sign or name.
    fn is_at(&self, written: &str) -> bool {
        matches!(self.token.kind, TokenKind::Sign | TokenKind::Name) && self.token.text == written
    }

    /// Skips a sign or name if it is the current token.
    fn accept(&mut self, written: &str) -> Option<bool> {
        let is_at = self.is_at(written);
        if is_at {
            self.step()?;
        }
        Some(is_at)
    }

    fn require(&mut self, written: &str) -> Option<()> {
        if self.accept(written)? { Some(()) } else { self.unexpected() }
    }

    /// Inserts a node at a position; `close` sets its size when its parts are known.
    fn add(&mut self, position: usize, kind: NodeKind) -> Option<()> {
        if self.steps.len() >= STEPS_MAX {
            return self.fail("has more than 500 parts");
        }
        self.steps.insert(position, FormulaNode { kind, joint: None, size: 1 });
        Some(())
    }

    /// Makes all nodes since this position parts of the node there.
    fn close(&mut self, position: usize) -> Option<()> {
        let size = self.steps.len().checked_sub(position)?;
        self.steps.get_mut(position)?.size = size;
        Some(())
    }

    /// Parses operators of this precedence and higher ones.
    fn infix(&mut self, level: Precedence, depth: u8) -> Option<()> {
        if level >= CALL {
            return self.factor(depth);
        }
        let start = self.steps.len();
        let above = level.checked_add(1)?;
        self.infix(above, depth)?;
        let mut chained = false;
        while let Some(operator) = self.operator(level) {
            if !chained {
                self.add(start, NodeKind::Call(Function::Chain))?;
                chained = true;
            }
            self.step()?;
            let position = self.steps.len();
            self.infix(above, depth)?;
            self.steps.get_mut(position)?.joint = Some(operator);
            if level == TESTS {
                break;
            }
        }
        if chained { self.close(start) } else { Some(()) }
    }

    fn operator(&self, level: Precedence) -> Option<Function> {
        let (_, operator, ..) =
            FUNCTIONS.iter().find(|(written, _, binds, _)| *binds == level && self.is_at(written))?;
        Some(*operator)
    }

    fn factor(&mut self, depth: u8) -> Option<()> {
        if depth > DEEPEST {
            return self.fail("nests deeper than 32 levels");
        }
        let deeper = depth.checked_add(1)?;
        let start = self.steps.len();
        let token = self.token;
        match token.kind {
            TokenKind::Number => match Ratio::parse(token.text) {
                Some(number) => {
                    self.step()?;
                    self.add(start, NodeKind::Number(number))
                }
                None => self.fault("has ", token, ", which is no number that can be held exactly"),
            },
            TokenKind::Text => {
                self.step()?;
                self.add(start, NodeKind::Text(unquoted(token.text)))
            }
            TokenKind::Name => self.named(depth),
            _ if self.accept("-")? => {
                self.add(start, NodeKind::Call(Function::Negative))?;
                self.factor(deeper)?;
                self.close(start)
            }
            _ if self.is_at("(") => {
                if self.arguments(deeper)? > 1 {
                    self.add(start, NodeKind::Call(Function::List))?;
                    self.close(start)?;
                }
                Some(())
            }
            _ => self.unexpected(),
        }
    }

    /// Parses arguments in brackets, separated by semicolons, at least one. Returns their number.
    fn arguments(&mut self, depth: u8) -> Option<usize> {
        self.require("(")?;
        self.infix(0, depth)?;
        let mut count = 1_usize;
        while self.accept(";")? {
            self.infix(0, depth)?;
            count = count.checked_add(1)?;
        }
        self.require(")")?;
        Some(count)
    }

    /// Parses an operand, a function, or a test that is called.
    fn named(&mut self, depth: u8) -> Option<()> {
        let token = self.token;
        if let Some((mut operand, keyed)) = FormulaOperand::named(token.text) {
            self.step()?;
            if keyed {
                operand.key = self.key(token)?;
            }
            return self.add(self.steps.len(), NodeKind::Operand(operand));
        }
        let known = FUNCTIONS.iter().find(|(written, _, level, _)| *written == token.text && *level >= TESTS);
        match known {
            Some((_, function, level, expected)) => self.call(*function, *level, *expected, depth),
            None if token.text == CASE || self.operator(0).or_else(|| self.operator(1)).is_some() => self.unexpected(),
            None => {
                self.step()?;
                let before = if self.is_at("(") { "names the function " } else { "names the operand " };
                self.fault(before, token, ", which does not exist")
            }
        }
    }

    fn call(&mut self, function: Function, level: Precedence, expected: usize, depth: u8) -> Option<()> {
        let token = self.step()?;
        let start = self.steps.len();
        // A test counts as two levels, because it may be printed with brackets of its own and a list inside.
        let test = level == TESTS;
        let deeper = depth.checked_add(if test { 2 } else { 1 })?;
        self.add(start, NodeKind::Call(if test { Function::Chain } else { function }))?;
        let found = match function {
            Function::Today => 0,
            Function::Switch => self.cases(deeper)?,
            _ => self.arguments(deeper)?,
        };
        if expected != 0 && found != expected || test && found < 2 {
            return self.miscounted(token, expected);
        }
        if test {
            let first = start.checked_add(1)?;
            let second = first.checked_add(self.steps.get(first)?.size)?;
            if found > 2 {
                self.add(second, NodeKind::Call(Function::List))?;
                self.close(second)?;
            }
            self.steps.get_mut(second)?.joint = Some(function);
        }
        if let (Function::Date | Function::DateTime, Some(NodeKind::Text(text))) =
            (function, self.steps.get(start.checked_add(1)?).map(|step| &step.kind))
            && Date::parse(text).is_none()
        {
            return self.fault("has ", token, " with no date such as \"2026-03-01\"");
        }
        self.close(start)
    }

    fn miscounted(&mut self, token: Token<'_>, expected: usize) -> Option<()> {
        self.fault(
            "has ",
            token,
            match expected {
                1 => ", which takes 1 argument",
                2 => ", which takes 2 arguments",
                3 => ", which takes 3 arguments",
                _ => ", which takes at least 2 arguments",
            },
        )
    }

    /// Parses the arguments of a `SWITCH`: the value, the cases, the default.
    fn cases(&mut self, depth: u8) -> Option<usize> {
        self.require("(")?;
        self.infix(0, depth)?;
        self.require(";")?;
        loop {
            let token = self.token;
            self.require(CASE)?;
            if self.arguments(depth.checked_add(1)?)? != 2 {
                self.miscounted(token, 2)?;
            }
            if !self.is_at(CASE) {
                break;
            }
        }
        self.require(";")?;
        self.infix(0, depth)?;
        self.require(")")?;
        Some(3)
    }

    /// Parses the property of an operand.
    fn key(&mut self, operand: Token<'_>) -> Option<Text> {
        if self.accept("(")? && self.token.kind == TokenKind::Text {
            let token = self.step()?;
            if self.accept(")")? {
                return Some(unquoted(token.text));
            }
        }
        self.fault("has ", operand, ", which takes a property in double quotes")?;
        None
    }
}

fn is_of_name(character: u8) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, b'_' | b'.') || !character.is_ascii()
}

/// Returns the number of leading bytes that pass.
fn run(text: &str, belongs: fn(u8) -> bool) -> usize {
    text.bytes().take_while(|character| belongs(*character)).count()
}

/// Returns the length in bytes of a text from its first quote to the closing one; 0 without one.
fn closing(text: &str) -> usize {
    let mut escaped = false;
    for (length, character) in (1..).zip(text.bytes()).skip(1) {
        match character {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return length,
            _ => {}
        }
    }
    0
}

/// Returns the content of a quoted text: a backslash escapes a quote or a backslash, and stays before any other
/// character.
fn unquoted(quoted: &str) -> Text {
    let last = quoted.len().remaining_after(1);
    let mut characters = quoted.get(1..last).unwrap_or("").chars();
    let mut text = String::new();
    while let Some(character) = characters.next() {
        let mut ahead = characters.clone();
        match ahead.next() {
            Some(escaped @ ('"' | '\\')) if character == '\\' => {
                text.push(escaped);
                characters = ahead;
            }
            _ => text.push(character),
        }
    }
    Text::from(text)
}
