//! Jobs: their rows of `due`, the turns of the keys that own them, the lists that bulk jobs work through and the async actions that callers
//! query. Does not depend on the kinds of jobs.
pub mod erasure;
pub mod exports;
pub mod record_moves;
pub mod remnants;
pub mod retention;

use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use crate::timestamp;
use serde_json::Value as Json;

/// The kind of documents that are slices of the list of a bulk job.
pub const BULK_SLICE: &str = "batch";

/// A row of `due` that is to run.
#[derive(Debug)]
pub struct NextJob {
    /// Its id; the id of its async action, where it has one.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// Its state, as the kind writes it.
    pub cursor: String,
    /// The number of failed attempts.
    pub attempts: i64,
    /// The key that requested it; empty for the service itself.
    pub owner: String,
}

/// The row of a job that a key requests.
#[derive(Debug, Clone, Copy)]
pub struct QueuedJob<'j> {
    /// Its id.
    pub id: &'j str,
    /// Its kind.
    pub kind: &'j str,
    /// Its first state.
    pub cursor: &'j str,
    /// The key that requests it.
    pub owner: &'j str,
}

/// The end of an async action.
#[derive(Debug, Clone, Copy)]
pub struct ActionOutcome<'a> {
    /// The status that the action ends with.
    pub status: &'a str,
    /// The status of its operation.
    pub operation_status: &'a str,
    /// Result that the caller receives.
    pub result: &'a Json,
}

/// A job that creates codes for a campaign.
#[derive(Debug)]
pub struct CodeCreation {
    /// The campaign.
    pub campaign_id: String,
    /// The number of codes that it is to create.
    pub wanted: i64,
}

/// Selects jobs of keys whose time is after ?1 and that are due before their time: without a failed attempt, or with a pause that is longer
/// than any, ?2.
const IS_AT_ONCE: &str = "owner > '' AND at > +?1 AND (attempts = 0 OR at > ?1 + ?2)";

/// Finds the job to run next: the earliest due job of the key whose last turn is the longest ago. Jobs with times from a clock that was
/// ahead come first, as all that is queued later has earlier times.
pub fn find_next(store: &Store<'_>, now_ms: i64, pause_max_ms: i64) -> Result<Option<NextJob>, Fault> {
    let statement = format!(
        "SELECT due.id, due.kind, due.cursor, due.attempts, turn.owner FROM turn JOIN due ON due.id = COALESCE(
           (SELECT id FROM due WHERE owner = turn.owner AND {IS_AT_ONCE} ORDER BY at, id LIMIT 1),
           (SELECT id FROM due WHERE owner = turn.owner AND at <= +?1 ORDER BY at, id LIMIT 1))
         ORDER BY turn.served, turn.owner LIMIT 1"
    );
    let Some(row) = store.row(&statement, &[now_ms.into(), pause_max_ms.into()])? else { return Ok(None) };
    let text = |column| sql::text(&row, column).map(str::to_owned);
    let (id, kind, cursor, owner) = (text(0)?, text(1)?, text(2)?, text(4)?);
    Ok(Some(NextJob { id, kind, cursor, attempts: sql::int(&row, 3)?, owner }))
}

/// Finds the time of the earliest job, which is `now_ms` for a job that is due at once.
pub fn find_next_time(store: &Store<'_>, now_ms: i64, pause_max_ms: i64) -> Result<Option<i64>, Fault> {
    let statement = format!(
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM due WHERE {IS_AT_ONCE}) THEN MIN(+?1, (SELECT MIN(at) FROM due))
           ELSE (SELECT MIN(at) FROM due) END"
    );
    let next = store.row(&statement, &[now_ms.into(), pause_max_ms.into()])?;
    next.map_or(Ok(None), |row| sql::int_or_null(&row, 0))
}

/// Finds the earliest time of a row of any kind. A row that a trigger made due at once has none (`0038_bundle_job.sql`).
pub fn find_earliest_time(store: &Store<'_>) -> Result<Option<i64>, Fault> {
    let earliest = store.row("SELECT MIN(at) FROM due WHERE at > 0", &[])?;
    earliest.map_or(Ok(None), |row| sql::int_or_null(&row, 0))
}

