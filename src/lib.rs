//! Scrip decides which vouchers apply to an order, their discounts, and the changes to store.
//!
//! This crate has no HTTP, storage, clock, randomness or `async`. It reads facts through one trait, takes the instant
//! and the seed as values, and returns an answer with the resulting changes.

pub mod budget;
pub mod count;
pub mod id;
pub mod json;
pub mod money;
pub mod ordered_map;
pub mod shape;
pub mod text;
pub mod time;

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
