//! What is sent over what is stored. It must not know any kind of document.

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
