//! Lists that are written item by item, as long work: the items are kept in slices, a piece of one an alarm, and what went wrong with an
//! item is told in the result. It must not know what an item is.
//!
//! An item is written as a call of its own would write it; one that is refused leaves the others alone.

use crate::document::columns::Column;
use crate::document::part;
use crate::document::sheet::{self, Layout};
use crate::http::caller::Caller;
use crate::http::intake;
use crate::http::reply::{CallError, ErrorBody, check_writes};
use crate::http::route::{Answer, Call, Outcome};
use crate::http::shape::{self, Nulls};
use crate::http::table::Table;
use crate::http::upload;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::work::actions::{self, Piece};
use crate::work::asker::Asker;
use scrip::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// Items of one slice; each alarm that writes some of them reads it whole.
const ITEMS_MAX: usize = 200;
/// Bytes of one slice, unless a single item is longer.
const BYTES_MAX: usize = 100_000;
/// What an item costs, in rows that a job writes without looking at them. Jobs of both sorts share one measure of time.
const ROWS_OF_AN_ITEM: u64 = 10;
/// Errors that a result tells; further ones are counted.
const ERRORS_MAX: usize = 1_000;
/// The kind of document that holds a slice until it is written.
const SLICE: &str = "batch";

/// Where a row finds what all rows of its file belong to: no column goes there.
pub const SUBJECT: &str = "";

/// By what a form says whether webhooks are told of what its file makes; they are where it says nothing.
pub const TELLS: &str = "webhooks_enable";

/// What is done with one item.
pub type Step = fn(&mut Call<'_, '_>, Map<String, Json>) -> Result<(), CallError>;

/// Where the work stands.
#[derive(Debug, Serialize, Deserialize)]
struct Cursor {
    /// Who asked: the items are written in their name.
    caller: Caller,
    /// The route that was asked.
    path: String,
    request_id: String,
    wanted: u64,
    done: u64,
    failed: u64,
    /// Items of the slice at hand that are written already.
    #[serde(default)]
    place: usize,
    errors: Vec<Json>,
    /// How slices are read that are pieces of a file.
    #[serde(default)]
    layout: Layout,
    /// What all rows of a file belong to.
    #[serde(default)]
    subject: Option<String>,
    /// The address of the service as they reached it.
    #[serde(default)]
    origin: String,
    /// Whether no webhook is told of what is written.
    #[serde(default)]
    is_silent: bool,
}

/// The items of a body that is a list, read by the fields of the route.
pub fn items(call: &Call<'_, '_>) -> Result<Vec<Map<String, Json>>, ErrorBody> {
    let sent = call.sources()?;
    let read = sent.into_iter().enumerate().map(|(place, item)| {
        shape::read(call.route.body, item, Nulls::Kept).map_err(|problem| problem.within(&format!("[{place}]")).into())
    });
    read.collect()
}

/// The items of a body that gives many documents the same metadata.
pub fn same_metadata(call: &Call<'_, '_>) -> Result<Vec<Map<String, Json>>, ErrorBody> {
    let mut body = call.body(Nulls::Dropped)?;
    let metadata = body.remove("metadata").unwrap_or_else(|| json!({}));
    let named = body.remove("source_ids").unwrap_or_default();
    let named = named.as_array().cloned().unwrap_or_default();
    let item = |name: Json| {
        let mut item = part::one("source_id", name);
        item.insert("metadata".into(), metadata.clone());
        item
    };
    Ok(named.into_iter().map(item).collect())
}

/// Notes an async action of a kind and the rows of the file that was sent at the commit, and answers its id with the route's status.
pub fn answer_file(
    call: &mut Call<'_, '_>,
    kind: &str,
    (known, required): (&[Column], &[&str]),
    subject: Option<String>,
) -> Outcome {
    let file = upload::file(call.request)?;
    let sheet = sheet::read(file, known, required)?;
    let has_choice = call.route.body.iter().any(|field| field.name == TELLS);
    let is_silent = has_choice && upload::flag(call.request, TELLS)? == Some(false);
    let id = begin(call, kind, sheet.rows, (sheet.layout, subject, is_silent))?;
    for slice in sheet.slices {
        keep(call, &id, json!({ "rows": slice }))?;
    }
    Ok(Answer::status(call.route.success, json!({ "async_action_id": id })))
}

