//! Builds a tree from the input of a deserializer: JSON text, the service's documents, objects of a browser. The
//! library defines the syntax (RFC 8259).
//!
//! Texts without escapes are borrowed. A number that is not an integer is read from its digits. The JSON library passes
//! the digits as an object with one member of a private name.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::count::Countable;
use crate::json::decimal::decimal;
use crate::json::node::Node;
use crate::text::is_longer;

/// The kind of a fault in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// It ends before the value does.
    Early,
    /// It is not JSON.
    Wrong,
    /// It nests too deep.
    Deep,
    /// A text or a name in it is too long.
    Long,
    /// It holds too many values.
    Many,
}

/// The fault of a text that cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// The kind.
    pub kind: SyntaxErrorKind,
    /// The line of the fault, from 1.
    pub line: usize,
    /// The number of bytes of that line read so far.
    pub column: usize,
}

/// The bounds of a document.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The maximum nesting of objects and lists.
    pub deepest: usize,
    /// The maximum length of a text or of a member's name, in characters.
    pub longest: usize,
    /// The maximum number of values, including nested ones.
    pub most: usize,
}

impl Bounds {
    /// No bounds.
    pub const NONE: Bounds = Bounds { deepest: usize::MAX, longest: usize::MAX, most: usize::MAX };
}

/// Parses JSON within bounds.
pub fn read(bytes: &[u8], bounds: Bounds) -> Result<Node<'_>, SyntaxError> {
    let text = str::from_utf8(bytes).map_err(|error| no_text(bytes, error.valid_up_to()))?;
    let reading = JsonReader::new(bounds);
    let mut library = serde_json::Deserializer::from_str(text);
    let read = reading.value().deserialize(&mut library).and_then(|node| library.end().map(|()| node));
    read.map_err(|error| {
        let kind = if error.is_eof() { SyntaxErrorKind::Early } else { SyntaxErrorKind::Wrong };
        SyntaxError { kind: reading.beyond.get().unwrap_or(kind), line: error.line(), column: error.column() }
    })
}

/// Reads a value of another library within bounds. An error contains the exceeded bound, if that is the cause.
pub fn read_from<'de, D: Deserializer<'de>>(
    library: D,
    bounds: Bounds,
) -> Result<Node<'de>, (Option<SyntaxErrorKind>, D::Error)> {
    let reading = JsonReader::new(bounds);
    reading.value().deserialize(library).map_err(|error| (reading.beyond.get(), error))
}

/// Returns the fault of bytes that are not UTF-8 from here on, with the position as the library counts it.
#[cold]
fn no_text(bytes: &[u8], at: usize) -> SyntaxError {
    let before = bytes.get(..=at).unwrap_or(bytes);
    let lines = before.split(|byte| *byte == b'\n');
    let column = lines.clone().next_back().map_or(0, <[u8]>::len);
    SyntaxError { kind: SyntaxErrorKind::Wrong, line: lines.count(), column }
}

impl<'de> Deserialize<'de> for Node<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node<'de>, D::Error> {
        JsonReader::new(Bounds::NONE).value().deserialize(deserializer)
    }
}

/// The name under which the library passes the digits of a number.
const DIGITS: &str = "$serde_json::private::Number";

/// The state of reading one whole value.
struct JsonReader {
    bounds: Bounds,
    /// The remaining number of values.
    left: Cell<usize>,
    /// The exceeded bound.
    beyond: Cell<Option<SyntaxErrorKind>>,
    /// `true` if the last value was made of digits passed by the library.
    from_digits: Cell<bool>,
}

impl JsonReader {
    fn new(bounds: Bounds) -> JsonReader {
        JsonReader { bounds, left: Cell::new(bounds.most), beyond: Cell::new(None), from_digits: Cell::new(false) }
    }

    fn value(&self) -> Value<'_> {
        Value { reading: self, levels: self.bounds.deepest, may_be_digits: false }
    }

    /// Records an exceeded bound and returns the error.
    #[cold]
    fn broken<E: Error>(&self, bound: SyntaxErrorKind) -> E {
        self.beyond.set(Some(bound));
        E::custom("beyond a bound")
    }

    /// Counts one more value.
    fn count<E: Error>(&self) -> Result<(), E> {
        let left = self.left.get().checked_sub(1).ok_or_else(|| self.broken(SyntaxErrorKind::Many))?;
        self.left.set(left);
        Ok(())
    }

    fn text<'a, E: Error>(&self, text: Cow<'a, str>) -> Result<Cow<'a, str>, E> {
        if is_longer(&text, self.bounds.longest) { Err(self.broken(SyntaxErrorKind::Long)) } else { Ok(text) }
    }
}

