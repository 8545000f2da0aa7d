//! Merging of sent members into stored documents.

use crate::documents::tagged_blocks::remove_nulls;
use scrip::wire::voucher::campaign_fields::REMOVED_BY_NULL;
use serde_json::{Map, Value as Json, json};

/// Fields of vouchers and tiers that leave a document when a change sets them to null, in addition to those of campaigns
/// (docs/spec/clients.md); every other field is returned as null.
const CLEARED: &[&str] = &["additional_info", "banner"];

/// Merges a change into a stored body. A null clears a field; metadata and address are merged key by key, and their keys keep nulls.
pub fn merge(body: &mut Map<String, Json>, sent: Map<String, Json>) {
    for (name, value) in sent {
        let nested = name == "metadata" || name == "address";
        match (body.get_mut(&name), value) {
            (Some(Json::Object(known)), Json::Object(new)) if nested => known.extend(new),
            (_, Json::Null) if name == "metadata" => drop(body.insert(name, json!({}))),
            (_, value) => drop(body.insert(name, value)),
        }
    }
}

/// Merges a change into a stored body whose cleared fields are removed.
pub fn merge_cleared(body: &mut Map<String, Json>, sent: Map<String, Json>) {
    let cleared: Vec<&str> = CLEARED
        .iter()
        .chain(REMOVED_BY_NULL)
        .copied()
        .filter(|name| sent.get(*name).is_some_and(Json::is_null))
        .collect();
    merge(body, sent);
    body.retain(|name, _| !cleared.contains(&name.as_str()));
}

/// Fills absent members of a body with defaults, at any depth.
pub fn fill(body: &mut Map<String, Json>, defaults: &Json) {
    for (name, default) in defaults.as_object().into_iter().flatten() {
        match body.get_mut(name) {
            Some(Json::Object(inner)) => fill(inner, default),
            None | Some(Json::Null) => drop(body.insert(name.clone(), default.clone())),
            Some(_) => {}
        }
    }
}

/// Fills defaults only into the top-level members of a body.
pub fn fill_top(body: &mut Map<String, Json>, defaults: &Json) {
    for (name, default) in defaults.as_object().into_iter().flatten() {
        if body.get(name).is_none_or(Json::is_null) {
            body.insert(name.clone(), default.clone());
        }
    }
}

/// Applies the nulls of a change, at any depth: a field with a default is reset to it, and any other counts as not sent.
/// Metadata is left for merging.
pub fn reset_nulls(sent: &mut Map<String, Json>, defaults: &Map<String, Json>) {
    remove_nulls(sent, &["metadata"]);
    sent.retain(|name, value| !value.is_null() || defaults.contains_key(name));
    for (name, value) in sent.iter_mut().filter(|(name, value)| value.is_null() && *name != "metadata") {
        *value = defaults.get(name).cloned().unwrap_or_default();
    }
}
