//! Decides which texts are formulas: reads them into the tree. It must not know what they come to.
//!
//! calculation.md section 6. Loosest first: `OR`, `AND`, one test, `+ -`, `* / %`, the sign `-`. Arguments stand between
//! semicolons, texts between double quotes, where `\"` is a quote and `\\` a backslash. Names are as the table of the
//! specification writes them, upper and lower case included.

use crate::formula::ast::{
    CALLED, CASE, DEEPEST, FUNCTIONS, Formula, Function, LONGEST, Level, MOST_STEPS, Operand, Step, TESTS, What,
};
use crate::formula::error::FormulaError;
use crate::formula::ratio::Ratio;
use crate::formula::value::Date;
use crate::text::Text;

impl Formula {
    /// Reads a formula of at most 2000 bytes.
    ///
    /// ```
    /// use scrip::formula::Formula;
    /// let formula = Formula::parse("IF(ORDER_AMOUNT>150; 15; 10)").unwrap();
    /// assert_eq!(formula.to_string(), "IF(ORDER_AMOUNT > 150;15;10)");
    /// let error = Formula::parse("ORDER_AMOUNT * )").unwrap_err();
    /// assert_eq!(error.to_string(), "has an unexpected `)` at 16");
    /// ```
    pub fn parse(text: &str) -> Result<Formula, FormulaError> {
        let word = Word { kind: Kind::End, text: "", at: 0 };
        let mut reader = Reader { text, end: 0, word, steps: Vec::new(), error: None };
        match reader.whole() {
            Some(()) => Ok(Formula { steps: reader.steps }),
            // Whatever ends the reading early has said why.
            None => Err(reader.error.unwrap_or(FormulaError { before: "is no formula", word: None, after: "" })),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    /// With its quotes.
    Text,
    Name,
    Sign,
    End,
}

#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    kind: Kind,
    text: &'a str,
    /// Where it begins, in bytes.
    at: usize,
}

/// Reading stops with `None` and leaves the reason here, in place of a result that every step would hand upwards.
struct Reader<'a> {
    text: &'a str,
    /// Where the word in front ends, in bytes.
    end: usize,
    /// The word in front.
    word: Word<'a>,
    steps: Vec<Step>,
    error: Option<FormulaError>,
}

impl<'a> Reader<'a> {
    fn whole(&mut self) -> Option<()> {
        if self.text.len() > LONGEST {
            return self.fail("is longer than 2000 bytes");
        }
        self.step()?;
        if self.word.kind == Kind::End {
            return self.fail("is empty");
        }
        self.infix(0, 0)?;
        if self.word.kind == Kind::End { Some(()) } else { self.unexpected() }
    }

    fn fail(&mut self, before: &'static str) -> Option<()> {
        self.error = Some(FormulaError { before, word: None, after: "" });
        None
    }

    /// Fails at a word.
    fn fault(&mut self, before: &'static str, word: Word<'_>, after: &'static str) -> Option<()> {
        let place = self
            .text
            .get(..word.at)
            .map_or(0, |before| before.chars().fold(0_usize, |count, _| count.saturating_add(1)))
            .saturating_add(1);
        self.error = Some(FormulaError { before, word: Some((word.text.to_owned(), place)), after });
        None
    }

    fn unexpected(&mut self) -> Option<()> {
        match self.word.kind {
            Kind::End => self.fail("ends too early"),
            _ => self.fault("has an unexpected ", self.word, ""),
        }
    }

