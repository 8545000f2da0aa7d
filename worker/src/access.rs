//! Authentication, authorisation, rate limits, and the parts of responses that clients may see.

pub mod address;
pub mod auth;
pub mod bundle_head;
pub mod bundle_parts;
pub mod client;
pub mod customer_keys;
pub mod customer_token;
pub mod edge_part;
pub mod failed_attempts;
pub mod feed;
pub mod idempotency;
pub mod images;
pub mod keys;
pub mod links;
pub mod projects;
pub mod quota;
pub mod rates;
pub mod roles;
pub mod users;
