//! Decides what is JSON (RFC 8259, what the JSON library takes) and reads it, borrowing every text that has no escape.
//! It must not know what the JSON is for.

use std::borrow::Cow;

use crate::json::Node;
use crate::json::decimal::decimal;

/// What kind of fault a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// It ends before the value does.
    Early,
    /// It is no JSON.
    Wrong,
    /// It nests too deep.
    Deep,
}

/// Why a text cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// How many bytes of the text stand before what is wrong.
    pub at: usize,
}

/// Reads JSON whose objects and lists nest no deeper than `deepest`.
pub fn read(bytes: &[u8], deepest: usize) -> Result<Node<'_>, Fault> {
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Err(Fault { kind: FaultKind::Wrong, at: error.valid_up_to() }),
    };
    let mut reader = Reader { rest: text, depth: deepest, items: Vec::new(), members: Vec::new() };
    let read = reader.value().and_then(|node| match reader.next() {
        None => Ok(node),
        Some(_) => Err(FaultKind::Wrong),
    });
    read.map_err(|kind| Fault { kind, at: text.len().saturating_sub(reader.rest.len()) })
}

/// What a step of reading gives.
type Step<T> = Result<T, FaultKind>;

/// A member of an object.
type Member<'a> = (Cow<'a, str>, Node<'a>);

struct Reader<'a> {
    rest: &'a str,
    /// How many levels may still be entered.
    depth: usize,
    /// What has been read of the lists that are open, the innermost last: a list is made when its length is known.
    items: Vec<Node<'a>>,
    /// The same of the objects that are open.
    members: Vec<Member<'a>>,
}

impl<'a> Reader<'a> {
    /// The next byte that is no space; it stays.
    fn next(&mut self) -> Option<u8> {
        loop {
            let byte = *self.rest.as_bytes().first()?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.skip(1);
        }
    }

    /// Passes bytes over; they end with a letter.
    fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    /// What it is to find this instead of what had to stand there.
    #[cold]
    fn fault<T>(&self) -> Step<T> {
        Err(if self.rest.is_empty() { FaultKind::Early } else { FaultKind::Wrong })
    }

