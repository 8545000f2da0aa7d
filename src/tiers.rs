//! Decides the tier of a member in a tier structure from points and segments, and reports upgrades and downgrades.
//!
//! A tier state changes only at certain instants: when inputs change, and when an event is due by time. Only the end of
//! an instant counts. So neither the order of events within it nor the frequency of reading changes the result.
//!
//! docs/spec/loyalty.md#6.

mod advance;
mod inputs;
pub mod progress;
pub mod state;
pub mod structure;
pub mod tracking;

pub use progress::{CardProgress, DeferredTier, DowngradeRisk, NextTier, TierProgress};
pub use state::{
    PriorPoints, TierChange, TierChangeKind, TierFacts, TierInputChange, TierOutcome, TierPosition, TierState,
};
pub use structure::{Downgrade, GracePeriod, LoyaltyTier, TierExpiration, TierMeasure, TierStructure};
pub use tracking::{TrackingPeriod, TrackingUnit};
