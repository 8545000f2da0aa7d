//! Starts exports, writes their lines in a job, and reads them in parts.
//!
//! Each line is a row with its position in the order. So documents are read in storage order, a few at a time, for any order
//! of the export. An unfinished export is never read. Sizes and places of parts saturate only in form: the limits of an export bound
//! them.

use crate::documents::clause::Clause;
use crate::documents::csv_cells;
use crate::domain::exports::filters::{ExportFilters, narrow};
use crate::domain::exports::kind::ExportKind;
use crate::domain::exports::kinds;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::http::table::RouteTable;
use crate::jobs::async_actions::{self, JobSlice};
use crate::jobs::job_caller::JobCaller;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::document_list::index_choice::make_for_age;
use crate::store::jobs;
use crate::store::jobs::exports::{self, ExportedDocument, LineBounds, LinePart, LinePlace};
use crate::store::record_tables::record_table;
use crate::store::sql::Fault;
use scrip::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Kind of the job that writes an export.
pub const WRITE: &str = "EXPORT.WRITE";
/// Kind of the job that deletes the lines of an export.
pub const DELETE_LINES: &str = "EXPORT.REMOVE";
/// Internal member of an export: its header line.
pub const HEAD: &str = "head";
/// Internal member of an export: its size in bytes.
pub const BYTES: &str = "bytes";
/// Cost of a line, in rows that a job writes without reading them.
const ROWS_OF_A_LINE: u64 = 5;
/// Maximum size of the documents of one slice, in bytes, unless a single one is larger.
const BYTES_MAX: i64 = 2_000_000;
/// Maximum size of a part of a line, and of the lines that one statement writes, in bytes.
const PART_BYTES_MAX: usize = 200_000;
/// Maximum size of a part of the response, in bytes, unless a single line is larger.
const ANSWER_BYTES_MAX: i64 = 400_000;
/// Maximum number of lines deleted at once.
const REMOVED_MAX: i64 = 1_000;

/// Requested export.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExportRequest {
    /// Name of the kind.
    #[serde(rename = "word")]
    pub kind: String,
    /// Columns.
    pub fields: Vec<String>,
    /// Name of the order, without a sign.
    pub order: String,
    /// True for descending order.
    #[serde(rename = "is_downwards")]
    pub is_descending: bool,
    /// The filters as sent.
    pub filters: ExportFilters,
    /// Parent of all documents, if the export is limited to one.
    pub parent: Option<String>,
    /// Campaign of the cards, if the export is limited to one.
    pub campaign: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ExportProgress {
    #[serde(rename = "asker")]
    job_caller: JobCaller,
    #[serde(rename = "wanted")]
    request: ExportRequest,
    /// Index of the kind of documents in progress.
    kind: usize,
    /// Position of the last processed document.
    after: DocumentPosition,
    /// Documents created later are left out.
    until: i64,
}

/// Position of a document among those of its kind. It is stored as a list of two numbers.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(from = "[i64; 2]", into = "[i64; 2]")]
struct DocumentPosition {
    created_at: i64,
    seq: i64,
}

impl DocumentPosition {
    /// Before every document.
    const FIRST: DocumentPosition = DocumentPosition { created_at: i64::MIN, seq: 0 };
    /// After every document.
    const LAST: DocumentPosition = DocumentPosition { created_at: i64::MAX, seq: i64::MAX };
}

impl From<[i64; 2]> for DocumentPosition {
    fn from([created_at, seq]: [i64; 2]) -> DocumentPosition {
        DocumentPosition { created_at, seq }
    }
}

impl From<DocumentPosition> for [i64; 2] {
    fn from(position: DocumentPosition) -> [i64; 2] {
        [position.created_at, position.seq]
    }
}

