//! Adds `null` for absent fields inside the objects that the changes of a story send.

use scrip_worker::http::shape::{Field, FieldType};
use scrip_worker::routes::TABLE;
use serde_json::Value as Json;

/// The changes that merge their objects field by field, where a null clears one field: the answer contains it as null.
const MERGES: &[&str] = &["/branding/"];

/// Adds the nulls to all successful `PUT` calls of a story. Returns true if there are any.
pub fn add(story: &mut Json) -> bool {
    let mut has_changed = false;
    for step in story["steps"].as_array_mut().into_iter().flatten() {
        let Some(path) = step["call"].as_str().and_then(|call| call.strip_prefix("PUT ")) else { continue };
        let path = path.split('?').next().unwrap_or_default().replace('$', "");
        let Ok(found) = TABLE.find("PUT", &path) else { continue };
        let merges = MERGES.iter().any(|part| found.route.path.contains(part));
        if step["expect"]["status"] == 200
            && !merges
            && let Some(body) = step.get_mut("send").and_then(Json::as_object_mut)
        {
            // Keys of metadata and of an address keep their nulls.
            for field in found.route.body.iter().filter(|field| !["metadata", "address"].contains(&field.name)) {
                if let Some(value) = body.get_mut(field.name) {
                    has_changed |= add_within(&field.kind, value);
                }
            }
        }
    }
    has_changed
}

fn add_within(kind: &FieldType, value: &mut Json) -> bool {
    match (kind.resolved(), value) {
        (FieldType::Object(fields), Json::Object(members)) => {
            let mut has_changed = false;
            for field in *fields {
                has_changed |= match members.get_mut(field.name) {
                    Some(value) => add_within(&field.kind, value),
                    None => may_be_null(field) && members.insert(field.name.to_owned(), Json::Null).is_none(),
                };
            }
            has_changed
        }
        (FieldType::List(item, ..), Json::Array(items)) => {
            let mut has_changed = false;
            for item_value in items {
                has_changed |= add_within(item, item_value);
            }
            has_changed
        }
        _ => false,
    }
}

fn may_be_null(field: &Field) -> bool {
    !field.required && !field.null_is_value
}
