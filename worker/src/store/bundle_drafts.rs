//! Which documents were written while a build of a bundle was kept that had read some (`store/migrations/0048_bundle_drafts.sql`).

use crate::store::Store;
use crate::store::sql::{self, Fault};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of written documents that a build reads again; beyond it all are read again. It is also the number of rows of the record
/// that a slice deletes.
const WRITTEN_MAX: i64 = 20_000;

/// Names of written documents by kind.
pub type WrittenNames = BTreeMap<String, BTreeSet<String>>;

/// Lists the documents that were written since a build was kept at a revision. `None` if that is not known, because another process has
/// kept its own build since, or because they are too many.
pub fn list_written(store: &Store<'_>, revision: &str) -> Result<Option<WrittenNames>, Fault> {
    if store.row("SELECT 1 FROM bundle_draft WHERE revision = +?1", &[revision.into()])?.is_none() {
        return Ok(None);
    }
    // One row more than the limit: it exists if the limit is exceeded.
    let limit = WRITTEN_MAX.saturating_add(1);
    let rows = store.rows("SELECT kind, name FROM bundle_written LIMIT +?1", &[limit.into()])?;
    if i64::try_from(rows.len()).is_ok_and(|count| count == limit) {
        return Ok(None);
    }
    let mut written = WrittenNames::new();
    for row in &rows {
        written.entry(sql::text(row, 0)?.to_owned()).or_default().insert(sql::text(row, 1)?.to_owned());
    }
    Ok(Some(written))
}

/// Records from the flush on which documents are written, for a build that is kept at a revision.
pub fn record_from(store: &mut Store<'_>, revision: &str) {
    delete_written(store);
    store.write("INSERT OR REPLACE INTO bundle_draft (id, revision) VALUES (1, ?1)", vec![revision.into()]);
}

/// Ends the record, at the flush.
pub fn end_record(store: &mut Store<'_>) {
    store.write("DELETE FROM bundle_draft", Vec::new());
    delete_written(store);
}

/// Deletes the names, as many as a slice may. Where more were written, the next slices delete the rest: a name too many is only read again.
fn delete_written(store: &mut Store<'_>) {
    store.write(
        "DELETE FROM bundle_written WHERE (kind, name) IN (SELECT kind, name FROM bundle_written LIMIT +?1)",
        vec![WRITTEN_MAX.into()],
    );
}
