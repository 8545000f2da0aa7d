//! Decides how kept data crosses to and from the JSON library, in which the service holds its documents. It must not be
//! called on the way of a validation: the package is to be without it. The library keeps a number as its digits.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Map, Number, Value};

use crate::json::{Bounds, Members, Node, read};

/// A number alone, whose digits are no text.
const BOUNDS: Bounds = Bounds { deepest: 1, longest: 0, most: usize::MAX };

impl Members {
    /// The fields of a document of the service, to be kept.
    pub fn of_fields(fields: &Map<String, Value>) -> Members {
        let members: Vec<_> = fields.iter().map(|(name, value)| (Cow::Borrowed(name.as_str()), node(value))).collect();
        Members::of(&members)
    }

    /// The same as fields of a document of the service.
    pub fn to_fields(&self) -> Map<String, Value> {
        self.iter().map(|(name, node)| (name.to_owned(), value(node))).collect()
    }
}

/// Puts every number of a value into the one form in which it is held everywhere, so that equal numbers are equal texts;
/// nothing when one is larger than a double can be.
pub fn settle(value: &mut Value) -> Option<()> {
    match value {
        Value::Number(number) => {
            let text = number.to_string();
            // A whole number of few digits is in that form already.
            if number.as_i64().is_none_or(|whole| whole == 0) {
                *value = self::value(&read(text.as_bytes(), BOUNDS).ok()?);
            }
            Some(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(settle),
        Value::Object(members) => members.values_mut().try_for_each(settle),
        Value::Null | Value::Bool(_) | Value::String(_) => Some(()),
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// A value of a document of the service.
pub fn node(value: &Value) -> Node<'_> {
    match value {
        Value::Null => Node::Null,
        Value::Bool(flag) => Node::Flag(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Node::Whole(whole),
            None => Node::Fraction(number.to_string().into()),
        },
        Value::String(text) => Node::Text(Cow::Borrowed(text)),
        Value::Array(items) => Node::List(items.iter().map(node).collect()),
        Value::Object(members) => {
            Node::Object(members.iter().map(|(name, value)| (Cow::Borrowed(name.as_str()), node(value))).collect())
        }
    }
}

fn value(node: &Node<'_>) -> Value {
    match node {
        Node::Null => Value::Null,
        Node::Flag(flag) => Value::Bool(*flag),
        Node::Whole(number) => Value::Number((*number).into()),
        Node::Fraction(text) => text.parse::<Number>().map_or(Value::Null, Value::Number),
        Node::Text(text) => Value::String(text.as_ref().to_owned()),
        Node::List(items) => Value::Array(items.iter().map(value).collect()),
        Node::Object(members) => {
            Value::Object(members.iter().map(|(name, node)| (name.as_ref().to_owned(), value(node))).collect())
        }
    }
}
