//! The move of records of earlier versions from the table of documents to that of their kind.

use crate::store::Store;
use crate::store::document_columns::COLUMNS;
use crate::store::record_tables::{RECORD_TABLES, RecordTable};
use crate::store::schema::end_of_record_move;
use crate::store::sql::{self, Fault};

/// Id and kind of the job that moves records, which a migration queues.
pub const MOVE_RECORDS: &str = "MOVE_RECORDS";

/// Bytes of texts after which a slice takes no further record.
const SLICE_BYTES: i64 = 1_000_000;

/// Moves the next records of earlier versions when the call commits, up to a number. After the last it makes the views of one table each, and
/// returns false.
pub fn move_next(store: &mut Store<'_>, count: u64) -> Result<bool, Fault> {
    for table in RECORD_TABLES {
        if move_of(store, table, count)? {
            return Ok(true);
        }
    }
    end_of_record_move().for_each(|statement| store.write(statement, Vec::new()));
    Ok(false)
}

/// Moves records of a kind; false where there are none.
fn move_of(store: &mut Store<'_>, table: &RecordTable, count: u64) -> Result<bool, Fault> {
    // SQLite has fewer rows.
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let row = store.row(
        "SELECT json_group_array(seq), COUNT(*) FROM (SELECT seq, SUM(bytes) OVER (ORDER BY created_at, seq) - bytes AS before FROM
           (SELECT seq, created_at, octet_length(body) AS bytes FROM document WHERE kind = +?1 ORDER BY created_at, seq LIMIT +?2))
         WHERE before < +?3",
        &[table.kind.into(), count.into(), SLICE_BYTES.into()],
    )?;
    let row = row.unwrap_or_default();
    if sql::int(&row, 1)? == 0 {
        return Ok(false);
    }
    let moved = sql::text(&row, 0)?.to_owned();
    let earlier = "FROM document WHERE seq IN (SELECT value FROM json_each(?1))";
    for statement in [
        format!(
            "INSERT INTO {} (seq, is_named, {COLUMNS}) SELECT seq, 1, {} {earlier}",
            table.name,
            // An erasure that has not ended has padded texts.
            COLUMNS.replace("body", "rtrim(body, char(10))")
        ),
        // Deleted text stays readable in the file.
        "UPDATE document SET body = printf('%-*s', octet_length(body), '{}') WHERE seq IN (SELECT value FROM json_each(?1))".to_owned(),
        format!("DELETE {earlier}"),
    ] {
        store.write_counts(statement, vec![moved.as_str().into()]);
    }
    Ok(true)
}
