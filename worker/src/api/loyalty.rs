//! Rewards and what they cost the members of a program. No area imports another's handlers.

pub mod reward_assignments;
pub mod rewards;
