//! Cache of the parsed documents of loyalty programs between requests, so that program rules are not read for every order.
//!
//! A trigger sets a new random revision with every change of such a document (`store/schema`), in the transaction of the
//! change; a revision never repeats. Therefore cached documents are valid for their revision, in any project. Sizes in bytes saturate:
//! beyond the type is beyond the limit.

use crate::store::Store;
use crate::store::document::{StoredDocument, UnreadableFact, read_stored, readable};
use crate::store::sql::Fault;
use scrip::wire::cursor::Read;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum size in bytes of the cached texts of one kind; beyond it the cache is cleared. Parsed documents take a few times as much.
const BYTES_MAX: usize = 4_000_000;

/// Revision of a store's loyalty programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramRevision(String);

impl ProgramRevision {
    /// SQL expression for the revision.
    pub const COLUMN: &'static str = "(SELECT drawn FROM edition WHERE subject = 'programs')";

    /// Returns the revision from the value of the column.
    pub fn from_text(text: &str) -> ProgramRevision {
        ProgramRevision(text.to_owned())
    }
}

/// Parsed documents by revision and name; `None` for documents that cannot be read.
pub struct RevisionCache<T: 'static>(Mutex<CacheState<T>>);

struct CacheState<T> {
    /// Documents by revision and name.
    read: BTreeMap<(String, String), Option<Arc<T>>>,
    /// Total size of the texts in bytes.
    bytes: usize,
}

impl<T> RevisionCache<T> {
    /// Creates an empty cache.
    pub const fn empty() -> RevisionCache<T> {
        RevisionCache(Mutex::new(CacheState { read: BTreeMap::new(), bytes: 0 }))
    }

    /// Returns the cached document of a name.
    pub fn get(&self, revision: &ProgramRevision, name: &str) -> Option<Option<Arc<T>>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.read.get(&(revision.0.clone(), name.to_owned())).cloned()
    }

    /// Caches the parsed document of a name, with the size of its texts.
    pub fn insert(&self, revision: &ProgramRevision, name: &str, read: Option<Arc<T>>, bytes: usize) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = bytes.saturating_add(name.len()); // Both are in memory.
        // Beyond the type is beyond the limit.
        if known.bytes.saturating_add(bytes) > BYTES_MAX {
            known.read.clear();
            known.bytes = 0;
        }
        // The limit is checked above.
        known.bytes = known.bytes.saturating_add(bytes);
        known.read.insert((revision.0.clone(), name.to_owned()), read);
    }

    /// Returns the documents of a kind with these ids, parsed; missing ones are left out. An unreadable one is reported
    /// when it is first read.
    pub fn find(
        &self,
        store: &Store<'_>,
        revision: &ProgramRevision,
        kind: &str,
        ids: &[&str],
        read: Read<T>,
    ) -> Result<BTreeMap<String, Option<Arc<T>>>, Fault> {
        let mut found = BTreeMap::new();
        let mut missing = Vec::new();
        for id in ids {
            match self.get(revision, id) {
                Some(read) => drop(found.insert((*id).to_owned(), read)),
                None => missing.push(*id),
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        for StoredDocument { id, text, .. } in store.stored_with_ids(kind, &missing)? {
            let read = once(store, read_stored(kind, &id, &text, read))?;
            self.insert(revision, &id, read.clone(), text.len());
            found.insert(id, read);
        }
        Ok(found)
    }
}

/// Wraps a parsed document for sharing.
pub fn once<T>(store: &Store<'_>, outcome: Result<T, UnreadableFact>) -> Result<Option<Arc<T>>, Fault> {
    Ok(readable(store, outcome)?.map(Arc::new))
}
