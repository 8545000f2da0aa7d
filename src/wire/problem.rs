//! Decides what is said about JSON that cannot be read: the field, the value in backticks, the bound. It must not
//! know what the JSON is for.
//!
//! errors-and-auth.md section 3.1.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

/// How deep arrays and objects may nest. Deeper ones are refused before they are read.
pub const DEEPEST: usize = 64;

/// How much of a wrong value is repeated.
const LONGEST_VALUE: usize = 120;

/// What is wrong with a payload, as a sentence about one of its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The path of the property, such as `redeemables[1]`; empty for the payload itself.
    pub path: String,
    /// What is wrong with it, such as `must be an integer`.
    pub text: String,
}

impl Problem {
    /// A problem of the property at this path.
    pub fn at(path: impl Into<String>, text: impl Into<String>) -> Problem {
        Problem { path: path.into(), text: text.into() }
    }

    /// A property that is not there.
    pub fn missing(path: impl Into<String>, name: &str) -> Problem {
        Problem::at(path, format!("should have required property '{name}'"))
    }

    /// A property with a value that breaks a bound, which names the value.
    pub fn bound(path: impl Into<String>, bound: impl fmt::Display, value: impl fmt::Display) -> Problem {
        let value = shortened(&value.to_string());
        Problem::at(path, format!("{bound} (actual value is `{value}`)"))
    }

    /// The same problem of a payload that is itself the property at this path.
    pub fn within(self, outer: &str) -> Problem {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Problem { path: format!("{outer}{dot}{}", self.path), text: self.text }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            // The wire's own texts differ in this one word.
            write!(formatter, "Payload {}", self.text.replacen("should have", "must have", 1))
        } else {
            write!(formatter, "Property .{} {}", self.path, self.text)
        }
    }
}

/// Reads a payload. Only one that cannot be read is gone through again, to find out where and why.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    check_depth(bytes)?;
    serde_json::from_slice(bytes).map_err(|error| explain::<T>(bytes, &error))
}

/// Reads a value that has been read as JSON before.
pub fn read_value<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value.clone())
        .map_err(|error| describe(&error.path().clone(), &error.inner().to_string(), Some(&value)))
}

/// Refuses payloads that nest too deep, without reading them: the scan costs no stack.
pub fn check_depth(bytes: &[u8]) -> Result<(), Problem> {
    let mut depth: usize = 0;
    let mut in_text = false;
    let mut escaped = false;
    for byte in bytes {
        match (in_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b'{' | b'[') => depth = depth.saturating_add(1),
            (false, b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Err(Problem::at("", format!("must NOT nest deeper than {DEEPEST} levels")));
        }
    }
    Ok(())
}

fn explain<T: DeserializeOwned>(bytes: &[u8], error: &serde_json::Error) -> Problem {
    let place = || format!("line {} column {}", error.line(), error.column());
    if !error.is_data() {
        let what = if error.is_eof() { "ends too early" } else { "is not valid JSON" };
        return Problem::at("", format!("{what} at {}", place()));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        // The second reading cannot succeed where the first did not.
        Ok(_) => Problem::at("", format!("cannot be read at {}", place())),
        Err(error) => {
            let payload: Option<Value> = serde_json::from_slice(bytes).ok();
            describe(&error.path().clone(), &error.inner().to_string(), payload.as_ref())
        }
    }
}

/// Turns the reader's message into a sentence of this API.
fn describe(path: &serde_path_to_error::Path, message: &str, payload: Option<&Value>) -> Problem {
    let message = message.split(" at line ").next().unwrap_or(message);
    let place = path_text(path);
    if let Some(name) = quoted_after(message, "missing field ") {
        return Problem::missing(place, name);
    }
    if let Some(name) = quoted_after(message, "duplicate field ") {
        return Problem::at(place, format!("must NOT have property '{name}' twice"));
    }
    let expected = message.rsplit_once("expected ").map_or(message, |(_, expected)| expected);
    let bound = if message.starts_with("unknown variant") {
        format!("must be one of {}", variants(expected))
    } else {
        format!("must be {}", plain(expected))
    };
    match payload.and_then(|payload| find(payload, path)) {
        Some(value) => Problem::bound(place, bound, value),
        None => Problem::at(place, bound),
    }
}

fn quoted_after<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    message.strip_prefix(start)?.strip_prefix('`')?.split('`').next()
}

/// The reader's list of variants without its quotes and joining words.
fn variants(expected: &str) -> String {
    let list = expected.strip_prefix("one of ").unwrap_or(expected);
    list.replace("` or `", ", ").replace('`', "")
}

/// The reader's words for JSON's own kinds.
fn plain(expected: &str) -> &str {
    match expected {
        "a sequence" => "an array",
        "a map" => "an object",
        "a string" | "str" | "string" | "a character" => "a string",
        "u64" | "u32" | "u16" | "u8" | "usize" => "a non-negative integer",
        "i64" | "i32" => "an integer",
        other => other,
    }
}

fn path_text(path: &serde_path_to_error::Path) -> String {
    let mut text = String::new();
    for segment in path.iter() {
        match segment {
            Segment::Seq { index } => text.push_str(&format!("[{index}]")),
            Segment::Map { key } => join(&mut text, key),
            Segment::Enum { variant } => join(&mut text, variant),
            Segment::Unknown => {}
        }
    }
    text
}

fn join(text: &mut String, name: &str) {
    if !text.is_empty() {
        text.push('.');
    }
    text.push_str(name);
}

fn find<'a>(payload: &'a Value, path: &serde_path_to_error::Path) -> Option<&'a Value> {
    path.iter().try_fold(payload, |value, segment| match segment {
        Segment::Seq { index } => value.get(index),
        Segment::Map { key } => value.get(key),
        Segment::Enum { .. } | Segment::Unknown => Some(value),
    })
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST_VALUE {
        return text.to_owned();
    }
    let start: String = text.chars().take(LONGEST_VALUE).collect();
    format!("{start}…")
}
