//! Rows of documents: statements that read and write them. An update names only the columns that change, because SQLite writes every
//! index of a named column again, also when its value stays.

use super::Store;
use super::document::{Document, DocumentBody, StoredDocument, read};
use super::document_columns::{COLUMNS, columns};
use super::index::blind_index;
use super::queued::{FurtherStatement, QueuedWrite};
use super::record_tables::{self, record_table, source, with_id, with_ids};
use super::sql::{self, Fault, SqlValue};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::HashMap;

/// Returns a statement that selects documents by conditions over the table, which may end with an order and a limit.
pub fn select(conditions: &str) -> String {
    select_from("document", conditions)
}

/// Returns a statement that selects documents of a kind by such conditions.
pub fn select_of(kind: &str, conditions: &str) -> String {
    select_from(source(kind), conditions)
}

fn select_from(table: &str, conditions: &str) -> String {
    format!("SELECT {COLUMNS} FROM {table} WHERE {conditions}")
}

impl Store<'_> {
    /// Returns the document with an id.
    pub fn document(&self, kind: &str, id: &str) -> Result<Option<Document>, Fault> {
        self.stored_document(kind, id)?.map(StoredDocument::document).transpose()
    }

    /// Returns the document with an id, unparsed.
    pub fn stored_document(&self, kind: &str, id: &str) -> Result<Option<StoredDocument>, Fault> {
        let mut params = vec![kind.into()];
        let by_id = with_id(source(kind), id, &mut params);
        let row = self.row(&select_of(kind, &format!("kind = +?1 AND {by_id}")), &params)?;
        row.as_deref().map(StoredDocument::of).transpose()
    }

    /// Returns the documents with any of the ids, unparsed.
    pub fn stored_with_ids(&self, kind: &str, ids: &[&str]) -> Result<Vec<StoredDocument>, Fault> {
        let mut params = vec![kind.into()];
        let by_ids = with_ids(source(kind), ids, &mut params);
        let rows = self.rows(&select_of(kind, &format!("kind = +?1 AND {by_ids}")), &params)?;
        rows.iter().map(|row| StoredDocument::of(row)).collect()
    }

    /// Returns the document with a key, else the one with an id: campaigns, vouchers and customers are named so in paths.
    pub fn document_by_name(&self, kind: &str, key: &str, id: &str) -> Result<Option<Document>, Fault> {
        self.stored_by_name(kind, key, id)?.map(StoredDocument::document).transpose()
    }

    /// Returns the document with a key, else the one with an id, unparsed.
    pub fn stored_by_name(&self, kind: &str, key: &str, id: &str) -> Result<Option<StoredDocument>, Fault> {
        let mut params = vec![kind.into(), blind_index::key(kind, key).as_ref().into()];
        let by_id = select_of(kind, &format!("kind = +?1 AND {}", with_id(source(kind), id, &mut params)));
        let by_key = select_of(kind, "kind = +?1 AND key = +?2");
        let rows = self.rows(&format!("{by_id} UNION ALL {by_key}"), &params)?;
        rows.first().map(|row| StoredDocument::of(row)).transpose()
    }

    /// Returns the customer with an e-mail address, compared without case: the one created first.
    pub fn stored_by_email(&self, email: &str) -> Result<Option<StoredDocument>, Fault> {
        let row = self.row(
            &format!(
                "SELECT {COLUMNS} FROM document INDEXED BY customer_email
                 WHERE kind = 'customer' AND json_extract(marks, '$.email') = +?1 ORDER BY created_at, seq LIMIT 1"
            ),
            &[blind_index::digest("email", email).into()],
        )?;
        row.as_deref().map(StoredDocument::of).transpose()
    }

    /// Returns the documents with any of the keys or ids.
    pub fn documents_by_names(&self, kind: &str, keys: &[&str], ids: &[&str]) -> Result<Vec<Document>, Fault> {
        let mut found = Vec::new();
        let keys: Vec<Cow<'_, str>> = keys.iter().map(|key| blind_index::key(kind, key)).collect();
        let keys: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
        let (keys, ids) = (super::slices(&keys), super::slices(ids));
        for place in 0..keys.len().max(ids.len()) {
            let [keys, ids] = [&keys, &ids].map(|names| names.get(place).copied().unwrap_or_default());
            let mut params = vec![kind.into(), Json::from(keys).to_string().into()];
            let by_ids = with_ids(source(kind), ids, &mut params);
            // Left to itself, SQLite reads the whole kind in the order in which it joins the two.
            let by = |index: &str| match record_table(kind) {
                Some(table) => table.source.to_owned(),
                None => format!("document INDEXED BY {index}"),
            };
            let statement = format!(
                "SELECT {COLUMNS} FROM {} WHERE kind = +?1 AND key IN (SELECT value FROM json_each(?2))
                 UNION SELECT {COLUMNS} FROM {} WHERE kind = +?1 AND {}",
                by("document_key"),
                by("document_id"),
                by_ids
            );
            found.extend(self.documents(&statement, &params)?);
        }
        Ok(found)
    }

    /// Returns the ids of documents by names, each of which is an id or a key.
    pub fn ids_named<'n>(&self, kind: &str, names: &[&'n str]) -> Result<HashMap<&'n str, String>, Fault> {
        let keys: Vec<Cow<'_, str>> = names.iter().map(|name| blind_index::key(kind, name)).collect();
        let columns: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
        let by_id = self.ids_by("id", kind, names)?;
        let by_key = self.ids_by("key", kind, &columns)?;
        let id_of = |name: &'n str, column: &str| Some((name, by_id.get(name).or_else(|| by_key.get(column))?.clone()));
        Ok(names.iter().zip(&columns).filter_map(|(name, column)| id_of(name, column)).collect())
    }

    fn ids_by(&self, column: &str, kind: &str, values: &[&str]) -> Result<HashMap<String, String>, Fault> {
        let select = format!(
            "SELECT {column}, id FROM document WHERE kind = '{kind}' AND {column} IN (SELECT value FROM json_each(?1))"
        );
        let rows = self.rows_in(&select, values)?;
        rows.iter().map(|row| Ok((sql::text(row, 0)?.to_owned(), sql::text(row, 1)?.to_owned()))).collect()
    }

    /// Returns the documents of a statement that selects [`COLUMNS`].
    pub fn documents(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<Document>, Fault> {
        self.rows(statement, params)?.iter().map(|row| read(row)).collect()
    }

    /// Finds the documents that conditions over the table select.
    pub(super) fn select(&self, conditions: &str, params: &[SqlValue]) -> Result<Vec<Document>, Fault> {
        self.documents(&select(conditions), params)
    }

    /// Queues the insertion of a document.
    pub fn insert(&mut self, kind: &str, document: &Document) {
        self.insert_text(kind, document, print_body(&document.body));
    }

    /// Queues the insertion of documents of a kind that no decision reads, many with one statement.
    pub fn insert_all(&mut self, kind: &str, documents: &[Document]) {
        match documents {
            [one] => self.insert(kind, one),
            many => self.write_all(INSERT_ALL, kind, many),
        }
    }

    /// Queues the update of their bodies and change times, many with one statement.
    pub fn update_all(&mut self, kind: &str, documents: &[Document]) {
        match documents {
            [one] => self.update(kind, one),
            many => self.write_all(UPDATE_ALL, kind, many),
        }
    }

    fn write_all(&mut self, statement: &'static str, kind: &str, documents: &[Document]) {
        /// Number of documents of one statement, which is a text of some hundred kilobytes.
        const SLICE: usize = 100;
        let row = |of: &Document| {
            let text = print_body(&of.body);
            let (digests, folded_name) = blind_index::of(kind, &of.body);
            let key = of.key.as_deref().map(|key| blind_index::key(kind, key));
            serde_json::json!([
                of.id,
                key,
                of.parent,
                of.holder,
                of.created_at,
                of.updated_at,
                text,
                digests,
                folded_name
            ])
        };
        for slice in documents.chunks(SLICE) {
            let rows: Vec<Json> = slice.iter().map(row).collect();
            self.write(statement, vec![kind.into(), Json::from(rows).to_string().into()]);
        }
    }

    /// Queues the insertion of a document as it was serialized.
    pub fn insert_text(&mut self, kind: &str, document: &Document, text: String) {
        let columns = columns(kind, document, text);
        self.write_document(match record_table(kind) {
            Some(table) => record_tables::insertion(table, &document.id, self.first_number, columns),
            None => QueuedWrite::new(INSERT, columns),
        });
    }

    /// Queues the update of a document's columns and body.
    pub fn update(&mut self, kind: &str, document: &Document) {
        self.update_text(kind, document, print_body(&document.body));
    }

    /// Queues the update of a document as it was serialized.
    pub fn update_text(&mut self, kind: &str, document: &Document, text: String) {
        let columns = columns(kind, document, text);
        match record_table(kind) {
            Some(table) => self.write_document(record_tables::update(table, &document.id, columns)),
            None => self.write_changed(UPDATE_BODY, UPDATE, columns),
        }
    }

    /// Queues the update of a document that has got another holder.
    pub fn update_holder(&mut self, kind: &str, document: &Document) {
        let params = columns(kind, document, print_body(&document.body));
        self.write_changed(UPDATE_HOLDER, UPDATE, params);
    }

    /// Queues the insertion of a document, or the replacement of the one with its id.
    pub fn upsert(&mut self, kind: &str, document: &Document) {
        self.upsert_columns(
            kind,
            &document.id,
            document.created_at,
            columns(kind, document, print_body(&document.body)),
        );
    }

    /// Queues the same for the columns of a document.
    pub(super) fn upsert_columns(&mut self, kind: &str, id: &str, now_ms: i64, columns: Vec<SqlValue>) {
        match record_table(kind) {
            Some(table) => {
                self.write_document(record_tables::upsert(table, id, now_ms, self.first_number, columns));
            }
            None => self.write_changed(UPSERT_BODY, UPSERT, columns),
        }
    }

    /// Queues a statement that writes a document.
    fn write_document(&mut self, write: QueuedWrite) {
        self.writes.push(QueuedWrite { document: Some(PLACES), ..write });
    }

    /// Queues a statement that writes few columns and returns a row, and one that writes all, for a document whose other columns
    /// change too.
    fn write_changed(&mut self, few: &'static str, all: &'static str, params: Vec<SqlValue>) {
        let otherwise = vec![FurtherStatement { text: all, params: params.len() }];
        self.write_document(QueuedWrite { otherwise, ..QueuedWrite::new(few, params) });
    }

    /// Queues the archiving of a document: its row stays under another kind, so that no lookup finds it.
    pub fn archive(&mut self, kind: &str, document: &Document) {
        const ARCHIVE: &str = "UPDATE document SET kind = ?1, key = ?3, parent = ?4, holder = ?5, updated_at = ?7, body = ?8, marks = ?9, label = ?10 WHERE kind = +?11 AND id = +?2";
        let mut params = columns(&archived_kind(kind), document, print_body(&document.body));
        params.push(kind.into());
        self.write_document(QueuedWrite::new(ARCHIVE, params));
    }

    /// Queues the archiving of all documents of a kind with a parent.
    pub fn archive_owned(&mut self, kind: &str, parent: &str) {
        self.write(
            "UPDATE document SET kind = ?1, key = NULL WHERE kind = +?2 AND parent = +?3",
            vec![archived_kind(kind).into(), kind.into(), parent.into()],
        );
    }

    /// Queues the deletion of a document.
    pub fn delete(&mut self, kind: &'static str, id: &str) {
        let params = vec![kind.into(), id.into()];
        debug_assert!(record_table(kind).is_none(), "no {kind} is deleted by its id");
        self.write_to(kind, id, "DELETE FROM document WHERE kind = +?1 AND id = +?2", params);
    }
}

