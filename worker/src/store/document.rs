//! Documents: JSON bodies with a kind, an id and a few columns to find them by. One table contains all kinds.

use super::Store;
use super::index::blind_index;
use super::queued::QueuedDocument;
use super::sql::{self, Fault, SqlValue};
use scrip::json::{JsonMembers, Node};
use scrip::wire::Problem;
use scrip::wire::cursor::Read;
use scrip::wire::document::{read_document, read_fields};
use serde_json::{Map, Value as Json};
use std::borrow::Cow;
use std::collections::HashMap;

pub use super::document_columns::{COLUMNS, WIDTH, columns_of};

/// Members of a document, stored or about to be, as the API shows them. Control flow reads them through a record.
pub type DocumentBody = Map<String, Json>;

/// A stored document.
#[derive(Debug, Clone)]
pub struct Document {
    /// The service's own identifier.
    pub id: String,
    /// Second name of the document: a code, a campaign's name, a source_id.
    pub key: Option<String>,
    /// Id of the parent document.
    pub parent: Option<String>,
    /// Id of the customer who holds it.
    pub holder: Option<String>,
    /// Creation time in milliseconds since 1970.
    pub created_at: i64,
    /// Time of the last change in milliseconds since 1970; `None` until the first change.
    pub updated_at: Option<i64>,
    /// Members of the document, as the API returns them.
    pub body: DocumentBody,
}

/// Document of a row whose JSON text is not parsed yet.
#[derive(Debug, Clone)]
pub struct StoredDocument {
    /// See [`Document`], for all members except text and key.
    pub id: String,
    /// See [`Document::key`]; read from a row it is the value of the key column (`blind_index`).
    pub key: Option<String>,
    /// See [`Document`].
    pub parent: Option<String>,
    holder: Option<String>,
    created_at: i64,
    updated_at: Option<i64>,
    /// JSON text of the document.
    pub text: String,
}

impl StoredDocument {
    fn of(row: &[SqlValue]) -> Result<StoredDocument, Fault> {
        Ok(StoredDocument {
            id: sql::text(row, 0)?.to_owned(),
            key: sql::text_or_null(row, 1)?.map(str::to_owned),
            parent: sql::text_or_null(row, 2)?.map(str::to_owned),
            holder: sql::text_or_null(row, 3)?.map(str::to_owned),
            created_at: sql::int(row, 4)?,
            updated_at: sql::int_or_null(row, 5)?,
            text: sql::text(row, 6)?.to_owned(),
        })
    }

    /// Parses the members for the engine, without a check of their shape.
    pub fn members(&self) -> Result<JsonMembers, Fault> {
        match serde_json::from_str(&self.text) {
            Ok(Node::Object(members)) => Ok(JsonMembers::of(&members)),
            Ok(_) => Err(Fault("a stored body is no object".to_owned())),
            Err(error) => Err(Fault(format!("a stored body does not parse: {error}"))),
        }
    }

    /// Parses the text.
    pub fn document(self) -> Result<Document, Fault> {
        let body: Map<String, Json> = serde_json::from_str(&self.text)
            .map_err(|error| Fault(format!("a stored body does not parse: {error}")))?;
        Ok(Document {
            id: self.id,
            key: blind_index::plain_key(&body, self.key),
            parent: self.parent,
            holder: self.holder,
            created_at: self.created_at,
            updated_at: self.updated_at,
            body,
        })
    }
}

impl Document {
    /// Creates a document without parent and holder.
    pub fn new(id: String, key: Option<String>, now_ms: i64, body: Map<String, Json>) -> Document {
        Document { id, key, parent: None, holder: None, created_at: now_ms, updated_at: None, body }
    }

    /// Parses a queued document. Its key and parent are not known here.
    pub fn read_queued(queued: &QueuedDocument<'_>, now_ms: i64) -> Result<Document, Fault> {
        let QueuedDocument { kind, id, holder, text } = *queued;
        let body =
            serde_json::from_str(text).map_err(|error| Fault(format!("a queued {kind} does not parse: {error}")))?;
        Ok(Document { holder: holder.map(str::to_owned), ..Document::new(id.to_owned(), None, now_ms, body) })
    }
}

/// Returns a statement that selects documents by conditions over the table, which may end with an order and a limit.
pub fn select(conditions: &str) -> String {
    format!("SELECT {COLUMNS} FROM document WHERE {conditions}")
}

/// Reads a document from a row of [`COLUMNS`].
pub fn read(row: &[SqlValue]) -> Result<Document, Fault> {
    StoredDocument::of(row)?.document()
}

