//! Decides whether units may move: one ledger for everything that is counted. It knows only accounts and units.
//!
//! A transfer moves units from one account to another, so that all balances add up to 0. Transfers form chains, which
//! happen all or none; a rollback is the reverse of a chain. A lock is a hold, which counts as spent for every caller
//! without its key until it expires.

pub mod account;
pub mod book;
pub mod journal;

pub use account::{AccountId, AccountState};
pub use book::{Book, Shortfall};
pub use journal::Journal;

use crate::text::Text;
use crate::time::Instant;

/// A movement of `amount` units from `debit` to `credit`. It is never changed; another transfer reverses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Unique; a transfer with an equal id is identical.
    pub id: Text,
    /// All transfers of a chain happen, or none.
    pub chain: Text,
    /// The source account.
    pub debit: AccountId,
    /// The target account.
    pub credit: AccountId,
    /// The number of units; never 0.
    pub amount: u64,
    /// The transfer that this one reverses.
    pub reverses: Option<Text>,
    /// The transfer of which this one reverses a part.
    pub part_of: Option<Text>,
    /// The instant of the transfer.
    pub at: Instant,
}

/// A session within the reach of one caller. A client reaches its own locks and redeems with those of its merchant's
/// servers. Locks of other clients under an equal key are out of its reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldOwner {
    /// Its key.
    pub key: Text,
    /// The caller who set it; `None` reaches the locks of all callers.
    pub owner: Option<Text>,
    /// `true` if the locks of the merchant's servers under the key are reached in addition.
    pub servers: bool,
}

impl HoldOwner {
    /// Returns whether a hold belongs to this session.
    pub fn has(&self, hold: &Hold) -> bool {
        let reaches = |owner: &Text| *owner == hold.owner || (self.servers && hold.owner.is_empty());
        hold.key == self.key && self.owner.as_ref().is_none_or(reaches)
    }
}

/// Units of an account that are reserved for callers with the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The key of the session.
    pub key: Text,
    /// The caller who set it; empty for the merchant's own servers.
    pub owner: Text,
    /// The account with the held units.
    pub account: AccountId,
    /// The number of units.
    pub amount: u64,
    /// The instant from which the hold does not count.
    pub expires_at: Instant,
}

/// One entry to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A transfer has happened.
    Post(Transfer),
    /// Units are held; a hold of the same key, owner and account is replaced.
    Hold(Hold),
    /// All holds of this session are released.
    Release(HoldOwner),
}
