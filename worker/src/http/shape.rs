//! Reads bodies by their shapes: what a table of fields lets through, and how what does not fit is told. It must not know routes or
//! documents. Rules between fields belong to the operations.

use crate::moment;
use scrip::text::{LONGEST_NAME, LONGEST_TEXT, is_longer};
use scrip::wire::problem::shortened;
use scrip::wire::{Node, Problem};
use serde_json::{Map, Value as Json};

pub use scrip::shape::{Field, INT_MAX, Kind, may, must};

/// What an explicit `null` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// The same as leaving the field out: on creation.
    Dropped,
    /// The field is cleared: on update.
    Kept,
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
    let mut object = Map::new();
    for field in fields {
        let place = below(path, field.name);
        match source.remove(field.name) {
            None if field.required => return Err(Problem::missing(path, field.name)),
            None => {}
            Some(Json::Null) if field.required => return Err(Problem::missing(path, field.name)),
            Some(Json::Null) if nulls == Nulls::Kept => drop(object.insert(field.name.to_owned(), Json::Null)),
            Some(Json::Null) => {}
            Some(value) => {
                object.insert(field.name.to_owned(), read_value(&field.kind, value, nulls, &place)?);
            }
        }
    }
    Ok(object)
}

/// The path of a property of an object.
pub fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn wrong(path: &str, wanted: &str, value: &Json) -> Problem {
    Problem::at(path, format!("must be {wanted} (actual value is `{}`)", shown(value)))
}

/// A value as a message shows it, never long.
pub fn shown(value: &Json) -> String {
    shortened(&value.to_string())
}

/// What is wrong with a text that has more characters than these.
pub fn too_long(text: &str, most: usize) -> Option<String> {
    is_longer(text, most).then(|| {
        let start = shortened(text);
        format!("must NOT have more than {most} characters (actual value is `{start}`)")
    })
}

fn read_value(kind: &Kind, value: Json, nulls: Nulls, path: &str) -> Result<Json, Problem> {
    match (kind, value) {
        (
            Kind::Text | Kind::Name(_) | Kind::Date | Kind::DateTime | Kind::Duration | Kind::Clock | Kind::OneOf(_),
            Json::String(text),
        ) => read_text(kind, text, path),
        (Kind::Text | Kind::Name(_), value) => Err(wrong(path, "a string", &value)),
        (Kind::Int(least, most), value) => read_int(value, *least, *most, path),
        (Kind::Number(least, most), Json::Number(number)) => {
            // Comparing is exact enough for bounds; the engine reads the digits themselves.
            #[allow(clippy::cast_precision_loss, reason = "the bounds are small whole numbers")]
            let (low, high) = (*least as f64, *most as f64);
            match number.as_f64() {
                Some(value) if value < low => Err(bound(path, ">=", *least, &Json::Number(number))),
                Some(value) if value > high => Err(bound(path, "<=", *most, &Json::Number(number))),
                _ => Ok(Json::Number(number)),
            }
        }
        (Kind::Number(..), value) => Err(wrong(path, "a number", &value)),
        (Kind::Bool, Json::Bool(flag)) => Ok(Json::Bool(flag)),
        (Kind::Bool, value) => Err(wrong(path, "a boolean", &value)),
        (Kind::Date, value) => Err(wrong(path, "a date", &value)),
        (Kind::DateTime, value) => Err(wrong(path, "a date-time", &value)),
        (Kind::Duration, value) => Err(wrong(path, "an ISO-8601 duration", &value)),
        (Kind::Clock, value) => Err(wrong(path, "a time of day in the form HH:mm", &value)),
        (Kind::OneOf(words), value) => Err(wrong(path, &format!("one of {}", words.join(", ")), &value)),
        (Kind::Object(fields), Json::Object(source)) => Ok(Json::Object(read_object(fields, source, nulls, path)?)),
        (Kind::Map | Kind::Open(..), Json::Object(source)) => {
            check_names(&source, path)?;
            Ok(Json::Object(source))
        }
        (Kind::MapOf(kind), Json::Object(source)) => {
            check_names(&source, path)?;
            let mut object = Map::new();
            for (name, value) in source {
                let place = below(path, &name);
                object.insert(name, read_value(kind, value, nulls, &place)?);
            }
            Ok(Json::Object(object))
        }
        (Kind::Object(_) | Kind::Map | Kind::MapOf(_) | Kind::Open(..), value) => Err(wrong(path, "an object", &value)),
        (Kind::List(item, least, most), Json::Array(items)) => read_list(item, items, (*least, *most), nulls, path),
        (Kind::List(..), value) => Err(wrong(path, "an array", &value)),
        (Kind::Named(shape), value) => read_value(&shape.kind, value, nulls, path),
        (Kind::Either(kinds), value) => read_either(kinds, value, nulls, path),
        (Kind::Any, value) => Ok(value),
    }
}