/// Queues a new export; returns its document.
pub fn start(call: &mut Call<'_, '_>, request: ExportRequest, parameters: Json) -> Result<Document, CallError> {
    let kind = find_kind(&request)?;
    kind.check_fields(&request.fields)?;
    let (now_ms, campaign) = (call.now_ms(), request.campaign.as_deref());
    narrow(Clause::of_kind(kind.name), kind, campaign, &request.filters, now_ms, &call.caller.settings)?;
    let id = call.ids.alphanumeric("exp_", 24).to_string();
    let body = json!({
        "id": id, "object": "export", "created_at": crate::timestamp::text(now_ms), "status": "SCHEDULED", "channel": "API",
        "exported_object": request.kind, "parameters": parameters, "result": null, "user_id": call.caller.user,
    });
    let mut body = body.as_object().cloned().unwrap_or_default();
    let cursor = ExportProgress {
        job_caller: JobCaller::of(call),
        kind: 0,
        after: DocumentPosition::FIRST,
        until: now_ms,
        request,
    };
    let head = csv_cells::line(cursor.request.fields.iter().map(|field| csv_cells::cell(&Json::from(field.as_str()))))?;
    body.insert(BYTES.into(), head.len().into());
    body.insert(HEAD.into(), head.into());
    let export = Document::new(id.clone(), None, now_ms, body);
    call.store.insert("export", &export);
    call.store.mark_for_retention();
    async_actions::queue(call.store, &call.caller.key_id, &id, WRITE, &to_text(&cursor)?, now_ms);
    Ok(export)
}

fn to_text(cursor: &ExportProgress) -> Result<String, Fault> {
    serde_json::to_string(cursor).map_err(|error| Fault(error.to_string()))
}

fn find_kind(request: &ExportRequest) -> Result<&'static ExportKind, Fault> {
    kinds::find_by_name(&request.kind).ok_or_else(|| Fault(format!("nothing is exported as `{}`", request.kind)))
}

/// Queues the deletion of an export; its first lines are deleted at once, the others by a job.
pub fn remove(call: &mut Call<'_, '_>, id: &str) -> Result<(), CallError> {
    call.store.delete("export", id);
    jobs::delete(call.store, id);
    let has_more = exports::has_more_lines(call.store, id, REMOVED_MAX)?;
    exports::delete_lines(call.store, id, REMOVED_MAX);
    if has_more {
        async_actions::queue(call.store, &call.caller.key_id, id, DELETE_LINES, "", call.context.now.millis());
    }
    Ok(())
}

