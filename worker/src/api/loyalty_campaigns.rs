//! Loyalty campaigns (v1): members, points, earning rules, tiers and rewards.

pub mod campaigns;
pub mod earning_rules;
pub mod expiration;
pub mod member_activity;
pub mod member_rewards;
pub mod members;
pub mod pending_points;
pub mod qualifications;
pub mod tiers;
pub mod transfers;
