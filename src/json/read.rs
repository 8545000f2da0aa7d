//! Decides what is JSON (RFC 8259, what the JSON library takes) and reads it, borrowing every text that has no escape.
//! It must not know what the JSON is for.

use std::borrow::Cow;

use crate::json::Node;
use crate::json::decimal::decimal;
use crate::text::is_longer;

/// What kind of fault a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// It ends before the value does.
    Early,
    /// It is no JSON.
    Wrong,
    /// It nests too deep.
    Deep,
    /// A text or a name in it is too long.
    Long,
    /// It holds too many values.
    Many,
}

/// Why a text cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// How many bytes of the text stand before what is wrong.
    pub at: usize,
}

/// What is too much to read.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Levels of objects and lists inside one another, at most.
    pub deepest: usize,
    /// Letters of a text or of a member's name, at most.
    pub longest: usize,
    /// Values, those inside of others counted, at most.
    pub most: usize,
}

/// Reads JSON within bounds.
pub fn read(bytes: &[u8], bounds: Bounds) -> Result<Node<'_>, Fault> {
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Err(Fault { kind: FaultKind::Wrong, at: error.valid_up_to() }),
    };
    let Bounds { deepest, longest, most } = bounds;
    let (items, members) = (Vec::new(), Vec::new());
    let mut reader = Reader { text, bytes, at: 0, depth: deepest, longest, left: most, items, members };
    let read = reader.value().and_then(|node| match reader.next() {
        None => Ok(node),
        Some(_) => Err(FaultKind::Wrong),
    });
    read.map_err(|kind| Fault { kind, at: reader.at })
}

/// What a step of reading gives.
type Step<T> = Result<T, FaultKind>;

/// A member of an object.
type Member<'a> = (Cow<'a, str>, Node<'a>);

struct Reader<'a> {
    text: &'a str,
    /// The same text.
    bytes: &'a [u8],
    /// How much of it has been read.
    at: usize,
    /// How many levels may still be entered.
    depth: usize,
    /// How long a text may be.
    longest: usize,
    /// How many values may still be read.
    left: usize,
    /// What has been read of the lists that are open, the innermost last: a list is made when its length is known.
    items: Vec<Node<'a>>,
    /// The same of the objects that are open.
    members: Vec<Member<'a>>,
}

impl<'a> Reader<'a> {
    /// The byte that is read next, of whatever kind.
    #[inline(always)]
    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Passes over so many bytes that are there.
    #[inline(always)]
    fn skip(&mut self, count: usize) {
        self.at = self.at.wrapping_add(count);
    }

