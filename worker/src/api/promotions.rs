//! Promotion tiers and stacks.

pub mod stacks;
pub mod tier_changes;
pub mod tiers;
