//! Decides the JSON of what a decision about a loyalty program reads and writes: card definitions, the lots of cards, tiers. It must not
//! know programs or members.

pub mod card_definition;
pub mod expiration;
pub mod lots;
pub mod tiers;
pub mod window;
