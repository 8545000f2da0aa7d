//! Exports: begun, written line by line as long work, and read again part by part. It must not know which columns there are.
//!
//! Every line is a row that is found by its place in the order, so that documents are gone through as they lie, a few at a time, whatever the
//! order; and what is only written in part is never read.

use crate::document::cells;
use crate::document::clause::Clause;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::http::table::Table;
use crate::shop::export_filters::narrow;
use crate::shop::export_kinds;
use crate::shop::exported::Exported;
use crate::store::Store;
use crate::store::document::{self, Document};
use crate::store::sql::{self, Fault, Value};
use crate::work::actions::Piece;
use crate::work::asker::Asker;
use scrip::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// The kind of the job that writes an export.
pub const WRITE: &str = "EXPORT.WRITE";
/// The kind of the job that removes the lines of one.
pub const REMOVE: &str = "EXPORT.REMOVE";
/// The member of an export that nobody is shown: its first line.
pub const HEAD: &str = "head";
/// Another one: how many bytes there are in all.
pub const BYTES: &str = "bytes";
/// What a line costs, in rows that a job writes without looking at them.
const ROWS_OF_A_LINE: u64 = 5;
/// Bytes of the documents of one piece, unless a single one is longer.
const BYTES_MAX: i64 = 2_000_000;
/// Bytes of a part of a line, and of the lines that one statement writes.
const PART_BYTES_MAX: usize = 200_000;
/// Bytes of a part of the answer, unless a single line is longer.
const ANSWER_BYTES_MAX: i64 = 400_000;
/// Lines that are removed at once.
const REMOVED_MAX: i64 = 1_000;

/// What is exported, and how far it is.
#[derive(Debug, Serialize, Deserialize)]
pub struct Wanted {
    /// The word of the kind.
    pub word: String,
    /// The columns.
    pub fields: Vec<String>,
    /// The order's word, without a sign.
    pub order: String,
    /// Whether it goes downwards.
    pub is_downwards: bool,
    /// The filters as sent.
    pub filters: Map<String, Json>,
    /// What all of it belongs to.
    pub parent: Option<String>,
    /// The campaign of the cards that all of it happened to.
    pub campaign: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Cursor {
    asker: Asker,
    wanted: Wanted,
    /// Which of the kinds of documents is gone through.
    kind: usize,
    /// Where the last document stands that was looked at: its time and its number.
    after: (i64, i64),
    /// Documents of later are left out.
    until: i64,
}

/// Begins an export at the commit; gives it as it is answered.
pub fn start(call: &mut Call<'_, '_>, wanted: Wanted, parameters: Json) -> Result<Document, CallError> {
    let kind = kind_of(&wanted)?;
    kind.check_fields(&wanted.fields)?;
    let filters = (wanted.campaign.as_deref(), &wanted.filters);
    narrow(Clause::of_kind(kind.word), kind, filters, (call.now_ms(), &call.caller.settings.time_zone))?;
    let now_ms = call.now_ms();
    let id = call.ids.alphanumeric("exp_", 24).to_string();
    let body = json!({
        "id": id, "object": "export", "created_at": crate::moment::text(now_ms), "status": "SCHEDULED", "channel": "API",
        "exported_object": wanted.word, "parameters": parameters, "result": null, "user_id": call.caller.user,
    });
    let mut body = body.as_object().cloned().unwrap_or_default();
    let cursor = Cursor { asker: Asker::of(call), kind: 0, after: (i64::MIN, 0), until: now_ms, wanted };
    let head = cells::line(cursor.wanted.fields.iter())?;
    body.insert(BYTES.into(), head.len().into());
    body.insert(HEAD.into(), head.into());
    let export = Document::new(id.clone(), None, now_ms, body);
    call.store.insert("export", &export);
    call.store.leaves_later();
    begin(call.store, (&id, WRITE), &written(&cursor)?, now_ms);
    Ok(export)
}

fn begin(store: &mut Store<'_>, (id, kind): (&str, &str), cursor: &str, now_ms: i64) {
    let params = vec![id.into(), now_ms.into(), kind.into(), cursor.into()];
    store.write("INSERT OR REPLACE INTO due (id, at, kind, cursor, attempts) VALUES (?1, ?2, ?3, ?4, 0)", params);
    store.wake_at(now_ms);
}

fn written(cursor: &Cursor) -> Result<String, Fault> {
    serde_json::to_string(cursor).map_err(|error| Fault(error.to_string()))
}

fn kind_of(wanted: &Wanted) -> Result<&'static Exported, Fault> {
    export_kinds::named(&wanted.word).ok_or_else(|| Fault(format!("nothing is exported as `{}`", wanted.word)))
}

