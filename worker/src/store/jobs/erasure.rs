//! Rows that name a customer who is erased: how they are found, renamed, overwritten in their own length, and deleted. Does not depend on the
//! way in which a text names a customer.

use crate::store::Store;
use crate::store::jobs::remnants::{PagedTable, blank};
use crate::store::ledger::movements::MOVE_TRANSFERS;
use crate::store::record_tables;
use crate::store::sql::{self, Fault, SqlRow, SqlValue};
use serde_json::Value as Json;

/// A table other than documents whose rows name customers in a column.
struct PersonalDataTable {
    name: &'static str,
    column: &'static str,
    /// The columns with personal texts of a row that is deleted with its customer; a row without stays under the alias.
    deleted_texts: Option<&'static [&'static str]>,
}

/// All such tables: one that is added later has its line here.
const TABLES: &[PersonalDataTable] =
    &[PersonalDataTable { name: "earning_occasion", column: "customer", deleted_texts: None }];

/// Selects the names of a customer's accounts in a column.
macro_rules! own_accounts {
    ($column:literal) => {
        concat!($column, " >= 'customer/' || ?1 AND ", $column, " < 'customer/' || ?1 || '0'")
    };
}

/// Keys and conditions by which the accounts of a customer are found. One that is not counted by time is in a transfer with one that is.
const ACCOUNTS: &[(&str, &str)] = &[("id", own_accounts!("id"))];
const TRANSFERS: &[(&str, &str)] = &[
    ("chain, id", concat!(own_accounts!("debit"), " AND by_debit = 1")),
    ("chain, id", concat!(own_accounts!("credit"), " AND by_credit = 1")),
];

/// Adds balances to those under the other name: a transfer that was renamed before its account may have been counted since.
const MERGE_ACCOUNTS: &str = concat!(
    "INSERT INTO account (id, balance) SELECT replace(id, ?1, ?2), balance FROM account WHERE ",
    own_accounts!("id"),
    " ORDER BY id LIMIT +?3 ON CONFLICT (id) DO UPDATE SET balance = balance + excluded.balance"
);

const DELETE_ACCOUNTS: &str = concat!(
    "DELETE FROM account WHERE id IN (SELECT id FROM account WHERE ",
    own_accounts!("id"),
    " ORDER BY id LIMIT +?2)"
);

const RENAME_BOTH: &str = concat!(
    "debit = CASE WHEN ",
    own_accounts!("debit"),
    " THEN replace(debit, ?1, ?2) ELSE debit END, credit = CASE WHEN ",
    own_accounts!("credit"),
    " THEN replace(credit, ?1, ?2) ELSE credit END"
);

/// The id of a customer who is erased, and the id that takes its place.
#[derive(Debug, Clone, Copy)]
pub struct ErasedCustomer<'c> {
    /// The customer's id.
    pub id: &'c str,
    /// The id without a meaning.
    pub alias: &'c str,
}

/// The documents that an erasure scans.
#[derive(Debug, Clone, Copy)]
pub struct ErasureBounds {
    /// The number of the last document.
    pub last: i64,
    /// The number of the customer's own document.
    pub own: i64,
}

/// The next rows of a table.
#[derive(Debug, Clone, Copy)]
pub struct RowRange {
    /// The number of the last row.
    pub last: i64,
    /// Number of rows.
    pub count: i64,
}

/// The text of a row that may name the customer.
#[derive(Debug)]
pub struct NamingText<I> {
    /// The id or the number of the row.
    pub id: I,
    /// The text.
    pub text: String,
}

/// A document that may name the customer.
#[derive(Debug)]
pub struct NamedDocument {
    /// Its number.
    pub seq: i64,
    /// Its kind.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// The column of its key.
    pub key: Option<String>,
    /// The document that it belongs to.
    pub parent: Option<String>,
    /// Its holder.
    pub holder: Option<String>,
    /// Its text.
    pub body: String,
}

/// The texts by which documents name the customer.
#[derive(Debug, Clone, Copy)]
pub struct SearchTexts<'t> {
    /// Texts in JSON.
    pub in_json: &'t [String],
    /// Texts in the JSON texts of queued CSV files.
    pub in_files: &'t [String],
}

/// A line of an export that may name the customer.
#[derive(Debug)]
pub struct NamedLine {
    /// Its place, as JSON.
    pub place: String,
    /// The text of one of its parts.
    pub text: String,
    /// True if it is a line of a document of the customer.
    pub is_own: bool,
}

/// Returns texts as a list for `json_each`.
fn list(texts: &[String]) -> SqlValue {
    Json::from(texts.to_vec()).to_string().into()
}

