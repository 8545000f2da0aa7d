//! The rows that a setup declares in the directory: projects, keys and the tokens that were made with keys.

use crate::store::Store;
use crate::store::sql::{self, Fault};

/// Lists the projects that have a key, by id, so many at most.
pub fn list_projects_with_keys(store: &Store<'_>, most: i64) -> Result<Vec<String>, Fault> {
    let rows = store.rows(
        "SELECT DISTINCT parent FROM document WHERE kind = 'key' AND parent IS NOT NULL ORDER BY 1 LIMIT +?1",
        &[most.into()],
    )?;
    rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect()
}

/// Deletes the mark of the applied setup, and the keys and projects that it declared. Runs at once.
pub fn delete_applied(store: &Store<'_>) -> Result<(), Fault> {
    store.write_now("DELETE FROM document WHERE kind = 'setup'", &[])?;
    store.write_now("DELETE FROM document WHERE kind = 'key' AND holder IS NULL", &[])?;
    store.write_now("DELETE FROM document WHERE kind = 'project' AND parent IS NULL", &[])
}

/// Deletes a project. Runs at once.
pub fn delete_project(store: &Store<'_>, id: &str) -> Result<(), Fault> {
    store.write_now("DELETE FROM document WHERE kind = 'project' AND id = +?1", &[id.into()])
}

/// Deletes a key. Runs at once.
pub fn delete_key(store: &Store<'_>, id: &str) -> Result<(), Fault> {
    store.write_now("DELETE FROM document WHERE kind = 'key' AND id = +?1", &[id.into()])
}

/// Deletes the tokens of keys that a setup declared or has deleted: a token expires with the secret of its key. Runs at once.
pub fn delete_tokens(store: &Store<'_>) -> Result<(), Fault> {
    store.write_now(
        "DELETE FROM token WHERE record ->> 'id' NOT IN
           (SELECT body ->> 'id' FROM document WHERE kind = 'key' AND holder IS NOT NULL AND body ->> 'class' = 'server')",
        &[],
    )
}
