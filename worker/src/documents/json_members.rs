//! Parts of objects: the few members of a document that another one contains, and objects of members that are known by name.

use serde_json::{Map, Value as Json};

/// Returns the existing members with these names.
pub fn pick(body: &Map<String, Json>, names: &[&str]) -> Map<String, Json> {
    let mut part = Map::new();
    for name in names {
        if let Some(value) = body.get(*name) {
            part.insert((*name).to_owned(), value.clone());
        }
    }
    part
}

/// Returns a member for each of these names; an absent one is null.
pub fn pick_or_null(body: &Map<String, Json>, names: &[&str]) -> Map<String, Json> {
    let mut part = Map::new();
    for name in names {
        part.insert((*name).to_owned(), body.get(*name).cloned().unwrap_or_default());
    }
    part
}

/// Returns an object of one member.
pub fn object_of(name: &str, value: Json) -> Map<String, Json> {
    let mut object = Map::new();
    object.insert(name.to_owned(), value);
    object
}
