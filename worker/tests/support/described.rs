//! Holds answers against the description, member by member, keeps what of it was seen, and picks the examples. It must not know what
//! any answer means.

use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The description, and which of its members some answer had.
pub struct Fit<'d> {
    document: &'d Json,
    /// Members by the schema that names them: `Order.items`, `Grant.gift.balance`.
    pub seen: BTreeSet<String>,
}

impl<'d> Fit<'d> {
    pub fn new(document: &'d Json) -> Fit<'d> {
        Fit { document, seen: BTreeSet::new() }
    }

    /// Where a value does not fit a schema of the description, and why. A member that the schema does not name does not fit.
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
            let mut told = Vec::new();
            for schema in any {
                let before = self.seen.clone();
                match self.misfit(schema, value, path, place) {
                    None => return None,
                    Some(misfit) => told.push(misfit),
                }
                self.seen = before;
            }
            return Some(told.join("; or "));
        }
        self.of_kind(schema, value, path).or_else(|| match value {
            Json::Array(items) => {
                let wanted = schema.get("items")?;
                let mut items = items.iter().enumerate();
                items.find_map(|(at, item)| self.misfit(wanted, item, &format!("{path}/{at}"), place))
            }
            Json::Object(members) => self.members(schema, members, path, place),
            _ => None,
        })
    }

    fn of_kind(&self, schema: &Json, value: &Json, path: &str) -> Option<String> {
        let found = kind(value);
        let is = |wanted: &Json| wanted == found || wanted == "number" && found == "integer";
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
            let known = properties.get(name).map(|wanted| (wanted, name.as_str()));
            let Some((wanted, called)) = known.or_else(each) else {
                return Some(format!("{path}/{name} is not described: {value}"));
            };
            let here = format!("{place}.{called}");
            self.seen.insert(here.clone());
            self.misfit(wanted, value, &format!("{path}/{name}"), &here)
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

/// Every member that a schema names itself, as [`Fit::seen`] writes them.
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

/// An example is a real answer of about this many bytes: one that shows something, and that can be read.
const EXAMPLE_BYTES: usize = 1_500;
/// A refusal says one thing.
const REFUSAL_BYTES: usize = 400;
/// What no example shows.
const SECRETS: &[&str] = &["secret", "token", "access_token"];

/// A request and an answer of each operation, from the stories.
#[derive(Default)]
pub struct Examples {
    requests: BTreeMap<String, Json>,
    answers: BTreeMap<String, Json>,
    refusals: BTreeMap<String, Json>,
}

impl Examples {
    /// Looks at a request and its answer.
    pub fn see(&mut self, operation: &str, sent: &[u8], answer: &Json) {
        if answer.is_object() || answer.is_array() {
            let mut answer = answer.clone();
            for secret in SECRETS {
                if let Some(secret) = answer.get_mut(*secret) {
                    *secret = json!("(a secret)");
                }
            }
            take(&mut self.answers, operation, answer, EXAMPLE_BYTES);
        }
        if let Some(sent) = serde_json::from_slice::<Json>(sent).ok().or_else(|| form(sent)).or_else(|| file(sent)) {
            take(&mut self.requests, operation, sent, EXAMPLE_BYTES);
        }
    }

    /// Looks at a refusal, of which one of each status is shown.
    pub fn see_refusal(&mut self, status: u16, answer: &Json) {
        if answer["details"].is_string() || answer.get("statusCode").is_some() {
            take(&mut self.refusals, &status.to_string(), answer.clone(), REFUSAL_BYTES);
        }
    }

    /// What the description is generated with.
    pub fn written(&self) -> Json {
        json!({ "answers": self.answers, "requests": self.requests, "refusals": self.refusals })
    }
}

/// The longest that is short enough, else the shortest.
fn take(examples: &mut BTreeMap<String, Json>, operation: &str, value: Json, most: usize) {
    let length = |value: &Json| value.to_string().len();
    let is_better = |known: &Json| match (length(known) <= most, length(&value) <= most) {
        (true, true) => length(&value) > length(known),
        (false, fits) => fits || length(&value) < length(known),
        (true, false) => false,
    };
    if examples.get(operation).is_none_or(is_better) {
        examples.insert(operation.to_owned(), value);
    }
}

/// The fields of a form, which the stories send with nothing in them that would have to be escaped.
fn form(sent: &[u8]) -> Option<Json> {
    let text = std::str::from_utf8(sent).ok().filter(|text| text.contains('=') && !text.contains('\n'))?;
    let fields = text.split('&').filter_map(|field| field.split_once('='));
    Some(fields.map(|(name, value)| (name.to_owned(), Json::from(value.replace('+', " ")))).collect())
}

/// A file that was sent as it is, or as the one part of a form.
fn file(sent: &[u8]) -> Option<Json> {
    let text = std::str::from_utf8(sent).ok().filter(|text| !text.is_empty())?;
    let part = || {
        text.strip_prefix("--")?
            .split_once("\r\n\r\n")
            .map(|(_, rest)| rest.rsplit_once("\r\n--").map_or(rest, |(part, _)| part))
    };
    Some(json!({ "file": part().unwrap_or(text) }))
}
