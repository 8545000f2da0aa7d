//! The service: routes, documents, credentials and the SQL store around the engine.
//!
//! Its heart is [`service::serve`], one synchronous function from a request and a store to a reply. Only `host`
//! knows the Workers runtime; it exists on wasm32 alone.

#[cfg(target_arch = "wasm32")]
pub mod host;
pub mod service;
