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

pub use progress::{DeferredTier, Opportunity, Progress, Risk, TierProgress};
pub use state::{Position, PriorPoints, TierChange, TierFacts, TierInputChange, TierOutcome, TierPassage, TierState};
pub use structure::{Downgrade, Grace, LoyaltyTier, Structure, TierExpiration, TierMeasure};
pub use tracking::{Tracking, TrackingUnit};
