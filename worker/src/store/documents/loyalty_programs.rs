//! Documents of loyalty programs by the documents that they belong to, name, or are assigned to.

use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault, SqlRow};
use serde_json::Value as Json;

/// A document by its id, with its status.
#[derive(Debug)]
pub struct DocumentStatus {
    /// Its id.
    pub id: String,
    /// Its status; nothing where the document is missing.
    pub status: Option<String>,
}

impl DocumentStatus {
    fn read(row: &SqlRow) -> Result<DocumentStatus, Fault> {
        let status = sql::text_or_null(row, 1)?.map(str::to_owned);
        Ok(DocumentStatus { id: sql::text(row, 0)?.to_owned(), status })
    }
}

/// Returns whether a document of a kind belongs to another.
pub fn has_owned(store: &Store<'_>, kind: &str, parent: &str) -> Result<bool, Fault> {
    let one = "SELECT 1 FROM document WHERE kind = +?1 AND parent = +?2 LIMIT 1";
    Ok(store.row(one, &[kind.into(), parent.into()])?.is_some())
}

/// Finds the status of a document.
pub fn find_status(store: &Store<'_>, kind: &str, id: &str) -> Result<Option<DocumentStatus>, Fault> {
    let row = store.row(
        "SELECT id, json_extract(body, '$.status') FROM document WHERE kind = +?1 AND id = +?2",
        &[kind.into(), id.into()],
    )?;
    row.map(|row| DocumentStatus::read(&row)).transpose()
}

/// Lists the documents of a kind whose text contains an id as a JSON text.
pub fn list_containing(store: &Store<'_>, kind: &str, id: &str) -> Result<Vec<Document>, Fault> {
    store.select("kind = +?1 AND instr(body, ?2) > 0", &[kind.into(), Json::from(id).to_string().into()])
}

/// Lists the programs of a kind that a document is assigned to, in the order of the assignments.
pub fn list_programs_of(
    store: &Store<'_>,
    assignment: &str,
    holder: &str,
    program: &str,
) -> Result<Vec<DocumentStatus>, Fault> {
    let rows = store.rows(
        "SELECT program.id, json_extract(program.body, '$.status') FROM document AS assigned
         JOIN document AS program ON program.kind = +?3 AND program.id = assigned.parent
         WHERE assigned.kind = +?1 AND assigned.holder = +?2 ORDER BY assigned.seq",
        &[assignment.into(), holder.into(), program.into()],
    )?;
    rows.iter().map(DocumentStatus::read).collect()
}

/// Lists the documents of a kind that are assigned to a program, in the order of the assignments.
pub fn list_assigned(
    store: &Store<'_>,
    assignment: &str,
    program: &str,
    kind: &str,
) -> Result<Vec<DocumentStatus>, Fault> {
    let rows = store.rows(
        "SELECT assigned.holder, json_extract(other.body, '$.status') FROM document AS assigned
         LEFT JOIN document AS other ON other.kind = +?3 AND other.id = assigned.holder
         WHERE assigned.kind = +?1 AND assigned.parent = +?2 ORDER BY assigned.seq",
        &[assignment.into(), program.into(), kind.into()],
    )?;
    rows.iter().map(DocumentStatus::read).collect()
}
