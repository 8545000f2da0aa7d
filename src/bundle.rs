//! Prepares a set of rules once, so that each decision processes only its own order. Facts that the set does not
//! contain are known only to the server.

pub mod facts;
pub mod prepared;

pub use prepared::PreparedRules;
