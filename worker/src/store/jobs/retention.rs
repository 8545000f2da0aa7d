//! Rows that are removed after their keeping time, and the job that removes them. Does not depend on the length of that time.

use crate::store::Store;
use crate::store::sql::{self, Fault};

/// Rows with a retention time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetainedRows {
    /// Answers under Idempotency-Keys.
    Responses,
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
    /// Inputs of redemptions.
    Inputs,
}

/// The oldest answers whose sizes sum up to 4 MB, and one of any size.
const OLDEST_ANSWERS: &str = "(SELECT seq FROM
           (SELECT seq, SUM(bytes) OVER (ORDER BY created_at, bytes, seq) - bytes AS before FROM
             (SELECT seq, created_at, bytes FROM answer WHERE status > 0 AND created_at <= ?1 ORDER BY created_at, bytes, seq LIMIT +?2))
         WHERE before < 4000000)";

/// The failures, in the words of their index.
const FAILED: &str = "redemption INDEXED BY redemption_failed WHERE (id GLOB 'rf_*' OR id GLOB 'rrf_*')";

/// Async actions that have ended.
const ENDED: &str = "document WHERE kind = 'async_action' AND id NOT IN (SELECT id FROM due)";

impl RetainedRows {
    /// Selects the time at which the oldest row began to wait.
    fn oldest(self) -> String {
        match self {
            RetainedRows::Responses => {
                "SELECT created_at FROM answer WHERE status > 0 ORDER BY created_at LIMIT 1".to_owned()
            }
            RetainedRows::Holds => "SELECT expires_at FROM hold ORDER BY expires_at LIMIT 1".to_owned(),
            RetainedRows::Failures => format!("SELECT created_at FROM {FAILED} ORDER BY created_at LIMIT 1"),
            RetainedRows::Actions => format!("SELECT created_at FROM {ENDED} ORDER BY created_at LIMIT 1"),
            RetainedRows::Exports => {
                "SELECT created_at FROM document WHERE kind = 'export' ORDER BY created_at LIMIT 1".to_owned()
            }
            RetainedRows::DeadLetters => {
                "SELECT dead_at FROM outbox WHERE dead_at IS NOT NULL ORDER BY dead_at LIMIT 1".to_owned()
            }
            RetainedRows::Inputs => "SELECT created_at FROM redemption_input ORDER BY seq LIMIT 1".to_owned(),
        }
    }

    /// Deletes rows that began to wait at ?1 or before, ?2 of them at most.
    fn deletions(self) -> Vec<String> {
        match self {
            RetainedRows::Responses => vec![
                format!("DELETE FROM answer_slice WHERE answer IN {OLDEST_ANSWERS}"),
                format!("DELETE FROM answer WHERE seq IN {OLDEST_ANSWERS}"),
            ],
            RetainedRows::Holds => vec!["DELETE FROM hold WHERE (key, owner, account) IN
               (SELECT key, owner, account FROM hold WHERE expires_at <= ?1 ORDER BY expires_at LIMIT +?2)".to_owned()],
            RetainedRows::Failures => vec![format!(
                "DELETE FROM redemption WHERE seq IN (SELECT seq FROM {FAILED} AND created_at <= ?1 ORDER BY created_at, seq LIMIT +?2)"
            )],
            RetainedRows::Actions => vec![format!(
                "DELETE FROM document WHERE seq IN (SELECT seq FROM {ENDED} AND created_at <= ?1 ORDER BY created_at, seq LIMIT +?2)"
            )],
            // The lines of one export first, and then the export.
            RetainedRows::Exports => vec![
                "DELETE FROM export_line WHERE (export, place, seq, part) IN
                   (SELECT export, place, seq, part FROM export_line WHERE export =
                     (SELECT id FROM document WHERE kind = 'export' AND created_at <= ?1 ORDER BY created_at, seq LIMIT 1) LIMIT +?2)".to_owned(),
                "DELETE FROM document WHERE seq IN (SELECT seq FROM document WHERE kind = 'export' AND created_at <= ?1
                   AND NOT EXISTS (SELECT 1 FROM export_line WHERE export = document.id) ORDER BY created_at, seq LIMIT +?2)".to_owned(),
            ],
            RetainedRows::DeadLetters => vec!["DELETE FROM outbox WHERE seq IN
               (SELECT seq FROM outbox WHERE dead_at <= ?1 AND dead_at IS NOT NULL ORDER BY dead_at LIMIT +?2)".to_owned()],
            // Their numbers are in the order of time, so that no index is needed.
            RetainedRows::Inputs => vec!["DELETE FROM redemption_input WHERE created_at <= ?1 AND seq IN
               (SELECT seq FROM redemption_input ORDER BY seq LIMIT +?2)".to_owned()],
        }
    }
}

/// Deletes rows that began to wait at a time or before, up to a number. Runs at once.
pub fn delete(store: &Store<'_>, rows: RetainedRows, until_ms: i64, most: i64) -> Result<(), Fault> {
    let params = [until_ms.into(), most.into()];
    rows.deletions().iter().try_for_each(|statement| store.write_now(statement, &params))
}

/// Finds the time at which the oldest of some rows began to wait.
pub fn find_oldest(store: &Store<'_>, rows: RetainedRows) -> Result<Option<i64>, Fault> {
    store.row(&rows.oldest(), &[])?.map(|row| sql::int(&row, 0)).transpose()
}

/// Schedules the job that removes rows, at once. One that is scheduled keeps its time, unless that is farther away than `farthest_ms`
/// after the new one. Returns the time of the earliest job, where the time is a new one.
pub fn schedule(store: &Store<'_>, id: &str, kind: &str, at_ms: i64, farthest_ms: i64) -> Result<Option<i64>, Fault> {
    let scheduled = store.row(
        "INSERT INTO due (id, at, kind, cursor, attempts) VALUES (?1, ?2, ?3, '', 0)
         ON CONFLICT (id) DO UPDATE SET at = excluded.at WHERE due.at > excluded.at + ?4 RETURNING (SELECT MIN(at) FROM due)",
        &[id.into(), at_ms.into(), kind.into(), farthest_ms.into()],
    )?;
    let Some(row) = scheduled else { return Ok(None) };
    Ok(Some(sql::int_or_null(&row, 0)?.map_or(at_ms, |earliest| earliest.min(at_ms))))
}
