//! Decides the JSON of decisions: how requests, vouchers and rules are read, how answers are written. It must not
//! know what they lead to. Browser and service read and write through here, so that both mean the same.

pub mod candidates;
pub mod card;
pub mod cursor;
pub mod customer;
pub mod decision;
pub mod document;
pub mod error;
pub mod failure;
pub mod goods;
pub mod legible;
pub mod loyalty;
pub mod offer;
pub mod order;
pub mod order_view;
pub mod page;
pub mod past;
pub mod problem;
pub mod qualification;
pub mod record;
pub mod redemption;
pub mod referral;
pub mod request;
pub mod reward;
pub mod rollback;
pub mod rule_set;
pub mod rules;
pub mod scope;
pub mod single;
pub mod stacking;
pub mod stored_order;
pub mod time_zone;
pub mod trace;
pub mod voucher;
pub mod writer;

pub use crate::json::Node;
pub use cursor::Cursor;
pub use problem::Problem;
