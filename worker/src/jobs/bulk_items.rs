//! Lists that a job writes item by item: the items are stored in slices, and errors of items are reported in the result.
//!
//! An item is written like a call of its own; a refused item does not affect the others. Only sizes in bytes and places in a slice
//! saturate; the counts of items are checked.

use crate::documents::csv_columns::CsvColumn;
use crate::documents::csv_file::{self, CsvLayout};
use crate::documents::json_members;
use crate::http::caller::Caller;
use crate::http::reply::{CallError, ErrorBody};
use crate::http::request_checks;
use crate::http::route::{Call, HandlerResult, Response};
use crate::http::shape::{self, Nulls};
use crate::http::table::RouteTable;
use crate::http::upload;
use crate::jobs::async_actions::{self, JobSlice};
use crate::jobs::job_caller::JobCaller;
use crate::store::Store;
use crate::store::amount::CheckedAmount;
use crate::store::document::Document;
use crate::store::jobs::{self, BULK_SLICE, WaitingJob};
use crate::store::sql::Fault;
use scrip::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// Maximum number of items of a slice; each run that writes some of them reads the whole slice.
const ITEMS_MAX: usize = 200;
/// Maximum size of a slice in bytes, unless a single item is larger.
const BYTES_MAX: usize = 100_000;
/// Cost of an item, in rows that a job writes without reading them. All jobs share one measure of time.
const ROWS_OF_AN_ITEM: u64 = 10;
/// Maximum number of errors in a result; further ones are only counted.
const ERRORS_MAX: usize = 1_000;
/// Maximum size of the errors in a result, in bytes: the row of the job contains all of them.
const ERRORS_BYTES_MAX: usize = 500_000;

/// Member of a row for the common parent of all rows of its file: no column has this name.
pub const SUBJECT: &str = "";

/// Beginning of the kinds of jobs on goods.
const GOODS: [&str; 2] = ["PRODUCTS.", "SKUS."];

/// Form field that enables or disables webhooks for the rows of its file. Default is enabled.
pub const WEBHOOKS_ENABLE: &str = "webhooks_enable";

/// Writes one item and commits it.
pub type WriteItem<'w> = &'w dyn Fn(&mut Call<'_, '_>, Map<String, Json>) -> Result<(), CallError>;

/// Progress of the job.
#[derive(Debug, Serialize, Deserialize)]
struct BulkProgress {
    /// Caller in whose name the items are written.
    caller: Caller,
    /// Path of the caller's route.
    path: String,
    request_id: String,
    wanted: u64,
    done: u64,
    failed: u64,
    /// Number of items of the current slice that are written.
    #[serde(default)]
    place: usize,
    errors: Vec<Json>,
    /// Size of these errors in bytes.
    #[serde(default)]
    errors_bytes: usize,
    /// Layout of slices that are parts of a CSV file.
    #[serde(default)]
    layout: CsvLayout,
    /// Common parent of all rows of a file.
    #[serde(default)]
    subject: Option<String>,
    /// Address under which the caller reached the service.
    #[serde(default)]
    origin: String,
    /// True when no webhook reports the writes.
    #[serde(default)]
    is_silent: bool,
}

/// Reads the items of a list body by the fields of the route.
pub fn items(call: &Call<'_, '_>) -> Result<Vec<Map<String, Json>>, ErrorBody> {
    let sent = call.sources()?;
    let read = sent.into_iter().enumerate().map(|(place, item)| {
        shape::read(call.route.body, item, Nulls::Kept).map_err(|problem| problem.within(&format!("[{place}]")).into())
    });
    read.collect()
}

/// Reads the items of a body that gives many documents the same metadata.
pub fn same_metadata(call: &Call<'_, '_>) -> Result<Vec<Map<String, Json>>, ErrorBody> {
    let mut body = call.body(Nulls::Dropped)?;
    let metadata = body.remove("metadata").unwrap_or_else(|| json!({}));
    let named = body.remove("source_ids").unwrap_or_default();
    let named = named.as_array().cloned().unwrap_or_default();
    let item = |name: Json| {
        let mut item = json_members::object_of("source_id", name);
        item.insert("metadata".into(), metadata.clone());
        item
    };
    Ok(named.into_iter().map(item).collect())
}

/// Queues an async action for the rows of the sent file; responds with its id and the route's status.
pub fn answer_file(
    call: &mut Call<'_, '_>,
    kind: &str,
    known: &[CsvColumn],
    required: &[&str],
    subject: Option<String>,
) -> HandlerResult {
    let file = upload::file(call.request)?;
    let csv_file = csv_file::read(file, known, required)?;
    let has_choice = call.route.body.iter().any(|field| field.name == WEBHOOKS_ENABLE);
    let is_silent = has_choice && upload::flag(call.request, WEBHOOKS_ENABLE)? == Some(false);
    let id = start_items(call, kind, csv_file.rows, csv_file.layout, subject, is_silent)?;
    for slice in csv_file.slices {
        insert_slice(call, &id, json!({ "rows": slice }))?;
    }
    Ok(Response::status(call.route.success, json!({ "async_action_id": id })))
}

