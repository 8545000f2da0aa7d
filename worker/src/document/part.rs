//! Parts of objects: the few members of a document that another one shows, and objects of members that are known by name.

use serde_json::{Map, Value as Json};

/// The members with these names that there are.
pub fn known(body: &Map<String, Json>, names: &[&str]) -> Map<String, Json> {
    let mut part = Map::new();
    for name in names {
        if let Some(value) = body.get(*name) {
            part.insert((*name).to_owned(), value.clone());
        }
    }
    part
}

/// A member for each of these names: null where there is none.
pub fn every(body: &Map<String, Json>, names: &[&str]) -> Map<String, Json> {
    let mut part = Map::new();
    for name in names {
        part.insert((*name).to_owned(), body.get(*name).cloned().unwrap_or_default());
    }
    part
}

/// An object of one member.
pub fn one(name: &str, value: Json) -> Map<String, Json> {
    let mut whole = Map::new();
    whole.insert(name.to_owned(), value);
    whole
}
