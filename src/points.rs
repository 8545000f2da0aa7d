//! Decides what becomes of loyalty points: when they can be spent, when they lapse, which are spent first and where they go
//! back to. It must not know members, programs, vouchers or JSON documents, nor what accounts are called.
//!
//! A card is lots of points. What an operation does is told as movements between places of the card, and those are
//! transfers of the ledger (`facts::cards`), so that whatever came is somewhere. Nothing happens by time alone: an operation
//! first settles what was due before it, each thing at its own moment, so that a card that is swept often, once or never
//! is the same card.
//!
//! loyalty-v2.md sections 3, 4.2, 7 and 8.

pub mod calendar;
pub mod card;
pub mod definition;
mod draft;
pub mod expiry;
pub mod limits;
pub mod lots;
pub mod pending;
pub mod proportional;
mod settle;
pub mod tiered;

pub use calendar::{CurrentPeriod, DateOfYear, Period, Unit};
pub use card::{
    Card, Cause, Figure, Figures, Lot, MOST, Movement, Next, Now, Outcome, Part, Pending, Place, Refused, Step,
};
pub use definition::{CardDefinition, SpentBack};
pub use expiry::{Activity, Custom, Expiration, Expiry, Rounding, Sliding};
pub use lots::{Arrival, Earned, Revocation, Spent, Take};
pub use pending::{Delay, Wait};
