//! Checks of metadata against schemas, as a pure function.
//!
//! docs/spec/validation-rules.md#13. The texts follow `<key>: must be ... (actual value is '...')`.

use crate::timestamp;
use serde_json::{Map, Number, Value as Json};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Bodies of schemas by `related_object`, with the schemas to which their objects refer.
pub type MetadataSchemas = BTreeMap<String, Map<String, Json>>;

/// Maximum number of wrong array elements in a report.
const SHOWN_VALUE_MAX: usize = 100;

/// Maximum length of a wrong value in a message.
const SHOWN_MAX: usize = 80;

/// A type of a stored definition that the service does not know: no value can be checked against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownType(pub String);

/// Returns the problems of metadata under a schema; none if the schema does not exist. Fails for a type that is not known.
pub fn problems(
    schemas: &MetadataSchemas,
    name: &str,
    metadata: &Map<String, Json>,
) -> Result<Vec<String>, UnknownType> {
    let mut found = Vec::new();
    check_object(schemas, name, metadata, "", &mut found)?;
    Ok(found)
}

/// Returns the schemas that the objects of a schema name.
pub fn named_by(schema: &Map<String, Json>) -> Vec<&str> {
    let definitions = definitions(schema).map(|(_, definition)| definition);
    definitions.filter_map(|definition| definition.get("object_type").and_then(Json::as_str)).collect()
}

fn definitions(schema: &Map<String, Json>) -> impl Iterator<Item = (&String, &Json)> {
    schema.get("properties").and_then(Json::as_object).into_iter().flatten()
}

fn flag(object: &Json, name: &str) -> bool {
    object.get(name).and_then(Json::as_bool).unwrap_or(false)
}

fn check_object(
    schemas: &MetadataSchemas,
    name: &str,
    object: &Map<String, Json>,
    path: &str,
    found: &mut Vec<String>,
) -> Result<(), UnknownType> {
    let Some(schema) = schemas.get(name) else { return Ok(()) };
    // A deleted definition has no effect, and its key may stay.
    for (key, definition) in definitions(schema).filter(|(_, definition)| !flag(definition, "deleted")) {
        let path = crate::http::shape::below(path, key);
        match object.get(key).filter(|value| !value.is_null()) {
            Some(value) => check_value(schemas, definition, value, &path, found)?,
            None if flag(definition, "optional") => {}
            None => found.push(format!("{path}: must be present (actual value is 'undefined')")),
        }
    }
    if schema.get("allow_defined_only").and_then(Json::as_bool) == Some(true) {
        let is_defined = |key: &String| definitions(schema).any(|(defined, _)| defined == key);
        for (key, value) in object.iter().filter(|(key, value)| !value.is_null() && !is_defined(key)) {
            found.push(wrong(&crate::http::shape::below(path, key), "a key that the schema defines", value));
        }
    }
    Ok(())
}

fn check_value(
    schemas: &MetadataSchemas,
    definition: &Json,
    value: &Json,
    path: &str,
    found: &mut Vec<String>,
) -> Result<(), UnknownType> {
    if !flag(definition, "array") {
        return check_one(schemas, definition, value, path, found);
    }
    let Some(elements) = value.as_array() else {
        found.push(wrong(path, "an array", value));
        return Ok(());
    };
    for (index, element) in elements.iter().enumerate() {
        if found.len() >= SHOWN_VALUE_MAX {
            break;
        }
        check_one(schemas, definition, element, &format!("{path}[{index}]"), found)?;
    }
    Ok(())
}

fn check_one(
    schemas: &MetadataSchemas,
    definition: &Json,
    value: &Json,
    path: &str,
    found: &mut Vec<String>,
) -> Result<(), UnknownType> {
    let kind = definition.get("type").and_then(Json::as_str).unwrap_or_default();
    if let Some(requirement) = violated_type(kind, value)? {
        found.push(wrong(path, requirement, value));
        return Ok(());
    }
    if let (Some(nested), Some(name)) = (value.as_object(), definition.get("object_type").and_then(Json::as_str)) {
        return check_object(schemas, name, nested, path, found);
    }
    found.extend(violated_bound(definition, value).map(|requirement| wrong(path, &requirement, value)));
    Ok(())
}

/// Returns the requirement of a type that a value does not meet, if there is one. Fails for a type that is not known.
pub fn violated_type(kind: &str, value: &Json) -> Result<Option<&'static str>, UnknownType> {
    let (fits, requirement) = match kind {
        "string" => (value.is_string(), "a string"),
        "number" => (value.is_number(), "a number"),
        "boolean" => (value.is_boolean(), "a boolean"),
        "object" | "nested" => (value.is_object(), "an object"),
        "date" => (value.as_str().is_some_and(timestamp::is_date), "a date"),
        "datetime" => (value.as_str().is_some_and(is_date_time), "a date-time"),
        "geopoint" => (is_geopoint(value), "a geopoint"),
        "image_url" => (value.as_str().is_some_and(is_url), "a url of an image"),
        unknown => return Err(UnknownType(unknown.to_owned())),
    };
    Ok((!fits).then_some(requirement))
}

