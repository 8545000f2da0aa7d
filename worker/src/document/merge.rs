//! What is sent over what is stored. It must not know any kind of document.

use crate::document::choice::prune;
use serde_json::{Map, Value as Json, json};

/// Puts what was sent into a body: a null clears a field, metadata and address are merged key by key.
pub fn merge(body: &mut Map<String, Json>, sent: Map<String, Json>) {
    for (name, value) in sent {
        let nested = name == "metadata" || name == "address";
        match (body.get_mut(&name), value) {
            (Some(Json::Object(known)), Json::Object(new)) if nested => {
                for (key, value) in new {
                    if value.is_null() {
                        known.remove(&key);
                    } else {
                        known.insert(key, value);
                    }
                }
            }
            (_, Json::Object(mut new)) if nested => {
                new.retain(|_, value| !value.is_null());
                body.insert(name, Json::Object(new));
            }
            (_, Json::Null) if name == "metadata" => drop(body.insert(name, json!({}))),
            (_, value) => drop(body.insert(name, value)),
        }
    }
}

/// Puts what is said by default where a body says nothing, at any depth.
pub fn fill(body: &mut Map<String, Json>, defaults: &Json) {
    for (name, default) in defaults.as_object().into_iter().flatten() {
        match body.get_mut(name) {
            Some(Json::Object(inner)) => fill(inner, default),
            None | Some(Json::Null) => drop(body.insert(name.clone(), default.clone())),
            Some(_) => {}
        }
    }
}

/// The same for what a body says itself, and not within it.
pub fn fill_top(body: &mut Map<String, Json>, defaults: &Json) {
    for (name, default) in defaults.as_object().into_iter().flatten() {
        if body.get(name).is_none_or(Json::is_null) {
            body.insert(name.clone(), default.clone());
        }
    }
}

/// What a null says in a change: a field that has a default goes back to it, and any other is as if it were not sent, at any depth.
/// Metadata is left to be merged.
pub fn reset_nulls(sent: &mut Map<String, Json>, defaults: &Map<String, Json>) {
    prune(sent, &["metadata"]);
    sent.retain(|name, value| !value.is_null() || defaults.contains_key(name));
    for (name, value) in sent.iter_mut().filter(|(name, value)| value.is_null() && *name != "metadata") {
        *value = defaults.get(name).cloned().unwrap_or_default();
    }
}
