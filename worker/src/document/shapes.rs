//! The shapes of documents that no decision reads, as answers show them; those that one reads stand beside the engine's readers. It
//! must not know how a document comes about.

pub mod activities;
pub mod bundle;
pub mod cards;
pub mod catalogue;
pub mod codes;
pub mod customers;
pub mod earnings;
pub mod examination;
pub mod loyalty;
pub mod loyalty_gifts;
pub mod loyalty_rewards;
pub mod management;
pub mod member_tiers;
pub mod members;
pub mod older;
pub mod points;
pub mod program_rules;
pub mod program_tiers;
pub mod programs;
pub mod project;
pub mod promotions;
pub mod purchases;
pub mod reports;
pub mod rules;
pub mod tiers;

pub use scrip::shape::EMPTY;
use scrip::shape::{COUNT, Field, Kind, may, must};

/// What a list says beside its page: how many there are.
pub const TOTAL: &[Field] = &[must("total", COUNT)];
/// What a list says that tells whether there is more as well.
pub const TOTAL_AND_MORE: &[Field] = &[must("total", COUNT), must("has_more", Kind::Bool)];
/// What a list says that goes on from a document, and is counted.
pub const TOTAL_MORE_AND_NEXT: &[Field] =
    &[must("total", COUNT), must("has_more", Kind::Bool), may("more_starting_after", Kind::Text)];
/// What a list says that is not counted.
pub const MORE: &[Field] = &[must("has_more", Kind::Bool), may("more_starting_after", Kind::Text)];