    /// Moves to the next word and gives back the one before it.
    fn step(&mut self) -> Option<Word<'a>> {
        let text = self.text;
        let left = text.get(self.end..)?;
        let rest = left.trim_ascii_start();
        let at = text.len().checked_sub(rest.len())?;
        let (kind, length) = match rest.bytes().next() {
            None => (Kind::End, 0),
            Some(b'0'..=b'9') => (Kind::Number, run(rest, |letter| letter.is_ascii_digit() || letter == b'.')),
            Some(b'"') => (Kind::Text, closing(rest)),
            Some(b'<' | b'>') if rest.as_bytes().get(1) == Some(&b'=') => (Kind::Sign, 2),
            Some(letter) if is_of_name(letter) => (Kind::Name, run(rest, is_of_name)),
            Some(_) => (Kind::Sign, 1),
        };
        let next = Word { kind, text: rest.get(..length)?, at };
        if kind == Kind::Text && length == 0 {
            self.fault("has a text that is not closed, ", Word { text: rest, ..next }, "")?;
        }
        self.end = at.checked_add(length)?;
        Some(std::mem::replace(&mut self.word, next))
    }

    /// Whether this sign or name stands in front.
    fn stands(&self, written: &str) -> bool {
        matches!(self.word.kind, Kind::Sign | Kind::Name) && self.word.text == written
    }

    /// Steps over a sign or name where it stands in front.
    fn takes(&mut self, written: &str) -> Option<bool> {
        let stands = self.stands(written);
        if stands {
            self.step()?;
        }
        Some(stands)
    }

    fn require(&mut self, written: &str) -> Option<()> {
        if self.takes(written)? { Some(()) } else { self.unexpected() }
    }

    /// Adds a node at a place; its size is told when its parts are known.
    fn add(&mut self, place: usize, what: What) -> Option<()> {
        if self.steps.len() >= MOST_STEPS {
            return self.fail("has more than 500 parts");
        }
        self.steps.insert(place, Step { what, joint: None, size: 1 });
        Some(())
    }

    /// Everything since this place is part of the node there.
    fn close(&mut self, place: usize) -> Option<()> {
        let size = self.steps.len().checked_sub(place)?;
        self.steps.get_mut(place)?.size = size;
        Some(())
    }

    /// Operators of this level and whatever binds tighter.
    fn infix(&mut self, level: Level, depth: u8) -> Option<()> {
        if level >= CALLED {
            return self.factor(depth);
        }
        let start = self.steps.len();
        let above = level.checked_add(1)?;
        self.infix(above, depth)?;
        let mut chained = false;
        while let Some(operator) = self.operator(level) {
            if !chained {
                self.add(start, What::Call(Function::Chain))?;
                chained = true;
            }
            self.step()?;
            let place = self.steps.len();
            self.infix(above, depth)?;
            self.steps.get_mut(place)?.joint = Some(operator);
            if level == TESTS {
                break;
            }
        }
        if chained { self.close(start) } else { Some(()) }
    }

    fn operator(&self, level: Level) -> Option<Function> {
        let (_, operator, ..) =
            FUNCTIONS.iter().find(|(written, _, binds, _)| *binds == level && self.stands(written))?;
        Some(*operator)
    }

    fn factor(&mut self, depth: u8) -> Option<()> {
        if depth > DEEPEST {
            return self.fail("nests deeper than 32 levels");
        }
        let deeper = depth.checked_add(1)?;
        let start = self.steps.len();
        let word = self.word;
        match word.kind {
            Kind::Number => match Ratio::parse(word.text) {
                Some(number) => {
                    self.step()?;
                    self.add(start, What::Number(number))
                }
                None => self.fault("has ", word, ", which is no number that can be held exactly"),
            },
            Kind::Text => {
                self.step()?;
                self.add(start, What::Text(unquoted(word.text)))
            }
            Kind::Name => self.named(depth),
            _ if self.takes("-")? => {
                self.add(start, What::Call(Function::Negative))?;
                self.factor(deeper)?;
                self.close(start)
            }
            _ if self.stands("(") => {
                if self.arguments(deeper)? > 1 {
                    self.add(start, What::Call(Function::List))?;
                    self.close(start)?;
                }
                Some(())
            }
            _ => self.unexpected(),
        }
    }

    /// What stands between brackets, parted by semicolons: one thing at least. How many there are.
    fn arguments(&mut self, depth: u8) -> Option<usize> {
        self.require("(")?;
        self.infix(0, depth)?;
        let mut count = 1_usize;
        while self.takes(";")? {
            self.infix(0, depth)?;
            count = count.checked_add(1)?;
        }
        self.require(")")?;
        Some(count)
    }

    /// An operand, a function, or a test that is called.
    fn named(&mut self, depth: u8) -> Option<()> {
        let word = self.word;
        if let Some((mut operand, keyed)) = Operand::named(word.text) {
            self.step()?;
            if keyed {
                operand.key = self.key(word)?;
            }
            return self.add(self.steps.len(), What::Operand(operand));
        }
        let known = FUNCTIONS.iter().find(|(written, _, level, _)| *written == word.text && *level >= TESTS);
        match known {
            Some((_, function, level, wanted)) => self.call(*function, *level, *wanted, depth),
            None if word.text == CASE || self.operator(0).or_else(|| self.operator(1)).is_some() => self.unexpected(),
            None => {
                self.step()?;
                let before = if self.stands("(") { "names the function " } else { "names the operand " };
                self.fault(before, word, ", which does not exist")
            }
        }
    }

    fn call(&mut self, function: Function, level: Level, wanted: usize, depth: u8) -> Option<()> {
        let word = self.step()?;
        let start = self.steps.len();
        // A test counts as two levels, because it may be printed with brackets of its own and a list inside.
        let test = level == TESTS;
        let deeper = depth.checked_add(if test { 2 } else { 1 })?;
        self.add(start, What::Call(if test { Function::Chain } else { function }))?;
        let found = match function {
            Function::Today => 0,
            Function::Switch => self.cases(deeper)?,
            _ => self.arguments(deeper)?,
        };
        if wanted != 0 && found != wanted || test && found < 2 {
            return self.miscounted(word, wanted);
        }
        if test {
            let first = start.checked_add(1)?;
            let second = first.checked_add(self.steps.get(first)?.size)?;
            if found > 2 {
                self.add(second, What::Call(Function::List))?;
                self.close(second)?;
            }
            self.steps.get_mut(second)?.joint = Some(function);
        }
        if let (Function::Date | Function::DateTime, Some(What::Text(text))) =
            (function, self.steps.get(start.checked_add(1)?).map(|step| &step.what))
            && Date::parse(text).is_none()
        {
            return self.fault("has ", word, " with no date such as \"2026-03-01\"");
        }
        self.close(start)
    }

    fn miscounted(&mut self, word: Word<'_>, wanted: usize) -> Option<()> {
        self.fault(
            "has ",
            word,
            match wanted {
                1 => ", which takes 1 argument",
                2 => ", which takes 2 arguments",
                3 => ", which takes 3 arguments",
                _ => ", which takes at least 2 arguments",
            },
        )
    }

    /// The arguments of a `SWITCH`: the value, the cases, the rest.
    fn cases(&mut self, depth: u8) -> Option<usize> {
        self.require("(")?;
        self.infix(0, depth)?;
        self.require(";")?;
        loop {
            let word = self.word;
            self.require(CASE)?;
            if self.arguments(depth.checked_add(1)?)? != 2 {
                self.miscounted(word, 2)?;
            }
            if !self.stands(CASE) {
                break;
            }
        }
        self.require(";")?;
        self.infix(0, depth)?;
        self.require(")")?;
        Some(3)
    }

    /// The property that an operand is about.
    fn key(&mut self, operand: Word<'_>) -> Option<Text> {
        if self.takes("(")? && self.word.kind == Kind::Text {
            let word = self.step()?;
            if self.takes(")")? {
                return Some(unquoted(word.text));
            }
        }
        self.fault("has ", operand, ", which takes a property in double quotes")?;
        None
    }
}

fn is_of_name(letter: u8) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'.') || !letter.is_ascii()
}

/// How many bytes in front belong together.
fn run(text: &str, belongs: fn(u8) -> bool) -> usize {
    text.bytes().take_while(|letter| belongs(*letter)).count()
}

/// How many bytes a text has from its first quote to its last; 0 when there is no last.
fn closing(text: &str) -> usize {
    let mut escaped = false;
    for (length, letter) in (1..).zip(text.bytes()).skip(1) {
        match letter {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return length,
            _ => {}
        }
    }
    0
}

/// What a text says: a backslash stands for the quote or backslash after it, and before anything else for itself.
fn unquoted(quoted: &str) -> Text {
    let last = quoted.len().saturating_sub(1);
    let mut letters = quoted.get(1..last).unwrap_or("").chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        let mut ahead = letters.clone();
        match ahead.next() {
            Some(escaped @ ('"' | '\\')) if letter == '\\' => {
                text.push(escaped);
                letters = ahead;
            }
            _ => text.push(letter),
        }
    }
    Text::from(text)
}