/// Removes an export at the commit: its lines at once, where they are few.
pub fn remove(call: &mut Call<'_, '_>, id: &str) -> Result<(), CallError> {
    call.store.remove("export", id);
    call.store.write("DELETE FROM due WHERE id = +?1", vec![id.into()]);
    let params = [id.into(), REMOVED_MAX.into()];
    let many = call.store.row("SELECT 1 FROM export_line WHERE export = +?1 LIMIT 1 OFFSET +?2", &params)?.is_some();
    call.store.write(REMOVE_LINES, params.to_vec());
    if many {
        begin(call.store, (id, REMOVE), "", call.context.now.millis());
    }
    Ok(())
}

const REMOVE_LINES: &str = "DELETE FROM export_line WHERE (export, place, seq, part) IN
   (SELECT export, place, seq, part FROM export_line WHERE export = +?1 LIMIT +?2)";

/// Removes the next lines of an export that is gone.
pub fn remove_lines(store: &mut Store<'_>, context: &Context, piece: &Piece<'_>) -> Result<(), Fault> {
    let rows = i64::try_from(piece.rows).unwrap_or(REMOVED_MAX);
    let many = store
        .row("SELECT 1 FROM export_line WHERE export = +?1 LIMIT 1 OFFSET +?2", &[piece.id.into(), rows.into()])?;
    store.write(REMOVE_LINES, vec![piece.id.into(), rows.into()]);
    match many {
        Some(_) => begin(store, (piece.id, REMOVE), "", context.now.millis()),
        None => store.write("DELETE FROM due WHERE id = +?1", vec![piece.id.into()]),
    }
    Ok(())
}

/// Writes the lines of the next documents.
pub fn write(store: &mut Store<'_>, context: &Context, piece: &Piece<'_>, table: &Table) -> Result<(), Fault> {
    let mut cursor: Cursor = piece.read()?;
    let kind = kind_of(&cursor.wanted)?;
    let Some(stored) = kind.kinds.get(cursor.kind).copied() else {
        return Err(Fault(format!("the export {} has come too far", piece.id)));
    };
    let count = piece.rows.checked_div(ROWS_OF_A_LINE).unwrap_or(1).max(1);
    let last = last_of(store, stored, &cursor, count)?;
    let until = last.unwrap_or((i64::MAX, i64::MAX));
    let told = lines(store, context, (piece.id, table), &cursor, (kind, stored, until));
    let bytes = match told {
        Ok(bytes) => i64::try_from(bytes).unwrap_or(0),
        Err(CallError::Fault(fault)) => return Err(fault),
        Err(CallError::Refused(body)) => return Err(Fault(format!("{:?}", body.details))),
    };
    cursor.after = until;
    if last.is_none() {
        (cursor.kind, cursor.after) = (cursor.kind.saturating_add(1), (i64::MIN, 0));
    }
    let is_over = cursor.kind >= kind.kinds.len();
    let status = if is_over { "DONE" } else { "IN_PROGRESS" };
    store.write(
        "UPDATE document SET body = json_set(body, '$.status', ?2, '$.bytes', CAST(json_extract(body, '$.bytes') + ?3 AS INTEGER))
         WHERE kind = 'export' AND id = +?1",
        vec![piece.id.into(), status.into(), bytes.into()],
    );
    match is_over {
        true => store.write("DELETE FROM due WHERE id = +?1", vec![piece.id.into()]),
        false => begin(store, (piece.id, WRITE), &written(&cursor)?, context.now.millis()),
    }
    Ok(())
}

