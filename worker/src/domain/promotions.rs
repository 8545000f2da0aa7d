//! Promotion tiers.

pub mod open_tiers;
pub mod tiers;