    #[inline(never)]
    fn value(&mut self) -> Step<Node<'a>> {
        match self.next() {
            Some(b'"') => self.text().map(Node::Text),
            Some(b'{') => self.nested(Reader::object),
            Some(b'[') => self.nested(Reader::list),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Node::Flag(true)),
            Some(b'f') => self.word("false", Node::Flag(false)),
            Some(b'n') => self.word("null", Node::Null),
            _ => self.fault(),
        }
    }

    fn word(&mut self, word: &str, meaning: Node<'a>) -> Step<Node<'a>> {
        for wanted in word.bytes() {
            if self.rest.as_bytes().first() != Some(&wanted) {
                return self.fault();
            }
            self.skip(1);
        }
        Ok(meaning)
    }

    fn nested(&mut self, read: fn(&mut Self) -> Step<Node<'a>>) -> Step<Node<'a>> {
        self.depth = self.depth.checked_sub(1).ok_or(FaultKind::Deep)?;
        self.skip(1);
        let node = read(self)?;
        self.depth = self.depth.saturating_add(1);
        Ok(node)
    }

    fn list(&mut self) -> Step<Node<'a>> {
        let begin = self.items.len();
        if self.next() == Some(b']') {
            self.skip(1);
            return Ok(Node::List(Vec::new()));
        }
        loop {
            let item = self.value()?;
            self.items.push(item);
            match self.next() {
                Some(b',') => self.skip(1),
                Some(b']') => break,
                _ => return self.fault(),
            }
        }
        self.skip(1);
        Ok(Node::List(self.items.split_off(begin)))
    }

    fn object(&mut self) -> Step<Node<'a>> {
        let begin = self.members.len();
        if self.next() == Some(b'}') {
            self.skip(1);
            return Ok(Node::Object(Vec::new()));
        }
        loop {
            if self.next() != Some(b'"') {
                return self.fault();
            }
            let name = self.text()?;
            if self.next() != Some(b':') {
                return self.fault();
            }
            self.skip(1);
            let value = self.value()?;
            self.members.push((name, value));
            match self.next() {
                Some(b',') => self.skip(1),
                Some(b'}') => break,
                _ => return self.fault(),
            }
        }
        self.skip(1);
        Ok(Node::Object(self.members.split_off(begin)))
    }

    /// A text; its first quote is next.
    #[inline(never)]
    fn text(&mut self) -> Step<Cow<'a, str>> {
        self.skip(1);
        let run = self.run()?;
        if self.rest.as_bytes().first() == Some(&b'"') {
            self.skip(1);
            return Ok(Cow::Borrowed(run));
        }
        let mut text = run.to_owned();
        while self.rest.as_bytes().first() == Some(&b'\\') {
            self.skip(1);
            text.push(self.escape()?);
            text.push_str(self.run()?);
        }
        self.skip(1);
        Ok(Cow::Owned(text))
    }

    /// What stands before the next quote or backslash.
    fn run(&mut self) -> Step<&'a str> {
        let special = |byte: u8| byte == b'"' || byte == b'\\' || byte < 0x20;
        let stop = self.rest.bytes().position(special).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at_checked(stop).ok_or(FaultKind::Wrong)?;
        self.rest = rest;
        match rest.as_bytes().first() {
            Some(b'"' | b'\\') => Ok(run),
            _ => self.fault(),
        }
    }

    #[cold]
    fn escape(&mut self) -> Step<char> {
        let letter = match self.rest.as_bytes().first() {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
            Some(b'u') => {
                self.skip(1);
                return self.code_point();
            }
            _ => return self.fault(),
        };
        self.skip(1);
        Ok(letter)
    }

    /// Four hexadecimal digits, or twice four when the first are half of a letter.
    fn code_point(&mut self) -> Step<char> {
        let unit = self.unit()?;
        let mut units = [unit, 0];
        let mut count = 1;
        if matches!(unit, 0xd800..=0xdbff) {
            for wanted in [b'\\', b'u'] {
                if self.rest.as_bytes().first() != Some(&wanted) {
                    return self.fault();
                }
                self.skip(1);
            }
            units = [unit, self.unit()?];
            count = 2;
        }
        let mut letters = char::decode_utf16(units.into_iter().take(count));
        letters.next().and_then(Result::ok).ok_or(FaultKind::Wrong)
    }

    fn unit(&mut self) -> Step<u16> {
        let mut unit = 0_u16;
        for _ in 0..4 {
            let byte = self.rest.as_bytes().first().copied().unwrap_or(0);
            let Some(digit) = char::from(byte).to_digit(16).and_then(|digit| u16::try_from(digit).ok()) else {
                return self.fault();
            };
            unit = unit << 4 | digit;
            self.skip(1);
        }
        Ok(unit)
    }

    /// A number; its first byte is next. Whole ones that fit are counted on the way.
    fn number(&mut self) -> Step<Node<'a>> {
        let start = self.rest;
        let negative = self.rest.starts_with('-');
        if negative {
            self.skip(1);
        }
        let first = self.rest;
        let sum = self.digits()?;
        if first.starts_with('0') && first.len().wrapping_sub(self.rest.len()) > 1 {
            self.rest = first.get(1..).unwrap_or_default();
            return self.fault();
        }
        if matches!(self.rest.as_bytes().first(), Some(b'.' | b'e' | b'E')) {
            return self.fraction(start);
        }
        let number =
            sum.and_then(|sum| if negative { 0_i64.checked_sub_unsigned(sum) } else { i64::try_from(sum).ok() });
        match number {
            Some(number) if !(negative && number == 0) => Ok(Node::Whole(number)),
            _ => self.long(start),
        }
    }

    /// Digits, at least one; their sum, when it fits.
    fn digits(&mut self) -> Step<Option<u64>> {
        let mut sum = Some(0_u64);
        let mut count = 0_usize;
        for byte in self.rest.bytes() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            sum = sum.and_then(|sum| sum.checked_mul(10)?.checked_add(u64::from(digit)));
            count = count.wrapping_add(1);
        }
        self.skip(count);
        if count == 0 { self.fault() } else { Ok(sum) }
    }

    #[cold]
    #[inline(never)]
    fn fraction(&mut self, start: &'a str) -> Step<Node<'a>> {
        if self.rest.starts_with('.') {
            self.skip(1);
            self.digits()?;
        }
        if self.rest.starts_with(['e', 'E']) {
            self.skip(1);
            if self.rest.starts_with(['+', '-']) {
                self.skip(1);
            }
            self.digits()?;
        }
        decimal(self.since(start)).map(Node::Fraction).ok_or(FaultKind::Wrong)
    }

    /// A whole number beyond 64 bits keeps its digits; minus nothing is a fraction.
    #[cold]
    #[inline(never)]
    fn long(&mut self, start: &'a str) -> Step<Node<'a>> {
        let digits = self.since(start);
        let form = decimal(digits).ok_or(FaultKind::Wrong)?;
        Ok(Node::Fraction(if digits == "-0" { form } else { digits.into() }))
    }

    fn since(&self, start: &'a str) -> &'a str {
        start.get(..start.len().saturating_sub(self.rest.len())).unwrap_or_default()
    }
}
