//! Decides which of several redeemables are applied, and in which order: sorting, exclusivity, limits, modes. A judge
//! decides about each of them.
//!
//! docs/spec/calculation.md#11.2.

pub mod claims;
pub mod fold;
pub mod select;

pub use claims::{ClaimTrial, Claims};
pub use fold::{ApplyOutcome, Judge, OpenWalk, Walk, WalkStep, first_refusal};
pub use select::{CategoryRules, ClassNames, StackingCandidate, TrialOrder, select};
