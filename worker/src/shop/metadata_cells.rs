//! Custom data that came as texts, in the types that the project's schema gives it. It must not know where it came from.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::metadata_schemas;
use serde_json::{Map, Value as Json};

/// Reads the texts of a body's metadata as numbers, booleans and lists where the schema of the kind says that they are some.
pub fn settle(call: &Call<'_, '_>, kind: &str, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let Some(metadata) = body.get_mut("metadata").and_then(Json::as_object_mut) else { return Ok(()) };
    let schemas = metadata_schemas::load(call.store, &[kind])?;
    let Some(properties) = schemas.get(kind).and_then(|schema| schema.get("properties")) else { return Ok(()) };
    for (name, value) in metadata {
        let Some(property) = properties.get(name) else { continue };
        let Json::String(text) = &*value else { continue };
        let is_list = property.get("array").and_then(Json::as_bool).unwrap_or(false);
        let kind = property.get("type").and_then(Json::as_str).unwrap_or_default();
        // What does not read stays a text, which the schema refuses.
        let read = match (is_list, kind) {
            (true, _) => serde_json::from_str(text).ok().filter(Json::is_array),
            (_, "number") => serde_json::from_str(text).ok().filter(Json::is_number),
            (_, "boolean") => serde_json::from_str(&text.to_ascii_lowercase()).ok().filter(Json::is_boolean),
            (_, "geopoint" | "nested" | "object") => serde_json::from_str(text).ok(),
            _ => None,
        };
        if let Some(read) = read {
            *value = read;
        }
    }
    Ok(())
}
