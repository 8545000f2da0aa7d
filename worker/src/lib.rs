//! The service: routes, documents, credentials and the SQL store around the engine.
//!
//! Its heart is [`service::serve`], one synchronous function from a request and a store to a reply. Only `host`
//! knows the Workers runtime; it exists on wasm32 alone.

pub mod address;
pub mod allowance;
pub mod api;
pub mod auth;
pub mod batch;
pub mod codes;
pub mod customer_keys;
pub mod customer_token;
pub mod digest;
pub mod directory;
pub mod filter;
pub mod guesses;
pub mod health;
#[cfg(target_arch = "wasm32")]
pub mod host;
pub mod idempotency;
pub mod intake;
pub mod jobs;
pub mod list;
pub mod metadata;
pub mod moment;
pub mod openapi;
pub mod page;
pub mod query;
#[cfg(feature = "rehearsal")]
pub mod rehearsal;
pub mod reply;
pub mod resource;
pub mod route;
pub mod service;
pub mod shape;
pub mod store;
pub mod sweep;
pub mod tracking;
