//! Defines the typed entities of a decision, read once from JSON.

pub mod card;
pub mod client;
pub mod customer;
pub mod discount;
pub mod goods_buckets;
pub mod goods_sets;
pub mod offer_phase;
pub mod offer_visibility;
pub mod order;
pub mod order_return;
pub mod price;
pub mod promotion;
pub mod qualification;
pub mod redeemable;
pub mod redemption;
pub mod referral;
pub mod request;
pub mod reward;
pub mod scope;
pub mod stacking;
pub mod visibility;
