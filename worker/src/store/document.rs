//! Documents: JSON bodies under a kind, an id and a few columns to find them by. One table for every kind.
//! It must not know what any kind of document says.

use super::Store;
use super::marks;
use super::sql::{self, Fault, Value};
use scrip::json::{Members, Node};
use scrip::wire::Problem;
use scrip::wire::cursor::Read;
use scrip::wire::document::{read_document, read_fields};
use scrip::wire::record::Record;
use serde_json::{Map, Value as Json};
use std::borrow::Cow;
use std::collections::HashMap;

/// A stored document.
#[derive(Debug, Clone)]
pub struct Document {
    /// The service's own identifier.
    pub id: String,
    /// The second name that it is found by: a code, a campaign's name, a source_id.
    pub key: Option<String>,
    /// The document that it belongs to.
    pub parent: Option<String>,
    /// The customer who holds it.
    pub holder: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970; none until the first change.
    pub updated_at: Option<i64>,
    /// The record, in the shape of the wire.
    pub body: Map<String, Json>,
}

/// A document as its row has it: what it says is text until somebody reads it.
#[derive(Debug, Clone)]
pub struct Stored {
    /// As of [`Document`], and so is all but the text and the key.
    pub id: String,
    /// See [`Document::key`]: as the column has it, where it comes from a row (`marks`).
    pub key: Option<String>,
    /// As of [`Document`].
    pub parent: Option<String>,
    holder: Option<String>,
    created_at: i64,
    updated_at: Option<i64>,
    /// The record, in the shape of the wire.
    pub text: String,
}

impl Stored {
    fn of(row: &[Value]) -> Result<Stored, Fault> {
        Ok(Stored {
            id: sql::text(row, 0)?.to_owned(),
            key: sql::text_or_null(row, 1)?.map(str::to_owned),
            parent: sql::text_or_null(row, 2)?.map(str::to_owned),
            holder: sql::text_or_null(row, 3)?.map(str::to_owned),
            created_at: sql::int(row, 4)?,
            updated_at: sql::int_or_null(row, 5)?,
            text: sql::text(row, 6)?.to_owned(),
        })
    }

    /// Its members for the engine, whatever they say.
    pub fn members(&self) -> Result<Members, Fault> {
        match serde_json::from_str(&self.text) {
            Ok(Node::Object(members)) => Ok(Members::of(&members)),
            Ok(_) => Err(Fault("a stored body is no object".to_owned())),
            Err(error) => Err(Fault(format!("a stored body does not parse: {error}"))),
        }
    }

    /// What the columns of a document say, beside a text that is printed already.
    pub fn printed(document: &Document, text: String) -> Stored {
        let Document { id, key, parent, holder, created_at, updated_at, body: _ } = document;
        let (id, key, parent, holder) = (id.clone(), key.clone(), parent.clone(), holder.clone());
        Stored { id, key, parent, holder, created_at: *created_at, updated_at: *updated_at, text }
    }

    /// The document, to be shown or changed.
    pub fn document(self) -> Result<Document, Fault> {
        let Stored { id, key, parent, holder, created_at, updated_at, text } = self;
        let body: Map<String, Json> =
            serde_json::from_str(&text).map_err(|error| Fault(format!("a stored body does not parse: {error}")))?;
        let key = marks::called(&body, key);
        Ok(Document { id, key, parent, holder, created_at, updated_at, body })
    }
}

impl Document {
    /// A document that begins now, belongs to nothing and is held by nobody.
    pub fn new(id: String, key: Option<String>, now_ms: i64, body: Map<String, Json>) -> Document {
        Document { id, key, parent: None, holder: None, created_at: now_ms, updated_at: None, body }
    }
}

/// The columns that [`read`] expects, in its order.
pub const COLUMNS: &str = "id, key, parent, holder, created_at, updated_at, body";

/// How many these are.
pub const WIDTH: usize = 7;

/// The same of a table that a statement names otherwise.
pub fn columns_of(table: &str) -> String {
    COLUMNS.split(", ").map(|name| format!("{table}.{name}")).collect::<Vec<_>>().join(", ")
}

