//! Reads and writes the JSON of decisions: requests, vouchers, rules and answers. Package and service share it, so that
//! both read and write identically.

pub mod candidates;
pub mod cursor;
pub mod customer;
pub mod decision;
pub mod document;
pub mod error;
pub mod goods;
pub mod loyalty;
pub mod offer;
pub mod order;
pub mod price;
pub mod problem;
pub mod project;
pub mod qualification;
pub mod readability;
pub mod redemptions;
pub mod request;
pub mod reward;
pub mod rule_set;
pub mod rules;
pub mod scope;
pub mod stored_redemption;
pub mod voucher;
pub mod writer;

pub use crate::json::Node;
pub use cursor::JsonCursor;
pub use problem::Problem;