impl Store<'_> {
    /// Returns the document with an id.
    pub fn document(&self, kind: &str, id: &str) -> Result<Option<Document>, Fault> {
        self.stored_document(kind, id)?.map(StoredDocument::document).transpose()
    }

    /// Returns the document with an id, unparsed.
    pub fn stored_document(&self, kind: &str, id: &str) -> Result<Option<StoredDocument>, Fault> {
        let row = self.row(&select("kind = +?1 AND id = +?2"), &[kind.into(), id.into()])?;
        row.as_deref().map(StoredDocument::of).transpose()
    }

    /// Returns the documents with any of the ids, unparsed.
    pub fn stored_with_ids(&self, kind: &str, ids: &[&str]) -> Result<Vec<StoredDocument>, Fault> {
        let statement = select("kind = +?1 AND id IN (SELECT value FROM json_each(?2))");
        let rows = self.rows(&statement, &[kind.into(), Json::from(ids).to_string().into()])?;
        rows.iter().map(|row| StoredDocument::of(row)).collect()
    }

    /// Returns the document with a key, else the one with an id: campaigns, vouchers and customers are named so in paths.
    pub fn document_by_name(&self, kind: &str, key: &str, id: &str) -> Result<Option<Document>, Fault> {
        self.stored_by_name(kind, key, id)?.map(StoredDocument::document).transpose()
    }

    /// Returns the document with a key, else the one with an id, unparsed.
    pub fn stored_by_name(&self, kind: &str, key: &str, id: &str) -> Result<Option<StoredDocument>, Fault> {
        let (by_id, by_key) = (select("kind = +?1 AND id = +?3"), select("kind = +?1 AND key = +?2"));
        let rows = self.rows(
            &format!("{by_id} UNION ALL {by_key}"),
            &[kind.into(), blind_index::key(kind, key).as_ref().into(), id.into()],
        )?;
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
            let part =
                |names: &[&[&str]]| Json::from(names.get(place).copied().unwrap_or_default().to_vec()).to_string();
            let (keys, ids) = (part(&keys), part(&ids));
            // Left to itself, SQLite reads the whole kind in the order in which it joins the two.
            let statement = format!(
                "SELECT {COLUMNS} FROM document INDEXED BY document_key WHERE kind = +?1 AND key IN (SELECT value FROM json_each(?2))
                 UNION SELECT {COLUMNS} FROM document INDEXED BY document_id WHERE kind = +?1 AND id IN (SELECT value FROM json_each(?3))"
            );
            found.extend(self.documents(&statement, &[kind.into(), keys.into(), ids.into()])?);
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
}

/// Reason why a stored document gives no fact.
#[derive(Debug)]
pub enum UnreadableFact {
    /// The store failed, and the caller fails too.
    Fault(Fault),
    /// The document cannot be read, perhaps because an older version wrote it; only decisions that need it are refused.
    Unreadable(String),
}

impl From<Fault> for UnreadableFact {
    fn from(fault: Fault) -> UnreadableFact {
        UnreadableFact::Fault(fault)
    }
}

/// Returns the fact if it can be read; otherwise records a warning and returns `None`.
pub fn readable<T>(store: &Store<'_>, outcome: Result<T, UnreadableFact>) -> Result<Option<T>, Fault> {
    match outcome {
        Ok(read) => Ok(Some(read)),
        Err(UnreadableFact::Fault(fault)) => Err(fault),
        Err(UnreadableFact::Unreadable(reason)) => {
            store.warn(reason);
            Ok(None)
        }
    }
}

/// Parses a stored document with a reader of the engine.
pub fn read_stored<T>(kind: &str, id: &str, text: &str, read: Read<T>) -> Result<T, UnreadableFact> {
    read_document(text, read).map_err(|problem| unreadable(kind, id, &problem))
}

/// Parses a loaded document with a reader of the engine.
pub fn read_loaded<T>(kind: &str, document: &Document, read: Read<T>) -> Result<T, UnreadableFact> {
    read_fields(&document.body, read).map_err(|problem| unreadable(kind, &document.id, &problem))
}

/// Parses a stored member with a reader of the engine; its default without one. Fails when the member cannot be read.
pub fn read_member<T: Default>(owner: &Document, name: &str, member: Option<&Json>, read: Read<T>) -> Result<T, Fault> {
    let Some(member) = member.filter(|member| !member.is_null()) else { return Ok(T::default()) };
    let fault = |problem: &str| Fault(format!("`{name}` of `{}` cannot be read: {problem}", owner.id));
    let members = member.as_object().ok_or_else(|| fault("it is no object"))?;
    read_fields(members, read).map_err(|problem| fault(&problem.to_string()))
}

/// Returns the warning for a stored document that cannot be read.
pub fn unreadable(kind: &str, id: &str, problem: &Problem) -> UnreadableFact {
    UnreadableFact::Unreadable(format!("the stored {kind} `{id}` cannot be read: {problem}"))
}