/// Finds the documents that the erasure of a customer scans.
pub fn find_bounds(store: &Store<'_>, customer: &str) -> Result<ErasureBounds, Fault> {
    let row = store.row(
        "SELECT (SELECT MAX(seq) FROM document), (SELECT seq FROM document WHERE kind = 'customer' AND id = +?1)",
        &[customer.into()],
    )?;
    let row = row.unwrap_or_default();
    // An empty table has no last place, and a customer who is deleted has none.
    let number = |column| Ok::<i64, Fault>(sql::int_or_null(&row, column)?.unwrap_or(0));
    Ok(ErasureBounds { last: number(0)?, own: number(1)? })
}

/// Lists the webhook deliveries about a customer by their places.
pub fn list_deliveries_of(store: &Store<'_>, customer: &str) -> Result<Vec<i64>, Fault> {
    let rows = store.rows("SELECT seq FROM outbox WHERE customer = +?1 ORDER BY seq", &[customer.into()])?;
    rows.iter().map(|row| sql::int(row, 0)).collect()
}

/// Overwrites the document of a customer, at the flush. Its id stays: a webhook announces the deletion by it.
pub fn blank_customer(store: &mut Store<'_>, customer: &str) {
    store.write(
        "UPDATE document SET marks = NULL, label = substr(hex(zeroblob(octet_length(label))), 1, octet_length(label)), body = printf('%-*s', octet_length(body), json_object('id', id, 'object', 'customer'))
         WHERE kind = 'customer' AND id = +?1",
        vec![customer.into()],
    );
}

/// Renames a customer in the tables other than documents, or deletes the rows, at the flush.
pub fn erase_in_tables(store: &mut Store<'_>, customer: ErasedCustomer<'_>) {
    for PersonalDataTable { name, column, deleted_texts } in TABLES {
        let (id, alias) = (SqlValue::from(customer.id), SqlValue::from(customer.alias));
        let Some(texts) = deleted_texts else {
            store.write(format!("UPDATE {name} SET {column} = ?2 WHERE {column} = +?1"), vec![id, alias]);
            continue;
        };
        for text in *texts {
            store.write(format!("UPDATE {name} SET {text} = {} WHERE {column} = +?1", blank(text)), vec![id.clone()]);
        }
        store.write(format!("DELETE FROM {name} WHERE {column} = +?1"), vec![id]);
    }
}

/// Overwrites the webhook deliveries about a customer, at the flush.
pub fn blank_deliveries_of(store: &mut Store<'_>, customer: &str) {
    store.write(format!("UPDATE outbox SET body = {} WHERE customer = +?1", blank("body")), vec![customer.into()]);
}

/// Deletes the holds that a customer owns, or that are on accounts of the customer, at the flush.
pub fn delete_holds_of(store: &mut Store<'_>, name: &str) {
    store.write(
        "DELETE FROM hold WHERE (key, owner) IN (SELECT key, owner FROM hold WHERE owner = 'customer/' || ?1
           OR account = 'customer/' || ?1 OR (account >= 'customer/' || ?1 || '/' AND account < 'customer/' || ?1 || '0'))",
        vec![name.into()],
    );
}

/// Lists the jobs whose state contains one of some texts.
pub fn list_jobs_containing(store: &Store<'_>, texts: &[String]) -> Result<Vec<NamingText<String>>, Fault> {
    let rows = store.rows(
        "SELECT id, cursor FROM due WHERE EXISTS (SELECT 1 FROM json_each(?1) AS mark WHERE instr(cursor, mark.value) > 0)",
        &[list(texts)],
    )?;
    rows.iter()
        .map(|row| Ok(NamingText { id: sql::text(row, 0)?.to_owned(), text: sql::text(row, 1)?.to_owned() }))
        .collect()
}

/// Replaces the state of a job, at the flush; its time stays.
pub fn update_job(store: &mut Store<'_>, id: &str, cursor: String) {
    store.write("UPDATE due SET cursor = ?2 WHERE id = +?1", vec![id.into(), cursor.into()]);
}

