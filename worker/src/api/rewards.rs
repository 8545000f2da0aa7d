//! Rewards of loyalty campaigns and their assignments.

pub mod assignments;
pub mod rewards;
