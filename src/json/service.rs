//! Converts stored data to and from the JSON library, which the service uses for its documents. A validation must not
//! call it: the package excludes it. The library keeps a number as its digits.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::{Map, Number, Value};

use crate::json::{Bounds, JsonMembers, Node, read};

/// The bounds for a single number, whose digits are no text.
const BOUNDS: Bounds = Bounds { deepest: 1, longest: 0, most: usize::MAX };

impl JsonMembers {
    /// Returns the members of a document of the service.
    pub fn of_fields(fields: &Map<String, Value>) -> JsonMembers {
        let members: Vec<_> = fields.iter().map(|(name, value)| (Cow::Borrowed(name.as_str()), node(value))).collect();
        JsonMembers::of(&members)
    }

    /// Returns the fields of a document of the service.
    pub fn to_fields(&self) -> Map<String, Value> {
        self.iter().map(|(name, node)| (name.to_owned(), value(node))).collect()
    }
}

/// Brings every number of a value into its normal form, so that equal numbers have equal texts; `None` if one exceeds a
/// double.
pub fn settle(value: &mut Value) -> Option<()> {
    match value {
        Value::Number(number) => {
            let text = number.to_string();
            // A small integer is in that form already.
            if number.as_i64().is_none_or(|integer| integer == 0) {
                *value = self::value(&read(text.as_bytes(), BOUNDS).ok()?);
            }
            Some(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(settle),
        Value::Object(members) => members.values_mut().try_for_each(settle),
        Value::Null | Value::Bool(_) | Value::String(_) => Some(()),
    }
}

impl Serialize for JsonMembers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// Converts a value of a document of the service.
pub fn node(value: &Value) -> Node<'_> {
    match value {
        Value::Null => Node::Null,
        Value::Bool(flag) => Node::Flag(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Node::Integer(integer),
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
        Node::Integer(number) => Value::Number((*number).into()),
        Node::Fraction(text) => text.parse::<Number>().map_or(Value::Null, Value::Number),
        Node::Text(text) => Value::String(text.as_ref().to_owned()),
        Node::List(items) => Value::Array(items.iter().map(value).collect()),
        Node::Object(members) => {
            Value::Object(members.iter().map(|(name, node)| (name.as_ref().to_owned(), value(node))).collect())
        }
    }
}
