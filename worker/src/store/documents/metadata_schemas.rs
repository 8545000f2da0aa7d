//! Metadata schemas.

use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use serde_json::Value as Json;

/// Lists the schemas with these names. Every redemption asks for them: one search in one index.
pub fn list_named(store: &Store<'_>, names: &[&str]) -> Result<Vec<Document>, Fault> {
    store.select(
        "kind = 'metadata_schema' AND key IN (SELECT value FROM json_each(?1))",
        &[Json::from(names.to_vec()).to_string().into()],
    )
}