/// The reader of one value.
#[derive(Clone, Copy)]
struct Value<'r> {
    reading: &'r JsonReader,
    /// The remaining levels of nesting.
    levels: usize,
    /// `true` if the library may pass digits here.
    may_be_digits: bool,
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = Node<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node<'de>, D::Error> {
        // The digits of a number are counted as the number already.
        if !self.may_be_digits {
            self.reading.count()?;
        }
        deserializer.deserialize_any(self)
    }
}

impl Value<'_> {
    /// Returns the reader of values one level deeper.
    fn inner<E: Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1).ok_or_else(|| self.reading.broken(SyntaxErrorKind::Deep))?;
        Ok(Value { levels, may_be_digits: false, ..self })
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = Node<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Node<'de>, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Node<'de>, E> {
        Ok(Node::Flag(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Node<'de>, E> {
        Ok(Node::Integer(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Node<'de>, E> {
        Ok(i64::try_from(number).map_or_else(|_| Node::Fraction(number.to_string().into()), Node::Integer))
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<Node<'de>, E> {
        read_number(&number.to_string()).ok_or_else(|| E::custom("no number"))
    }

    fn visit_u128<E: Error>(self, number: u128) -> Result<Node<'de>, E> {
        read_number(&number.to_string()).ok_or_else(|| E::custom("no number"))
    }

    /// Reads a number that a library stores as a double, by its shortest exact digits; `100.0` keeps its fraction.
    /// Integers of JavaScript arrive as integers while those are exact, and then as JavaScript writes them.
    fn visit_f64<E: Error>(self, number: f64) -> Result<Node<'de>, E> {
        let in_full = (9_007_199_254_740_992.0..1e21).contains(&number.abs());
        let digits = if in_full { number.to_string() } else { format!("{number:?}") };
        read_number(&digits).filter(|_| number.is_finite()).ok_or_else(|| E::custom("no number"))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Node<'de>, E> {
        self.reading.text(Cow::Borrowed(text)).map(Node::Text)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Node<'de>, E> {
        self.reading.text(Cow::Owned(text.to_owned())).map(Node::Text)
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Node<'de>, E> {
        if self.may_be_digits {
            self.reading.from_digits.set(true);
            return read_number(&text).ok_or_else(|| E::custom("larger than any number"));
        }
        self.reading.text(Cow::Owned(text)).map(Node::Text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut library: A) -> Result<Node<'de>, A::Error> {
        let inner = self.inner()?;
        let mut items = Vec::new();
        while let Some(item) = library.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut library: A) -> Result<Node<'de>, A::Error> {
        let mut members = Vec::new();
        let first = library.next_key_seed(MemberName(self.reading));
        let may_be_digits = matches!(first, Ok(Some(Cow::Borrowed(DIGITS))));
        if self.levels == 0 && !may_be_digits {
            return Err(self.reading.broken(SyntaxErrorKind::Deep));
        }
        let mut name = first?;
        // A text under this name is borrowed or copied from the input. Digits are passed as an owned text, and their
        // name is borrowed.
        if may_be_digits {
            let levels = self.levels.remaining_after(1);
            let value = library.next_value_seed(Value { may_be_digits, levels, ..self })?;
            if self.reading.from_digits.take() {
                return Ok(value);
            }
            self.reading.count()?;
            members.push((Cow::Borrowed(DIGITS), value));
            name = library.next_key_seed(MemberName(self.reading))?;
        }
        let inner = self.inner()?;
        while let Some(known) = name {
            members.push((known, library.next_value_seed(inner)?));
            name = library.next_key_seed(MemberName(self.reading))?;
        }
        Ok(Node::Object(members))
    }
}

/// The reader of a member's name.
struct MemberName<'r>(&'r JsonReader);

impl<'de> DeserializeSeed<'de> for MemberName<'_> {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for MemberName<'_> {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        // The private name of the library does not count as sent characters.
        if name == DIGITS { Ok(Cow::Borrowed(DIGITS)) } else { self.0.text(Cow::Borrowed(name)) }
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Cow<'de, str>, E> {
        self.0.text(Cow::Owned(name.to_owned()))
    }

    fn visit_string<E: Error>(self, name: String) -> Result<Cow<'de, str>, E> {
        self.0.text(Cow::Owned(name))
    }
}

/// Returns a number in its normal form; `None` if it exceeds a double.
fn read_number(digits: &str) -> Option<Node<'static>> {
    // Minus zero is no integer: it has a sign.
    if let Some(integer) = digits.parse().ok().filter(|_| digits != "-0") {
        return Some(Node::Integer(integer));
    }
    let form = decimal(digits)?;
    let is_integer = digits != "-0" && !digits.contains(['.', 'e', 'E']);
    Some(Node::Fraction(if is_integer { digits.into() } else { form }))
}