/// Refuses what is not of its kind among members of which some have names and others keys: for whoever reads them in words of its own
/// first, and looks at some of them only. All of it stays as it was sent.
pub fn check_open(kind: &Kind, source: &Json, path: &str) -> Result<(), Problem> {
    let (Kind::Open(fields, others), Json::Object(source)) = (kind, source) else { return Ok(()) };
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

/// Reads what any of the kinds takes; what none takes is refused as by the one that gets furthest into it, else as by the first.
fn read_either(kinds: &[Kind], value: Json, nulls: Nulls, path: &str) -> Result<Json, Problem> {
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

/// How many names and places a path goes through.
fn depth(path: &str) -> usize {
    path.split(['.', '[']).count()
}

/// Names that the caller chose are bounded as all names are.
fn check_names(source: &Map<String, Json>, path: &str) -> Result<(), Problem> {
    match source.keys().find(|name| is_longer(name, LONGEST_NAME)) {
        None => Ok(()),
        Some(name) => {
            let length = name.chars().count();
            let told =
                format!("must NOT have names of more than {LONGEST_NAME} characters (actual length is `{length}`)");
            Err(Problem::at(path, told))
        }
    }
}

fn read_int(value: Json, least: i64, most: i64, path: &str) -> Result<Json, Problem> {
    let Json::Number(number) = &value else {
        return Err(wrong(path, "an integer", &value));
    };
    // A whole number may be written `1000.0` or `1e3`; it is kept as the integer (calculation.md section 19, D18).
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
    Problem::at(path, format!("must be {sign} {limit} (actual value is `{}`)", shown(value)))
}

fn read_text(kind: &Kind, text: String, path: &str) -> Result<Json, Problem> {
    let most = match kind {
        Kind::Name(most) => *most,
        _ => LONGEST_TEXT,
    };
    if let Some(told) = too_long(&text, most) {
        return Err(Problem::at(path, told));
    }
    let fits = match kind {
        Kind::Name(_) if text.is_empty() => {
            return Err(Problem::at(path, "must NOT have fewer than 1 characters"));
        }
        Kind::Date => moment::is_date(&text) || moment::parse(&text).is_some(),
        Kind::DateTime => moment::parse(&text).is_some(),
        Kind::Duration => moment::is_duration(&text),
        Kind::Clock => moment::is_clock(&text),
        Kind::OneOf(words) => words.contains(&text.as_str()),
        Kind::Name(_) | Kind::Text | Kind::Any => true,
        // No text is any of these.
        Kind::Int(..)
        | Kind::Number(..)
        | Kind::Bool
        | Kind::Object(_)
        | Kind::Map
        | Kind::MapOf(_)
        | Kind::Open(..)
        | Kind::Named(_)
        | Kind::Either(_)
        | Kind::List(..) => false,
    };
    if fits {
        // Of a moment that stands where a date is wanted, its date is kept.
        let day = moment::parse(&text).filter(|_| matches!(kind, Kind::Date) && !moment::is_date(&text));
        return Ok(Json::String(day.map_or(text, |at| moment::text(at).chars().take(10).collect())));
    }
    let text = shortened(&text);
    let told = match kind {
        Kind::OneOf(words) => format!("must be one of {} (actual value is `{text}`)", words.join(", ")),
        Kind::Duration => format!("must be an ISO-8601 duration such as P7D or PT1H (actual value is `{text}`)"),
        Kind::Clock => format!("must be a time of day in the form HH:mm (actual value is `{text}`)"),
        _ => format!("cannot be recognized as a ISO-8601 compliant date (actual value is `{text}`)"),
    };
    Err(Problem::at(path, told))
}

fn read_list(
    item: &Kind,
    items: Vec<Json>,
    (least, most): (usize, usize),
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
        must("name", Kind::Name(10)),
        may("type", Kind::OneOf(&["STATIC", "AUTO_UPDATE"])),
        may("limit", Kind::Int(1, 100)),
        may(
            "order",
            Kind::Object(&[
                must("amount", Kind::Int(0, INT_MAX)),
                may("items", Kind::List(&Kind::Object(&[must("id", Kind::Text)]), 1, 2)),
            ]),
        ),
        may("percent_off", Kind::Number(0, 100)),
        may("start_date", Kind::DateTime),
        may("metadata", Kind::Map),
    ];

    fn check(body: Json, details: &str) {
        let Json::Object(body) = body else { panic!("the case should be an object") };
        let found = read(FIELDS, body, Nulls::Dropped)
            .map_or_else(|problem| problem.to_string(), |read| Json::Object(read).to_string());
        assert_eq!(found, details);
    }

    #[test]
    fn a_body_that_does_not_fit_is_told_where_and_why() {
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
    }
}
