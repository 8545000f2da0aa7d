//! Defines what a client may know of an offer whose code or name it does not have: everything, what its code opens, or nothing.

use crate::time::Instant;

/// Disclosure of an offer to clients. A later value is narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Visibility {
    /// Every client may know the offer.
    Public,
    /// A client learns about the offer only by its code.
    Sealed,
    /// Only the server knows the offer, and that it exists.
    #[default]
    Server,
}

impl Visibility {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Visibility::Public => "public",
            Visibility::Sealed => "sealed",
            Visibility::Server => "server",
        }
    }
}

/// The time in which clients see an offer in lists: while it is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedTime {
    /// The start, inclusive.
    pub from: Instant,
    /// The end, exclusive; `None` without an end.
    pub until: Option<Instant>,
}

impl ListedTime {
    /// Returns whether an instant is within.
    pub fn covers(self, now: Instant) -> bool {
        self.from <= now && self.until.is_none_or(|until| now < until)
    }

    /// Returns the time in which both are seen.
    pub fn and(self, other: ListedTime) -> ListedTime {
        let ends = [self.until, other.until].into_iter().flatten();
        ListedTime { from: self.from.max(other.from), until: ends.min() }
    }
}
