//! The query of the legacy validation of one voucher: its conversion to a body, and the conversion of that body's
//! errors to errors of the query.

use crate::documents::json_members;
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, invalid_query, of_query};
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json};

/// Names of the body's members in the query. Of two with a common prefix, the longer comes first.
const CALLED: &[(&str, &str)] = &[
    ("order.amount", "amount"),
    ("order.items", "item"),
    ("session.type", "session_type"),
    ("session.key", "session_key"),
    ("session.ttl_unit", "session_ttl_unit"),
    ("session.ttl", "session_ttl"),
];

/// Parameters with parts, the depth of names of each part, and its form.
const PARTS: &[(&str, usize, &str)] = &[("metadata", 1, "metadata[name]=value"), ("item", 2, "item[0][name]=value")];

/// Converts a query to the equivalent body, with texts of integers as numbers.
pub fn read(query: &Query) -> Result<Map<String, Json>, ErrorBody> {
    check_forms(query)?;
    let number = |text: &str| text.parse::<i64>().map_or_else(|_| Json::from(text), Json::from);
    let nested = |name: &str| -> Map<String, Json> {
        let single = query.below(name).filter_map(|(path, value)| match path {
            [field] => Some((field.clone(), Json::from(value))),
            _ => None,
        });
        single.collect()
    };
    let mut order = Map::new();
    if let Some(amount) = query.parameter("amount") {
        order.insert("amount".into(), number(amount));
    }
    let mut items: Vec<(&str, Map<String, Json>)> = Vec::new();
    for (path, value) in query.below("item") {
        let [index, field] = path else { continue };
        let value =
            if matches!(field.as_str(), "quantity" | "price" | "amount") { number(value) } else { value.into() };
        match items.iter_mut().find(|(known, _)| known == index) {
            Some((_, item)) => drop(item.insert(field.clone(), value)),
            None => items.push((index, json_members::object_of(field, value))),
        }
    }
    if !items.is_empty() {
        order.insert("items".into(), items.into_iter().map(|(_, item)| Json::Object(item)).collect());
    }
    let metadata = |name: &str| -> Map<String, Json> {
        let members = query.below(name).filter_map(|(path, value)| match path {
            [first, field] if first == "metadata" => Some((field.clone(), Json::from(value))),
            _ => None,
        });
        members.collect()
    };
    let mut customer = nested("customer");
    for (name, holder) in [("order", &mut order), ("customer", &mut customer)] {
        let metadata = metadata(name);
        if !metadata.is_empty() {
            holder.insert("metadata".into(), Json::Object(metadata));
        }
    }
    if let Some(source_id) = query.parameter("customer") {
        customer.insert("source_id".into(), source_id.into());
    }
    let mut session = Map::new();
    for (name, field) in
        [("session_type", "type"), ("session_key", "key"), ("session_ttl", "ttl"), ("session_ttl_unit", "ttl_unit")]
    {
        if let Some(value) = query.parameter(name) {
            session.insert(field.into(), if field == "ttl" { number(value) } else { value.into() });
        }
    }
    let mut body = Map::new();
    if let Some(tracking_id) = query.parameter("tracking_id") {
        body.insert("tracking_id".into(), tracking_id.into());
    }
    for (name, part) in
        [("order", order), ("customer", customer), ("session", session), ("metadata", nested("metadata"))]
    {
        if !part.is_empty() {
            body.insert(name.into(), Json::Object(part));
        }
    }
    Ok(body)
}

/// Refuses parts in any other form, which would be ignored.
fn check_forms(query: &Query) -> Result<(), ErrorBody> {
    for (name, depth, form) in PARTS {
        let invalid = |path: &[String], value: &str| {
            let parts: String = path.iter().map(|part| format!("[{part}]")).collect();
            let (property, value) = (shortened(&format!("{name}{parts}")), shortened(value));
            invalid_query(format!("Property .{property} must be written as `{form}` (actual value is `{value}`)"))
        };
        if let Some(value) = query.parameter(name).filter(|value| !value.is_empty()) {
            return Err(invalid(&[], value));
        }
        if let Some((path, value)) = query.below(name).find(|(path, _)| path.len() != *depth) {
            return Err(invalid(path, value));
        }
    }
    Ok(())
}

/// Converts a refusal of the body into one of the query that it was read from.
pub fn legacy_error(error: CallError) -> CallError {
    let CallError::Refused(mut refusal) = error else { return error };
    if refusal.key.as_deref() != Some("invalid_payload") {
        return refusal.into();
    }
    let details = refusal.details.as_deref().unwrap_or_default();
    let missing = details.strip_prefix("Property .session should have required property '");
    let missing = missing.map(|member| format!("Query should have required property 'session_{member}"));
    let renamed = CALLED.iter().find_map(|(member, parameter)| {
        let rest = details.strip_prefix("Property .")?.strip_prefix(member)?;
        Some(format!("Property .{parameter}{rest}"))
    });
    if let Some(details) = missing.or(renamed) {
        refusal.details = Some(details);
    }
    of_query(refusal.into())
}
