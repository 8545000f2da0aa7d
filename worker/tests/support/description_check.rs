//! Checks answers against the description, member by member, records the members that occurred, and selects the examples.

use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The description, and the members that some answer had.
pub struct Fit<'d> {
    document: &'d Json,
    /// Members by the schema that names them: `Order.items`, `Grant.gift.balance`.
    pub seen: BTreeSet<String>,
}

impl<'d> Fit<'d> {
    pub fn new(document: &'d Json) -> Fit<'d> {
        Fit { document, seen: BTreeSet::new() }
    }

    /// Returns the place and the reason where a value does not match a schema of the description. An undeclared member does not match.
    pub fn misfit(&mut self, schema: &Json, value: &Json, path: &str, place: &str) -> Option<String> {
        if let Some(name) = schema["$ref"].as_str() {
            let document = self.document;
            let Some(named) = document.pointer(name.trim_start_matches('#')) else {
                return Some(format!("{name} is missing"));
            };
            let place = name.rsplit('/').next().unwrap_or_default();
            return self.misfit(named, value, path, place);
        }
        if let Some(any) = schema["anyOf"].as_array() {
            let mut misfits = Vec::new();
            for schema in any {
                let before = self.seen.clone();
                match self.misfit(schema, value, path, place) {
                    None => return None,
                    Some(misfit) => misfits.push(misfit),
                }
                self.seen = before;
            }
            return Some(misfits.join("; or "));
        }
        self.of_kind(schema, value, path).or_else(|| match value {
            Json::Array(items) => {
                let expected = schema.get("items")?;
                let mut items = items.iter().enumerate();
                items.find_map(|(at, item)| self.misfit(expected, item, &format!("{path}/{at}"), place))
            }
            Json::Object(members) => self.members(schema, members, path, place),
            _ => None,
        })
    }

    fn of_kind(&self, schema: &Json, value: &Json, path: &str) -> Option<String> {
        let found = kind(value);
        let is = |expected: &Json| expected == found || expected == "number" && found == "integer";
        let fits = match &schema["type"] {
            Json::Null => true,
            Json::Array(kinds) => kinds.iter().any(is),
            one => is(one),
        };
        if !fits {
            return Some(format!("{path} is {value}, which is not of the type {}", schema["type"]));
        }
        if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
            return Some(format!("{path} is {value}, which is none of {}", schema["enum"]));
        }
        let size = match value {
            Json::Number(number) => number.as_f64(),
            Json::String(text) => Some(text.chars().count() as f64),
            Json::Array(items) => Some(items.len() as f64),
            _ => None,
        };
        let (least, most) = match value {
            Json::Number(_) => ("minimum", "maximum"),
            Json::String(_) => ("minLength", "maxLength"),
            _ => ("minItems", "maxItems"),
        };
        let beyond = |name: &str, is: fn(f64, f64) -> bool| {
            schema[name].as_f64().zip(size).is_some_and(|(bound, size)| is(size, bound))
        };
        let breaks = beyond(least, |size, bound| size < bound) || beyond(most, |size, bound| size > bound);
        breaks.then(|| format!("{path} is {value}, which is out of bounds: {schema}"))
    }

