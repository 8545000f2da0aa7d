//! Decides which texts are formulas: reads them into the tree. It must not know what they come to.
//!
//! calculation.md section 6. Loosest first: `OR`, `AND`, one test, `+ -`, `* / %`, the sign `-`. Arguments stand between
//! semicolons, texts between double quotes, where `\"` is a quote and `\\` a backslash. Names are as the table of the
//! specification writes them, upper and lower case included.

use crate::formula::ast::{
    CASE, DEEPEST, FUNCTIONS, Formula, Function, LONGEST, Level, MOST_NODES, Node, OPERATORS, Operand, Operator, TESTS,
    TIGHTEST,
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
        if text.len() > LONGEST {
            return Err(FormulaError::TooLong(text.len()));
        }
        let mut reader = Reader { text, end: 0, word: Word { kind: Kind::End, text: "", at: 0 }, nodes: 0 };
        reader.step()?;
        if reader.word.kind == Kind::End {
            return Err(FormulaError::Empty);
        }
        let root = reader.infix(0, 0)?;
        match reader.word.kind {
            Kind::End => Ok(Formula { root }),
            _ => Err(reader.unexpected()),
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

struct Reader<'a> {
    text: &'a str,
    /// Where the word in front ends, in bytes.
    end: usize,
    /// The word in front.
    word: Word<'a>,
    nodes: usize,
}

type Read<T> = Result<T, FormulaError>;

impl<'a> Reader<'a> {
    /// The place of a byte for people: letters, from 1.
    fn place(&self, at: usize) -> usize {
        self.text.get(..at).map_or(at, |before| before.chars().count()).saturating_add(1)
    }

    fn unexpected(&self) -> FormulaError {
        match self.word.kind {
            Kind::End => FormulaError::Unfinished,
            _ => FormulaError::Unexpected(self.word.text.to_owned(), self.place(self.word.at)),
        }
    }

    /// Moves to the next word and gives back the one before it.
    fn step(&mut self) -> Read<Word<'a>> {
        let text = self.text;
        let left = text.get(self.end..).unwrap_or("");
        let rest = left.trim_start();
        let at = self.end.saturating_add(left.len().saturating_sub(rest.len()));
        let run = |belongs: fn(char) -> bool| rest.find(|letter| !belongs(letter)).unwrap_or(rest.len());
        let (kind, length) = match rest.chars().next() {
            None => (Kind::End, 0),
            Some('0'..='9') => (Kind::Number, run(|letter| letter.is_ascii_digit() || letter == '.')),
            Some('"') => (Kind::Text, closing(rest).ok_or_else(|| FormulaError::OpenText(self.place(at)))?),
            Some('<' | '>') if rest.get(1..2) == Some("=") => (Kind::Sign, 2),
            Some(letter) if letter.is_alphabetic() || letter == '_' => {
                (Kind::Name, run(|letter| letter.is_alphanumeric() || letter == '_' || letter == '.'))
            }
            Some(letter) => (Kind::Sign, letter.len_utf8()),
        };
        self.end = at.saturating_add(length);
        let next = Word { kind, text: rest.get(..length).unwrap_or(""), at };
        Ok(std::mem::replace(&mut self.word, next))
    }

    fn stands(&self, sign: &str) -> bool {
        self.word.kind == Kind::Sign && self.word.text == sign
    }

    fn takes(&mut self, sign: &str) -> Read<bool> {
        let stands = self.stands(sign);
        if stands {
            self.step()?;
        }
        Ok(stands)
    }

    fn expect(&mut self, sign: &str) -> Read<()> {
        if self.takes(sign)? { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Counts a part.
    fn counted(&mut self, node: Node) -> Read<Node> {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > MOST_NODES { Err(FormulaError::TooLarge) } else { Ok(node) }
    }

    /// Operators of this level and whatever binds tighter.
    fn infix(&mut self, level: Level, depth: usize) -> Read<Node> {
        if level >= TIGHTEST {
            return self.factor(depth);
        }
        let above = level.saturating_add(1);
        let first = self.infix(above, depth)?;
        let mut rest = Vec::new();
        while let Some(operator) = self.operator(level) {
            self.step()?;
            rest.push((operator, self.infix(above, depth)?));
            if level == TESTS {
                break;
            }
        }
        Ok(if rest.is_empty() { first } else { Node::Infix(Box::new(first), rest) })
    }

    fn operator(&self, level: Level) -> Option<Operator> {
        if !matches!(self.word.kind, Kind::Sign | Kind::Name) {
            return None;
        }
        let (_, operator, binds) = OPERATORS.iter().find(|(written, ..)| *written == self.word.text)?;
        (*binds == level).then_some(*operator)
    }

    fn factor(&mut self, depth: usize) -> Read<Node> {
        if depth > DEEPEST {
            return Err(FormulaError::TooDeep);
        }
        let deeper = depth.saturating_add(1);
        match self.word.kind {
            Kind::Number => {
                let word = self.step()?;
                let number = Ratio::parse(word.text);
                let number = number.ok_or_else(|| FormulaError::Number(word.text.to_owned(), self.place(word.at)))?;
                self.counted(Node::Number(number))
            }
            Kind::Text => {
                let word = self.step()?;
                self.counted(Node::Text(unquoted(word.text)))
            }
            Kind::Name => self.named(depth),
            Kind::Sign if self.stands("-") => {
                self.step()?;
                let inner = Box::new(self.factor(deeper)?);
                self.counted(Node::Negative(inner))
            }
            Kind::Sign if self.stands("(") => {
                let mut inner = self.arguments(deeper)?;
                match (inner.len(), inner.pop()) {
                    (1, Some(only)) => Ok(only),
                    (_, last) => {
                        inner.extend(last);
                        self.counted(Node::Call(Function::List, inner))
                    }
                }
            }
            _ => Err(self.unexpected()),
        }
    }

    /// What stands between brackets, parted by semicolons: one thing at least.
    fn arguments(&mut self, depth: usize) -> Read<Vec<Node>> {
        self.expect("(")?;
        let mut found = vec![self.infix(0, depth)?];
        while self.takes(";")? {
            found.push(self.infix(0, depth)?);
        }
        self.expect(")")?;
        Ok(found)
    }

    /// An operand, a function, or a test that is called.
    fn named(&mut self, depth: usize) -> Read<Node> {
        let word = self.word;
        if let Some((mut operand, keyed)) = Operand::named(word.text) {
            self.step()?;
            if keyed {
                operand.key = self.key(word)?;
            }
            return self.counted(Node::Operand(operand));
        }
        if let Some((name, function, least, most)) = FUNCTIONS.iter().find(|(name, ..)| *name == word.text) {
            self.step()?;
            let arguments = match function {
                Function::Today => Vec::new(),
                Function::Switch => self.cases(depth.saturating_add(1))?,
                _ => {
                    let arguments = self.arguments(depth.saturating_add(1))?;
                    bounded(name, *least, *most, arguments.len())?;
                    arguments
                }
            };
            if let (Function::Date | Function::DateTime, Some(Node::Text(text))) = (function, arguments.first())
                && Date::parse(text).is_none()
            {
                return Err(FormulaError::NoDate(name, text.to_string()));
            }
            return self.counted(Node::Call(*function, arguments));
        }
        match OPERATORS.iter().find(|(name, ..)| *name == word.text) {
            Some((name, operator, TESTS)) => self.called(name, *operator, depth),
            Some(_) => Err(self.unexpected()),
            None if word.text == CASE => Err(self.unexpected()),
            None => {
                self.step()?;
                let (text, at) = (word.text.to_owned(), self.place(word.at));
                Err(if self.stands("(") {
                    FormulaError::UnknownFunction(text, at)
                } else {
                    FormulaError::UnknownOperand(text, at)
                })
            }
        }
    }

    /// A test in the form of a function. It counts as two levels, because it may be printed with brackets of its own
    /// and a list inside.
    fn called(&mut self, name: &'static str, operator: Operator, depth: usize) -> Read<Node> {
        self.step()?;
        let mut arguments = self.arguments(depth.saturating_add(2))?.into_iter();
        let most = if matches!(operator, Operator::InArray | Operator::NotInArray) { usize::MAX } else { 2 };
        bounded(name, 2, most, arguments.len())?;
        let (Some(first), Some(second)) = (arguments.next(), arguments.next()) else {
            return Err(FormulaError::Unfinished);
        };
        let second = if arguments.len() == 0 {
            second
        } else {
            self.counted(Node::Call(Function::List, std::iter::once(second).chain(arguments).collect()))?
        };
        Ok(Node::Infix(Box::new(first), vec![(operator, second)]))
    }

    /// The arguments of a `SWITCH`: the value, the cases one after the other, the rest.
    fn cases(&mut self, depth: usize) -> Read<Vec<Node>> {
        self.expect("(")?;
        let mut found = vec![self.infix(0, depth)?];
        self.expect(";")?;
        while self.word.kind == Kind::Name && self.word.text == CASE {
            self.step()?;
            let case = self.arguments(depth.saturating_add(1))?;
            bounded(CASE, 2, 2, case.len())?;
            found.extend(case);
        }
        if found.len() == 1 {
            return Err(self.unexpected());
        }
        self.expect(";")?;
        found.push(self.infix(0, depth)?);
        self.expect(")")?;
        Ok(found)
    }

    /// The property that an operand is about.
    fn key(&mut self, operand: Word<'_>) -> Read<Text> {
        let wrong = FormulaError::Key(operand.text.to_owned(), self.place(operand.at));
        if !self.takes("(")? || self.word.kind != Kind::Text {
            return Err(wrong);
        }
        let key = unquoted(self.step()?.text);
        if self.takes(")")? { Ok(key) } else { Err(wrong) }
    }
}

fn bounded(name: &'static str, least: usize, most: usize, found: usize) -> Read<()> {
    if (least..=most).contains(&found) { Ok(()) } else { Err(FormulaError::Arguments(name, least, most, found)) }
}

/// How many bytes a text has from its first quote to its last.
fn closing(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at.checked_add(1),
            _ => {}
        }
    }
    None
}

/// What a text says: a backslash stands for the quote or backslash after it, and before anything else for itself.
fn unquoted(quoted: &str) -> Text {
    let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or("");
    let mut text = Text::default();
    let mut letters = inner.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = letters.next_if(|next| letter == '\\' && matches!(next, '"' | '\\'));
        text.push(escaped.unwrap_or(letter));
    }
    text
}
