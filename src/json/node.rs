//! Defines a JSON value.

use std::borrow::Cow;

/// A JSON value. Objects keep the order of their members; of several with one name the last counts.
#[derive(Debug, Clone, PartialEq)]
pub enum Node<'a> {
    /// Null.
    Null,
    /// A boolean.
    Flag(bool),
    /// An integer within 64 bits.
    Integer(i64),
    /// Any other number, in its decimal form: `0.1`, `1e400` never, `18446744073709551616`.
    Fraction(Box<str>),
    /// A text.
    Text(Cow<'a, str>),
    /// A list.
    List(Vec<Node<'a>>),
    /// Members by name.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl Node<'_> {
    /// Returns the member of this name.
    #[inline(never)]
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Node::Object(members) => members.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the integer, if it is one, also if it was written `1000.0` or `1e3` (docs/spec/calculation.md#19, D18).
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Node::Integer(number) => Some(*number),
            // The normal form of a number without a fraction ends so.
            Node::Fraction(text) => text.strip_suffix(".0")?.parse().ok(),
            _ => None,
        }
    }

    /// Returns the integer, if it is one and not negative.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_i64().and_then(|number| u64::try_from(number).ok())
    }

    /// Returns the boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Node::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// Returns the items, if it is a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Node::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Node::Null)
    }
}
