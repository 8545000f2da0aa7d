//! Async actions: what is kept of work that is done later, for whoever asked for it. It must not know what the work is.

use crate::moment;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::id::Ids;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

/// A piece of long work: the row of `due` that it is about, and how much may be done of it.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'p> {
    /// The async action's id.
    pub id: &'p str,
    /// Which kind of work it is.
    pub kind: &'p str,
    /// Where it stands, as the kind writes it.
    pub cursor: &'p str,
    /// How many rows it may write, about.
    pub rows: u64,
}

impl Piece<'_> {
    /// The cursor read.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        serde_json::from_str(self.cursor)
            .map_err(|error| Fault(format!("the cursor of {} does not parse: {error}", self.id)))
    }
}

/// Notes an async action and its job at the commit; gives the action's id.
pub fn start(store: &mut Store<'_>, context: &Context, ids: &mut Ids, request_id: &str, job: (&str, Json)) -> String {
    let (kind, cursor) = job;
    let now_ms = context.now.millis();
    let id = ids.hex18("aa_").to_string();
    let body = json!({
        "id": id, "type": kind, "status": "IN_PROGRESS", "operation_status": "UNKNOWN", "progress": 0, "processing_time": 0,
        "request_id": request_id, "created_at": moment::text(now_ms), "updated_at": moment::text(now_ms), "object": "async_action",
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let document = Document {
        id: id.clone(),
        key: None,
        parent: None,
        holder: None,
        created_at: now_ms,
        updated_at: Some(now_ms),
        body,
    };
    store.insert("async_action", &document);
    store.leaves_later();
    let params = vec![id.clone().into(), now_ms.into(), kind.into(), cursor.to_string().into()];
    store.write("INSERT INTO due (id, at, kind, cursor, attempts) VALUES (?1, ?2, ?3, ?4, 0)", params);
    store.wake_at(now_ms);
    id
}

/// Moves the cursor, and tells the progress: 99 at most until the end.
pub fn advance(
    store: &mut Store<'_>,
    context: &Context,
    id: &str,
    cursor: &impl Serialize,
    (made, wanted): (u64, u64),
) -> Result<(), Fault> {
    let cursor = serde_json::to_string(cursor).map_err(|error| Fault(error.to_string()))?;
    let now_ms = context.now.millis();
    let progress = made.saturating_mul(100).checked_div(wanted.max(1)).unwrap_or(0).min(99);
    store.write(
        "UPDATE due SET cursor = ?2, at = ?3, attempts = 0 WHERE id = +?1",
        vec![id.into(), cursor.into(), now_ms.into()],
    );
    let params =
        vec![id.into(), i64::try_from(progress).unwrap_or(0).into(), moment::text(now_ms).into(), now_ms.into()];
    store.write(
        "UPDATE document SET updated_at = ?4, body = json_set(body, '$.progress', CAST(?2 AS INTEGER), '$.updated_at', ?3, '$.processing_time', CAST(?4 - created_at AS INTEGER))
         WHERE kind = 'async_action' AND id = +?1",
        params,
    );
    Ok(())
}

/// Ends an async action with its result, or with what made it fail.
pub fn finish(store: &mut Store<'_>, context: &Context, id: &str, outcome: Result<Json, String>) -> Result<(), Fault> {
    if outcome.is_err() {
        // An export is shown as what it is, and has no action beside it.
        let params = vec![id.into()];
        store.write(
            "UPDATE document SET body = json_set(body, '$.status', 'ERROR') WHERE kind = 'export' AND id = +?1",
            params,
        );
    }
    let now_ms = context.now.millis();
    let (status, operation_status, result) = match outcome {
        Ok(result) => ("DONE", "SUCCESS", result),
        Err(message) => ("FAILED", "FAILED", json!({ "message": message })),
    };
    store.write("DELETE FROM due WHERE id = +?1", vec![id.into()]);
    store.write("DELETE FROM document WHERE kind = 'batch' AND parent = +?1", vec![id.into()]);
    let params = vec![
        id.into(),
        status.into(),
        operation_status.into(),
        moment::text(now_ms).into(),
        now_ms.into(),
        result.to_string().into(),
    ];
    store.write(
        "UPDATE document SET updated_at = ?5, body = json_set(body, '$.status', ?2, '$.operation_status', ?3, '$.progress', 100, '$.updated_at', ?4,
           '$.processing_time', CAST(?5 - created_at AS INTEGER), '$.result', json(?6)) WHERE kind = 'async_action' AND id = +?1",
        params,
    );
    Ok(())
}
