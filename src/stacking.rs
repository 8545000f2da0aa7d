//! Decides which of several redeemables are applied, and in which order: sorting, exclusivity, limits, modes. It must
//! not know what makes one valid or what it gives; it asks a judge.
//!
//! calculation.md section 11.2.

pub mod fold;
pub mod select;

pub use fold::{Judge, Outcome, Step, Walk};
pub use select::{Candidate, Class, Selection, select};
