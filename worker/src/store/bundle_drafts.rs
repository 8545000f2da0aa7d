//! Which documents were written while a build of a bundle had read some and not all (`store/migrations/0048_bundle_drafts.sql`).

use crate::store::Store;
use crate::store::sql::{self, Fault};

/// Lists the kinds and names of the documents that were written since a build was kept at a revision. `None` if that is not known, because
/// another process has kept its own build since.
pub fn list_written(store: &Store<'_>, revision: &str) -> Result<Option<Vec<(String, String)>>, Fault> {
    if store.row("SELECT 1 FROM bundle_draft WHERE revision = +?1", &[revision.into()])?.is_none() {
        return Ok(None);
    }
    let rows = store.rows("SELECT kind, name FROM bundle_written", &[])?;
    let read = |row: &sql::SqlRow| Ok((sql::text(row, 0)?.to_owned(), sql::text(row, 1)?.to_owned()));
    rows.iter().map(read).collect::<Result<_, Fault>>().map(Some)
}

/// Records from the flush on which documents are written, for a build that is kept at a revision.
pub fn record_from(store: &mut Store<'_>, revision: &str) {
    store.write("DELETE FROM bundle_written", Vec::new());
    store.write("INSERT OR REPLACE INTO bundle_draft (id, revision) VALUES (1, ?1)", vec![revision.into()]);
}

/// Ends the record, at the flush.
pub fn end_record(store: &mut Store<'_>) {
    store.write("DELETE FROM bundle_draft", Vec::new());
    store.write("DELETE FROM bundle_written", Vec::new());
}
