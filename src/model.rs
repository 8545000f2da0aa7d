//! What can be true: the nouns of a decision, read once at the border. They must not know JSON documents or storage.

pub mod card;
pub mod customer;
pub mod discount;
pub mod incentive;
pub mod order;
pub mod page;
pub mod promotion;
pub mod qualification;
pub mod redemption;
pub mod referral;
pub mod request;
pub mod reward;
pub mod scope;
pub mod stacking;