/// Where the last of the next documents stands; nothing where no more are left behind it.
fn last_of(store: &Store<'_>, stored: &str, cursor: &Cursor, count: u64) -> Result<Option<(i64, i64)>, Fault> {
    let count = i64::try_from(count).unwrap_or(1);
    let span = span(stored, cursor.wanted.parent.as_deref(), cursor.after, (i64::MAX, i64::MAX));
    let (text, params) = span.parts();
    let mut params = params.to_vec();
    params.push(count.saturating_add(1).into());
    let order = if cursor.wanted.parent.is_some() { "seq" } else { "created_at, seq" };
    let statement = format!(
        "SELECT created_at, seq, octet_length(body) FROM document WHERE {text} ORDER BY {order} LIMIT +?{}",
        params.len()
    );
    let rows = store.rows(&statement, &params)?;
    let mut bytes: i64 = 0;
    let mut last = None;
    for (place, row) in rows.iter().enumerate() {
        bytes = bytes.saturating_add(sql::int(row, 2)?);
        let is_full = bytes > BYTES_MAX || i64::try_from(place).unwrap_or(count) >= count;
        if last.is_some() && is_full {
            return Ok(last);
        }
        last = Some((sql::int(row, 0)?, sql::int(row, 1)?));
    }
    Ok(None)
}

/// The documents of a kind behind a place, up to another one: by time, those of a parent by their number.
fn span(stored: &str, parent: Option<&str>, after: (i64, i64), until: (i64, i64)) -> Clause {
    /// Numbers are doubles on the platform.
    const MOST: i64 = 9_007_199_254_740_991;
    let bound = |number: i64| number.clamp(-MOST, MOST);
    let mut clause = Clause::of_kind(stored);
    match parent {
        Some(parent) => {
            clause.and("parent = {}", parent);
            clause.and("seq > {}", bound(after.1));
            clause.and("seq <= {}", bound(until.1));
        }
        None => {
            let pair = |(at, seq): (i64, i64)| vec![bound(at).into(), bound(seq).into()];
            let behind = ("(created_at, seq) > ({}, {})".to_owned(), pair(after));
            let up_to = ("(created_at, seq) <= ({}, {})".to_owned(), pair(until));
            clause.and_group("AND", vec![behind, up_to]);
        }
    }
    clause
}

/// Writes the lines of the documents up to a place; says how many bytes they have.
fn lines(
    store: &mut Store<'_>,
    context: &Context,
    (id, table): (&str, &Table),
    cursor: &Cursor,
    (kind, stored, until): (&Exported, &str, (i64, i64)),
) -> Result<usize, CallError> {
    let wanted = &cursor.wanted;
    let clause = span(stored, wanted.parent.as_deref(), cursor.after, until);
    let clause = narrow(
        clause,
        kind,
        (wanted.campaign.as_deref(), &wanted.filters),
        (cursor.until, &cursor.asker.caller.settings.time_zone),
    )?;
    let place = kind.orders.iter().find(|(name, _)| *name == wanted.order).map_or("''", |(_, column)| *column);
    let (text, params) = clause.parts();
    // The longest names are compared as far as an index looks at them.
    let statement = format!(
        "SELECT {}, substr(COALESCE(CAST({place} AS TEXT), ''), 1, 200), seq FROM document WHERE {text}",
        document::COLUMNS
    );
    let rows = store.rows(&statement, params)?;
    let places: Result<Vec<(String, i64)>, Fault> = rows
        .iter()
        .map(|row| Ok((sql::text(row, document::WIDTH)?.to_owned(), sql::int(row, document::WIDTH.saturating_add(1))?)))
        .collect();
    let documents: Result<Vec<Document>, Fault> = rows.iter().map(|row| document::read(row)).collect();
    let (places, documents) = (places?, documents?);
    let told = cursor.asker.ask((store, context, table), |call| (kind.rows)(call, documents))?;
    let mut texts: Vec<Json> = Vec::new();
    let (mut bytes, mut all): (usize, usize) = (0, 0);
    for ((place, seq), rows) in places.into_iter().zip(told) {
        let mut part: i64 = 0;
        for row in rows {
            let line = cells::line(wanted.fields.iter().map(|field| cells::cell(&value(kind, &row.told, field))))?;
            all = all.saturating_add(line.len());
            let place = row.place.as_deref().unwrap_or(&place);
            for piece in parts(&line) {
                // Downwards the lines are read from their end, and the parts of one must still follow each other.
                let number = if wanted.is_downwards { part.saturating_neg() } else { part };
                texts.push(json!([place, seq, number, piece]));
                part = part.saturating_add(1);
                bytes = bytes.saturating_add(piece.len());
                if bytes > PART_BYTES_MAX {
                    put(store, id, std::mem::take(&mut texts));
                    bytes = 0;
                }
            }
        }
    }
    put(store, id, texts);
    Ok(all)
}

