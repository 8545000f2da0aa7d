//! Implements JSON with ordered keys and its layout in a file. `serde_json::Value` would sort the keys, and vectors could not pin bytes.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// Lines of a vector file are broken when they would be longer than this.
const WIDTH: usize = 112;

/// JSON with the order of its members.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn parse(text: &str) -> Result<Json, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The value of a key of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Writes without white space: the bytes of an answer.
    pub fn compact(&self) -> String {
        self.line("", "")
    }

    /// Formats for reading at this indentation; `used` is the number of characters before it on its line.
    pub fn pretty(&self, indent: usize, used: usize) -> String {
        let line = self.line(" ", " ");
        if line.chars().count() + indent + used <= WIDTH {
            return line;
        }
        let inner = " ".repeat(indent + 2);
        let outer = " ".repeat(indent);
        match self {
            Json::List(values) if !values.is_empty() => {
                let lines: Vec<String> =
                    values.iter().map(|value| format!("{inner}{}", value.pretty(indent + 2, 1))).collect();
                format!("[\n{}\n{outer}]", lines.join(",\n"))
            }
            Json::Object(fields) if !fields.is_empty() => {
                let lines: Vec<String> = fields
                    .iter()
                    .map(|(key, value)| {
                        let shown = value.pretty(indent + 2, key.chars().count() + 5);
                        format!("{inner}{}: {shown}", quoted(key))
                    })
                    .collect();
                format!("{{\n{}\n{outer}}}", lines.join(",\n"))
            }
            _ => line,
        }
    }

    /// Writes on one line, with `after` behind every comma and colon and `inside` within the braces of an object.
    fn line(&self, after: &str, inside: &str) -> String {
        match self {
            Json::Null => "null".to_owned(),
            Json::Bool(value) => value.to_string(),
            Json::Number(value) => value.to_string(),
            Json::Text(value) => quoted(value),
            Json::List(values) => {
                let parts: Vec<String> = values.iter().map(|value| value.line(after, inside)).collect();
                format!("[{}]", parts.join(&format!(",{after}")))
            }
            Json::Object(fields) if fields.is_empty() => "{}".to_owned(),
            Json::Object(fields) => {
                let parts: Vec<String> = fields
                    .iter()
                    .map(|(key, value)| format!("{}:{after}{}", quoted(key), value.line(after, inside)))
                    .collect();
                format!("{{{inside}{}{inside}}}", parts.join(&format!(",{after}")))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Json::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Json, A::Error> {
        let mut fields: Vec<(String, Json)> = Vec::new();
        while let Some(field) = object.next_entry()? {
            fields.push(field);
        }
        match fields.as_slice() {
            // The library passes a number on like this when it keeps its digits.
            [(name, Json::Text(digits))] if name == "$serde_json::private::Number" => {
                digits.parse().map(Json::Number).map_err(serde::de::Error::custom)
            }
            _ => Ok(Json::Object(fields)),
        }
    }
}
