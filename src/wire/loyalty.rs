//! Reads stored documents of loyalty programs and v1 loyalty campaigns. Also reads and writes the lots of cards and the
//! tier states of members. An unknown member is a problem at its path, and is never ignored.

mod base_kind;
pub mod card_definition;
pub mod earning_rule;
pub mod expiration;
pub mod incentive;
pub mod lots;
pub mod loyalty_campaign_expiration;
pub mod loyalty_campaign_rule;
pub mod loyalty_campaign_tier;
pub mod points;
pub mod points_basis;
pub mod program;
pub mod reward;
pub mod tiers;
pub mod window;