/// Statement that inserts a document. A macro, because `concat!` takes only literals and the statements are constants.
macro_rules! insert {
    ($more:literal) => {
        concat!(
            "INSERT INTO document (seq, kind, ",
            columns!(),
            ", marks, label) VALUES ((SELECT seq FROM next_document), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ",
            $more
        )
    };
}

const INSERT: &str = insert!("");

const UPDATE: &str = "UPDATE document SET key = ?3, parent = ?4, holder = ?5, updated_at = ?7, body = ?8, marks = ?9, label = ?10 WHERE kind = +?1 AND id = +?2";

const UPDATE_BODY: &str = "UPDATE document SET updated_at = ?7, body = ?8 WHERE kind = +?1 AND id = +?2
   AND +key IS ?3 AND +parent IS ?4 AND +holder IS ?5 AND marks IS ?9 AND label IS ?10 RETURNING 1";

const UPDATE_HOLDER: &str = "UPDATE document SET holder = ?5, updated_at = ?7, body = ?8 WHERE kind = +?1 AND id = +?2
   AND +key IS ?3 AND +parent IS ?4 AND marks IS ?9 AND label IS ?10 RETURNING 1";

const UPSERT_BODY: &str = insert!(
    "ON CONFLICT (kind, id) DO UPDATE SET updated_at = excluded.created_at, body = excluded.body
       WHERE key IS excluded.key AND parent IS excluded.parent AND holder IS excluded.holder
         AND marks IS excluded.marks AND label IS excluded.label RETURNING 1"
);

