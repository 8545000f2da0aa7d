//! Rows of a project's configuration, kept in memory between requests: decisions read them, and they seldom change.
//!
//! Triggers draw a new random revision with every change of the documents of a subject, in the transaction of the change: those that a bundle
//! shows (`0025_bundle_revision.sql`) and new or deleted metadata schemas (`0037_bundle_metadata_schemas.sql`), those of loyalty programs
//! (`0013_program_revision_by_case.sql`), and what reacts to changes (`0058_listener_revision.sql`). A revision never repeats, so rows are
//! valid for theirs in any project, and rows of a transaction that was undone are never found again.

pub mod revisions;

use crate::store::Store;
use crate::store::sql::{self, Fault, SqlRow, SqlValue};
use revisions::{RevisionSubject, Revisions, SELECT_REVISIONS};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Maximum size in bytes of the rows and parameters of a kept read.
const BYTES_MAX: usize = 50_000;
/// Maximum size in bytes of all kept reads; above it all are dropped.
const ALL_BYTES_MAX: usize = 8_000_000;
/// Bytes of memory that a kept read needs besides its rows and parameters.
const READ_BYTES: usize = 500;

/// A read, and the revision of what it reads.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct KeptRead {
    revision: String,
    statement: String,
    /// The parameters, printed.
    params: String,
}

impl KeptRead {
    fn new(revision: &str, statement: &str, params: &[SqlValue]) -> KeptRead {
        KeptRead { revision: revision.to_owned(), statement: statement.to_owned(), params: format!("{params:?}") }
    }
}

/// Rows by their read.
struct KeptRows {
    rows: BTreeMap<KeptRead, Vec<SqlRow>>,
    /// Their size in bytes.
    bytes: usize,
}

impl KeptRows {
    const fn empty() -> KeptRows {
        KeptRows { rows: BTreeMap::new(), bytes: 0 }
    }
}

thread_local! {
    /// Reads that are kept.
    static READS: RefCell<KeptRows> = const { RefCell::new(KeptRows::empty()) };
}

/// Forgets all rows, as a process that starts has none.
#[cfg(feature = "test-hooks")]
pub fn forget() {
    READS.set(KeptRows::empty());
}

impl Store<'_> {
    /// Returns the rows of a statement that reads only documents whose every change draws a revision.
    pub(super) fn configuration_rows(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        self.kept_rows(&[RevisionSubject::Bundle], statement, params, |_| true)
    }

    /// Returns the rows of a statement that reads only documents of some subjects.
    pub(super) fn rows_of_subjects(
        &self,
        subjects: &[RevisionSubject],
        statement: &str,
        params: &[SqlValue],
    ) -> Result<Vec<SqlRow>, Fault> {
        self.kept_rows(subjects, statement, params, |_| true)
    }

    /// Returns the rows of a statement that reads only what never changes, once it is there.
    pub(super) fn unchanging_rows(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        self.kept_rows(&[RevisionSubject::Bundle], statement, params, |rows| !rows.is_empty())
    }

    /// Returns the rows of a statement of whose documents only new and deleted ones draw a revision: only that there are none is kept.
    pub(super) fn rows_or_known_absence(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        self.kept_rows(&[RevisionSubject::Bundle], statement, params, <[SqlRow]>::is_empty)
    }

    fn kept_rows(
        &self,
        subjects: &[RevisionSubject],
        statement: &str,
        params: &[SqlValue],
        may_keep: fn(&[SqlRow]) -> bool,
    ) -> Result<Vec<SqlRow>, Fault> {
        let revision = self.revisions()?.together(subjects);
        if let Some(rows) = find(&revision, statement, params) {
            // A repetition of the call reads them, too.
            self.note_read(statement, params, &rows)?;
            return Ok(rows);
        }
        let rows = self.rows(statement, params)?;
        if may_keep(&rows) {
            keep(&revision, statement, params, &rows);
        }
        Ok(rows)
    }

    /// Returns the rows of a statement that reads what reacts to changes. The commit asks for it, where the limit of reads does not count.
    pub(super) fn listener_rows(&self, statement: &str) -> Result<Vec<SqlRow>, Fault> {
        let known = self.revisions.borrow().clone();
        let revisions = match known {
            Some(known) => Revisions(known),
            None => Revisions::of(&self.sql.run(SELECT_REVISIONS, &[])?.pop().unwrap_or_default(), 0)?,
        };
        let revision = revisions.together(&[RevisionSubject::Listeners]);
        if let Some(rows) = find(&revision, statement, &[]) {
            return Ok(rows);
        }
        let rows = self.sql.run(statement, &[])?;
        keep(&revision, statement, &[], &rows);
        Ok(rows)
    }

    /// Returns the revisions, which are read again after each write.
    fn revisions(&self) -> Result<Revisions, Fault> {
        if let Some(known) = &*self.revisions.borrow() {
            return Ok(Revisions(known.clone()));
        }
        let row = self.row(SELECT_REVISIONS, &[])?.unwrap_or_default();
        let revisions = Revisions::of(&row, 0)?;
        self.note_revisions(revisions.clone());
        Ok(revisions)
    }

    /// Remembers revisions that another statement has read.
    pub(super) fn note_revisions(&self, revisions: Revisions) {
        self.revisions.replace(Some(revisions.0));
    }
}

fn find(revision: &str, statement: &str, params: &[SqlValue]) -> Option<Vec<SqlRow>> {
    READS.with_borrow(|kept| kept.rows.get(&KeptRead::new(revision, statement, params)).cloned())
}

fn keep(revision: &str, statement: &str, params: &[SqlValue], rows: &[SqlRow]) {
    // They are in memory.
    let bytes = rows.iter().map(|row| sql::total(row)).fold(sql::total(params), usize::saturating_add);
    if bytes > BYTES_MAX {
        return;
    }
    READS.with_borrow_mut(|kept| {
        // The sizes are bounded.
        let after = kept.bytes.saturating_add(bytes).saturating_add(statement.len()).saturating_add(READ_BYTES);
        if after > ALL_BYTES_MAX {
            *kept = KeptRows::empty();
            return;
        }
        kept.bytes = after;
        kept.rows.insert(KeptRead::new(revision, statement, params), rows.to_vec());
    });
}