/// Runs a slice of the job that deletes lines.
pub fn delete_lines(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<(), Fault> {
    let rows = i64::try_from(slice.rows).unwrap_or(REMOVED_MAX);
    let has_more = exports::has_more_lines(store, slice.id, rows)?;
    exports::delete_lines(store, slice.id, rows);
    match has_more {
        true => jobs::update_time(store, slice.id, context.now.millis()),
        false => jobs::delete(store, slice.id),
    }
    Ok(())
}

/// Runs a slice of the job that writes lines.
pub fn write(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>, table: &RouteTable) -> Result<(), Fault> {
    let mut cursor: ExportProgress = slice.read()?;
    let kind = find_kind(&cursor.request)?;
    let Some(stored) = kind.kinds.get(cursor.kind).copied() else {
        return Err(Fault(format!("the cursor of the export {} is past its last kind", slice.id)));
    };
    if cursor.request.parent.is_none() {
        make_for_age(store, stored)?;
    }
    let count = slice.rows.checked_div(ROWS_OF_A_LINE).unwrap_or(1).max(1);
    let last = find_slice_end(store, stored, &cursor, count)?;
    let until = last.unwrap_or(DocumentPosition::LAST);
    let written = write_lines(store, context, table, &cursor, &ExportSlice { id: slice.id, kind, stored, until });
    let bytes = match written {
        Ok(bytes) => i64::try_from(bytes).map_err(|error| Fault(error.to_string()))?,
        Err(CallError::Fault(fault)) => return Err(fault),
        Err(CallError::Refused(body)) => return Err(Fault(format!("{:?}", body.details))),
    };
    cursor.after = until;
    if last.is_none() {
        // A place in the list of kinds.
        (cursor.kind, cursor.after) = (cursor.kind.saturating_add(1), DocumentPosition::FIRST);
    }
    let is_done = cursor.kind >= kind.kinds.len();
    let status = if is_done { "DONE" } else { "IN_PROGRESS" };
    exports::update_progress(store, slice.id, status, bytes);
    match is_done {
        true => jobs::delete(store, slice.id),
        false => jobs::update_cursor(store, slice.id, &to_text(&cursor)?, context.now.millis()),
    }
    Ok(())
}

/// Returns the position of the last of the next documents; `None` when no documents follow it.
fn find_slice_end(
    store: &Store<'_>,
    stored: &str,
    cursor: &ExportProgress,
    count: u64,
) -> Result<Option<DocumentPosition>, Fault> {
    let count = i64::try_from(count).unwrap_or(1);
    let span = select_between(stored, cursor.request.parent.as_deref(), cursor.after, DocumentPosition::LAST);
    let by_number = is_by_number(stored, cursor.request.parent.as_deref());
    // A limit of rows.
    let places = exports::list_places(store, stored, span.condition(), by_number, count.saturating_add(1))?;
    let mut bytes: i64 = 0;
    let mut last = None;
    for (place, document) in places.iter().enumerate() {
        // A budget of bytes: at the bound it is used up.
        bytes = bytes.saturating_add(document.bytes);
        let is_full = bytes > BYTES_MAX || i64::try_from(place).unwrap_or(count) >= count;
        if last.is_some() && is_full {
            return Ok(last);
        }
        last = Some(DocumentPosition { created_at: document.created_at, seq: document.seq });
    }
    Ok(None)
}

/// Tests if an index has the documents of a parent in the order of their numbers. Records are in the order of their age.
fn is_by_number(stored: &str, parent: Option<&str>) -> bool {
    parent.is_some() && record_table(stored).is_none()
}

/// Selects the documents of a kind between two positions: by time, or by number for the documents of a parent.
fn select_between(stored: &str, parent: Option<&str>, after: DocumentPosition, until: DocumentPosition) -> Clause {
    /// Integers are doubles on the platform.
    const MOST: i64 = 9_007_199_254_740_991;
    let bound = |number: i64| number.clamp(-MOST, MOST);
    let mut clause = Clause::of_kind(stored);
    match parent {
        Some(parent) if is_by_number(stored, Some(parent)) => {
            clause.within(parent);
            clause.and("seq > {}", bound(after.seq));
            clause.and("seq <= {}", bound(until.seq));
        }
        parent => {
            if let Some(parent) = parent {
                clause.within(parent);
            }
            let pair = |place: DocumentPosition| vec![bound(place.created_at).into(), bound(place.seq).into()];
            let behind = ("(created_at, seq) > ({}, {})".to_owned(), pair(after));
            let up_to = ("(created_at, seq) <= ({}, {})".to_owned(), pair(until));
            clause.and_group("AND", vec![behind, up_to]);
        }
    }
    clause
}

/// Documents of which a slice writes the lines.
struct ExportSlice<'a> {
    /// Id of the export.
    id: &'a str,
    kind: &'a ExportKind,
    /// Kind of the documents.
    stored: &'a str,
    /// Position of the last document.
    until: DocumentPosition,
}

/// Writes the lines of the documents up to a position; returns their size in bytes.
fn write_lines(
    store: &mut Store<'_>,
    context: &Context,
    table: &RouteTable,
    cursor: &ExportProgress,
    slice: &ExportSlice<'_>,
) -> Result<usize, CallError> {
    let ExportSlice { id, kind, stored, until } = *slice;
    let request = &cursor.request;
    let clause = select_between(stored, request.parent.as_deref(), cursor.after, until);
    let clause = narrow(
        clause,
        kind,
        request.campaign.as_deref(),
        &request.filters,
        cursor.until,
        &cursor.job_caller.caller.settings,
    )?;
    let column = kind.orders.iter().find(|(name, _)| *name == request.order).map_or("''", |(_, column)| *column);
    let exported = exports::list_documents(store, stored, clause.condition(), column)?;
    let exported = exported.into_iter().map(|ExportedDocument { document, place, seq }| ((place, seq), document));
    let (places, documents) = exported.unzip::<_, _, Vec<_>, Vec<_>>();
    let rows = cursor.job_caller.run(store, context, table, |call| (kind.rows)(call, documents))?;
    let mut texts: Vec<LinePart> = Vec::new();
    // Bytes in memory, and the numbers of the parts of a line.
    let (mut bytes, mut all): (usize, usize) = (0, 0);
    for ((place, seq), rows) in places.into_iter().zip(rows) {
        let mut part: i64 = 0;
        for row in rows {
            let line =
                csv_cells::line(request.fields.iter().map(|field| csv_cells::cell(&value(kind, &row.members, field))))?;
            // The size of an export is limited.
            all = all.saturating_add(line.len());
            let place = row.position.as_deref().unwrap_or(&place);
            for text in split_line(&line) {
                // In descending order the lines are read from the end; the parts of a line must still follow each other.
                let number = if request.is_descending { part.saturating_neg() } else { part };
                texts.push(LinePart { place: place.to_owned(), seq, part: number, text: text.to_owned() });
                // The parts of a line are few.
                part = part.saturating_add(1);
                // A part has a largest size.
                bytes = bytes.saturating_add(text.len());
                if bytes > PART_BYTES_MAX {
                    exports::insert_lines(store, id, std::mem::take(&mut texts));
                    bytes = 0;
                }
            }
        }
    }
    exports::insert_lines(store, id, texts);
    Ok(all)
}