/// Counts all jobs.
pub fn count(store: &Store<'_>) -> Result<i64, Fault> {
    store.row("SELECT COUNT(*) FROM due", &[])?.map_or(Ok(0), |row| sql::int(&row, 0))
}

/// Counts the jobs of async actions.
pub fn count_actions(store: &Store<'_>) -> Result<i64, Fault> {
    store.row("SELECT COUNT(*) FROM due WHERE id GLOB 'aa_*'", &[])?.map_or(Ok(0), |row| sql::int(&row, 0))
}

/// Kind and progress of a waiting job.
#[derive(Debug)]
pub struct WaitingJob {
    /// The kind.
    pub kind: String,
    /// Progress from which it continues.
    pub cursor: String,
}

/// Finds a waiting job.
pub fn find(store: &Store<'_>, id: &str) -> Result<Option<WaitingJob>, Fault> {
    let row = store.row("SELECT kind, cursor FROM due WHERE id = +?1", &[id.into()])?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(WaitingJob { kind: sql::text(&row, 0)?.to_owned(), cursor: sql::text(&row, 1)?.to_owned() }))
}

/// Finds what a waiting job creates codes for.
pub fn find_code_creation(store: &Store<'_>, id: &str) -> Result<Option<CodeCreation>, Fault> {
    let row = store.row(
        "SELECT json_extract(cursor, '$.campaign_id'), CAST(json_extract(cursor, '$.wanted') AS INTEGER) FROM due WHERE id = +?1",
        &[id.into()],
    )?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(CodeCreation { campaign_id: sql::text(&row, 0)?.to_owned(), wanted: sql::int(&row, 1)? }))
}

/// Queues a job that a key requests, at the flush; one with its id starts again. The key has its turn after all that have work already, so
/// that the next job stays the next one, also when its slice fails and that is recorded.
pub fn insert(store: &mut Store<'_>, job: &QueuedJob<'_>, at_ms: i64) {
    let QueuedJob { id, kind, cursor, owner } = *job;
    store.write(
        "INSERT OR REPLACE INTO due (id, at, kind, cursor, attempts, owner) VALUES (?1, ?2, ?3, ?4, 0, ?5)",
        vec![id.into(), at_ms.into(), kind.into(), cursor.into(), owner.into()],
    );
    store.write(
        "INSERT INTO turn (owner, served) SELECT ?1, MAX(served) + 1 FROM turn WHERE TRUE ON CONFLICT (owner) DO NOTHING",
        vec![owner.into()],
    );
}

/// Queues the one job of the service of a kind, at the flush; a waiting one keeps its time and gets the new cursor.
pub fn insert_of_service(store: &mut Store<'_>, kind: &str, cursor: &str, at_ms: i64) {
    store.write(
        "INSERT INTO due (id, at, kind, cursor, attempts, owner) VALUES (?1, ?2, ?1, ?3, 0, '')
         ON CONFLICT (id) DO UPDATE SET cursor = excluded.cursor",
        vec![kind.into(), at_ms.into(), cursor.into()],
    );
}

/// Queues the one job of the service of a kind, at the flush; a waiting one runs at the earlier of both times.
pub fn insert_or_reschedule_earlier(store: &mut Store<'_>, kind: &str, at_ms: i64) {
    store.write(INSERT_OR_RESCHEDULE, vec![kind.into(), at_ms.into()]);
}

/// Queues the one job of the service of a kind at once, also where the call is refused; a waiting one runs at the earlier of both times.
pub fn insert_now(store: &Store<'_>, kind: &str, at_ms: i64) -> Result<(), Fault> {
    store.write_now(INSERT_OR_RESCHEDULE, &[kind.into(), at_ms.into()])
}

const INSERT_OR_RESCHEDULE: &str =
    "INSERT INTO due (id, at, kind, cursor, attempts, owner) VALUES (?1, ?2, ?1, '', 0, '')
     ON CONFLICT (id) DO UPDATE SET at = MIN(at, excluded.at)";

/// Returns true if a trigger has made the one job of the service of a kind due at once.
pub fn is_marked(store: &Store<'_>, kind: &str) -> Result<bool, Fault> {
    Ok(store.row("SELECT 1 FROM due WHERE id = +?1 AND at = 0", &[kind.into()])?.is_some())
}