/// Renames the accounts of a customer at the flush, up to a number. Returns whether there may be more.
pub fn rename_accounts(store: &mut Store<'_>, customer: ErasedCustomer<'_>, most: i64) -> Result<bool, Fault> {
    let mut left = most;
    // The table of earlier versions exists while its job is queued.
    let is_moving = store.row("SELECT 1 FROM due WHERE id = +?1", &[MOVE_TRANSFERS.into()])?.is_some();
    let tables: &[&str] = if is_moving { &["transfer", "former_transfer"] } else { &["transfer"] };
    let tables = tables.iter().map(|table| (*table, TRANSFERS));
    let found_by = |(table, ways): (&'static str, &'static [(&str, &str)])| ways.iter().map(move |way| (table, *way));
    for (table, (key, own)) in tables.chain([("account", ACCOUNTS)]).flat_map(found_by) {
        let found = store.row(
            &format!("SELECT COUNT(*) FROM (SELECT 1 FROM {table} WHERE {own} LIMIT +?2)"),
            &[customer.id.into(), left.into()],
        )?;
        let found = found.map_or(Ok(0), |row| sql::int(&row, 0))?;
        let params = || vec![customer.id.into(), customer.alias.into(), left.into()];
        if found > 0 && table == "account" {
            store.write(MERGE_ACCOUNTS, params());
            store.write(DELETE_ACCOUNTS, vec![customer.id.into(), left.into()]);
        } else if found > 0 {
            let own = format!("SELECT {key} FROM {table} WHERE {own} LIMIT +?3");
            store.write(format!("UPDATE {table} SET {RENAME_BOTH} WHERE ({key}) IN ({own})"), params());
        }
        // More rows than requested leave none.
        left = left.saturating_sub(found);
        if left <= 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads the last number of some rows and how many there are; nothing where there are none.
fn read_range(row: Option<SqlRow>) -> Result<Option<RowRange>, Fault> {
    let row = row.unwrap_or_default();
    let Some(last) = sql::int_or_null(&row, 0)? else { return Ok(None) };
    Ok(Some(RowRange { last, count: sql::int(&row, 1)? }))
}

/// Finds the next rows of a table of documents or records after a number and up to another, at most `most`.
pub fn find_documents(
    store: &Store<'_>,
    table: PagedTable,
    after: i64,
    until: i64,
    most: i64,
) -> Result<Option<RowRange>, Fault> {
    let statement = format!(
        "SELECT MAX(seq), COUNT(*) FROM (SELECT seq FROM {} WHERE seq > +?1 AND seq <= +?2 ORDER BY seq LIMIT +?3)",
        table.name()
    );
    read_range(store.row(&statement, &[after.into(), until.into(), most.into()])?)
}

/// Lists the rows of a table of documents or records after a number and up to another whose columns name a customer, or whose text
/// contains one of some texts.
pub fn list_documents_naming(
    store: &Store<'_>,
    table: PagedTable,
    customer: &str,
    texts: SearchTexts<'_>,
    after: i64,
    until: i64,
) -> Result<Vec<NamedDocument>, Fault> {
    // A record table has no column of its kind.
    let kind = record_tables::named(table.name()).map_or("kind".to_owned(), |table| format!("'{}'", table.kind));
    let statement = format!(
        "SELECT seq, {kind} AS kind, id, key, parent, holder, body FROM {} WHERE seq > +?1 AND seq <= +?2
           AND (holder = +?3 OR instr(key, ?3) > 0 OR instr(parent, ?3) > 0
             OR EXISTS (SELECT 1 FROM json_each(?4) AS mark WHERE instr(body, mark.value) > 0)
             OR ({kind} = 'batch' AND EXISTS (SELECT 1 FROM json_each(?5) AS mark WHERE instr(body, mark.value) > 0)))",
        table.name()
    );
    let rows = store
        .rows(&statement, &[after.into(), until.into(), customer.into(), list(texts.in_json), list(texts.in_files)])?;
    let named = |row: &SqlRow| {
        let text = |column| sql::text(row, column).map(str::to_owned);
        let text_or_null = |column| Ok::<_, Fault>(sql::text_or_null(row, column)?.map(str::to_owned));
        let (key, parent, holder) = (text_or_null(3)?, text_or_null(4)?, text_or_null(5)?);
        Ok(NamedDocument { seq: sql::int(row, 0)?, kind: text(1)?, id: text(2)?, key, parent, holder, body: text(6)? })
    };
    rows.iter().map(named).collect()
}

/// Overwrites a document with a text of its length and deletes it, at the flush.
pub fn delete_document(store: &mut Store<'_>, table: PagedTable, seq: i64, blank_text: String) {
    let name = table.name();
    store.write(format!("UPDATE {name} SET body = ?2 WHERE seq = +?1"), vec![seq.into(), blank_text.into()]);
    store.write(format!("DELETE FROM {name} WHERE seq = +?1"), vec![seq.into()]);
}

/// Replaces the columns and the text of a document, at the flush.
pub fn update_document(store: &mut Store<'_>, table: PagedTable, document: NamedDocument) {
    let NamedDocument { seq, key, parent, holder, body, .. } = document;
    store.write(
        format!("UPDATE {} SET key = ?2, parent = ?3, holder = ?4, body = ?5 WHERE seq = +?1", table.name()),
        vec![seq.into(), key.into(), parent.into(), holder.into(), body.into()],
    );
}

/// Finds the next webhook deliveries after a place, at most `most`.
pub fn find_deliveries(store: &Store<'_>, after: i64, most: i64) -> Result<Option<RowRange>, Fault> {
    read_range(store.row(
        "SELECT MAX(seq), COUNT(*) FROM (SELECT seq FROM outbox WHERE seq > +?1 ORDER BY seq LIMIT +?2)",
        &[after.into(), most.into()],
    )?)
}

/// Lists the webhook deliveries after a place and up to another whose text contains one of some texts, without announced deletions.
pub fn list_deliveries_containing(
    store: &Store<'_>,
    texts: &[String],
    after: i64,
    until: i64,
) -> Result<Vec<NamingText<i64>>, Fault> {
    let rows = store.rows(
        "SELECT seq, body FROM outbox WHERE seq > +?1 AND seq <= +?2 AND type <> 'customer.deleted'
           AND EXISTS (SELECT 1 FROM json_each(?3) AS mark WHERE instr(body, mark.value) > 0)",
        &[after.into(), until.into(), list(texts)],
    )?;
    rows.iter().map(|row| Ok(NamingText { id: sql::int(row, 0)?, text: sql::text(row, 1)?.to_owned() })).collect()
}

/// Replaces the text of a webhook delivery, at the flush.
pub fn update_delivery(store: &mut Store<'_>, seq: i64, text: String) {
    store.write("UPDATE outbox SET body = ?2 WHERE seq = +?1", vec![seq.into(), text.into()]);
}

/// Finds the next export after a number: its number, and its id as the text.
pub fn find_next_export(store: &Store<'_>, after: i64) -> Result<Option<NamingText<i64>>, Fault> {
    let next = store.row(
        "SELECT seq, id FROM document WHERE kind = 'export' AND seq > +?1 ORDER BY seq LIMIT 1",
        &[after.into()],
    )?;
    next.map(|row| Ok(NamingText { id: sql::int(&row, 0)?, text: sql::text(&row, 1)?.to_owned() })).transpose()
}

/// Lists the lines of an export that are of the document with a number or of a holder, or contain one of some texts.
pub fn list_lines_naming(
    store: &Store<'_>,
    export: &str,
    texts: &[String],
    own: i64,
    holder: &str,
) -> Result<Vec<NamedLine>, Fault> {
    let rows = store.rows(
        "SELECT json_array(place, seq), text, seq = +?3 OR EXISTS (SELECT 1 FROM document WHERE seq = export_line.seq AND holder = +?4)
           OR EXISTS (SELECT 1 FROM redemption WHERE seq = export_line.seq AND holder = +?4 AND EXISTS (SELECT 1 FROM document AS of
             WHERE of.kind = 'export' AND of.id = +?1 AND json_extract(of.body, '$.exported_object') <> 'order'))
           OR EXISTS (SELECT 1 FROM orders WHERE seq = export_line.seq AND holder = +?4 AND EXISTS (SELECT 1 FROM document AS of
             WHERE of.kind = 'export' AND of.id = +?1 AND json_extract(of.body, '$.exported_object') = 'order')) AS own
         FROM export_line WHERE export = +?1
           AND (own OR EXISTS (SELECT 1 FROM json_each(?2) AS mark WHERE instr(text, mark.value) > 0))",
        &[export.into(), list(texts), own.into(), holder.into()],
    )?;
    let line = |row: &SqlRow| {
        let (place, text) = (sql::text(row, 0)?.to_owned(), sql::text(row, 1)?.to_owned());
        Ok(NamedLine { place, text, is_own: sql::int(row, 2)? == 1 })
    };
    rows.iter().map(line).collect()
}

/// Overwrites and deletes the lines of an export at some places with all their parts, at the flush. The size of the export shrinks, as a
/// download announces it.
pub fn delete_lines(store: &mut Store<'_>, export: &str, places: &[String]) {
    let params = || vec![SqlValue::from(export), format!("[{}]", places.join(",")).into()];
    let keyed = "export = +?1 AND (place, seq) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2))";
    store.write(
        format!(
            "UPDATE document SET body = json_set(body, '$.bytes', CAST(json_extract(body, '$.bytes') - (
               SELECT COALESCE(SUM(octet_length(text)), 0) FROM export_line WHERE {keyed}) AS INTEGER))
             WHERE kind = 'export' AND id = +?1"
        ),
        params(),
    );
    store.write(format!("UPDATE export_line SET text = {} WHERE {keyed}", blank("text")), params());
    store.write(format!("DELETE FROM export_line WHERE {keyed}"), params());
}
