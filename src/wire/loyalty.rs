//! Decides how documents of loyalty programs are read, as they are stored: in the older form of the interface; and how the lots of cards
//! and the standings of members in tiers are read and written. It must not know what is earned by them. What is not known is a problem at
//! its path, and never passed over.

pub mod card_definition;
pub mod earning_rule;
pub mod expiration;
pub mod incentive;
pub mod lots;
pub mod points;
pub mod program;
pub mod program_expiration;
pub mod program_rule;
pub mod program_tier;
pub mod reward;
pub mod tiers;
pub mod window;
