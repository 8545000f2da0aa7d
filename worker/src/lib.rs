//! The service: routes, documents, credentials and the SQL store around the engine.
//!
//! Its heart is [`service::serve`], one synchronous function from a request and a store to a reply. Only `host`
//! knows the Workers runtime; it exists on wasm32 alone.

pub mod access;
pub mod api;
pub mod digest;
pub mod directory;
pub mod document;
#[cfg(target_arch = "wasm32")]
pub mod host;
pub mod http;
pub mod moment;
pub mod openapi;
pub mod service;
pub mod shop;
pub mod store;
pub mod table;
pub mod work;
