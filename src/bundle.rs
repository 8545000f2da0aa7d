//! Prepares a set of rules once, so that each decision processes only its own order. Facts that the set does not
//! contain are known only to the server.

mod checked_metadata;
mod customer_conditions;
pub mod facts;
mod goods_sets;
pub mod goods_tree;
mod missing_goods;
pub mod prepared;
mod sent_profile;

pub use checked_metadata::CHECKED_METADATA;
pub use customer_conditions::{
    conditions_of_new_customer, is_independent_of, next_turn_of_new_customer, number_conditions, read_condition,
    request_of, segments_of,
};
pub use goods_sets::{GoodsSorter, SetCondition, number_goods_conditions};
pub use prepared::PreparedRules;

/// Version of the verdicts: it rises when any request gets another verdict or another amount. A client with another version than
/// the service decides provisionally (`engine`).
pub const DECIDES: u32 = 2;

/// Version of the bytes: it rises when any answer gets other bytes.
pub const WRITES: u32 = 2;
