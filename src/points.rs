//! Decides the movements of loyalty points: when they can be spent, when they expire, which are spent first, and to
//! which lot they are refunded.
//!
//! A card consists of lots of points. An operation returns movements between accounts of the card, which are transfers
//! of the ledger (`facts::cards`), so every credited point is in some account. Time changes nothing by itself: an operation
//! first settles earlier due events, each at its own instant. So the state of a card does not depend on how often it is
//! settled.
//!
//! docs/spec/loyalty.md sections 3, 4.2, 7 and 8.

pub mod calendar;
pub mod campaign_tiers;
pub mod card;
pub mod definition;
mod draft;
pub mod expiry;
pub mod limits;
pub mod lots;
pub mod pending;
pub mod proportional;
mod settle;

pub use calendar::{CurrentPeriod, DateOfYear, Period, Unit};
pub use card::{
    CardOutcome, CardRefusal, CardStep, LifetimeTotal, LifetimeTotals, Lot, LotPart, MovementCause, Now, POINTS_MAX,
    PendingPoints, PointsAccount, PointsCard, PointsMovement, Upcoming,
};
pub use definition::{CardDefinition, RefundExpiry};
pub use expiry::{Activity, CustomActivity, Expiration, Expiry, Rounding, SlidingExpiry};
pub use lots::{Credit, DebitReason, EarnedPoints, Revocation, SpentPoints};
pub use pending::{Delay, PendingUntil};
