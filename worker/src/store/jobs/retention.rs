//! Rows that are removed after their keeping time, and the job that removes them. Does not depend on the length of that time.

use crate::store::Store;
use crate::store::sql::{self, Fault};

/// Rows that are kept for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetainedRows {
    /// Answers under Idempotency-Keys.
    Answers,
    /// Holds, until they expire.
    Holds,
    /// Failed redemptions and rollbacks.
    Failures,
    /// Async actions without a job.
    Actions,
    /// Exports with their lines.
    Exports,
    /// Dead letters of webhooks.
    DeadLetters,
}

/// The oldest answers whose sizes sum up to 4 MB, and one of any size.
macro_rules! oldest_answers {
    () => {
        "(SELECT seq FROM
           (SELECT seq, SUM(bytes) OVER (ORDER BY created_at, bytes, seq) - bytes AS before FROM
             (SELECT seq, created_at, bytes FROM answer WHERE status > 0 AND created_at <= ?1 ORDER BY created_at, bytes, seq LIMIT +?2))
         WHERE before < 4000000)"
    };
}

/// The failures among documents, in the words of their index.
macro_rules! failed {
    () => {
        "document INDEXED BY document_failed WHERE kind = 'redemption' AND (id GLOB 'rf_*' OR id GLOB 'rrf_*')"
    };
}

/// Async actions that have ended.
macro_rules! ended {
    () => {
        "document WHERE kind = 'async_action' AND id NOT IN (SELECT id FROM due)"
    };
}

impl RetainedRows {
    /// Selects the moment at which the oldest row began to wait.
    fn oldest(self) -> &'static str {
        match self {
            RetainedRows::Answers => "SELECT created_at FROM answer WHERE status > 0 ORDER BY created_at LIMIT 1",
            RetainedRows::Holds => "SELECT expires_at FROM hold ORDER BY expires_at LIMIT 1",
            RetainedRows::Failures => concat!("SELECT created_at FROM ", failed!(), " ORDER BY created_at LIMIT 1"),
            RetainedRows::Actions => concat!("SELECT created_at FROM ", ended!(), " ORDER BY created_at LIMIT 1"),
            RetainedRows::Exports => {
                "SELECT created_at FROM document WHERE kind = 'export' ORDER BY created_at LIMIT 1"
            }
            RetainedRows::DeadLetters => {
                "SELECT dead_at FROM outbox WHERE dead_at IS NOT NULL ORDER BY dead_at LIMIT 1"
            }
        }
    }

    /// Deletes rows that began to wait at ?1 or before, ?2 of them at most.
    fn deletions(self) -> &'static [&'static str] {
        match self {
            RetainedRows::Answers => &[
                concat!("DELETE FROM answer_slice WHERE answer IN ", oldest_answers!()),
                concat!("DELETE FROM answer WHERE seq IN ", oldest_answers!()),
            ],
            RetainedRows::Holds => &["DELETE FROM hold WHERE (key, owner, account) IN
               (SELECT key, owner, account FROM hold WHERE expires_at <= ?1 ORDER BY expires_at LIMIT +?2)"],
            RetainedRows::Failures => &[concat!(
                "DELETE FROM document WHERE seq IN (SELECT seq FROM ",
                failed!(),
                " AND created_at <= ?1 ORDER BY created_at, seq LIMIT +?2)"
            )],
            RetainedRows::Actions => &[concat!(
                "DELETE FROM document WHERE seq IN (SELECT seq FROM ",
                ended!(),
                " AND created_at <= ?1 ORDER BY created_at, seq LIMIT +?2)"
            )],
            // The lines of one export first, and then the export.
            RetainedRows::Exports => &[
                "DELETE FROM export_line WHERE (export, place, seq, part) IN
                   (SELECT export, place, seq, part FROM export_line WHERE export =
                     (SELECT id FROM document WHERE kind = 'export' AND created_at <= ?1 ORDER BY created_at, seq LIMIT 1) LIMIT +?2)",
                "DELETE FROM document WHERE seq IN (SELECT seq FROM document WHERE kind = 'export' AND created_at <= ?1
                   AND NOT EXISTS (SELECT 1 FROM export_line WHERE export = document.id) ORDER BY created_at, seq LIMIT +?2)",
            ],
            RetainedRows::DeadLetters => &["DELETE FROM outbox WHERE seq IN
               (SELECT seq FROM outbox WHERE dead_at <= ?1 AND dead_at IS NOT NULL ORDER BY dead_at LIMIT +?2)"],
        }
    }
}

/// Deletes rows that began to wait at a moment or before, so many of them at most. Runs at once.
pub fn delete(store: &Store<'_>, rows: RetainedRows, until_ms: i64, most: i64) -> Result<(), Fault> {
    let params = [until_ms.into(), most.into()];
    rows.deletions().iter().try_for_each(|statement| store.write_now(statement, &params))
}

/// Finds the moment at which the oldest of some rows began to wait.
pub fn find_oldest(store: &Store<'_>, rows: RetainedRows) -> Result<Option<i64>, Fault> {
    store.row(rows.oldest(), &[])?.map(|row| sql::int(&row, 0)).transpose()
}

/// Schedules the job that removes rows, at once. One that is scheduled keeps its moment, unless that is farther away than `farthest_ms`
/// after the new one. Returns the moment of the earliest job, where the moment is a new one.
pub fn schedule(store: &Store<'_>, id: &str, kind: &str, at_ms: i64, farthest_ms: i64) -> Result<Option<i64>, Fault> {
    let scheduled = store.row(
        "INSERT INTO due (id, at, kind, cursor, attempts) VALUES (?1, ?2, ?3, '', 0)
         ON CONFLICT (id) DO UPDATE SET at = excluded.at WHERE due.at > excluded.at + ?4 RETURNING (SELECT MIN(at) FROM due)",
        &[id.into(), at_ms.into(), kind.into(), farthest_ms.into()],
    )?;
    let Some(row) = scheduled else { return Ok(None) };
    Ok(Some(sql::int_or_null(&row, 0)?.map_or(at_ms, |earliest| earliest.min(at_ms))))
}
