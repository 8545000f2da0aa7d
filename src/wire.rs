//! Decides the JSON of decisions: how requests, vouchers and rules are read, how answers are written. It must not
//! know what they lead to. Browser and service read and write through here, so that both mean the same.

pub mod at;
pub mod candidates;
pub mod customer;
pub mod decision;
pub mod error;
pub mod failure;
pub mod goods;
pub mod legible;
pub mod name;
pub mod node;
pub mod offer;
pub mod order;
pub mod order_view;
pub mod out;
pub mod page;
pub mod past;
pub mod problem;
pub mod qualification;
pub mod record;
pub mod redemption;
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

pub use at::At;
pub use node::Node;
pub use problem::Problem;
