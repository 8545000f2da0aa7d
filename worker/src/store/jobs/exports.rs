//! Exports: the documents that they go through, and their lines. A line that is longer than a row is stored in parts, and is found by its
//! place in the order. Does not depend on the columns of an export.

pub mod columns;

use crate::store::Store;
use crate::store::document::{self, Document};
use crate::store::record_tables::source;
use crate::store::sql::{self, Fault, RowCondition, SqlRow, SqlValue};
use serde_json::{Value as Json, json};

/// A document's place in the order of creation.
#[derive(Debug, Clone, Copy)]
pub struct DocumentPlace {
    /// The time of its creation.
    pub created_at: i64,
    /// Its number.
    pub seq: i64,
    /// The size of its text.
    pub bytes: i64,
}

/// A document that becomes lines of an export.
#[derive(Debug)]
pub struct ExportedDocument {
    /// The document.
    pub document: Document,
    /// The value that the export is ordered by, as text.
    pub place: String,
    /// Its number.
    pub seq: i64,
}

/// A part of a line of an export.
#[derive(Debug)]
pub struct LinePart {
    /// The value that the export is ordered by.
    pub place: String,
    /// The number of the document.
    pub seq: i64,
    /// The number of the part among those of the document; negative where the export is read from its end.
    pub part: i64,
    /// Its text.
    pub text: String,
}

/// The place of a part of a line, after which an export is read on.
pub type LinePlace = (String, i64, i64);

/// Bounds of one read of an export.
#[derive(Debug, Clone, Copy)]
pub struct LineBounds {
    /// Parts of lines, at most.
    pub lines: i64,
    /// Bytes after which no further part is read.
    pub bytes: i64,
}

/// Lists the places of documents that meet a condition, by their numbers alone or by creation.
pub fn list_places(
    store: &Store<'_>,
    kind: &str,
    condition: RowCondition<'_>,
    by_number: bool,
    most: i64,
) -> Result<Vec<DocumentPlace>, Fault> {
    let RowCondition { text, params } = condition;
    let mut params = params.to_vec();
    params.push(most.into());
    let order = if by_number { "seq" } else { "created_at, seq" };
    let statement = format!(
        "SELECT created_at, seq, octet_length(body) FROM {} AS document WHERE {text} ORDER BY {order} LIMIT +?{}",
        source(kind),
        params.len()
    );
    let place = |row: &SqlRow| {
        Ok(DocumentPlace { created_at: sql::int(row, 0)?, seq: sql::int(row, 1)?, bytes: sql::int(row, 2)? })
    };
    store.rows(&statement, &params)?.iter().map(place).collect()
}

/// Lists the documents that meet a condition, each with the value of the column that orders the export.
pub fn list_documents(
    store: &Store<'_>,
    kind: &str,
    condition: RowCondition<'_>,
    column: &str,
) -> Result<Vec<ExportedDocument>, Fault> {
    let RowCondition { text, params } = condition;
    // The longest names are compared up to the length that an index compares.
    let statement = format!(
        "SELECT {}, substr(COALESCE(CAST({column} AS TEXT), ''), 1, 200), seq FROM {} AS document WHERE {text}",
        document::COLUMNS,
        source(kind)
    );
    let exported = |row: &SqlRow| {
        let place = sql::text(row, document::WIDTH)?.to_owned();
        // A place in a row.
        let seq = sql::int(row, document::WIDTH.saturating_add(1))?;
        Ok(ExportedDocument { document: document::read(row)?, place, seq })
    };
    store.rows(&statement, params)?.iter().map(exported).collect()
}

/// Adds parts of lines to an export, at the flush.
pub fn insert_lines(store: &mut Store<'_>, export: &str, parts: Vec<LinePart>) {
    if parts.is_empty() {
        return;
    }
    let row = |LinePart { place, seq, part, text }| json!([place, seq, part, text]);
    let rows: Vec<Json> = parts.into_iter().map(row).collect();
    store.write(
        "INSERT INTO export_line (export, place, seq, part, text) SELECT ?1, json_extract(value, '$[0]'), json_extract(value, '$[1]'),
           json_extract(value, '$[2]'), json_extract(value, '$[3]') FROM json_each(?2)",
        vec![export.into(), Json::Array(rows).to_string().into()],
    );
}

/// Lists the next parts of lines of an export, in ascending or descending order, after a place or from the beginning.
pub fn list_lines(
    store: &Store<'_>,
    export: &str,
    is_downwards: bool,
    after: Option<&LinePlace>,
    bounds: LineBounds,
) -> Result<Vec<LinePart>, Fault> {
    let (sign, direction) = if is_downwards { ("<", "DESC") } else { (">", "ASC") };
    let mut params: Vec<SqlValue> = vec![export.into(), bounds.lines.into(), bounds.bytes.into()];
    let mut behind = String::new();
    if let Some((place, seq, part)) = after {
        behind = format!(" AND (place, seq, part) {sign} (+?4, +?5, +?6)");
        params.extend([place.as_str().into(), (*seq).into(), (*part).into()]);
    }
    let order = format!("place {direction}, seq {direction}, part {direction}");
    let statement = format!(
        "SELECT place, seq, part, text FROM (SELECT place, seq, part, text, SUM(octet_length(text)) OVER (ORDER BY {order}) - octet_length(text) AS before
           FROM (SELECT place, seq, part, text FROM export_line WHERE export = +?1{behind} ORDER BY {order} LIMIT +?2))
         WHERE before < +?3 ORDER BY {order}"
    );
    let part = |row: &SqlRow| {
        let (place, text) = (sql::text(row, 0)?.to_owned(), sql::text(row, 3)?.to_owned());
        Ok(LinePart { place, seq: sql::int(row, 1)?, part: sql::int(row, 2)?, text })
    };
    store.rows(&statement, &params)?.iter().map(part).collect()
}

/// Returns whether an export has more parts of lines than a number.
pub fn has_more_lines(store: &Store<'_>, export: &str, than: i64) -> Result<bool, Fault> {
    let more = "SELECT 1 FROM export_line WHERE export = +?1 LIMIT 1 OFFSET +?2";
    Ok(store.row(more, &[export.into(), than.into()])?.is_some())
}

/// Deletes parts of lines of an export, up to a number, at the flush.
pub fn delete_lines(store: &mut Store<'_>, export: &str, most: i64) {
    store.write(
        "DELETE FROM export_line WHERE (export, place, seq, part) IN
           (SELECT export, place, seq, part FROM export_line WHERE export = +?1 LIMIT +?2)",
        vec![export.into(), most.into()],
    );
}

/// Records the status of an export, and the bytes that were added to it, at the flush.
pub fn update_progress(store: &mut Store<'_>, id: &str, status: &str, added_bytes: i64) {
    store.write(
        "UPDATE document SET body = json_set(body, '$.status', ?2, '$.bytes', CAST(json_extract(body, '$.bytes') + ?3 AS INTEGER))
         WHERE kind = 'export' AND id = +?1",
        vec![id.into(), status.into(), added_bytes.into()],
    );
}

/// Marks an export as failed, at the flush.
pub fn mark_failed(store: &mut Store<'_>, id: &str) {
    store.write(
        "UPDATE document SET body = json_set(body, '$.status', 'ERROR') WHERE kind = 'export' AND id = +?1",
        vec![id.into()],
    );
}
