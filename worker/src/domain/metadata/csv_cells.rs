//! Converts metadata texts of CSV files to the types of the project's schema. Without a schema they stay texts, because
//! `0150` and `150` may differ.

use crate::documents::csv_columns::CellType;
use crate::documents::csv_file;
use crate::domain::metadata::schemas;
use crate::http::reply::CallError;
use crate::http::route::{Call, RequestBody};
use crate::store::records::{EventSchemaRecord, PropertyRecord};
use serde_json::Value as Json;

/// Types of lists that are written without brackets.
const UNBRACKETED_TYPES: &[&str] = &["string", "number", "boolean", "date", "datetime", "image_url"];

/// Converts texts of a body's metadata to numbers, booleans and lists, where the schema `name` declares them.
pub fn convert(call: &Call<'_, '_>, name: &str, body: &mut RequestBody) -> Result<(), CallError> {
    let Some(metadata) = body.get_mut("metadata").and_then(Json::as_object_mut) else { return Ok(()) };
    let schemas = schemas::load(call.store, &[name])?;
    let Some(properties) = schemas.get(name).and_then(|schema| EventSchemaRecord::of(schema).properties()) else {
        return Ok(());
    };
    for (name, value) in metadata {
        let Some(property) =
            properties.get(name).map(PropertyRecord::of_value).filter(|property| !property.is_deleted())
        else {
            continue;
        };
        let Json::String(text) = &*value else { continue };
        // A text that cannot be converted stays; the schema check refuses it.
        if let Some(convert_text) = convert_text(property, text) {
            *value = convert_text;
        }
    }
    Ok(())
}

fn convert_text(property: PropertyRecord<'_>, text: &str) -> Option<Json> {
    let kind = property.property_type();
    if !property.is_list() {
        return convert_value(kind, text);
    }
    if !UNBRACKETED_TYPES.contains(&kind) && !text.trim_start().starts_with('[') {
        return None;
    }
    let mut list = csv_file::value(CellType::List, text);
    for element in list.as_array_mut()? {
        if let Some(convert_text) = element.as_str().and_then(|text| convert_value(kind, text)) {
            *element = convert_text;
        }
    }
    Some(list)
}

/// Converts a text to a value of a type other than text.
fn convert_value(kind: &str, text: &str) -> Option<Json> {
    match kind {
        "number" => Some(csv_file::value(CellType::Number, text)).filter(Json::is_number),
        "boolean" => Some(csv_file::value(CellType::Flag, text)).filter(Json::is_boolean),
        "geopoint" | "nested" | "object" => serde_json::from_str(text).ok(),
        _ => None,
    }
}
