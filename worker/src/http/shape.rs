//! Reads bodies by their shapes and reports the values that do not fit. Rules between fields belong to the operations.

use crate::timestamp;
use http::uri::Authority;
use scrip::text::{LONGEST_NAME, LONGEST_TEXT, is_longer};
use scrip::wire::problem::shortened;
use scrip::wire::{Node, Problem};
use serde_json::{Map, Value as Json};

pub use scrip::shape::{Field, FieldType, INT_MAX, may, must};

/// Meaning of an explicit `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// Equal to an absent field: on creation.
    Dropped,
    /// The field is cleared: on update.
    Kept,
    /// A field of the body is cleared, and inside of it `null` equals an absent field: on update of values that replace the present ones.
    KeptOnTop,
}

impl Nulls {
    /// Returns the meaning inside a field.
    fn within(self) -> Nulls {
        match self {
            Nulls::Kept => Nulls::Kept,
            Nulls::Dropped | Nulls::KeptOnTop => Nulls::Dropped,
        }
    }
}

/// Published fields of bodies that the service does not act on and must not ignore, each with the reason.
const UNSUPPORTED: &[(&str, &str)] = &[("access_settings", "areas and stores are not supported")];

/// Refuses fields that the service knows and does not support, at any depth.
fn check_supported(source: &Map<String, Json>, path: &str) -> Result<(), Problem> {
    let sent = UNSUPPORTED.iter().find(|(name, _)| source.get(*name).is_some_and(|value| !value.is_null()));
    sent.map_or(Ok(()), |(name, reason)| Err(Problem::at(below(path, name), format!("must NOT be present: {reason}"))))
}

/// Reads an object by its fields: unknown fields are dropped, known ones must fit.
pub fn read(fields: &[Field], source: Map<String, Json>, nulls: Nulls) -> Result<Map<String, Json>, Problem> {
    read_object(fields, source, nulls, "")
}

fn read_object(
    fields: &[Field],
    mut source: Map<String, Json>,
    nulls: Nulls,
    path: &str,
) -> Result<Map<String, Json>, Problem> {
    check_supported(&source, path)?;
    let mut object = Map::new();
    for field in fields {
        let place = below(path, field.name);
        match source.remove(field.name) {
            None if field.required => return Err(Problem::missing(path, field.name)),
            None => {}
            Some(Json::Null) if field.required => return Err(Problem::missing(path, field.name)),
            Some(Json::Null) if nulls != Nulls::Dropped || field.null_is_value => {
                drop(object.insert(field.name.to_owned(), Json::Null))
            }
            Some(Json::Null) => {}
            Some(value) => {
                object.insert(field.name.to_owned(), read_value(&field.kind, value, nulls.within(), &place)?);
            }
        }
    }
    Ok(object)
}

/// Returns the path of a property of an object.
pub fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn wrong(path: &str, expected: &str, value: &Json) -> Problem {
    Problem::at(path, format!("must be {expected} (actual value is `{}`)", value_text(value)))
}

/// Formats a value for a message, shortened.
pub fn value_text(value: &Json) -> String {
    shortened(&value.to_string())
}

/// Describes the problem of a text that has more characters than `most`, if it has one.
pub fn too_long(text: &str, most: usize) -> Option<String> {
    is_longer(text, most).then(|| {
        let start = shortened(text);
        format!("must NOT have more than {most} characters (actual value is `{start}`)")
    })
}

