//! Decides how JSON is held while it is read, and what is said of a value that is not what it should be: the property,
//! the value in backticks, the bound. It must not know what the JSON is for.
//!
//! Why a tree of our own? One reader serves every document, which keeps the package small; it borrows its texts,
//! which keeps it fast; and it knows the path of every value, so that an error can name it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::wire::problem::{Problem, check_depth};

/// A JSON value. Objects keep the order of their members; of two of the same name the last one counts.
#[derive(Debug, Clone, PartialEq)]
pub enum Node<'a> {
    /// Nothing.
    Null,
    /// Yes or no.
    Flag(bool),
    /// A whole number within 64 bits.
    Whole(i64),
    /// Any other number, in its shortest decimal form.
    Fraction(Box<str>),
    /// A text.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Node<'a>>),
    /// Members by name.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl<'a> Node<'a> {
    /// Reads JSON.
    pub fn read(bytes: &'a [u8]) -> Result<Node<'a>, Problem> {
        check_depth(bytes)?;
        serde_json::from_slice(bytes).map_err(|error| {
            let what = if error.is_eof() { "ends too early" } else { "is not valid JSON" };
            Problem::at("", format!("{what} at line {} column {}", error.line(), error.column()))
        })
    }

    /// The member of this name.
    #[inline(never)]
    pub fn get(&self, name: &str) -> Option<&Node<'a>> {
        match self {
            Node::Object(members) => members.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The same as a value without borrows, for custom data that is kept.
    #[inline(never)]
    pub fn to_value(&self) -> Value {
        match self {
            Node::Null => Value::Null,
            Node::Flag(flag) => Value::Bool(*flag),
            Node::Whole(number) => Value::Number((*number).into()),
            Node::Fraction(text) => text.parse::<Number>().map_or(Value::Null, Value::Number),
            Node::Text(text) => Value::String(text.clone().into_owned()),
            Node::List(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Node::Object(members) => Value::Object(object(members)),
        }
    }
}

/// Members as a map of values.
pub(crate) fn object(members: &[(Cow<'_, str>, Node<'_>)]) -> Map<String, Value> {
    let mut map = Map::new();
    for (key, value) in members {
        map.insert(key.clone().into_owned(), value.to_value());
    }
    map
}

impl fmt::Display for Node<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.to_value())
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Node<'de>, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node<'de>, E> {
        Ok(Node::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node<'de>, E> {
        Ok(Node::Whole(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node<'de>, E> {
        Ok(i64::try_from(number).map_or_else(|_| Node::Fraction(number.to_string().into()), Node::Whole))
    }

    /// The reader hands a number with a fraction or an exponent over in this form; it leaves it here, as its shortest
    /// decimal text, and nothing ever computes with it.
    fn visit_f64<E>(self, number: f64) -> Result<Node<'de>, E> {
        Ok(Number::from_f64(number).map_or(Node::Null, |number| Node::Fraction(number.to_string().into())))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Node<'de>, A::Error> {
        let mut object = Vec::new();
        while let Some(Key(key)) = members.next_key()? {
            object.push((key, members.next_value()?));
        }
        Ok(Node::Object(object))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Node<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node<'a>, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct Key<'a>(Cow<'a, str>);

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Owned(text.to_owned())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key<'a>, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}