fn put(store: &mut Store<'_>, id: &str, texts: Vec<Json>) {
    if !texts.is_empty() {
        store.write(
            "INSERT INTO export_line (export, place, seq, part, text) SELECT ?1, json_extract(value, '$[0]'), json_extract(value, '$[1]'),
               json_extract(value, '$[2]'), json_extract(value, '$[3]') FROM json_each(?2)",
            vec![id.into(), Json::Array(texts).to_string().into()],
        );
    }
}

/// A text in parts that rows hold.
fn parts(text: &str) -> Vec<&str> {
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

/// What a row says in a column.
fn value(kind: &Exported, row: &Json, field: &str) -> Json {
    if let Some(name) = field.strip_prefix("metadata.") {
        return row.get("metadata").and_then(|metadata| metadata.get(name)).cloned().unwrap_or_default();
    }
    let places = kind.fields.iter().find(|(name, _)| *name == field).map_or(&[][..], |(_, places)| places);
    places.iter().filter_map(|place| row.pointer(place)).find(|value| !value.is_null()).cloned().unwrap_or_default()
}

/// The next lines of an export behind a place, and the place of the last where there are more behind it.
pub fn read(store: &Store<'_>, export: &Document, after: Option<&str>) -> Result<(String, Option<String>), CallError> {
    /// Lines that are looked at for one part.
    const LINES_MAX: i64 = 2_000;
    let order = export.body.get("parameters").and_then(|parameters| parameters.get("order")).and_then(Json::as_str);
    let (sign, direction) = if is_downwards(export, order) { ("<", "DESC") } else { (">", "ASC") };
    let after: Option<(String, i64, i64)> = after.and_then(|after| serde_json::from_str(after).ok());
    let mut params: Vec<Value> = vec![export.id.as_str().into(), LINES_MAX.into(), ANSWER_BYTES_MAX.into()];
    let mut behind = String::new();
    if let Some((place, seq, part)) = &after {
        behind = format!(" AND (place, seq, part) {sign} (+?4, +?5, +?6)");
        params.extend([place.as_str().into(), (*seq).into(), (*part).into()]);
    }
    let order = format!("place {direction}, seq {direction}, part {direction}");
    let statement = format!(
        "SELECT place, seq, part, text FROM (SELECT place, seq, part, text, SUM(octet_length(text)) OVER (ORDER BY {order}) - octet_length(text) AS before
           FROM (SELECT place, seq, part, text FROM export_line WHERE export = +?1{behind} ORDER BY {order} LIMIT +?2))
         WHERE before < +?3 ORDER BY {order}"
    );
    let rows = store.rows(&statement, &params)?;
    let mut text = String::new();
    if after.is_none() {
        text.push_str(export.body.get(HEAD).and_then(Json::as_str).unwrap_or_default());
    }
    for row in &rows {
        text.push_str(sql::text(row, 3)?);
    }
    let place = |row: &sql::Row| -> Result<String, Fault> {
        Ok(json!([sql::text(row, 0)?, sql::int(row, 1)?, sql::int(row, 2)?]).to_string())
    };
    Ok((text, rows.last().map(place).transpose()?))
}

/// Whether an export goes downwards: as it was asked, or as its kind does by itself.
fn is_downwards(export: &Document, order: Option<&str>) -> bool {
    let word = export.body.get("exported_object").and_then(Json::as_str).unwrap_or_default();
    order.map_or_else(|| export_kinds::named(word).is_some_and(|kind| !kind.is_upwards), |order| order.starts_with('-'))
}