fn read_value(kind: &FieldType, value: Json, nulls: Nulls, path: &str) -> Result<Json, Problem> {
    match (kind, value) {
        (
            FieldType::Text
            | FieldType::Name(_)
            | FieldType::Date
            | FieldType::DateTime
            | FieldType::Duration
            | FieldType::Clock
            | FieldType::HttpsUrl
            | FieldType::OneOf(_),
            Json::String(text),
        ) => read_text(kind, text, path),
        (FieldType::Text | FieldType::Name(_) | FieldType::HttpsUrl, value) => Err(wrong(path, "a string", &value)),
        (FieldType::Int(least, most), value) => read_int(value, *least, *most, path),
        (FieldType::Number(least, most), Json::Number(number)) => {
            // The comparison is exact enough for bounds; the engine reads the digits themselves.
            #[allow(clippy::cast_precision_loss, reason = "the bounds are small whole numbers")]
            let (low, high) = (*least as f64, *most as f64);
            match number.as_f64() {
                Some(value) if value < low => Err(bound(path, ">=", *least, &Json::Number(number))),
                Some(value) if value > high => Err(bound(path, "<=", *most, &Json::Number(number))),
                _ => Ok(Json::Number(number)),
            }
        }
        (FieldType::Number(..), value) => Err(wrong(path, "a number", &value)),
        (FieldType::Bool, Json::Bool(flag)) => Ok(Json::Bool(flag)),
        (FieldType::Bool, value) => Err(wrong(path, "a boolean", &value)),
        (FieldType::Date, value) => Err(wrong(path, "a date", &value)),
        (FieldType::DateTime, value) => Err(wrong(path, "a date-time", &value)),
        (FieldType::Duration, value) => Err(wrong(path, "an ISO-8601 duration", &value)),
        (FieldType::Clock, value) => Err(wrong(path, "a time of day in the form HH:mm", &value)),
        (FieldType::OneOf(values), value) => Err(wrong(path, &format!("one of {}", values.join(", ")), &value)),
        (FieldType::Object(fields), Json::Object(source)) => {
            Ok(Json::Object(read_object(fields, source, nulls, path)?))
        }
        (FieldType::Map | FieldType::Open(..), Json::Object(source)) => {
            check_names(&source, path)?;
            Ok(Json::Object(source))
        }
        (FieldType::MapOf(kind), Json::Object(source)) => {
            check_names(&source, path)?;
            let mut object = Map::new();
            for (name, value) in source {
                let place = below(path, &name);
                object.insert(name, read_value(kind, value, nulls, &place)?);
            }
            Ok(Json::Object(object))
        }
        (FieldType::Object(_) | FieldType::Map | FieldType::MapOf(_) | FieldType::Open(..), value) => {
            Err(wrong(path, "an object", &value))
        }
        (FieldType::List(item, least, most), Json::Array(items)) => read_list(item, items, *least, *most, nulls, path),
        (FieldType::List(..), value) => Err(wrong(path, "an array", &value)),
        (FieldType::Named(shape), value) => read_value(&shape.kind, value, nulls, path),
        (FieldType::Either(kinds), value) => read_either(kinds, value, nulls, path),
        (FieldType::Any, value) => Ok(value),
    }
}

/// Refuses members that are not of their kind, where some have fixed names and others are keys. For callers that parse
/// only some members first. The source is not changed.
pub fn check_open(kind: &FieldType, source: &Json, path: &str) -> Result<(), Problem> {
    let (FieldType::Open(fields, others), Json::Object(source)) = (kind, source) else { return Ok(()) };
    for (name, value) in source {
        let place = below(path, name);
        match fields.iter().find(|field| field.name == name) {
            Some(_) if value.is_null() => {}
            Some(field) => drop(read_value(&field.kind, value.clone(), Nulls::Kept, &place)?),
            None => drop(read_value(others, value.clone(), Nulls::Kept, &place)?),
        }
    }
    Ok(())
}

/// Reads a value that fits one of the types. If none fits, reports the error of the type that matches deepest, else of the first one.
fn read_either(kinds: &[FieldType], value: Json, nulls: Nulls, path: &str) -> Result<Json, Problem> {
    let mut refused: Option<Problem> = None;
    for kind in kinds {
        match read_value(kind, value.clone(), nulls, path) {
            Ok(read) => return Ok(read),
            Err(problem) if refused.as_ref().is_none_or(|known| depth(&known.path) < depth(&problem.path)) => {
                refused = Some(problem);
            }
            Err(_) => {}
        }
    }
    refused.map_or(Ok(value), Err)
}

/// Returns the number of names and indexes in a path.
fn depth(path: &str) -> usize {
    path.split(['.', '[']).count()
}

/// Limits names that the caller chose, like all names.
fn check_names(source: &Map<String, Json>, path: &str) -> Result<(), Problem> {
    match source.keys().find(|name| is_longer(name, LONGEST_NAME)) {
        None => Ok(()),
        Some(name) => {
            let length = name.chars().count();
            let message =
                format!("must NOT have names of more than {LONGEST_NAME} characters (actual length is `{length}`)");
            Err(Problem::at(path, message))
        }
    }
}