    fn members(&mut self, schema: &Json, members: &Map<String, Json>, path: &str, place: &str) -> Option<String> {
        let Some(properties) = schema["properties"].as_object() else {
            let each = schema.get("additionalProperties").filter(|each| each.is_object())?;
            let place = format!("{place}.*");
            return members
                .iter()
                .find_map(|(name, value)| self.misfit(each, value, &format!("{path}/{name}"), &place));
        };
        let mut required = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
        if let Some(name) = required.find(|name| !members.contains_key(*name)) {
            return Some(format!("{path} lacks {name}"));
        }
        members.iter().find_map(|(name, value)| {
            let each = || Some((schema.get("additionalProperties").filter(|each| each.is_object())?, "*"));
            let known = properties.get(name).map(|expected| (expected, name.as_str()));
            let Some((expected, called)) = known.or_else(each) else {
                return Some(format!("{path}/{name} is not described: {value}"));
            };
            let here = format!("{place}.{called}");
            self.seen.insert(here.clone());
            self.misfit(expected, value, &format!("{path}/{name}"), &here)
        })
    }
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(number) if number.is_f64() => "number",
        Json::Number(_) => "integer",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// Collects every member that a schema names itself, in the form of [`Fit::seen`].
pub fn named(schema: &Json, place: &str, into: &mut Vec<String>) {
    for any in schema["anyOf"].as_array().into_iter().flatten() {
        named(any, place, into);
    }
    if let Some(items) = schema.get("items") {
        named(items, place, into);
    }
    if let Some(each) = schema.get("additionalProperties").filter(|each| each.is_object()) {
        named(each, &format!("{place}.*"), into);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let here = format!("{place}.{name}");
        into.push(here.clone());
        named(property, &here, into);
    }
}

/// An example is a real answer of about this many bytes: long enough to show content, and short enough to read.
const EXAMPLE_BYTES: usize = 1_500;
/// A refusal has one message.
const REFUSAL_BYTES: usize = 400;
/// Members that no example contains.
const SECRETS: &[&str] = &["secret", "token", "access_token"];

/// A request or an answer of a story.
struct Example {
    value: Json,
    /// Stories of the sample shop are written to be read: their examples are preferred.
    is_sample: bool,
}

/// A request and an answer of each operation, from the stories.
#[derive(Default)]
pub struct Examples {
    /// `true` while a story of the sample shop runs.
    pub in_sample_shop: bool,
    requests: BTreeMap<String, Example>,
    answers: BTreeMap<String, Example>,
    refusals: BTreeMap<String, Example>,
    /// Error keys by operation and status.
    keys: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

impl Examples {
    /// Records a request and its answer.
    pub fn see(&mut self, operation: &str, sent: &[u8], answer: &Json) {
        if answer.is_object() || answer.is_array() {
            let mut answer = answer.clone();
            for secret in SECRETS {
                if let Some(secret) = answer.get_mut(*secret) {
                    *secret = json!("(a secret)");
                }
            }
            take(&mut self.answers, operation, self.in_sample_shop, answer, EXAMPLE_BYTES);
        }
        if let Some(sent) = serde_json::from_slice::<Json>(sent).ok().or_else(|| form(sent)).or_else(|| file(sent)) {
            take(&mut self.requests, operation, self.in_sample_shop, sent, EXAMPLE_BYTES);
        }
    }

    /// Records a refusal: its key for the operation, and one of each status as an example.
    pub fn see_refusal(&mut self, operation: &str, status: u16, answer: &Json) {
        if let Some(key) = answer["key"].as_str() {
            let of_operation = self.keys.entry(operation.to_owned()).or_default();
            of_operation.entry(status.to_string()).or_default().insert(key.to_owned());
        }
        if answer["details"].is_string() || answer.get("statusCode").is_some() {
            take(&mut self.refusals, &status.to_string(), self.in_sample_shop, answer.clone(), REFUSAL_BYTES);
        }
    }

    /// Returns the error keys of each operation by status.
    pub fn keys(&self) -> Json {
        json!(self.keys)
    }

    /// Returns the input for the generation of the description.
    pub fn written(&self) -> Json {
        let values = |examples: &BTreeMap<String, Example>| -> Map<String, Json> {
            examples.iter().map(|(name, example)| (name.clone(), example.value.clone())).collect()
        };
        json!({
            "answers": values(&self.answers),
            "requests": values(&self.requests),
            "refusals": values(&self.refusals),
            "keys": self.keys(),
        })
    }
}

/// Keeps the example of the sample shop, or the longest that is short enough, or the shortest.
fn take(examples: &mut BTreeMap<String, Example>, operation: &str, is_sample: bool, value: Json, most: usize) {
    let length = |value: &Json| value.to_string().len();
    let is_longer = |known: &Json| match (length(known) <= most, length(&value) <= most) {
        (true, true) => length(&value) > length(known),
        (false, fits) => fits || length(&value) < length(known),
        (true, false) => false,
    };
    let is_better = |known: &Example| match (known.is_sample, is_sample) {
        (true, false) => false,
        (false, true) => true,
        _ => is_longer(&known.value),
    };
    if examples.get(operation).is_none_or(is_better) {
        examples.insert(operation.to_owned(), Example { value, is_sample });
    }
}

/// Returns the fields of a form; the stories send nothing in them that would need escaping.
fn form(sent: &[u8]) -> Option<Json> {
    let text = std::str::from_utf8(sent).ok().filter(|text| text.contains('=') && !text.contains('\n'))?;
    let fields = text.split('&').filter_map(|field| field.split_once('='));
    Some(fields.map(|(name, value)| (name.to_owned(), Json::from(value.replace('+', " ")))).collect())
}

/// Returns a file that was sent as the body, or as the only part of a form.
fn file(sent: &[u8]) -> Option<Json> {
    let text = std::str::from_utf8(sent).ok().filter(|text| !text.is_empty())?;
    let part = || {
        text.strip_prefix("--")?
            .split_once("\r\n\r\n")
            .map(|(_, rest)| rest.rsplit_once("\r\n--").map_or(rest, |(part, _)| part))
    };
    Some(json!({ "file": part().unwrap_or(text) }))
}
