//! Defines the knowledge states of a fact, and its ownership within a case.

use std::ops::Deref;
use std::sync::Arc;

/// The knowledge state of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<T> {
    /// The fact is known.
    Is(T),
    /// The fact does not exist.
    Absent,
    /// Only the server knows the fact.
    Unknown,
    /// The stored fact cannot be read, so its effect is unknown: every decision that needs it is refused.
    Unreadable,
}

impl<T> Known<T> {
    /// Returns the fact, if it is known.
    pub fn found(self) -> Option<T> {
        match self {
            Known::Is(fact) => Some(fact),
            Known::Absent | Known::Unknown | Known::Unreadable => None,
        }
    }

    /// Maps a known fact.
    pub fn map<U>(self, convert: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Known::Is(fact) => Known::Is(convert(fact)),
            Known::Absent => Known::Absent,
            Known::Unknown => Known::Unknown,
            Known::Unreadable => Known::Unreadable,
        }
    }
}

impl<T> Known<Option<T>> {
    /// Returns the fact that was made of another one; where none could be made, that one cannot be read.
    pub fn readable(self) -> Known<T> {
        match self {
            Known::Is(Some(fact)) => Known::Is(fact),
            Known::Absent => Known::Absent,
            Known::Unknown => Known::Unknown,
            Known::Is(None) | Known::Unreadable => Known::Unreadable,
        }
    }
}

impl<T> From<Option<T>> for Known<T> {
    fn from(fact: Option<T>) -> Known<T> {
        fact.map_or(Known::Absent, Known::Is)
    }
}

/// A fact of a case: borrowed, or owned. It has the size of a pointer, while a `Cow` is as large as the owned value; a
/// case moves dozens of them.
#[derive(Debug, Clone)]
pub enum Fact<'a, T> {
    /// Borrowed.
    Borrowed(&'a T),
    /// Owned or shared.
    Shared(Arc<T>),
}

impl<T> Fact<'_, T> {
    /// Returns an owned fact.
    pub fn own(fact: T) -> Self {
        Fact::Shared(Arc::new(fact))
    }
}

impl<T: Clone> Fact<'_, T> {
    /// Returns the value.
    pub fn into_owned(self) -> T {
        match self {
            Fact::Borrowed(fact) => fact.clone(),
            Fact::Shared(fact) => Arc::unwrap_or_clone(fact),
        }
    }
}

impl<T> Deref for Fact<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Fact::Borrowed(fact) => fact,
            Fact::Shared(fact) => fact,
        }
    }
}