fn read_int(value: Json, least: i64, most: i64, path: &str) -> Result<Json, Problem> {
    let Json::Number(number) = &value else {
        return Err(wrong(path, "an integer", &value));
    };
    // A whole number may be written `1000.0` or `1e3`; it is stored as the integer (docs/spec/calculation.md#19, D18).
    let text = number.to_string();
    let written = Node::read(text.as_bytes()).ok().and_then(|node| node.as_i64());
    match number.as_i64().or(written) {
        Some(number) if number < least => Err(bound(path, ">=", least, &value)),
        Some(number) if number <= most => Ok(number.into()),
        None if number.is_f64() => Err(wrong(path, "an integer", &value)),
        _ => Err(bound(path, "<=", most, &value)),
    }
}

fn bound(path: &str, sign: &str, limit: i64, value: &Json) -> Problem {
    Problem::at(path, format!("must be {sign} {limit} (actual value is `{}`)", value_text(value)))
}

fn read_text(kind: &FieldType, text: String, path: &str) -> Result<Json, Problem> {
    let most = match kind {
        FieldType::Name(most) => *most,
        _ => LONGEST_TEXT,
    };
    if let Some(message) = too_long(&text, most) {
        return Err(Problem::at(path, message));
    }
    let fits = match kind {
        FieldType::Name(_) if text.is_empty() => {
            return Err(Problem::at(path, "must NOT have fewer than 1 characters"));
        }
        FieldType::Date => timestamp::is_date(&text) || timestamp::parse(&text).is_some(),
        FieldType::DateTime => timestamp::parse(&text).is_some(),
        FieldType::Duration => timestamp::is_duration(&text),
        FieldType::Clock => timestamp::is_clock(&text),
        FieldType::HttpsUrl => is_https_url(&text),
        FieldType::OneOf(values) => values.contains(&text.as_str()),
        FieldType::Name(_) | FieldType::Text | FieldType::Any => true,
        // A text is none of these.
        FieldType::Int(..)
        | FieldType::Number(..)
        | FieldType::Bool
        | FieldType::Object(_)
        | FieldType::Map
        | FieldType::MapOf(_)
        | FieldType::Open(..)
        | FieldType::Named(_)
        | FieldType::Either(_)
        | FieldType::List(..) => false,
    };
    if fits {
        // A time in a date field keeps only its date.
        let day = timestamp::parse(&text).filter(|_| matches!(kind, FieldType::Date) && !timestamp::is_date(&text));
        return Ok(Json::String(day.map_or(text, |at| timestamp::text(at).chars().take(10).collect())));
    }
    let text = shortened(&text);
    let message = match kind {
        FieldType::OneOf(values) => format!("must be one of {} (actual value is `{text}`)", values.join(", ")),
        FieldType::Duration => format!("must be an ISO-8601 duration such as P7D or PT1H (actual value is `{text}`)"),
        FieldType::Clock => format!("must be a time of day in the form HH:mm (actual value is `{text}`)"),
        FieldType::HttpsUrl => format!("must be an absolute https address (actual value is `{text}`)"),
        _ => format!("cannot be recognized as a ISO-8601 compliant date (actual value is `{text}`)"),
    };
    Err(Problem::at(path, message))
}

/// Returns true if a text is an absolute https URL with a host and without credentials, blanks or control characters.
fn is_https_url(text: &str) -> bool {
    let has_scheme = text.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    let rest = text.get(8..).filter(|_| has_scheme).unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_stray =
        |character: char| character.is_whitespace() || character.is_control() || "\\<>\"`".contains(character);
    let has_host = authority.parse::<Authority>().is_ok_and(|authority| !authority.host().is_empty());
    has_host && !authority.contains('@') && !text.contains(is_stray)
}

