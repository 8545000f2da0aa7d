//! Tables of the kinds of which there are only ever more. A row has its number by time, and an id begins with the number of its row, so that
//! most ids need no index. The other columns are those of documents.
//!
//! Rows of earlier versions are among the documents until a job has moved them, so such a kind is read from a view of both.

use super::document_columns::columns;
use super::queued::{FurtherStatement, QueuedWrite};
use super::sql::SqlValue;
use scrip::id::{first_number_at, record_number};
use serde_json::Value as Json;
use std::cell::Cell;

/// Table of a kind.
#[derive(Debug, PartialEq, Eq)]
pub struct RecordTable {
    /// The kind.
    pub kind: &'static str,
    /// Name of the table.
    pub name: &'static str,
    /// View of the table and of the rows of earlier versions.
    pub source: &'static str,
    insert: &'static str,
    upsert: &'static str,
    update_body: &'static str,
    update: &'static str,
}

/// Statement that inserts a record. A number that another record has is passed over, and the record is found by its id then.
macro_rules! insert {
    ($name:literal, $updated_at:literal) => {
        concat!(
            "INSERT INTO ",
            $name,
            " (",
            columns!(),
            ", seq, is_named)
             SELECT ?2, ?3, ?4, ?5, ?6, ",
            $updated_at,
            ", ?8, place.seq, CASE WHEN place.seq IS NOT ?9 THEN 1 END FROM (WITH RECURSIVE
               taken (seq) AS (SELECT ?10 UNION ALL SELECT seq + 1 FROM taken
                 WHERE EXISTS (SELECT 1 FROM ",
            $name,
            " AS other WHERE other.seq = taken.seq AND other.id <> ?2))
               SELECT MAX(seq) AS seq FROM taken) AS place WHERE (?1 IS NOT NULL OR ?7 IS NULL) "
        )
    };
}

/// Statement that inserts a record, or updates the one with its id. It returns a row, unless the record is one of an earlier version that has
/// not been moved yet.
macro_rules! upsert {
    ($name:literal) => {
        concat!(
            insert!($name, "NULL"),
            "AND NOT EXISTS (SELECT 1 FROM document WHERE kind = +?1 AND id = +?2)
             ON CONFLICT (seq) DO UPDATE SET key = excluded.key, parent = excluded.parent, holder = excluded.holder,
               updated_at = excluded.created_at, body = excluded.body
             ON CONFLICT (id) WHERE is_named = 1 DO UPDATE SET key = excluded.key, parent = excluded.parent, holder = excluded.holder,
               updated_at = excluded.created_at, body = excluded.body RETURNING 1"
        )
    };
}

/// Declares a table. A macro, because `concat!` takes only literals and the statements are constants.
macro_rules! record_table {
    ($kind:literal, $name:literal, $source:literal) => {
        RecordTable {
            kind: $kind,
            name: $name,
            source: $source,
            insert: insert!($name, "?7"),
            upsert: upsert!($name),
            update_body: concat!(
                "UPDATE ",
                $name,
                " SET updated_at = ?7, body = ?8 WHERE id = +?2 AND (seq = +?9 OR is_named = 1)
                 AND +key IS ?3 AND +parent IS ?4 AND +holder IS ?5 RETURNING 1"
            ),
            update: concat!(
                "UPDATE ",
                $name,
                " SET key = ?3, parent = ?4, holder = ?5, updated_at = ?7, body = ?8 WHERE id = +?2 AND (seq = +?9 OR is_named = 1) RETURNING 1"
            ),
        }
    };
}

/// All such tables.
pub const RECORD_TABLES: &[RecordTable] = &[
    record_table!("event", "event", "every_event"),
    record_table!("order", "orders", "every_order"),
    record_table!("redemption", "redemption", "every_redemption"),
    record_table!("voucher_transaction", "voucher_transaction", "every_voucher_transaction"),
];

/// Redemptions and the transactions of vouchers, which are one list.
pub const CARD_TRANSACTIONS: (&[&str], &str) = (&["redemption", "voucher_transaction"], "every_card_transaction");

/// Updates a record of an earlier version that has not been moved yet.
const UPDATE_EARLIER: FurtherStatement = FurtherStatement {
    text: "UPDATE document SET key = ?3, parent = ?4, holder = ?5, updated_at = ?7, body = ?8 WHERE kind = +?1 AND id = +?2 RETURNING 1",
    params: COLUMNS,
};

/// Returns the table of a kind that has its own.
pub fn record_table(kind: &str) -> Option<&'static RecordTable> {
    RECORD_TABLES.iter().find(|table| table.kind == kind)
}

/// Returns the table of a name.
pub fn named(name: &str) -> Option<&'static RecordTable> {
    RECORD_TABLES.iter().find(|table| table.name == name)
}

/// Returns the table or view from which documents of a kind are read.
pub fn source(kind: &str) -> &'static str {
    record_table(kind).map_or("document", |table| table.source)
}

/// Returns the same for several kinds, of which those with a table of their own are in a view.
pub fn source_of_all(kinds: &[&str]) -> &'static str {
    match kinds {
        [kind] => source(kind),
        kinds if *kinds == *CARD_TRANSACTIONS.0 => CARD_TRANSACTIONS.1,
        kinds => {
            debug_assert!(kinds.iter().all(|kind| record_table(kind).is_none()), "no view has {kinds:?}");
            "document"
        }
    }
}

