//! Members of loyalty programs (v2): cards, tiers, benefits, purchases, payments and estimates.

pub mod benefits;
pub mod cards;
pub mod earning_estimate;
pub mod members;
pub mod memberships;
pub mod order_payments;
pub mod purchases;
pub mod reward_estimate;
pub mod tiers;