/// A document from a row of [`COLUMNS`].
pub fn read(row: &[Value]) -> Result<Document, Fault> {
    Stored::of(row)?.document()
}

impl Store<'_> {
    /// The document with an id.
    pub fn document(&self, kind: &str, id: &str) -> Result<Option<Document>, Fault> {
        self.stored(kind, id)?.map(Stored::document).transpose()
    }

    /// The same as it is stored.
    pub fn stored(&self, kind: &str, id: &str) -> Result<Option<Stored>, Fault> {
        let row = self.row(
            "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND id = +?2",
            &[kind.into(), id.into()],
        )?;
        row.as_deref().map(Stored::of).transpose()
    }

    /// The document with a key, or else with an id: how a path names a campaign, a voucher or a customer.
    pub fn document_by_name(&self, kind: &str, key: &str, id: &str) -> Result<Option<Document>, Fault> {
        self.stored_by_name(kind, key, id)?.map(Stored::document).transpose()
    }

    /// The same as it is stored.
    pub fn stored_by_name(&self, kind: &str, key: &str, id: &str) -> Result<Option<Stored>, Fault> {
        let rows = self.rows(
            "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND id = +?3
             UNION ALL SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND key = +?2",
            &[kind.into(), marks::key(kind, key).as_ref().into(), id.into()],
        )?;
        rows.first().map(|row| Stored::of(row)).transpose()
    }

    /// The documents with any of the keys, or any of the ids.
    pub fn documents_by_names(&self, kind: &str, keys: &[&str], ids: &[&str]) -> Result<Vec<Document>, Fault> {
        let mut found = Vec::new();
        let keys: Vec<Cow<'_, str>> = keys.iter().map(|key| marks::key(kind, key)).collect();
        let keys: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
        let (keys, ids) = (super::slices(&keys), super::slices(ids));
        for place in 0..keys.len().max(ids.len()) {
            let part =
                |names: &[&[&str]]| Json::from(names.get(place).copied().unwrap_or_default().to_vec()).to_string();
            let (keys, ids) = (part(&keys), part(&ids));
            found.extend(self.documents(
                "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
                 WHERE kind = +?1 AND key IN (SELECT value FROM json_each(?2))
                 UNION SELECT id, key, parent, holder, created_at, updated_at, body FROM document
                 WHERE kind = +?1 AND id IN (SELECT value FROM json_each(?3))",
                &[kind.into(), keys.into(), ids.into()],
            )?);
        }
        Ok(found)
    }

    /// The ids of the documents that have some names, each of which is one's id or else one's key.
    pub fn ids_named<'n>(&self, kind: &str, names: &[&'n str]) -> Result<HashMap<&'n str, String>, Fault> {
        let keys: Vec<Cow<'_, str>> = names.iter().map(|name| marks::key(kind, name)).collect();
        let columns: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
        let by_id = self.ids_by("id", kind, names)?;
        let by_key = self.ids_by("key", kind, &columns)?;
        let id_of = |(name, column): (&&'n str, &&str)| {
            Some((*name, by_id.get(*name).or_else(|| by_key.get(*column))?.clone()))
        };
        Ok(names.iter().zip(&columns).filter_map(id_of).collect())
    }

    fn ids_by(&self, column: &str, kind: &str, values: &[&str]) -> Result<HashMap<String, String>, Fault> {
        let select = format!(
            "SELECT {column}, id FROM document WHERE kind = '{kind}' AND {column} IN (SELECT value FROM json_each(?1))"
        );
        let rows = self.rows_among(&select, values)?;
        rows.iter().map(|row| Ok((sql::text(row, 0)?.to_owned(), sql::text(row, 1)?.to_owned()))).collect()
    }

    /// The documents of a statement that selects [`COLUMNS`].
    pub fn documents(&self, statement: &str, params: &[Value]) -> Result<Vec<Document>, Fault> {
        self.rows(statement, params)?.iter().map(|row| read(row)).collect()
    }

    /// Adds a document at the commit.
    pub fn insert(&mut self, kind: &str, document: &Document) {
        self.insert_stored(kind, Stored::printed(document, printed(&document.body)));
    }

    /// Adds documents of a kind that no decision reads at the commit, many with one statement.
    pub fn insert_all(&mut self, kind: &str, documents: &[Document]) {
        match documents {
            [one] => self.insert(kind, one),
            many => self.write_all(INSERT_ALL, kind, many),
        }
    }

    /// Replaces in the same way what they say, and when they changed.
    pub fn update_all(&mut self, kind: &str, documents: &[Document]) {
        match documents {
            [one] => self.update(kind, one),
            many => self.write_all(UPDATE_ALL, kind, many),
        }
    }

    fn write_all(&mut self, statement: &'static str, kind: &str, documents: &[Document]) {
        /// Documents of one statement, which is a text of some hundred kilobytes.
        const SLICE: usize = 100;
        let row = |of: &Document| {
            let text = printed(&of.body);
            let (marks, label) = marks::of(kind, &text);
            let key = of.key.as_deref().map(|key| marks::key(kind, key));
            serde_json::json!([of.id, key, of.parent, of.holder, of.created_at, of.updated_at, text, marks, label])
        };
        for slice in documents.chunks(SLICE) {
            let rows: Vec<Json> = slice.iter().map(row).collect();
            self.write(statement, vec![kind.into(), Json::from(rows).to_string().into()]);
        }
    }

    /// Adds a document at the commit that is printed already.
    pub fn insert_stored(&mut self, kind: &str, stored: Stored) {
        self.write_document(INSERT, columns(kind, stored), PLACES);
    }

    /// Replaces what a document says and who holds it, at the commit.
    pub fn update(&mut self, kind: &str, document: &Document) {
        self.update_stored(kind, Stored::printed(document, printed(&document.body)));
    }

    /// The same with what is printed already.
    pub fn update_stored(&mut self, kind: &str, stored: Stored) {
        const UPDATE: &str = "UPDATE document SET key = ?3, parent = ?4, holder = ?5, updated_at = ?7, body = ?8, marks = ?9, label = ?10 WHERE kind = +?1 AND id = +?2";
        self.write_document(UPDATE, columns(kind, stored), PLACES);
    }

    /// Adds a document at the commit, or replaces what the one with its id says.
    pub fn put(&mut self, kind: &str, document: &Document) {
        self.write_document(PUT, columns(kind, Stored::printed(document, printed(&document.body))), PLACES);
    }

    /// Adds a record of a decision at the commit as it was printed, or replaces what the one with its id says. An order is found by
    /// its `source_id`; what a redemption belongs to is only listed by it.
    pub fn put_record(&mut self, record: Record, now_ms: i64) {
        let parent = record.parent.map(|parent| parent.to_string());
        let (key, parent) = if record.kind == "order" { (parent, None) } else { (None, parent) };
        let params = vec![
            record.kind.into(),
            record.id.as_str().into(),
            key.into(),
            parent.into(),
            record.holder.map(|holder| holder.to_string()).into(),
            now_ms.into(),
            Value::Null,
            record.text.into(),
            Value::Null,
            Value::Null,
        ];
        self.write_document(PUT, params, PLACES);
    }

    /// Takes a document out of the way at the commit, as it stands now: no look-up of its kind finds it any more, and its row stays.
    pub fn retire(&mut self, kind: &str, document: &Document) {
        const RETIRE: &str = "UPDATE document SET kind = ?1, key = ?3, parent = ?4, holder = ?5, updated_at = ?7, body = ?8, marks = ?9, label = ?10 WHERE kind = +?11 AND id = +?2";
        let mut params = columns(&retired(kind), Stored::printed(document, printed(&document.body)));
        params.push(kind.into());
        self.write_document(RETIRE, params, PLACES);
    }

    /// The same of every document of a kind that belongs to another.
    pub fn retire_owned(&mut self, kind: &str, parent: &str) {
        self.write(
            "UPDATE document SET kind = ?1, key = NULL WHERE kind = +?2 AND parent = +?3",
            vec![retired(kind).into(), kind.into(), parent.into()],
        );
    }

    /// Removes a document at the commit.
    pub fn remove(&mut self, kind: &'static str, id: &str) {
        let params = vec![kind.into(), id.into()];
        self.write_to((kind, id), "DELETE FROM document WHERE kind = +?1 AND id = +?2", params);
    }
}