/// Notes an async action of a kind and its items at the commit, and answers its id with the route's status.
pub fn answer(call: &mut Call<'_, '_>, kind: &str, items: Vec<Map<String, Json>>) -> Outcome {
    let id = start(call, kind, items)?;
    Ok(Answer::status(call.route.success, json!({ "async_action_id": id })))
}

fn start(call: &mut Call<'_, '_>, kind: &str, items: Vec<Map<String, Json>>) -> Result<String, CallError> {
    let id = begin(call, kind, u64::try_from(items.len()).unwrap_or(u64::MAX), (Layout::default(), None, false))?;
    let mut slice: Vec<Json> = Vec::new();
    let mut bytes: usize = 0;
    for item in items {
        let item = Json::Object(item);
        let length = item.to_string().len();
        if !slice.is_empty() && (slice.len() >= ITEMS_MAX || bytes.saturating_add(length) > BYTES_MAX) {
            keep(call, &id, json!({ "items": std::mem::take(&mut slice) }))?;
            bytes = 0;
        }
        bytes = bytes.saturating_add(length);
        slice.push(item);
    }
    if !slice.is_empty() {
        keep(call, &id, json!({ "items": slice }))?;
    }
    Ok(id)
}

fn begin(
    call: &mut Call<'_, '_>,
    kind: &str,
    wanted: u64,
    (layout, subject, is_silent): (Layout, Option<String>, bool),
) -> Result<String, CallError> {
    let cursor = Cursor {
        caller: call.caller.clone(),
        path: call.route.path.to_owned(),
        request_id: call.request_id.to_owned(),
        wanted,
        done: 0,
        failed: 0,
        place: 0,
        errors: Vec::new(),
        layout,
        subject,
        origin: intake::origin(call.request).to_owned(),
        is_silent,
    };
    let cursor = serde_json::to_value(&cursor).map_err(|error| Fault(error.to_string()))?;
    Ok(actions::start(call.store, call.context, &mut call.ids, call.request_id, (kind, cursor)))
}

fn keep(call: &mut Call<'_, '_>, action_id: &str, body: Json) -> Result<(), CallError> {
    let body = body.as_object().cloned().unwrap_or_default();
    let mut slice = Document::new(call.ids.hex18("bat_").to_string(), None, call.now_ms(), body);
    slice.parent = Some(action_id.to_owned());
    call.store.insert(SLICE, &slice);
    Ok(())
}

/// Writes the next items of an async action of a kind, where its cursor stands: as many as cost `rows` rows, and one at least.
pub fn run(
    store: &mut Store<'_>,
    context: &Context,
    piece: &Piece<'_>,
    (step, table): (Step, &Table),
) -> Result<(), Fault> {
    let Piece { id, kind, rows, .. } = *piece;
    let mut cursor: Cursor = piece.read()?;
    let slice = store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND parent = +?2 ORDER BY seq LIMIT 1",
        &[SLICE.into(), id.into()],
    )?;
    let Some(mut slice) = slice.into_iter().next() else {
        return actions::finish(store, context, id, Ok(result(kind, cursor)));
    };
    let mut items = match (slice.body.remove("items"), slice.body.remove("rows")) {
        (Some(Json::Array(items)), _) => items,
        (_, Some(Json::String(rows))) => sheet::rows(&cursor.layout, &rows)?,
        _ => Vec::new(),
    };
    let count = usize::try_from(rows.checked_div(ROWS_OF_AN_ITEM).unwrap_or(1)).unwrap_or(usize::MAX).max(1);
    let (end, length) = (cursor.place.saturating_add(count), items.len());
    items.truncate(end);
    let mut items = items.split_off(cursor.place.min(items.len()));
    if let Some(subject) = &cursor.subject {
        items.iter_mut().filter_map(Json::as_object_mut).for_each(|item| {
            item.insert(SUBJECT.to_owned(), subject.as_str().into());
        });
    }
    write(store, context, (step, table), &mut cursor, items)?;
    cursor.place = end;
    if end >= length {
        store.remove(SLICE, &slice.id);
        cursor.place = 0;
    }
    let so_far = cursor.done.saturating_add(cursor.failed);
    if so_far >= cursor.wanted {
        return actions::finish(store, context, id, Ok(result(kind, cursor)));
    }
    let wanted = cursor.wanted;
    actions::advance(store, context, id, &cursor, (so_far, wanted))
}

