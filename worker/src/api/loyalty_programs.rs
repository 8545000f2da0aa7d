//! Loyalty programs (v2): configuration and reports.

mod assignments;
pub mod batches;
pub mod card_definitions;
pub mod checks;
pub mod earning_rules;
mod grant_checks;
pub mod incentives;
pub mod programs;
pub mod reports;
pub mod rewards;
pub mod tier_structures;
pub mod tiers;
