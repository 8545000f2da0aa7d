//! Loyalty campaigns (v1): earning rules, tiers and pending points.

pub mod earning_rules;
pub mod pending_points;
pub mod points_origin;
pub mod tiers;