const UPSERT: &str = insert!(
    "ON CONFLICT (kind, id) DO UPDATE SET key = excluded.key, parent = excluded.parent, holder = excluded.holder,
       updated_at = excluded.created_at, body = excluded.body, marks = excluded.marks, label = excluded.label"
);

/// Statement that inserts a list of documents; a macro for the same reason.
macro_rules! insert_all {
    ($more:literal) => {
        concat!(
            "INSERT INTO document (seq, kind, ",
            columns!(),
            ", marks, label)
             SELECT (SELECT seq FROM next_document) + key, ?1, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'),
               json_extract(value, '$[4]'), json_extract(value, '$[5]'), json_extract(value, '$[6]'), json_extract(value, '$[7]'), json_extract(value, '$[8]') FROM json_each(?2) WHERE TRUE ",
            $more
        )
    };
}

const INSERT_ALL: &str = insert_all!("");

// An update from a list would scan the kind for each of its rows.
const UPDATE_ALL: &str = insert_all!(
    "ON CONFLICT (kind, id) DO UPDATE SET updated_at = excluded.updated_at, body = excluded.body,
       marks = excluded.marks, label = excluded.label"
);

/// Positions of kind, id, holder and text among the columns of a document.
const PLACES: [usize; 4] = [0, 1, 4, 7];