macro_rules! insert {
    ($more:literal) => {
        concat!(
            "INSERT INTO document (kind, id, key, parent, holder, created_at, updated_at, body, marks, label)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ",
            $more
        )
    };
}

const INSERT: &str = insert!("");

const PUT: &str = insert!(
    "ON CONFLICT (kind, id) DO UPDATE SET key = excluded.key, parent = excluded.parent, holder = excluded.holder,
       updated_at = excluded.created_at, body = excluded.body, marks = excluded.marks, label = excluded.label"
);

macro_rules! insert_all {
    ($more:literal) => {
        concat!(
            "INSERT INTO document (kind, id, key, parent, holder, created_at, updated_at, body, marks, label)
             SELECT ?1, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'),
               json_extract(value, '$[4]'), json_extract(value, '$[5]'), json_extract(value, '$[6]'), json_extract(value, '$[7]'), json_extract(value, '$[8]') FROM json_each(?2) WHERE TRUE ",
            $more
        )
    };
}

const INSERT_ALL: &str = insert_all!("");

// An update from a list would look through the kind for each row of it.
const UPDATE_ALL: &str = insert_all!(
    "ON CONFLICT (kind, id) DO UPDATE SET updated_at = excluded.updated_at, body = excluded.body,
       marks = excluded.marks, label = excluded.label"
);