/// Moves the cursor of a job, at the flush.
pub fn update_cursor(store: &mut Store<'_>, id: &str, cursor: &str, at_ms: i64) {
    store.write(
        "UPDATE due SET cursor = ?2, at = ?3, attempts = 0 WHERE id = +?1",
        vec![id.into(), cursor.into(), at_ms.into()],
    );
}

/// Moves the next slice of a job to a time, at the flush.
pub fn update_time(store: &mut Store<'_>, id: &str, at_ms: i64) {
    store.write("UPDATE due SET at = ?2, attempts = 0 WHERE id = +?1", vec![id.into(), at_ms.into()]);
}

/// Moves a failed job to the time of its next attempt, at the flush.
pub fn update_attempts(store: &mut Store<'_>, id: &str, attempts: i64, at_ms: i64) {
    store.write("UPDATE due SET at = ?2, attempts = ?3 WHERE id = +?1", vec![id.into(), at_ms.into(), attempts.into()]);
}

/// Makes jobs of the service due that have failed, or are of these kinds, and whose time is to come. Runs at once.
pub fn update_times_ahead(store: &Store<'_>, kinds: &[&str], now_ms: i64) -> Result<(), Fault> {
    store.write_now(
        "UPDATE due SET at = ?1 WHERE owner = '' AND at > +?1 AND (attempts > 0 OR kind IN (SELECT value FROM json_each(?2)))",
        &[now_ms.into(), Json::from(kinds.to_vec()).to_string().into()],
    )
}

/// Deletes a job, at the flush.
pub fn delete(store: &mut Store<'_>, id: &str) {
    store.write("DELETE FROM due WHERE id = +?1", vec![id.into()]);
}

/// Ends the turn of a key, at the flush: all others have theirs first. Keys without work lose their turn.
pub fn end_turn(store: &mut Store<'_>, owner: &str) {
    store.write("UPDATE turn SET served = (SELECT MAX(served) FROM turn) + 1 WHERE owner = +?1", vec![owner.into()]);
    store.write(
        "DELETE FROM turn WHERE owner <> '' AND NOT EXISTS (SELECT 1 FROM due WHERE due.owner = turn.owner)",
        Vec::new(),
    );
}

/// Finds the next slice of the list of a bulk job.
pub fn find_bulk_slice(store: &Store<'_>, id: &str) -> Result<Option<Document>, Fault> {
    let found = store.select("kind = +?1 AND parent = +?2 ORDER BY seq LIMIT 1", &[BULK_SLICE.into(), id.into()])?;
    Ok(found.into_iter().next())
}

/// Deletes the remaining slices of a bulk job, at the flush.
pub fn delete_bulk_slices(store: &mut Store<'_>, id: &str) {
    store.write("DELETE FROM document WHERE kind = 'batch' AND parent = +?1", vec![id.into()]);
}

/// Records the progress of an async action in percent, at the flush.
pub fn update_progress(store: &mut Store<'_>, id: &str, percent: i64, now_ms: i64) {
    store.write(
        "UPDATE document SET updated_at = ?4, body = json_set(body, '$.progress', CAST(?2 AS INTEGER), '$.updated_at', ?3, '$.processing_time', CAST(?4 - created_at AS INTEGER))
         WHERE kind = 'async_action' AND id = +?1",
        vec![id.into(), percent.into(), timestamp::text(now_ms).into(), now_ms.into()],
    );
}

/// Records the end of an async action, at the flush.
pub fn update_outcome(store: &mut Store<'_>, id: &str, outcome: &ActionOutcome<'_>, now_ms: i64) {
    let ActionOutcome { status, operation_status, result } = *outcome;
    store.write(
        "UPDATE document SET updated_at = ?5, body = json_set(body, '$.status', ?2, '$.operation_status', ?3, '$.progress', 100, '$.updated_at', ?4,
           '$.processing_time', CAST(?5 - created_at AS INTEGER), '$.result', json(?6)) WHERE kind = 'async_action' AND id = +?1",
        vec![
            id.into(),
            status.into(),
            operation_status.into(),
            timestamp::text(now_ms).into(),
            now_ms.into(),
            result.to_string().into(),
        ],
    );
}

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
