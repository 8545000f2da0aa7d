//! Decides whether a count may move: one ledger for everything that is counted. It knows accounts and units,
//! and must not know vouchers, customers or orders.
//!
//! Two nouns, one invariant: a transfer takes from one account what it gives to another, so that all balances add
//! up to nothing. Transfers come in linked chains, all or none; a rollback is the reverse of a chain; a lock is a
//! hold, which counts as spent for everybody without its key until it expires.

pub mod account;
pub mod book;
pub mod journal;

pub use account::{AccountId, Standing};
pub use book::{Book, Shortfall};
pub use journal::Journal;

use crate::text::Text;
use crate::time::Instant;

/// A movement of `amount` units from `debit` to `credit`. It is never changed; to undo it is another transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Unique; a transfer of the same id is the same transfer.
    pub id: Text,
    /// All transfers of a chain happen, or none.
    pub chain: Text,
    /// Where the units come from.
    pub debit: AccountId,
    /// Where they go to.
    pub credit: AccountId,
    /// How many; never 0.
    pub amount: u64,
    /// The transfer that this one undoes.
    pub reverses: Option<Text>,
    /// When.
    pub at: Instant,
}

/// A session as one caller reaches it. Whoever knows a key can say it: what others have set under it is out of a page's reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its key.
    pub key: Text,
    /// By whom it was set; `None` reaches it whoever that was.
    pub owner: Option<Text>,
}

impl Session {
    /// Whether a hold is of this session.
    pub fn has(&self, hold: &Hold) -> bool {
        hold.key == self.key && self.owner.as_ref().is_none_or(|owner| *owner == hold.owner)
    }
}

/// Units of an account set aside for whoever has the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The key of the session.
    pub key: Text,
    /// By whom it was set; empty for the shop's own servers.
    pub owner: Text,
    /// What is set aside from.
    pub account: AccountId,
    /// How many units.
    pub amount: u64,
    /// From this moment on the hold is nothing.
    pub expires_at: Instant,
}

/// One line of what is to be written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A transfer has happened.
    Post(Transfer),
    /// Units are held; a hold of the same key, owner and account is replaced.
    Hold(Hold),
    /// All holds of this session are given back.
    Release(Session),
}
