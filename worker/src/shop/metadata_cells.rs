//! Custom data that came as texts, in the types that the project's schema gives it; without a schema it stays text, because nobody can
//! say whether `0150` and `150` are the same. It must not know where it came from.

use crate::document::columns::Cell;
use crate::document::sheet;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::metadata_schemas;
use serde_json::{Map, Value as Json};

/// What lists are written of without brackets.
const LISTED: &[&str] = &["string", "number", "boolean", "date", "datetime", "image_url"];

/// Reads the texts of a body's metadata as numbers, booleans and lists where the schema of a name says that they are some.
pub fn settle(call: &Call<'_, '_>, name: &str, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let Some(metadata) = body.get_mut("metadata").and_then(Json::as_object_mut) else { return Ok(()) };
    let schemas = metadata_schemas::load(call.store, &[name])?;
    let Some(properties) = schemas.get(name).and_then(|schema| schema.get("properties")) else { return Ok(()) };
    for (name, value) in metadata {
        let Some(property) = properties.get(name).filter(|property| !flag(property, "deleted")) else { continue };
        let Json::String(text) = &*value else { continue };
        // What does not read stays a text, which the schema refuses.
        if let Some(read) = read(property, text) {
            *value = read;
        }
    }
    Ok(())
}

fn flag(property: &Json, name: &str) -> bool {
    property.get(name).and_then(Json::as_bool).unwrap_or(false)
}

fn read(property: &Json, text: &str) -> Option<Json> {
    let kind = property.get("type").and_then(Json::as_str).unwrap_or_default();
    if !flag(property, "array") {
        return one(kind, text);
    }
    if !LISTED.contains(&kind) && !text.trim_start().starts_with('[') {
        return None;
    }
    let mut list = sheet::value(Cell::List, text);
    for element in list.as_array_mut()? {
        if let Some(read) = element.as_str().and_then(|text| one(kind, text)) {
            *element = read;
        }
    }
    Some(list)
}

/// A text as a value of a type, where that is another one.
fn one(kind: &str, text: &str) -> Option<Json> {
    match kind {
        "number" => Some(sheet::value(Cell::Number, text)).filter(Json::is_number),
        "boolean" => Some(sheet::value(Cell::Flag, text)).filter(Json::is_boolean),
        "geopoint" | "nested" | "object" => serde_json::from_str(text).ok(),
        _ => None,
    }
}
