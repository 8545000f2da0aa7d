//! Decides what can be known of a fact, and how a case keeps one. It must not know what any fact is about.

use std::ops::Deref;
use std::sync::Arc;

/// What is known of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<T> {
    /// It is this.
    Is(T),
    /// It does not exist.
    Absent,
    /// Only somebody else knows.
    Unknown,
    /// It is there and cannot be read, so that nobody can say what it allows: whatever needs it is refused.
    Unreadable,
}

impl<T> Known<T> {
    /// The fact, when it is there.
    pub fn found(self) -> Option<T> {
        match self {
            Known::Is(fact) => Some(fact),
            Known::Absent | Known::Unknown | Known::Unreadable => None,
        }
    }

    /// The same with the fact turned into another.
    pub fn map<U>(self, turn: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Known::Is(fact) => Known::Is(turn(fact)),
            Known::Absent => Known::Absent,
            Known::Unknown => Known::Unknown,
            Known::Unreadable => Known::Unreadable,
        }
    }
}

impl<T> From<Option<T>> for Known<T> {
    fn from(fact: Option<T>) -> Known<T> {
        fact.map_or(Known::Absent, Known::Is)
    }
}

/// A fact as a case keeps it: lent by whoever knows it, or its own. It is as small as a place, where a `Cow` is as large
/// as what it may own; a case moves dozens of them.
#[derive(Debug, Clone)]
pub enum Fact<'a, T> {
    /// Somebody else's.
    Lent(&'a T),
    /// Its own, or shared.
    Own(Arc<T>),
}

impl<T> Fact<'_, T> {
    /// One that nobody else has.
    pub fn own(fact: T) -> Self {
        Fact::Own(Arc::new(fact))
    }
}

impl<T: Clone> Fact<'_, T> {
    /// The fact itself.
    pub fn into_owned(self) -> T {
        match self {
            Fact::Lent(fact) => fact.clone(),
            Fact::Own(fact) => Arc::unwrap_or_clone(fact),
        }
    }
}

impl<T> Deref for Fact<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Fact::Lent(fact) => fact,
            Fact::Own(fact) => fact,
        }
    }
}
