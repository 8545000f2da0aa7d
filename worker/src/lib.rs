//! The service: routes, documents, credentials and the SQL store around the engine.
//!
//! Its heart is [`service::serve`], one synchronous function from a request and a store to a reply. Only `host`
//! knows the Workers runtime; it exists on wasm32 alone.

pub mod service;
