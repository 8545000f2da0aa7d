//! Rows of jobs that are due. It does not depend on what a job does.

use crate::store::Store;
use crate::store::sql::{self, Fault};

/// A job that is due at a time.
#[derive(Debug, Clone, Copy)]
pub struct DueRow<'a> {
    /// Id of the job, or of the document that it is about.
    pub id: &'a str,
    /// Kind of the job.
    pub kind: &'a str,
    /// Time in milliseconds since 1970.
    pub at_ms: i64,
    /// State of the job as text.
    pub cursor: &'a str,
}

/// A stored job.
pub struct DueJob {
    /// Id of the job.
    pub id: String,
    /// State of the job as text.
    pub cursor: String,
}

impl Store<'_> {
    /// Writes a job when the call commits, in place of the one with its id.
    pub fn write_due(&mut self, row: &DueRow<'_>) {
        self.write(
            "INSERT INTO due (id, at, kind, cursor, attempts) VALUES (?1, ?2, ?3, ?4, 0)
             ON CONFLICT (id) DO UPDATE SET at = excluded.at, cursor = excluded.cursor, attempts = 0",
            vec![row.id.into(), row.at_ms.into(), row.kind.into(), row.cursor.into()],
        );
    }

    /// Deletes a job when the call commits.
    pub fn delete_due(&mut self, id: &str) {
        self.write("DELETE FROM due WHERE id = +?1", vec![id.into()]);
    }

    /// Finds the earliest time at which another job is due.
    pub fn find_earliest_due_except(&self, id: &str) -> Result<Option<i64>, Fault> {
        let row = self.row("SELECT MIN(at) FROM due WHERE id <> ?1", &[id.into()])?;
        row.map_or(Ok(None), |row| sql::int_or_null(&row, 0))
    }

    /// Lists other jobs of a kind that are due, the earliest first.
    pub fn list_due_except(&self, id: &str, kind: &str, now_ms: i64, limit: i64) -> Result<Vec<DueJob>, Fault> {
        let rows = self.rows(
            "SELECT id, cursor FROM due WHERE kind = +?1 AND at <= ?2 AND id <> ?3 ORDER BY at, id LIMIT +?4",
            &[kind.into(), now_ms.into(), id.into(), limit.into()],
        )?;
        let read =
            |row: &sql::SqlRow| Ok(DueJob { id: sql::text(row, 0)?.to_owned(), cursor: sql::text(row, 1)?.to_owned() });
        rows.iter().map(read).collect()
    }
}
