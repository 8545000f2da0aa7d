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
    /// Reads it from a row of [`COLUMNS`].
    pub(super) fn of(row: &[SqlValue]) -> Result<StoredDocument, Fault> {
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

/// Reads a document from a row of [`COLUMNS`].
pub fn read(row: &[SqlValue]) -> Result<Document, Fault> {
    StoredDocument::of(row)?.document()
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
