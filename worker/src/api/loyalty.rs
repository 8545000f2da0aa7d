//! Loyalty programs with what is in them, rewards, and what they cost the members of a program. No area imports another's handlers.

pub mod card_definitions;
mod checks;
pub mod earning_rules;
pub mod examine;
pub mod examine_rewards;
mod given;
pub mod incentives;
pub mod loyalty_rewards;
pub mod loyalty_tiers;
pub mod member_benefits;
pub mod member_cards;
pub mod member_rewards;
pub mod member_tiers;
pub mod members;
pub mod memberships;
pub mod order_payments;
mod program_assignments;
pub mod program_batches;
pub mod program_earning_rules;
pub mod program_qualifications;
pub mod program_tiers;
pub mod programs;
pub mod reports;
pub mod reward_assignments;
pub mod reward_purchases;
pub mod rewards;
pub mod tier_structures;