/// Returns the parameters of the statements above, in the order of the insertion.
fn columns(kind: &str, document: &Document, text: String) -> Vec<SqlValue> {
    let (digests, folded_name) = blind_index::of(kind, &document.body);
    vec![
        kind.into(),
        document.id.as_str().into(),
        document.key.as_deref().map(|key| blind_index::key(kind, key).into_owned()).into(),
        document.parent.clone().into(),
        document.holder.clone().into(),
        document.created_at.into(),
        document.updated_at.into(),
        text.into(),
        digests.into(),
        folded_name.into(),
    ]
}

/// Returns the kind of retired rows of a kind.
fn archived_kind(kind: &str) -> String {
    format!("deleted.{kind}")
}

/// Serializes the fields of a document.
fn print_body(body: &DocumentBody) -> String {
    // Fields are names and values, which can always be serialized.
    serde_json::to_string(body).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;
    use crate::store::sql::{Sql, SqlRow};
    use crate::store::sqlite::Sqlite;
    use serde_json::json;

    type DocumentWrite = fn(&mut Store<'_>, &str, &Document);

    const INSERT: DocumentWrite = |store, kind, document| store.insert(kind, document);
    const UPDATE: DocumentWrite = |store, kind, document| store.update(kind, document);
    const UPDATE_HOLDER: DocumentWrite = |store, kind, document| store.update_holder(kind, document);
    const UPSERT: DocumentWrite = |store, kind, document| store.upsert(kind, document);
    const WRITES: &[(&str, DocumentWrite)] =
        &[("update", UPDATE), ("update_holder", UPDATE_HOLDER), ("upsert", UPSERT)];

    fn customer(source_id: &str, email: &str, name: &str, holder: Option<&str>, parent: Option<&str>) -> Document {
        let body = json!({"source_id": source_id, "email": email, "name": name, "summary": holder});
        Document {
            holder: holder.map(str::to_owned),
            parent: parent.map(str::to_owned),
            updated_at: Some(7),
            ..Document::new("cust_1".into(), Some(source_id.into()), 7, body.as_object().unwrap().clone())
        }
    }

    fn run(sql: &Sqlite, write: DocumentWrite, document: &Document) {
        let mut store = Store::new(sql);
        write(&mut store, "customer", document);
        store.flush().unwrap();
    }

    /// Returns the row, and how many of its columns with an index the statements since the last call have named.
    fn stored(sql: &Sqlite) -> (Vec<SqlRow>, Vec<SqlRow>) {
        let row = "SELECT key, parent, holder, updated_at, body, marks, label FROM document WHERE kind = 'customer'";
        let named = sql.run("SELECT name FROM named ORDER BY name", &[]).unwrap();
        sql.run("DELETE FROM named", &[]).unwrap();
        (sql.run(row, &[]).unwrap(), named)
    }

    fn opened() -> Sqlite {
        let sql = Sqlite::memory().unwrap();
        Store::open(&sql, 0).unwrap();
        sql.run("CREATE TABLE named (name TEXT)", &[]).unwrap();
        for name in ["key", "parent", "holder", "marks", "label"] {
            let trigger = format!(
                "CREATE TRIGGER named_{name} AFTER UPDATE OF {name} ON document BEGIN INSERT INTO named VALUES ('{name}'); END"
            );
            sql.run(&trigger, &[]).unwrap();
        }
        sql
    }

    #[test]
    fn an_update_writes_all_that_changes_and_names_no_more() {
        let before = customer("ann", "ann@example.com", "Ann", Some("a"), Some("p"));
        let changes = [
            (
                "the body alone",
                Document {
                    body: [("summary".into(), 5.into())].into_iter().chain(before.body.clone()).collect(),
                    ..before.clone()
                },
            ),
            ("the holder", customer("ann", "ann@example.com", "Ann", Some("b"), Some("p"))),
            ("no holder", customer("ann", "ann@example.com", "Ann", None, Some("p"))),
            ("the parent", customer("ann", "ann@example.com", "Ann", Some("a"), None)),
            ("the key", customer("bob", "ann@example.com", "Ann", Some("a"), Some("p"))),
            ("the address", customer("ann", "bob@example.com", "Ann", Some("a"), Some("p"))),
            ("the name", customer("ann", "ann@example.com", "Bob", Some("a"), Some("p"))),
        ];
        for (what, after) in changes {
            for (name, write) in WRITES {
                let (new, old) = (opened(), opened());
                run(&new, INSERT, &after);
                run(&old, INSERT, &before);
                run(&old, *write, &after);
                let (row, named) = stored(&old);
                assert_eq!(row, stored(&new).0, "{name} of {what}");
                let most = match (what, *name) {
                    ("the body alone", "update" | "upsert") => 0,
                    ("the body alone" | "the holder" | "no holder", "update_holder") => 1,
                    _ => 5,
                };
                assert!(named.len() <= most, "{name} of {what} names {named:?}");
            }
        }
    }

    #[test]
    fn an_update_of_no_document_writes_none() {
        let sql = opened();
        let none = customer("ann", "ann@example.com", "Ann", None, None);
        run(&sql, UPDATE, &none);
        run(&sql, UPDATE_HOLDER, &none);
        assert!(stored(&sql).0.is_empty());
        run(&sql, UPSERT, &none);
        assert_eq!(stored(&sql).0.len(), 1);
    }
}