/// Returns the first bound of a definition that a value violates.
pub fn violated_bound(definition: &Json, value: &Json) -> Option<String> {
    let listed = |name: &str| definition.get(name).and_then(Json::as_array).filter(|list| !list.is_empty());
    let words = |list: &[Json]| list.iter().map(short_text).collect::<Vec<_>>().join(", ");
    if let Some(list) = listed("eq").filter(|list| !list.iter().any(|one| is_same(one, value))) {
        return Some(format!("one of {}", words(list)));
    }
    if let Some(list) = listed("ne").filter(|list| list.iter().any(|one| is_same(one, value))) {
        return Some(format!("none of {}", words(list)));
    }
    if let Json::Number(number) = value {
        return violated_limit(definition, number);
    }
    let length = u64::try_from(value.as_str()?.chars().count()).unwrap_or(u64::MAX);
    let bound = |name: &str| definition.get(name).and_then(Json::as_u64);
    if let Some(exact) = bound("exact_length").filter(|exact| length != *exact) {
        return Some(format!("exactly {exact} characters long"));
    }
    if let Some(least) = bound("min_length").filter(|least| length < *least) {
        return Some(format!("at least {least} characters long"));
    }
    bound("max_length").filter(|most| length > *most).map(|most| format!("at most {most} characters long"))
}

fn violated_limit(definition: &Json, number: &Number) -> Option<String> {
    let limits: [(&str, &str, &[Ordering]); 4] = [
        ("lt", "<", &[Ordering::Less]),
        ("lte", "<=", &[Ordering::Less, Ordering::Equal]),
        ("gt", ">", &[Ordering::Greater]),
        ("gte", ">=", &[Ordering::Greater, Ordering::Equal]),
    ];
    limits.into_iter().find_map(|(name, sign, requirement)| {
        let limit = definition.get(name)?.as_number()?;
        let holds = compare_numbers(number, limit).is_some_and(|order| requirement.contains(&order));
        (!holds).then(|| format!("{sign} {limit}"))
    })
}

/// Compares numbers: whole ones exactly, others by the nearest float, which is sufficient for a bound.
pub fn compare_numbers(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i64(), other.as_i64()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

fn is_same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => compare_numbers(one, other) == Some(Ordering::Equal),
        _ => one == other,
    }
}

fn is_date_time(text: &str) -> bool {
    text.contains(['T', 't']) && timestamp::parse(text).is_some()
}

/// Returns true for a pair of numbers, or `{ lat, lon }` in one of its spellings; the shape is not published.
fn is_geopoint(value: &Json) -> bool {
    match value {
        Json::Array(pair) => pair.len() == 2 && pair.iter().all(Json::is_number),
        Json::Object(point) => {
            let has = |names: &[&str]| names.iter().any(|name| point.get(*name).is_some_and(Json::is_number));
            has(&["lat", "latitude"]) && has(&["lon", "lng", "longitude"])
        }
        _ => false,
    }
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
}

fn wrong(path: &str, requirement: &str, value: &Json) -> String {
    format!("{path}: must be {requirement} (actual value is '{}')", short_text(value))
}

