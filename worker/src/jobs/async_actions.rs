//! Async actions: the records of jobs that callers can query.

use crate::http::route::Call;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::jobs::exports;
use crate::store::jobs::{self, ActionOutcome, QueuedJob};
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::Context;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

/// Slice of a job: its row of `due`, and the number of rows that it may write.
#[derive(Debug, Clone, Copy)]
pub struct JobSlice<'p> {
    /// Id of the async action.
    pub id: &'p str,
    /// Kind of the job.
    pub kind: &'p str,
    /// Progress, in the format of the kind.
    pub cursor: &'p str,
    /// Approximate number of rows that it may write.
    pub rows: u64,
}

impl JobSlice<'_> {
    /// Parses the cursor.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        serde_json::from_str(self.cursor)
            .map_err(|error| Fault(format!("the cursor of {} does not parse: {error}", self.id)))
    }
}

/// Queues a job in the turns of its key; an existing job with the id starts again.
pub fn queue(store: &mut Store<'_>, owner: &str, id: &str, kind: &str, cursor: &str, now_ms: i64) {
    jobs::insert(store, &QueuedJob { id, kind, cursor, owner }, now_ms);
    store.schedule_jobs_at(now_ms);
}

/// Async action that is to be queued.
#[derive(Debug, Clone, Copy)]
pub struct NewAction<'a> {
    /// Its generated id.
    pub id: &'a str,
    /// Kind of its job.
    pub kind: &'a str,
    /// First cursor of the job.
    pub cursor: &'a Json,
    /// Key in whose turns the job runs.
    pub owner: &'a str,
    /// Request that started it.
    pub request_id: &'a str,
    /// Time of the call in milliseconds.
    pub now_ms: i64,
}

/// Queues an async action with its job for a call; returns its id.
pub fn start(call: &mut Call<'_, '_>, kind: &str, cursor: &Json) -> String {
    let id = call.ids.hex18("aa_").to_string();
    let (owner, request_id, now_ms) = (&call.caller.key_id, call.request_id, call.now_ms());
    insert_action(call.store, NewAction { id: &id, kind, cursor, owner, request_id, now_ms });
    id
}

/// Inserts an async action in progress, and queues its job.
pub fn insert_action(store: &mut Store<'_>, action: NewAction<'_>) {
    let NewAction { id, kind, cursor, owner, request_id, now_ms } = action;
    let body = json!({
        "id": id, "type": kind, "status": "IN_PROGRESS", "operation_status": "UNKNOWN", "progress": 0, "processing_time": 0,
        "request_id": request_id, "created_at": timestamp::text(now_ms), "updated_at": timestamp::text(now_ms), "object": "async_action",
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let document = Document {
        id: id.to_owned(),
        key: None,
        parent: None,
        holder: None,
        created_at: now_ms,
        updated_at: Some(now_ms),
        body,
    };
    store.insert("async_action", &document);
    store.mark_for_retention();
    queue(store, owner, id, kind, &cursor.to_string(), now_ms);
}

/// Stores the cursor and reports the progress: at most 99 until the end.
pub fn advance(
    store: &mut Store<'_>,
    context: &Context,
    id: &str,
    cursor: &impl Serialize,
    made: u64,
    wanted: u64,
) -> Result<(), Fault> {
    let cursor = serde_json::to_string(cursor).map_err(|error| Fault(error.to_string()))?;
    let now_ms = context.now.millis();
    // A share for display: more than a hundredth of 2^64 is displayed as the end.
    let progress = made.saturating_mul(100).checked_div(wanted.max(1)).unwrap_or(0).min(99);
    jobs::update_cursor(store, id, &cursor, now_ms);
    jobs::update_progress(store, id, i64::try_from(progress).unwrap_or(0), now_ms);
    Ok(())
}

/// Ends an async action with its result or its error.
pub fn finish(store: &mut Store<'_>, context: &Context, id: &str, outcome: Result<Json, String>) -> Result<(), Fault> {
    if outcome.is_err() {
        // An export has a status of its own, without an async action.
        exports::mark_failed(store, id);
    }
    let now_ms = context.now.millis();
    let (status, operation_status, result) = match outcome {
        Ok(result) => ("DONE", "SUCCESS", result),
        Err(message) => ("FAILED", "FAILED", json!({ "message": message })),
    };
    jobs::delete(store, id);
    jobs::delete_bulk_slices(store, id);
    jobs::update_outcome(store, id, &ActionOutcome { status, operation_status, result: &result }, now_ms);
    Ok(())
}