/// Writes items one after the other, each committed before the next is read: two of them may mean the same document.
fn write(
    store: &mut Store<'_>,
    context: &Context,
    (step, table): (Step, &Table),
    cursor: &mut Cursor,
    items: Vec<Json>,
) -> Result<(), Fault> {
    let Cursor { caller, path, request_id, origin, .. } = cursor;
    let asker =
        Asker { caller: caller.clone(), path: path.clone(), request_id: request_id.clone(), origin: origin.clone() };
    store.keep_silent(cursor.is_silent);
    let written = asker.ask((store, context, table), |call| write_all(call, (step, table), cursor, items));
    store.keep_silent(false);
    written
}

fn write_all(
    call: &mut Call<'_, '_>,
    (step, table): (Step, &Table),
    cursor: &mut Cursor,
    items: Vec<Json>,
) -> Result<(), Fault> {
    for item in items {
        let Json::Object(item) = item else { continue };
        let named = if item.contains_key("code") { "code" } else { "source_id" };
        let name = item.get(named).or_else(|| item.get("id")).or_else(|| customer_of(&item)).cloned();
        let said: Vec<String> = item.keys().cloned().collect();
        let outcome = step(call, item);
        match outcome.and_then(|()| Ok(check_writes(call.store, 0)?)) {
            Ok(()) => {
                (table.commit)(call)?;
                cursor.done = cursor.done.saturating_add(1);
            }
            Err(CallError::Refused(body)) => {
                call.store.discard();
                if cursor.errors.len() < ERRORS_MAX {
                    let has = |to: &str| said.iter().any(|known| known == to);
                    let details = body.details.as_deref().map(|details| cursor.layout.named.told(details, has));
                    let row = cursor.done.saturating_add(cursor.failed).saturating_add(1);
                    cursor.errors.push(json!({
                        "row": row, named: name, "key": body.key, "message": body.message, "details": details,
                    }));
                }
                cursor.failed = cursor.failed.saturating_add(1);
            }
            Err(CallError::Fault(fault)) => return Err(fault),
        }
    }
    Ok(())
}

/// The customer that an item is about, by whichever name it says.
fn customer_of(item: &Map<String, Json>) -> Option<&Json> {
    let named = item.get("customer_identification").and_then(Json::as_object).unwrap_or(item);
    named.get("customer_id").or_else(|| named.get("customer_source_id"))
}

/// What an async action tells in the end (objects.md section 14): imports tell rows and reasons, updates tell errors.
fn result(kind: &str, cursor: Cursor) -> Json {
    let Cursor { done, failed, mut errors, .. } = cursor;
    if kind.ends_with("IMPORT") || kind.ends_with("IMPORT_CSV") {
        let rows = errors.iter().map(|error| {
            let reason = error.get("details").filter(|told| !told.is_null()).or_else(|| error.get("message"));
            let named = if error.get("code").is_some() { "code" } else { "source_id" };
            json!({ named: error.get(named), "row": error.get("row"), "reason": reason })
        });
        let rows: Vec<Json> = rows.collect();
        let message = format!("{done} imported, {failed} failed");
        return json!({ "message": message, "failed": rows, "done_count": done, "failed_count": failed });
    }
    for error in errors.iter_mut().filter_map(Json::as_object_mut) {
        error.remove("row");
    }
    json!({ "done_count": done, "failed_count": failed, "reports": [], "reports_available_till": null, "errors": errors })
}