/// Queues an async action for items; responds with its id and the route's status.
pub fn answer(call: &mut Call<'_, '_>, kind: &str, items: Vec<Map<String, Json>>) -> HandlerResult {
    let id = start(call, kind, items)?;
    Ok(Response::status(call.route.success, json!({ "async_action_id": id })))
}

fn start(call: &mut Call<'_, '_>, kind: &str, items: Vec<Map<String, Json>>) -> Result<String, CallError> {
    let id =
        start_items(call, kind, u64::try_from(items.len()).unwrap_or(u64::MAX), CsvLayout::default(), None, false)?;
    let mut slice: Vec<Json> = Vec::new();
    let mut bytes: usize = 0;
    for item in items {
        let item = Json::Object(item);
        let length = item.to_string().len();
        // The size of a body bounds the bytes.
        if !slice.is_empty() && (slice.len() >= ITEMS_MAX || bytes.saturating_add(length) > BYTES_MAX) {
            insert_slice(call, &id, json!({ "items": std::mem::take(&mut slice) }))?;
            bytes = 0;
        }
        // The size of a body bounds the bytes.
        bytes = bytes.saturating_add(length);
        slice.push(item);
    }
    if !slice.is_empty() {
        insert_slice(call, &id, json!({ "items": slice }))?;
    }
    Ok(id)
}

fn start_items(
    call: &mut Call<'_, '_>,
    kind: &str,
    wanted: u64,
    layout: CsvLayout,
    subject: Option<String>,
    is_silent: bool,
) -> Result<String, CallError> {
    let cursor = BulkProgress {
        caller: call.caller.clone(),
        path: call.route.path.to_owned(),
        request_id: call.request_id.to_owned(),
        wanted,
        done: 0,
        failed: 0,
        place: 0,
        errors: Vec::new(),
        errors_bytes: 0,
        layout,
        subject,
        origin: request_checks::origin(call.request).to_owned(),
        is_silent,
    };
    let cursor = serde_json::to_value(&cursor).map_err(|error| Fault(error.to_string()))?;
    Ok(async_actions::start(call, kind, &cursor))
}

fn insert_slice(call: &mut Call<'_, '_>, action_id: &str, body: Json) -> Result<(), CallError> {
    let body = body.as_object().cloned().unwrap_or_default();
    let mut slice = Document::new(call.ids.hex18("bat_").to_string(), None, call.now_ms(), body);
    slice.parent = Some(action_id.to_owned());
    call.store.insert(BULK_SLICE, &slice);
    Ok(())
}

/// Writes the next items of an async action within `rows` rows, but at least one.
pub fn run(
    store: &mut Store<'_>,
    context: &Context,
    slice: &JobSlice<'_>,
    table: &RouteTable,
    write_item: WriteItem<'_>,
) -> Result<(), Fault> {
    let JobSlice { id, kind, rows, .. } = *slice;
    let mut cursor: BulkProgress = slice.read()?;
    let Some(mut slice) = jobs::find_bulk_slice(store, id)? else {
        return async_actions::finish(store, context, id, Ok(result(kind, cursor)));
    };
    let mut items = match (slice.body.remove("items"), slice.body.remove("rows")) {
        (Some(Json::Array(items)), _) => items,
        (_, Some(Json::String(rows))) => csv_file::rows(&cursor.layout, &rows)?,
        _ => Vec::new(),
    };
    let count = usize::try_from(rows.checked_div(ROWS_OF_AN_ITEM).unwrap_or(1)).unwrap_or(usize::MAX).max(1);
    // Beyond the type is beyond the last item.
    let (end, length) = (cursor.place.saturating_add(count), items.len());
    items.truncate(end);
    let mut items = items.split_off(cursor.place.min(items.len()));
    if let Some(subject) = &cursor.subject {
        items.iter_mut().filter_map(Json::as_object_mut).for_each(|item| {
            item.insert(SUBJECT.to_owned(), subject.as_str().into());
        });
    }
    write(store, context, table, write_item, &mut cursor, items)?;
    cursor.place = end;
    if end >= length {
        store.delete(BULK_SLICE, &slice.id);
        cursor.place = 0;
    }
    let so_far = cursor.done.plus(cursor.failed)?;
    if so_far >= cursor.wanted {
        return async_actions::finish(store, context, id, Ok(result(kind, cursor)));
    }
    let wanted = cursor.wanted;
    async_actions::advance(store, context, id, &cursor, so_far, wanted)
}

/// Returns true if a job's items are products or SKUs, whose names are no names of customers.
pub fn is_of_goods(kind: &str) -> bool {
    GOODS.iter().any(|kinds| kind.starts_with(kinds))
}