/// Formats a value without the quotes of a text, shortened.
fn short_text(value: &Json) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if text.chars().count() <= SHOWN_MAX {
        return text;
    }
    let start: String = text.chars().take(SHOWN_MAX).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Json) -> Map<String, Json> {
        value.as_object().cloned().unwrap_or_default()
    }

    /// Returns the problem of `{ "k": value }` under one definition of `k`; strings are required and single by default.
    fn problem_text(definition: Json, value: Json) -> String {
        let schema = json!({ "properties": { "k": definition } });
        let schemas = MetadataSchemas::from([("customer".to_owned(), object(schema))]);
        problems(&schemas, "customer", &object(json!({ "k": value }))).unwrap().join(", ")
    }

    #[test]
    fn every_type_takes_its_values_and_no_others() {
        for (kind, good, bad, requirement) in [
            ("string", json!("a"), json!(1), "a string"),
            ("number", json!(1.5), json!("1"), "a number"),
            ("boolean", json!(false), json!("false"), "a boolean"),
            ("object", json!({}), json!([]), "an object"),
            ("date", json!("2026-01-31"), json!("2026-02-31"), "a date"),
            ("datetime", json!("2026-01-31T10:00:00Z"), json!("2026-01-31"), "a date-time"),
            ("geopoint", json!([48.1, 2.3]), json!([48.1]), "a geopoint"),
            ("image_url", json!("https://a.example/b.png"), json!("b.png"), "a url of an image"),
        ] {
            assert_eq!(problem_text(json!({ "type": kind }), good), "", "{kind}");
            let value = short_text(&bad);
            assert_eq!(
                problem_text(json!({ "type": kind }), bad),
                format!("k: must be {requirement} (actual value is '{value}')"),
                "{kind}"
            );
        }
        assert_eq!(problem_text(json!({ "type": "geopoint" }), json!({ "lat": 1, "lng": 2 })), "");
    }

    #[test]
    fn no_value_has_a_type_that_is_not_known() {
        for (definition, name) in [(json!({ "type": "colour" }), "colour"), (json!({}), "")] {
            let schema = object(json!({ "properties": { "k": definition } }));
            let schemas = MetadataSchemas::from([("customer".to_owned(), schema)]);
            let found = problems(&schemas, "customer", &object(json!({ "k": 1 })));
            assert_eq!(found, Err(UnknownType(name.to_owned())));
            assert_eq!(problems(&schemas, "order", &object(json!({ "k": 1 }))), Ok(Vec::new()));
        }
    }

    #[test]
    fn bounds() {
        for (definition, good, bad, requirement) in [
            (json!({ "type": "string", "eq": ["a", "b"] }), json!("b"), json!("c"), "one of a, b"),
            (json!({ "type": "number", "eq": [1, 2] }), json!(2.0), json!(3), "one of 1, 2"),
            (json!({ "type": "number", "ne": [1] }), json!(2), json!(1), "none of 1"),
            (json!({ "type": "number", "lt": 5 }), json!(4), json!(5), "< 5"),
            (json!({ "type": "number", "lte": 5 }), json!(5), json!(5.5), "<= 5"),
            (json!({ "type": "number", "gt": 5 }), json!(6), json!(5), "> 5"),
            (json!({ "type": "number", "gte": 5 }), json!(5), json!(-5), ">= 5"),
            (json!({ "type": "string", "min_length": 2 }), json!("ąę"), json!("ą"), "at least 2 characters long"),
            (json!({ "type": "string", "max_length": 2 }), json!("ąę"), json!("abc"), "at most 2 characters long"),
            (json!({ "type": "string", "exact_length": 2 }), json!("ab"), json!("a"), "exactly 2 characters long"),
        ] {
            assert_eq!(problem_text(definition.clone(), good), "", "{definition}");
            let value = short_text(&bad);
            assert_eq!(problem_text(definition, bad), format!("k: must be {requirement} (actual value is '{value}')"));
        }
    }

    #[test]
    fn arrays_are_checked_element_by_element() {
        let numbers = json!({ "type": "number", "array": true, "lt": 3 });
        assert_eq!(problem_text(numbers.clone(), json!([])), "");
        assert_eq!(problem_text(numbers.clone(), json!([1, 2])), "");
        assert_eq!(problem_text(numbers.clone(), json!(1)), "k: must be an array (actual value is '1')");
        assert_eq!(
            problem_text(numbers, json!([1, "2", 3])),
            "k[1]: must be a number (actual value is '2'), k[2]: must be < 3 (actual value is '3')"
        );
    }

    #[test]
    fn problems_of_missing_unknown_and_deleted_metadata() {
        let schema = json!({ "allow_defined_only": true, "properties": {
            "must": { "type": "string", "optional": false }, "may": { "type": "string", "optional": true },
            "gone": { "type": "number", "optional": false, "deleted": true } } });
        let mut schemas = MetadataSchemas::from([("order".to_owned(), object(schema))]);
        let details = |schemas: &MetadataSchemas, metadata: Json| {
            problems(schemas, "order", &object(metadata)).unwrap().join(", ")
        };
        assert_eq!(details(&schemas, json!({ "must": "a", "gone": "any" })), "");
        assert_eq!(
            details(&schemas, json!({ "may": null, "else": 1 })),
            "must: must be present (actual value is 'undefined'), else: must be a key that the schema defines (actual value is '1')"
        );
        schemas.get_mut("order").unwrap().insert("allow_defined_only".into(), false.into());
        assert_eq!(details(&schemas, json!({ "must": "a", "else": 1 })), "");
        assert_eq!(problems(&schemas, "customer", &object(json!({ "any": 1 }))), Ok(Vec::new()));
    }

    #[test]
    fn objects_follow_the_schema_that_they_name() {
        let car = json!({ "properties": { "wheels": { "type": "number" }, "trailer": { "type": "object", "object_type": "car", "optional": true } } });
        let owner = json!({ "properties": { "cars": { "type": "object", "object_type": "car", "array": true } } });
        let schemas = MetadataSchemas::from([("car".to_owned(), object(car)), ("customer".to_owned(), object(owner))]);
        assert_eq!(named_by(&schemas["customer"]), ["car"]);
        let metadata = object(json!({ "cars": [{ "wheels": 4 }, { "wheels": 4, "trailer": { "wheels": "2" } }, {}] }));
        assert_eq!(
            problems(&schemas, "customer", &metadata).unwrap().join(", "),
            "cars[1].trailer.wheels: must be a number (actual value is '2'), cars[2].wheels: must be present (actual value is 'undefined')"
        );
    }
}
