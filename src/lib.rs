//! Scrip decides: which vouchers apply to a basket, for how much, and what is to be written down.
//!
//! This crate must not know HTTP, storage, a clock, a source of randomness or `async`. It reads facts through
//! one trait, takes the moment and the seed as values, and returns an answer with the changes that follow from it.

pub mod id;
pub mod json;
pub mod money;
pub mod ordered_map;
pub mod shape;
pub mod text;
pub mod time;
pub mod work;

pub mod bundle;
pub mod decide;
pub mod facts;
pub mod formula;
pub mod ledger;
pub mod lifecycle;
pub mod model;
pub mod points;
pub mod pricing;
pub mod refusal;
pub mod rules;
pub mod stacking;
pub mod tiers;
pub mod wire;
pub mod zones;

pub use id::Context;
