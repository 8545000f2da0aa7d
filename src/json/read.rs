//! Decides how a tree is filled from whatever a library reads: JSON text, the service's documents, a page's own objects. It
//! must not know what the JSON is for, nor what is JSON: the library says that (RFC 8259).
//!
//! Texts without escapes are borrowed. A number that is not whole comes as its digits, which the JSON library hands over as
//! an object with one member of a private name.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::json::decimal::decimal;
use crate::json::node::Node;
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
    /// The line where it was seen, the first one being 1.
    pub line: usize,
    /// How many bytes of that line had been read.
    pub column: usize,
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

impl Bounds {
    /// Whatever there is.
    pub const NONE: Bounds = Bounds { deepest: usize::MAX, longest: usize::MAX, most: usize::MAX };
}

/// Reads JSON within bounds.
pub fn read(bytes: &[u8], bounds: Bounds) -> Result<Node<'_>, Fault> {
    let text = str::from_utf8(bytes).map_err(|error| no_text(bytes, error.valid_up_to()))?;
    let reading = Reading::new(bounds);
    let mut library = serde_json::Deserializer::from_str(text);
    let read = reading.value().deserialize(&mut library).and_then(|node| library.end().map(|()| node));
    read.map_err(|error| {
        let kind = if error.is_eof() { FaultKind::Early } else { FaultKind::Wrong };
        Fault { kind: reading.beyond.get().unwrap_or(kind), line: error.line(), column: error.column() }
    })
}

/// Reads what another library holds, within bounds; the bound that was broken, when it was that.
pub fn read_from<'de, D: Deserializer<'de>>(
    library: D,
    bounds: Bounds,
) -> Result<Node<'de>, (Option<FaultKind>, D::Error)> {
    let reading = Reading::new(bounds);
    reading.value().deserialize(library).map_err(|error| (reading.beyond.get(), error))
}

/// Bytes that are no text from here on, placed as the library places a fault.
#[cold]
fn no_text(bytes: &[u8], at: usize) -> Fault {
    let seen = bytes.get(..=at).unwrap_or(bytes);
    let lines = seen.split(|byte| *byte == b'\n');
    let column = lines.clone().next_back().map_or(0, <[u8]>::len);
    Fault { kind: FaultKind::Wrong, line: lines.count(), column }
}

impl<'de> Deserialize<'de> for Node<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node<'de>, D::Error> {
        Reading::new(Bounds::NONE).value().deserialize(deserializer)
    }
}

/// The name under which the library hands over the digits of a number.
const DIGITS: &str = "$serde_json::private::Number";

/// One reading of a whole value.
struct Reading {
    bounds: Bounds,
    /// How many values may still be read.
    left: Cell<usize>,
    /// The bound that was broken.
    beyond: Cell<Option<FaultKind>>,
    /// Whether the last value was made of digits that the library handed over.
    from_digits: Cell<bool>,
}

impl Reading {
    fn new(bounds: Bounds) -> Reading {
        Reading { bounds, left: Cell::new(bounds.most), beyond: Cell::new(None), from_digits: Cell::new(false) }
    }

    fn value(&self) -> Value<'_> {
        Value { reading: self, levels: self.bounds.deepest, may_be_digits: false }
    }

    /// The end of a reading that breaks a bound.
    #[cold]
    fn broken<E: Error>(&self, bound: FaultKind) -> E {
        self.beyond.set(Some(bound));
        E::custom("beyond a bound")
    }

    /// One more value.
    fn count<E: Error>(&self) -> Result<(), E> {
        let left = self.left.get().checked_sub(1).ok_or_else(|| self.broken(FaultKind::Many))?;
        self.left.set(left);
        Ok(())
    }

    fn text<'a, E: Error>(&self, text: Cow<'a, str>) -> Result<Cow<'a, str>, E> {
        if is_longer(&text, self.bounds.longest) { Err(self.broken(FaultKind::Long)) } else { Ok(text) }
    }
}

/// A value that is about to be read.
#[derive(Clone, Copy)]
struct Value<'r> {
    reading: &'r Reading,
    /// How many levels may still be entered.
    levels: usize,
    /// Whether the library may hand over a number here.
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
    /// A value one level further in.
    fn inner<E: Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1).ok_or_else(|| self.reading.broken(FaultKind::Deep))?;
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
        Ok(Node::Whole(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Node<'de>, E> {
        Ok(i64::try_from(number).map_or_else(|_| Node::Fraction(number.to_string().into()), Node::Whole))
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<Node<'de>, E> {
        read_number(&number.to_string()).ok_or_else(|| E::custom("no number"))
    }

    fn visit_u128<E: Error>(self, number: u128) -> Result<Node<'de>, E> {
        read_number(&number.to_string()).ok_or_else(|| E::custom("no number"))
    }

    /// A number that a library holds as a double, by the shortest digits that mean it; `100.0` stays what it was. JavaScript's
    /// whole ones come as integers as long as those are exact, and after that as it writes them.
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
        let first = library.next_key_seed(Name(self.reading));
        let may_be_digits = matches!(first, Ok(Some(Cow::Borrowed(DIGITS))));
        if self.levels == 0 && !may_be_digits {
            return Err(self.reading.broken(FaultKind::Deep));
        }
        let mut name = first?;
        // A text under this name is lent or copied from what is read; digits are given away, and their name is lent.
        if may_be_digits {
            let levels = self.levels.saturating_sub(1);
            let value = library.next_value_seed(Value { may_be_digits, levels, ..self })?;
            if self.reading.from_digits.take() {
                return Ok(value);
            }
            self.reading.count()?;
            members.push((Cow::Borrowed(DIGITS), value));
            name = library.next_key_seed(Name(self.reading))?;
        }
        let inner = self.inner()?;
        while let Some(known) = name {
            members.push((known, library.next_value_seed(inner)?));
            name = library.next_key_seed(Name(self.reading))?;
        }
        Ok(Node::Object(members))
    }
}

/// The name of a member that is about to be read.
struct Name<'r>(&'r Reading);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name<'_> {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        // Of the library's own name nobody sent the letters.
        if name == DIGITS { Ok(Cow::Borrowed(DIGITS)) } else { self.0.text(Cow::Borrowed(name)) }
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Cow<'de, str>, E> {
        self.0.text(Cow::Owned(name.to_owned()))
    }

    fn visit_string<E: Error>(self, name: String) -> Result<Cow<'de, str>, E> {
        self.0.text(Cow::Owned(name))
    }
}

/// A number in the one form in which it is held; nothing when it is larger than a double can be. Its digits are a number's.
fn read_number(digits: &str) -> Option<Node<'static>> {
    // Minus nothing is not whole: it has a sign.
    if let Some(whole) = digits.parse().ok().filter(|_| digits != "-0") {
        return Some(Node::Whole(whole));
    }
    let form = decimal(digits)?;
    let is_whole = digits != "-0" && !digits.contains(['.', 'e', 'E']);
    Some(Node::Fraction(if is_whole { digits.into() } else { form }))
}