/// Where the kind, the id, the holder and the text of a document stand among its columns.
const PLACES: [usize; 4] = [0, 1, 4, 7];

/// What the statements above bind, in the order of the insertion.
fn columns(kind: &str, stored: Stored) -> Vec<Value> {
    let (marks, label) = marks::of(kind, &stored.text);
    vec![
        kind.into(),
        stored.id.into(),
        stored.key.as_deref().map(|key| marks::key(kind, key).into_owned()).into(),
        stored.parent.into(),
        stored.holder.into(),
        stored.created_at.into(),
        stored.updated_at.into(),
        stored.text.into(),
        marks.into(),
        label.into(),
    ]
}

/// The kind of rows that were of another and are out of the way.
fn retired(kind: &str) -> String {
    format!("deleted.{kind}")
}

/// Why something that is stored is no fact.
#[derive(Debug)]
pub enum Unread {
    /// The store failed, and so does whoever asks.
    Fault(Fault),
    /// Its document does not read, as an older version may have written it: what that says is refused, and nothing else.
    Illegible(String),
}

impl From<Fault> for Unread {
    fn from(fault: Fault) -> Unread {
        Unread::Fault(fault)
    }
}

/// What is there, if it reads; one that does not is noted, and left out.
pub fn legible<T>(store: &Store<'_>, outcome: Result<T, Unread>) -> Result<Option<T>, Fault> {
    match outcome {
        Ok(read) => Ok(Some(read)),
        Err(Unread::Fault(fault)) => Err(fault),
        Err(Unread::Illegible(what)) => {
            store.note(what);
            Ok(None)
        }
    }
}

/// Reads a stored document as the engine does.
pub fn read_stored<T>(kind: &str, id: &str, text: &str, read: Read<T>) -> Result<T, Unread> {
    read_document(text, read).map_err(|problem| illegible(kind, id, &problem))
}

/// Reads a document that is in hand as the engine reads a stored one.
pub fn read_held<T>(kind: &str, document: &Document, read: Read<T>) -> Result<T, Unread> {
    read_fields(&document.body, read).map_err(|problem| illegible(kind, &document.id, &problem))
}

/// The JSON of a document's fields.
fn printed(body: &Map<String, Json>) -> String {
    // Fields are names and values, which can always be written.
    serde_json::to_string(body).unwrap_or_default()
}

/// What is said of a stored document that does not read.
pub fn illegible(kind: &str, id: &str, problem: &Problem) -> Unread {
    Unread::Illegible(format!("the stored {kind} `{id}` does not read: {problem}"))
}