    /// The next byte that is no space; it stays.
    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.skip(1),
                byte => return byte,
            }
        }
    }

    /// What it is to find this instead of what had to stand there.
    #[cold]
    fn fault<T>(&self) -> Step<T> {
        Err(if self.at >= self.bytes.len() { FaultKind::Early } else { FaultKind::Wrong })
    }

    #[inline(never)]
    fn value(&mut self) -> Step<Node<'a>> {
        self.left = self.left.checked_sub(1).ok_or(FaultKind::Many)?;
        match self.next() {
            Some(b'"') => self.text().map(Node::Text),
            Some(byte @ (b'{' | b'[')) => {
                self.depth = self.depth.checked_sub(1).ok_or(FaultKind::Deep)?;
                self.skip(1);
                let node = if byte == b'{' { self.object() } else { self.list() };
                self.depth = self.depth.wrapping_add(1);
                node
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true", Node::Flag(true)),
            Some(b'f') => self.word(b"false", Node::Flag(false)),
            Some(b'n') => self.word(b"null", Node::Null),
            _ => self.fault(),
        }
    }

    #[inline(never)]
    fn word(&mut self, word: &[u8], meaning: Node<'a>) -> Step<Node<'a>> {
        for wanted in word {
            if self.byte() != Some(*wanted) {
                return self.fault();
            }
            self.skip(1);
        }
        Ok(meaning)
    }

    fn list(&mut self) -> Step<Node<'a>> {
        let begin = self.items.len();
        if self.next() != Some(b']') {
            loop {
                let item = self.value()?;
                self.items.push(item);
                match self.next() {
                    Some(b',') => self.skip(1),
                    Some(b']') => break,
                    _ => return self.fault(),
                }
            }
        }
        self.skip(1);
        Ok(Node::List(self.items.split_off(begin)))
    }

    fn object(&mut self) -> Step<Node<'a>> {
        let begin = self.members.len();
        if self.next() != Some(b'}') {
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
        }
        self.skip(1);
        Ok(Node::Object(self.members.split_off(begin)))
    }

    /// A text; its first quote is next.
    #[inline(never)]
    fn text(&mut self) -> Step<Cow<'a, str>> {
        self.skip(1);
        let (run, end) = self.run()?;
        let text = if end == b'"' { Cow::Borrowed(run) } else { self.escaped(run)? };
        if is_longer(&text, self.longest) { Err(FaultKind::Long) } else { Ok(text) }
    }

    /// What stands before the next quote or backslash, and which of them it is; it is passed over as well.
    #[inline(always)]
    fn run(&mut self) -> Step<(&'a str, u8)> {
        let start = self.at;
        while let Some(byte) = self.byte() {
            if byte < 0x20 {
                break;
            }
            if byte == b'"' || byte == b'\\' {
                let run = self.text.get(start..self.at).unwrap_or_default();
                self.skip(1);
                return Ok((run, byte));
            }
            self.skip(1);
        }
        self.fault()
    }

    /// The rest of a text after its first backslash.
    #[cold]
    #[inline(never)]
    fn escaped(&mut self, first: &str) -> Step<Cow<'a, str>> {
        let mut text = first.to_owned();
        loop {
            text.push(self.escape()?);
            let (run, end) = self.run()?;
            text.push_str(run);
            if end == b'"' {
                return Ok(Cow::Owned(text));
            }
        }
    }

    fn escape(&mut self) -> Step<char> {
        let letter = match self.byte() {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
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
        let code = match unit {
            0xd800..=0xdbff => {
                self.word(b"\\u", Node::Null)?;
                let second = self.unit()?.wrapping_sub(0xdc00);
                if second > 0x3ff {
                    return Err(FaultKind::Wrong);
                }
                (unit.wrapping_sub(0xd800) << 10 | second).wrapping_add(0x1_0000)
            }
            _ => unit,
        };
        char::from_u32(code).ok_or(FaultKind::Wrong)
    }

    fn unit(&mut self) -> Step<u32> {
        let mut unit = 0_u32;
        for _ in 0..4 {
            let Some(digit) = self.byte().and_then(|byte| char::from(byte).to_digit(16)) else {
                return self.fault();
            };
            unit = unit << 4 | digit;
            self.skip(1);
        }
        Ok(unit)
    }

    /// A number; its first byte is next. Whole ones that fit are summed up on the way.
    fn number(&mut self) -> Step<Node<'a>> {
        let start = self.at;
        let negative = self.byte() == Some(b'-');
        if negative {
            self.skip(1);
        }
        let first = self.at;
        let sum = self.digits()?;
        if self.bytes.get(first) == Some(&b'0') && self.at.wrapping_sub(first) > 1 {
            self.at = first.wrapping_add(1);
            return self.fault();
        }
        match (sum, self.byte()) {
            (None, _) | (_, Some(b'.' | b'e' | b'E')) => self.long(start),
            (Some(0), _) if negative => self.long(start),
            (Some(sum), _) => Ok(Node::Whole(if negative { sum.wrapping_neg() } else { sum })),
        }
    }

    /// Digits, at least one; their sum, when it is a small one.
    #[inline(always)]
    fn digits(&mut self) -> Step<Option<i64>> {
        let mut sum = 0_i64;
        let start = self.at;
        while let Some(digit) = self.byte().map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit <= 9) {
            sum = sum.wrapping_mul(10).wrapping_add(i64::from(digit));
            self.skip(1);
        }
        match self.at.wrapping_sub(start) {
            0 => self.fault(),
            // So many digits always fit.
            1..=18 => Ok(Some(sum)),
            _ => Ok(None),
        }
    }

    /// A number whose sum was not found on the way: a whole one of many digits, which is kept as them when it is beyond
    /// 64 bits, or one with a fraction or an exponent; minus nothing is one as well.
    #[cold]
    #[inline(never)]
    fn long(&mut self, start: usize) -> Step<Node<'a>> {
        let is_whole = !matches!(self.byte(), Some(b'.' | b'e' | b'E'));
        if self.byte() == Some(b'.') {
            self.skip(1);
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.skip(1);
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.skip(1);
            }
            self.digits()?;
        }
        let digits = self.text.get(start..self.at).unwrap_or_default();
        let form = decimal(digits).ok_or(FaultKind::Wrong)?;
        Ok(match digits.parse().ok() {
            Some(whole) if digits != "-0" => Node::Whole(whole),
            _ => Node::Fraction(if is_whole && digits != "-0" { digits.into() } else { form }),
        })
    }
}
