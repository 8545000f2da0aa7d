//! Who may call, how often, and what a page is told. It must not know what an operation does.

pub mod address;
pub mod allowance;
pub mod auth;
pub mod customer_keys;
pub mod customer_token;
pub mod guesses;
pub mod idempotency;
pub mod images;
pub mod keys;
pub mod links;
pub mod page;
pub mod projects;
pub mod rates;
pub mod roles;
pub mod users;
