//! Checks written metadata against the project's metadata schemas; `documents::metadata` has the checks themselves.

use crate::documents::metadata::{self, MetadataSchemas, UnknownType};
use crate::http::reply::{CallError, error};
use crate::store::Store;
use crate::store::document::DocumentBody;
use crate::store::documents::any_kind;
use crate::store::sql::Fault;
use serde_json::{Map, Value as Json};

/// Checks metadata to be written against the schemas of its kinds; a value that is no object counts as empty.
pub fn check(store: &Store<'_>, written: &[(&str, Option<&Json>)]) -> Result<(), CallError> {
    let names: Vec<&str> = written.iter().map(|(name, _)| *name).collect();
    check_against(&load(store, &names)?, written)
}

/// Holds the metadata of one document, stored or about to be, against the schema of its kind.
pub fn check_body(store: &Store<'_>, kind: &str, body: &DocumentBody) -> Result<(), CallError> {
    check(store, &[(kind, body.get("metadata"))])
}

/// Checks metadata against loaded schemas.
pub fn check_against(schemas: &MetadataSchemas, written: &[(&str, Option<&Json>)]) -> Result<(), CallError> {
    if schemas.is_empty() {
        return Ok(());
    }
    let nothing = Map::new();
    let unknown = |UnknownType(kind): UnknownType| Fault(format!("a metadata schema has the unknown type `{kind}`"));
    let mut found = Vec::new();
    for (name, value) in written {
        let value = value.and_then(Json::as_object).unwrap_or(&nothing);
        found.extend(metadata::problems(schemas, name, value).map_err(unknown)?);
    }
    if found.is_empty() {
        return Ok(());
    }
    Err(error(400, "metadata_validation_failed", "Metadata validation failed", found.join(", ")).into())
}

/// Loads the schemas with these names, and those to which their objects refer.
pub fn load(store: &Store<'_>, names: &[&str]) -> Result<MetadataSchemas, CallError> {
    let mut schemas = MetadataSchemas::new();
    let mut missing: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    while !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(String::as_str).collect();
        let found = any_kind::list_metadata_schemas(store, &names)?;
        missing = Vec::new();
        for schema in found {
            let Some(name) = schema.key else { continue };
            missing.extend(metadata::named_by(&schema.body).into_iter().map(str::to_owned));
            schemas.insert(name, schema.body);
        }
        missing.retain(|name| !schemas.contains_key(name));
    }
    Ok(schemas)
}