/// Adds the parameters of a condition that finds a document by its id in a table or view, and returns the condition.
pub fn with_id(source: &str, id: &str, params: &mut Vec<SqlValue>) -> String {
    params.push(id.into());
    let named = format!("id = +?{}", params.len());
    if source == "document" {
        return named;
    }
    params.push(record_number(id).into());
    format!("{named} AND (seq = +?{} OR is_named = 1)", params.len())
}

/// Adds the parameters of a condition that finds documents by their ids in a table or view, and returns the condition.
pub fn with_ids(source: &str, ids: &[&str], params: &mut Vec<SqlValue>) -> String {
    params.push(Json::from(ids).to_string().into());
    let named = format!("id IN (SELECT value FROM json_each(?{}))", params.len());
    if source == "document" {
        return named;
    }
    let numbers: Vec<i64> = ids.iter().filter_map(|id| record_number(id)).collect();
    params.push(Json::from(numbers).to_string().into());
    format!("{named} AND (seq IN (SELECT value FROM json_each(?{})) OR is_named = 1 AND {named})", params.len())
}

thread_local! {
    /// The last number that a record has got in this instance, of any object.
    static LAST: Cell<i64> = const { Cell::new(0) };
}

/// Records of a time get the numbers after those that others of the same time have. A clock that stands still draws on the numbers of this
/// many milliseconds; one that was set back begins again.
const AHEAD_MS: i64 = 1_000;

/// Returns the number for the next record of a time, in milliseconds since 1970.
pub fn next_number(now_ms: i64) -> i64 {
    next_from(first_number_at(now_ms))
}

/// Returns a number that was not given out, or most probably not: from a first one on.
fn next_from(first: i64) -> i64 {
    // Numbers have 53 bits.
    let next = LAST.get().saturating_add(1);
    // Numbers have 53 bits.
    if next > first && next.saturating_sub(first) < first_number_at(AHEAD_MS) { next } else { first }
}

/// Records that a number was given out by a call. One far below the last is of a clock that was set back. A call that is repeated gives
/// out none.
fn note(number: i64, first: i64) {
    // Numbers have 53 bits.
    let is_set_back = LAST.get().saturating_sub(number) >= first_number_at(AHEAD_MS);
    if first > 0 {
        LAST.set(if is_set_back { number } else { number.max(LAST.get()) });
    }
}

/// Number of the columns of a document that a record has: with its kind, and without digests and a folded name.
const COLUMNS: usize = 8;

/// Place of the time of the last change among them.
const UPDATED_AT: usize = 6;

/// A number that is farther than this from the first one of a call was not given out in it: about a minute.
const FAR: u64 = 60_000 << 11;

/// Returns the number of a new record with an id: the one in the id, if the call that began with `first` has given it out. The digits of other
/// ids are no number of this time.
fn place(id: &str, first: i64) -> i64 {
    let own = record_number(id).filter(|own| own.abs_diff(first) < FAR);
    own.unwrap_or_else(|| next_from(first))
}

/// Returns the statement that inserts a record, for the columns of a document. `first` is the first number that the call may give out.
pub(super) fn insertion(table: &'static RecordTable, id: &str, first: i64, columns: Vec<SqlValue>) -> QueuedWrite {
    let number = place(id, first);
    note(number, first);
    QueuedWrite::new(table.insert, with_numbers(columns, id, number))
}

/// Returns the columns of a record, the number in its id and its own number.
fn with_numbers(mut columns: Vec<SqlValue>, id: &str, number: i64) -> Vec<SqlValue> {
    columns.truncate(COLUMNS);
    columns.extend([record_number(id).into(), number.into()]);
    columns
}

/// Returns the statement that updates a record, for the columns of a document.
pub(super) fn update(table: &'static RecordTable, id: &str, mut columns: Vec<SqlValue>) -> QueuedWrite {
    columns.truncate(COLUMNS);
    columns.push(record_number(id).into());
    let all = FurtherStatement { text: table.update, params: columns.len() };
    QueuedWrite { otherwise: vec![all, UPDATE_EARLIER], ..QueuedWrite::new(table.update_body, columns) }
}

/// Returns the statement that inserts a record, or updates it. The columns have the time of both. `first` is the first number that the call
/// may give out: a record with such a number is most probably a new one.
pub(super) fn upsert(
    table: &'static RecordTable,
    id: &str,
    now_ms: i64,
    first: i64,
    mut columns: Vec<SqlValue>,
) -> QueuedWrite {
    let number = place(id, first);
    if let Some(updated_at) = columns.get_mut(UPDATED_AT) {
        *updated_at = now_ms.into();
    }
    let columns = with_numbers(columns, id, number);
    let upsert = FurtherStatement { text: table.upsert, params: columns.len() };
    if record_number(id) == Some(number) && number >= first {
        note(number, first);
        return QueuedWrite { otherwise: vec![UPDATE_EARLIER], ..QueuedWrite::new(table.upsert, columns) };
    }
    // Without the number.
    let update = columns.len().saturating_sub(1);
    let all = FurtherStatement { text: table.update, params: update };
    let otherwise = vec![all, UPDATE_EARLIER, upsert];
    QueuedWrite { otherwise, first: update, ..QueuedWrite::new(table.update_body, columns) }
}