/// Splits a text into parts that fit a row.
fn split_line(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while rest.len() > PART_BYTES_MAX {
        let Some((part, behind)) = rest.split_at_checked(rest.floor_char_boundary(PART_BYTES_MAX)) else { break };
        parts.push(part);
        rest = behind;
    }
    parts.push(rest);
    parts
}

/// Returns the value of a row in a column.
fn value(kind: &ExportKind, row: &Json, field: &str) -> Json {
    if let Some(name) = field.strip_prefix("metadata.") {
        return row.get("metadata").and_then(|metadata| metadata.get(name)).cloned().unwrap_or_default();
    }
    let places = kind.fields.iter().find(|(name, _)| *name == field).map_or(&[][..], |(_, places)| places);
    places.iter().filter_map(|place| row.pointer(place)).find(|value| !value.is_null()).cloned().unwrap_or_default()
}

/// Returns the next lines of an export after a position, and the position of the last one when more follow.
pub fn read(store: &Store<'_>, export: &Document, after: Option<&str>) -> Result<(String, Option<String>), CallError> {
    /// Maximum number of lines read for one part.
    const BOUNDS: LineBounds = LineBounds { lines: 2_000, bytes: ANSWER_BYTES_MAX };
    let order = export.as_export().order();
    let after: Option<LinePlace> = after.and_then(|after| serde_json::from_str(after).ok());
    let lines = exports::list_lines(store, &export.id, is_descending(export, order), after.as_ref(), BOUNDS)?;
    let mut text = String::new();
    if after.is_none() {
        text.push_str(export.body.get(HEAD).and_then(Json::as_str).unwrap_or_default());
    }
    lines.iter().for_each(|line| text.push_str(&line.text));
    let place = |line: &LinePart| json!([line.place, line.seq, line.part]).to_string();
    Ok((text, lines.last().map(place)))
}

/// Tests if an export is in descending order: as requested, else as its kind declares.
fn is_descending(export: &Document, order: Option<&str>) -> bool {
    let name = export.as_export().exported_object();
    order.map_or_else(
        || kinds::find_by_name(name).is_some_and(|kind| !kind.is_ascending),
        |order| order.starts_with('-'),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    fn a_request_keeps_the_names_of_its_stored_members() {
        let stored = json!({
            "word": "order", "fields": ["id"], "order": "created_at", "is_downwards": true,
            "filters": { "junction": "and" }, "parent": null, "campaign": null,
        });
        let request: ExportRequest = serde_json::from_value(stored.clone()).unwrap();
        assert!(request.is_descending && request.kind == "order");
        assert_eq!(serde_json::to_value(&request).unwrap(), stored);
    }

    #[test]
    #[allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    fn a_position_is_stored_as_a_list_of_two_numbers() {
        let position = DocumentPosition { created_at: -5, seq: 7 };
        assert_eq!(serde_json::to_string(&position).unwrap(), "[-5,7]");
        let read: DocumentPosition = serde_json::from_str("[-5,7]").unwrap();
        assert_eq!((read.created_at, read.seq), (-5, 7));
    }
}
