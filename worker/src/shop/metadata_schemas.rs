//! The one place where what is written is held against the metadata schemas of the project. It must not know what is wrong with metadata; `document::metadata` decides that.

use crate::document::metadata::{self, Schemas};
use crate::http::reply::{CallError, error};
use crate::store::Store;
use serde_json::{Map, Value as Json};

/// Holds metadata that is about to be written against the schemas of its kinds, all at once; a value that is no object says nothing.
pub fn check(store: &Store<'_>, written: &[(&str, Option<&Json>)]) -> Result<(), CallError> {
    let names: Vec<&str> = written.iter().map(|(name, _)| *name).collect();
    hold(&load(store, &names)?, written)
}

/// The same against schemas that have been read.
pub fn hold(schemas: &Schemas, written: &[(&str, Option<&Json>)]) -> Result<(), CallError> {
    if schemas.is_empty() {
        return Ok(());
    }
    let nothing = Map::new();
    let found: Vec<String> = written
        .iter()
        .flat_map(|(name, value)| {
            metadata::problems(schemas, name, value.and_then(Json::as_object).unwrap_or(&nothing))
        })
        .collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(error(400, "metadata_validation_failed", "Metadata validation failed", found.join(", ")).into())
}

/// The schemas of these names, and those that their objects name.
pub fn load(store: &Store<'_>, names: &[&str]) -> Result<Schemas, CallError> {
    let mut schemas = Schemas::new();
    let mut wanted: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    while !wanted.is_empty() {
        let names: Vec<&str> = wanted.iter().map(String::as_str).collect();
        // Every redemption asks this: one look into one index.
        let found = store.documents(
            "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
             WHERE kind = 'metadata_schema' AND key IN (SELECT value FROM json_each(?1))",
            &[Json::from(names).to_string().into()],
        )?;
        wanted = Vec::new();
        for schema in found {
            let Some(name) = schema.key else { continue };
            wanted.extend(metadata::named_by(&schema.body).into_iter().map(str::to_owned));
            schemas.insert(name, schema.body);
        }
        wanted.retain(|name| !schemas.contains_key(name));
    }
    Ok(schemas)
}
