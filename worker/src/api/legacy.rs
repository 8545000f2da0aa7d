//! Decisions by the routes for a single voucher.

pub mod operations;
pub mod query;
pub mod requests;
