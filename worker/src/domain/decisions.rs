//! Facts of a decision, and the writes of its effects.

pub mod bundle_supplement;
pub mod expanded;
pub mod facts;
pub mod order_pricing;
pub mod order_returns;
pub mod outcome;
pub mod own_offers;
pub mod redemption_input;
pub mod todays_rules;