fn read_list(
    item: &FieldType,
    items: Vec<Json>,
    least: usize,
    most: usize,
    nulls: Nulls,
    path: &str,
) -> Result<Json, Problem> {
    if items.len() < least {
        return Err(Problem::at(path, format!("must NOT have fewer than {least} items")));
    }
    if items.len() > most {
        let text = format!("must NOT have more than {most} items (actual number is `{}`)", items.len());
        return Err(Problem::at(path, text));
    }
    let read: Result<Vec<Json>, Problem> = items
        .into_iter()
        .enumerate()
        .map(|(index, value)| read_value(item, value, nulls, &format!("{path}[{index}]")))
        .collect();
    Ok(Json::Array(read?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FIELDS: &[Field] = &[
        must("name", FieldType::Name(10)),
        may("type", FieldType::OneOf(&["STATIC", "AUTO_UPDATE"])),
        may("limit", FieldType::Int(1, 100)),
        may(
            "order",
            FieldType::Object(&[
                must("amount", FieldType::Int(0, INT_MAX)),
                may("items", FieldType::List(&FieldType::Object(&[must("id", FieldType::Text)]), 1, 2)),
            ]),
        ),
        may("percent_off", FieldType::Number(0, 100)),
        may("start_date", FieldType::DateTime),
        may("metadata", FieldType::Map),
    ];

    fn check(body: Json, details: &str) {
        let Json::Object(body) = body else { panic!("the case should be an object") };
        let found = read(FIELDS, body, Nulls::Dropped)
            .map_or_else(|problem| problem.to_string(), |read| Json::Object(read).to_string());
        assert_eq!(found, details);
    }

    #[test]
    fn a_refused_body_names_the_place_and_the_reason() {
        check(json!({}), "Payload must have required property 'name'");
        check(json!({ "name": null }), "Payload must have required property 'name'");
        check(json!({ "name": 5 }), "Property .name must be a string (actual value is `5`)");
        check(json!({ "name": "" }), "Property .name must NOT have fewer than 1 characters");
        check(
            json!({ "name": "x".repeat(11) }),
            "Property .name must NOT have more than 10 characters (actual value is `xxxxxxxxxxx`)",
        );
        check(
            json!({ "name": "n", "type": "FOO" }),
            "Property .type must be one of STATIC, AUTO_UPDATE (actual value is `FOO`)",
        );
        check(
            json!({ "name": "n", "type": 1 }),
            "Property .type must be one of STATIC, AUTO_UPDATE (actual value is `1`)",
        );
        check(json!({ "name": "n", "limit": 101 }), "Property .limit must be <= 100 (actual value is `101`)");
        check(json!({ "name": "n", "limit": 1.5 }), "Property .limit must be an integer (actual value is `1.5`)");
        check(json!({ "name": "n", "order": {} }), "Property .order should have required property 'amount'");
        check(
            json!({ "name": "n", "order": { "amount": "abc" } }),
            "Property .order.amount must be an integer (actual value is `\"abc\"`)",
        );
        check(
            json!({ "name": "n", "order": { "amount": 9_007_199_254_740_992_u64 } }),
            "Property .order.amount must be <= 9007199254740991 (actual value is `9007199254740992`)",
        );
        check(
            json!({ "name": "n", "order": { "amount": u64::MAX } }),
            "Property .order.amount must be <= 9007199254740991 (actual value is `18446744073709551615`)",
        );
        check(
            json!({ "name": "n", "order": { "amount": 1, "items": [] } }),
            "Property .order.items must NOT have fewer than 1 items",
        );
        check(
            json!({ "name": "n", "order": { "amount": 1, "items": [{ "id": "a" }, {}] } }),
            "Property .order.items[1] should have required property 'id'",
        );
        check(
            json!({ "name": "n", "percent_off": 100.5 }),
            "Property .percent_off must be <= 100 (actual value is `100.5`)",
        );
        check(
            json!({ "name": "n", "start_date": "tomorrow" }),
            "Property .start_date cannot be recognized as a ISO-8601 compliant date (actual value is `tomorrow`)",
        );
        check(json!({ "name": "n", "metadata": [] }), "Property .metadata must be an object (actual value is `[]`)");
    }

    #[test]
    fn nulls_and_unknown_fields() {
        check(json!({ "name": "n", "limit": null, "unknown": 1 }), r#"{"name":"n"}"#);
        let body = json!({ "name": "n", "limit": null }).as_object().cloned().unwrap_or_default();
        let kept = read(FIELDS, body, Nulls::Kept).map(Json::Object);
        assert_eq!(kept, Ok(json!({ "name": "n", "limit": null })));
        const OUTER: &[Field] = &[may("inner", FieldType::Object(FIELDS)), may("free", FieldType::Map)];
        let body = json!({ "inner": { "name": "n", "limit": null }, "free": { "key": null } });
        let read =
            |body: &Json, nulls| read(OUTER, body.as_object().cloned().unwrap_or_default(), nulls).map(Json::Object);
        assert_eq!(read(&body, Nulls::Kept), Ok(body.clone()));
        let without = json!({ "inner": { "name": "n" }, "free": { "key": null } });
        assert_eq!(read(&body, Nulls::KeptOnTop), Ok(without));
        assert_eq!(read(&json!({ "inner": null }), Nulls::KeptOnTop), Ok(json!({ "inner": null })));
    }
}
