//! Shapes in responses of documents that no decision reads; the shapes of the others are next to the engine's readers.

pub mod activities;
pub mod bundle;
pub mod campaign_earning_rules;
pub mod campaign_tiers;
pub mod cards;
pub mod catalogue;
pub mod customers;
pub mod earnings;
pub mod estimates;
pub mod legacy;
pub mod loyalty;
pub mod loyalty_gifts;
pub mod loyalty_rewards;
pub mod management;
pub mod member_tiers;
pub mod members;
pub mod points;
pub mod programs;
pub mod project;
pub mod promotions;
pub mod purchases;
pub mod reports;
pub mod rules;
pub mod tiers;
pub mod vouchers;

pub use scrip::shape::EMPTY;
use scrip::shape::{COUNT, Field, FieldType, may, must};

const HAS_MORE: Field = must("has_more", FieldType::Bool).description("`true` when more objects follow this page.");
const MORE_STARTING_AFTER: Field = may("more_starting_after", FieldType::Text)
    .description("Value with which the next page is requested. Absent on the last page.");

/// Members of a list in addition to its page: the total.
pub const TOTAL: &[Field] = &[must("total", COUNT)];
/// Members of a list with a total and a mark for further pages.
pub const TOTAL_AND_MORE: &[Field] = &[must("total", COUNT), HAS_MORE];
/// Members of a list that continues after a document and has a total.
pub const TOTAL_MORE_AND_NEXT: &[Field] = &[must("total", COUNT), HAS_MORE, MORE_STARTING_AFTER];
/// Members of a list without a total.
pub const MORE: &[Field] = &[HAS_MORE, MORE_STARTING_AFTER];
