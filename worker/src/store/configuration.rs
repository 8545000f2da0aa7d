//! Rows of a project's configuration, kept in memory between requests: decisions read them, and they seldom change.
//!
//! Triggers draw a new random revision with every change of the documents that a bundle shows (`0025_bundle_revision.sql`), and with every new
//! or deleted metadata schema (`0037_bundle_metadata_schemas.sql`), in the transaction of the change. A revision never repeats, so rows are
//! valid for theirs in any project, and rows of a transaction that was undone are never found again.

use crate::store::Store;
use crate::store::bundle_heads;
use crate::store::sql::{self, Fault, SqlRow, SqlValue};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Maximum number of revisions with kept rows; above it all are dropped.
const REVISIONS_MAX: usize = 500;
/// Maximum number of reads that are kept for a revision.
const READS_MAX: usize = 20;
/// Maximum size in bytes of the rows and parameters of a kept read.
const BYTES_MAX: usize = 50_000;

/// Read with its rows.
struct KeptRead {
    statement: String,
    params: Vec<SqlValue>,
    rows: Vec<SqlRow>,
}

thread_local! {
    /// Reads by revision.
    static READS: RefCell<BTreeMap<String, Vec<KeptRead>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Forgets all rows, as a process that starts has none.
#[cfg(feature = "test-hooks")]
pub fn forget() {
    READS.take();
}

impl Store<'_> {
    /// Returns the rows of a statement that reads only documents whose every change draws a revision.
    pub(super) fn configuration_rows(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        self.kept_rows(statement, params, |_| true)
    }

    /// Returns the rows of a statement of whose documents only new and deleted ones draw a revision: only that there are none is kept.
    pub(super) fn rows_or_known_absence(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        self.kept_rows(statement, params, <[SqlRow]>::is_empty)
    }

    fn kept_rows(
        &self,
        statement: &str,
        params: &[SqlValue],
        may_keep: fn(&[SqlRow]) -> bool,
    ) -> Result<Vec<SqlRow>, Fault> {
        let revision = self.documents_revision()?;
        if let Some(rows) = find(&revision, statement, params) {
            // A repetition of the call reads them, too.
            self.note_read(statement, params, &rows)?;
            return Ok(rows);
        }
        let rows = self.rows(statement, params)?;
        if may_keep(&rows) {
            keep(revision, statement, params, &rows);
        }
        Ok(rows)
    }

    /// Returns the revision of the documents, which is read again after each write.
    fn documents_revision(&self) -> Result<String, Fault> {
        if let Some(known) = &*self.documents_revision.borrow() {
            return Ok(known.clone());
        }
        let revision = bundle_heads::find_documents_revision(self)?;
        self.documents_revision.replace(Some(revision.clone()));
        Ok(revision)
    }
}

fn find(revision: &str, statement: &str, params: &[SqlValue]) -> Option<Vec<SqlRow>> {
    READS.with_borrow(|all| {
        let mut reads = all.get(revision)?.iter();
        let read = reads.find(|read| read.statement == statement && read.params == params)?;
        Some(read.rows.clone())
    })
}

fn keep(revision: String, statement: &str, params: &[SqlValue], rows: &[SqlRow]) {
    // They are in memory.
    let bytes = rows.iter().map(|row| sql::total(row)).fold(sql::total(params), usize::saturating_add);
    if bytes > BYTES_MAX {
        return;
    }
    READS.with_borrow_mut(|all| {
        if all.len() >= REVISIONS_MAX && !all.contains_key(&revision) {
            all.clear();
        }
        let reads = all.entry(revision).or_default();
        if reads.len() < READS_MAX {
            reads.push(KeptRead { statement: statement.to_owned(), params: params.to_vec(), rows: rows.to_vec() });
        }
    });
}