/// Returns a stored slice of a job without the items that are to go, which keep their places: the job counts them. `None` if there are none.
pub fn without_items(job: &WaitingJob, slice: &str, is_gone: &dyn Fn(&Json) -> bool) -> Result<Option<String>, Fault> {
    let failed = |error: serde_json::Error| Fault(format!("a slice of {} does not parse: {error}", job.kind));
    let mut slice: Json = serde_json::from_str(slice).map_err(failed)?;
    let mut has_changed = false;
    if let Some(items) = slice.get_mut("items").and_then(Json::as_array_mut) {
        for item in items.iter_mut().filter(|item| is_gone(item)) {
            *item = Json::Null;
            has_changed = true;
        }
    }
    if let Some(rows) = slice.get("rows").and_then(Json::as_str) {
        let progress: BulkProgress = serde_json::from_str(&job.cursor).map_err(failed)?;
        let is_gone = |row: &Json| is_gone(&nested(row));
        if let Some(rows) = csv_file::without_rows(&progress.layout, rows, &is_gone)? {
            slice = json!({ "rows": rows });
            has_changed = true;
        }
    }
    Ok(has_changed.then(|| slice.to_string()))
}

/// Returns the row of a file as the object that its columns describe.
fn nested(row: &Json) -> Json {
    let mut object = Map::new();
    for (path, value) in row.as_object().into_iter().flatten() {
        match path.split_once('.') {
            Some((block, name)) => {
                let block = object.entry(block).or_insert_with(|| json!({}));
                block.as_object_mut().map(|block| block.insert(name.to_owned(), value.clone()));
            }
            None => drop(object.insert(path.clone(), value.clone())),
        }
    }
    object.into()
}

/// Writes items in sequence. Each is committed before the next is read, because two of them may change the same document.
fn write(
    store: &mut Store<'_>,
    context: &Context,
    table: &RouteTable,
    write_item: WriteItem<'_>,
    cursor: &mut BulkProgress,
    items: Vec<Json>,
) -> Result<(), Fault> {
    let BulkProgress { caller, path, request_id, origin, .. } = cursor;
    let job_caller = JobCaller {
        caller: caller.clone(),
        path: path.clone(),
        request_id: request_id.clone(),
        origin: origin.clone(),
    };
    store.suppress_events(cursor.is_silent);
    let written = job_caller.run(store, context, table, |call| write_all(call, write_item, cursor, items));
    store.suppress_events(false);
    written
}

fn write_all(
    call: &mut Call<'_, '_>,
    write_item: WriteItem<'_>,
    cursor: &mut BulkProgress,
    items: Vec<Json>,
) -> Result<(), Fault> {
    for item in items {
        let Json::Object(item) = item else { continue };
        let named = if item.contains_key("code") { "code" } else { "source_id" };
        let name = item.get(named).or_else(|| item.get("id")).or_else(|| customer_of(&item)).cloned();
        let names: Vec<String> = item.keys().cloned().collect();
        match write_item(call, item) {
            Ok(()) => cursor.done = cursor.done.plus(1)?,
            // Some of its writes have run: the whole slice is undone.
            Err(CallError::Refused(body)) if call.store.is_undone() => return Err(body.into()),
            Err(CallError::Refused(body)) => {
                call.store.discard();
                if cursor.errors.len() < ERRORS_MAX {
                    let has = |to: &str| names.iter().any(|known| known == to);
                    let details =
                        body.details.as_deref().map(|details| cursor.layout.named.by_column_name(details, has));
                    let row = cursor.done.plus(cursor.failed)?.plus(1)?;
                    let error = json!({
                        "row": row, named: name, "key": body.key, "message": body.message, "details": details,
                    });
                    // Beyond the type is beyond the limit of errors.
                    let bytes = cursor.errors_bytes.saturating_add(error.to_string().len());
                    if bytes <= ERRORS_BYTES_MAX {
                        cursor.errors.push(error);
                        cursor.errors_bytes = bytes;
                    }
                }
                cursor.failed = cursor.failed.plus(1)?;
            }
            Err(CallError::Fault(fault)) => return Err(fault),
        }
    }
    Ok(())
}

/// Returns the customer of an item, by either name.
fn customer_of(item: &Map<String, Json>) -> Option<&Json> {
    let named = item.get("customer_identification").and_then(Json::as_object).unwrap_or(item);
    named.get("customer_id").or_else(|| named.get("customer_source_id"))
}

/// Returns the result of an async action (docs/spec/objects.md#14): imports report rows and reasons, updates report errors.
fn result(kind: &str, cursor: BulkProgress) -> Json {
    let BulkProgress { done, failed, mut errors, .. } = cursor;
    if kind.ends_with("IMPORT") || kind.ends_with("IMPORT_CSV") {
        let rows = errors.iter().map(|error| {
            let reason = error.get("details").filter(|members| !members.is_null()).or_else(|| error.get("message"));
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
