//! Reads the published operations with the fields of their requests, and the two lists of fields.

use serde_json::{Map, Value as Json};

/// Operations as lines of field names and types; shared shapes are separate, and `@name` refers to them.
const FIELDS: &str = include_str!("../../src/interface/fields.json");

/// An operation, and every published field that it reads: `order.items[].price` of a body, `?limit` of a query.
pub struct Operation {
    pub method: String,
    pub path: String,
    pub fields: Vec<String>,
}

impl Operation {
    /// The names of parameters differ between descriptions, but not their positions.
    pub fn shape(&self) -> String {
        shape_of(&format!("{} {}", self.method, self.path))
    }

    /// A path that the route matches.
    pub fn example(&self) -> String {
        self.path.split('/').map(|part| if part.starts_with('{') { "x" } else { part }).collect::<Vec<_>>().join("/")
    }
}

pub fn shape_of(operation: &str) -> String {
    let segments = operation.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

pub fn operations() -> Vec<Operation> {
    let facts: Json = serde_json::from_str(FIELDS).unwrap();
    let shapes = facts["shapes"].as_object().unwrap();
    let operations = facts["operations"].as_object().unwrap().iter();
    operations
        .map(|(name, parts)| {
            let (method, path) = name.split_once(' ').unwrap();
            let mut fields = Vec::new();
            for (part, sign) in [("query", "?"), ("body", "")] {
                if let Some(shape) = parts.get(part) {
                    collect(shape, shapes, sign, &mut fields);
                }
            }
            fields.sort();
            fields.dedup();
            Operation { method: method.to_owned(), path: path.to_owned(), fields }
        })
        .collect()
}

/// Collects the leaves of a shape. A free object is a leaf, and so is a list of plain values.
fn collect(shape: &Json, shapes: &Map<String, Json>, path: &str, into: &mut Vec<String>) {
    match shape {
        Json::String(text) if text.starts_with('@') => collect(&shapes[&text[1..]], shapes, path, into),
        Json::Object(fields) => {
            for (name, inner) in fields {
                let joint = if path.is_empty() || path == "?" { "" } else { "." };
                collect(inner, shapes, &format!("{path}{joint}{name}"), into);
            }
        }
        Json::Array(items) => collect(&items[0], shapes, &format!("{path}[]"), into),
        _ => into.push(path.to_owned()),
    }
}

/// A line of a list: `METHOD /path field word...`, where `*` is any method or path, and a `*` in a field is any text.
pub struct ListedField {
    pub line: String,
    method: String,
    path: String,
    field: String,
    rest: String,
}

impl ListedField {
    /// Returns true if the line covers this field of this operation.
    pub fn is_about(&self, operation: &Operation, field: &str) -> bool {
        let is_operation = (self.method == "*" || self.method == operation.method)
            && (self.path == "*" || shape_of(&self.path) == shape_of(&operation.path));
        is_operation && fits(&self.field, field)
    }

    /// Returns true if the line covers this call.
    pub fn is_of(&self, call: &str) -> bool {
        let (method, path) = call.split_once(' ').unwrap();
        (self.method == "*" || self.method == method) && (self.path == "*" || shape_of(&self.path) == path)
    }

    /// Returns the text after the field: a story, or the first word of a reason.
    pub fn word(&self) -> &str {
        self.rest.split_whitespace().next().unwrap_or_default()
    }
}

pub fn listed_fields(text: &str) -> Vec<ListedField> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.splitn(4, ' ');
            let mut next = || words.next().unwrap_or_else(|| panic!("`{line}` is METHOD /path field why")).to_owned();
            let said = ListedField { line: line.to_owned(), method: next(), path: next(), field: next(), rest: next() };
            assert!(!said.rest.trim().is_empty(), "`{line}` says no reason");
            said
        })
        .collect()
}

/// Returns true if a field matches a pattern.
fn fits(pattern: &str, field: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == field,
        Some((start, rest)) => field.strip_prefix(start).is_some_and(|left| {
            rest.is_empty() || left.char_indices().any(|(at, _)| fits(rest, &left[at..])) || fits(rest, "")
        }),
    }
}
