//! What documents read as, remembered between requests: the rules of a program are read once and not for every order. It must not know
//! what a document is.
//!
//! A document is known by its id and by all that it says, so that one that was changed, or is another project's, is read anew.

use crate::store::document::{Unread, read_stored};
use scrip::wire::cursor::Read;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of the documents of one kind that are remembered, at most; then all are forgotten. What is read takes a few times as many.
const MOST_BYTES: usize = 4_000_000;

/// What the documents of a kind read as.
pub struct Readings<T: 'static>(Mutex<Known<T>>);

struct Known<T> {
    /// By id: the text, and what it reads as.
    read: BTreeMap<String, (String, Arc<T>)>,
    /// Of all texts.
    bytes: usize,
}

impl<T> Readings<T> {
    /// Nothing yet.
    pub const fn empty() -> Readings<T> {
        Readings(Mutex::new(Known { read: BTreeMap::new(), bytes: 0 }))
    }

    /// What a stored document reads as.
    pub fn of(&self, (kind, id, text): (&str, &str, &str), read: Read<T>) -> Result<Arc<T>, Unread> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, read)) = known.read.get(id).filter(|(said, _)| said == text) {
            return Ok(Arc::clone(read));
        }
        let read = Arc::new(read_stored(kind, id, text, read)?);
        if known.bytes.saturating_add(text.len()) > MOST_BYTES {
            known.read.clear();
            known.bytes = 0;
        }
        let before = known.read.insert(id.to_owned(), (text.to_owned(), Arc::clone(&read)));
        let forgotten = before.map_or(0, |(text, _)| text.len());
        known.bytes = known.bytes.saturating_add(text.len()).saturating_sub(forgotten);
        Ok(read)
    }
}
