//! What the documents read as by which loyalty programs are run, remembered between requests: a program's rules are read once, and not
//! for every order. It must not know what any document says.
//!
//! The tables draw a new name for their edition with every change of such a document (`store/schema`), in the transaction of the change,
//! and a name never comes again. What was read in an edition is therefore what would be read in it now, whichever project it is.

use super::Store;
use super::document::{Unread, legible, read_stored};
use super::sql::{self, Fault};
use scrip::wire::cursor::Read;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of the texts whose readings of one sort are remembered, at most; then all are forgotten. What is read takes a few times as many.
const MOST_BYTES: usize = 4_000_000;

/// The edition of a store's programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edition(String);

impl Edition {
    /// The expression of a statement that says it.
    pub const COLUMN: &'static str = "(SELECT drawn FROM edition WHERE subject = 'programs')";

    /// As the column above said it.
    pub fn said(text: &str) -> Edition {
        Edition(text.to_owned())
    }
}

/// What was read in editions, by a name; nothing for what does not read.
pub struct Readings<T: 'static>(Mutex<Known<T>>);

struct Known<T> {
    /// By edition and name.
    read: BTreeMap<(String, String), Option<Arc<T>>>,
    /// Of all texts.
    bytes: usize,
}

impl<T> Readings<T> {
    /// Nothing yet.
    pub const fn empty() -> Readings<T> {
        Readings(Mutex::new(Known { read: BTreeMap::new(), bytes: 0 }))
    }

    /// What a name reads as, if it was read.
    pub fn get(&self, edition: &Edition, name: &str) -> Option<Option<Arc<T>>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.read.get(&(edition.0.clone(), name.to_owned())).cloned()
    }

    /// Remembers what a name reads as, whose texts have so many bytes.
    pub fn put(&self, edition: &Edition, name: &str, (read, bytes): (Option<Arc<T>>, usize)) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = bytes.saturating_add(name.len());
        if known.bytes.saturating_add(bytes) > MOST_BYTES {
            known.read.clear();
            known.bytes = 0;
        }
        known.bytes = known.bytes.saturating_add(bytes);
        known.read.insert((edition.0.clone(), name.to_owned()), read);
    }

    /// The documents of a kind with these ids, read; those that are there. What does not read is noted when it is first read.
    pub fn find(
        &self,
        store: &Store<'_>,
        edition: &Edition,
        (kind, ids): (&str, &[&str]),
        read: Read<T>,
    ) -> Result<BTreeMap<String, Option<Arc<T>>>, Fault> {
        let mut found = BTreeMap::new();
        let mut wanted = Vec::new();
        for id in ids {
            match self.get(edition, id) {
                Some(read) => drop(found.insert((*id).to_owned(), read)),
                None => wanted.push(*id),
            }
        }
        if wanted.is_empty() {
            return Ok(found);
        }
        let rows = store.rows(
            "SELECT id, body FROM document WHERE kind = +?1 AND id IN (SELECT value FROM json_each(?2))",
            &[kind.into(), Json::from(wanted).to_string().into()],
        )?;
        for row in &rows {
            let (id, text) = (sql::text(row, 0)?, sql::text(row, 1)?);
            let read = once(store, read_stored(kind, id, text, read))?;
            self.put(edition, id, (read.clone(), text.len()));
            found.insert(id.to_owned(), read);
        }
        Ok(found)
    }
}

/// What was read, to be shared.
pub fn once<T>(store: &Store<'_>, outcome: Result<T, Unread>) -> Result<Option<Arc<T>>, Fault> {
    Ok(legible(store, outcome)?.map(Arc::new))
}
