//! Customers: profiles, activity, consents, redeemables, deletion, import and tokens.

pub mod activity;
pub mod client;
pub mod consents;
pub mod csv_import;
pub mod customers;
pub mod deletion;
pub mod redeemables;
pub mod tokens;
