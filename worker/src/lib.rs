//! The service: routes, documents, credentials and the SQL store around the engine.
//!
//! Its centre is [`service::serve`], one synchronous function from a request and a store to a reply. Only `host` uses the
//! Workers runtime; it is compiled for wasm32 only.

pub mod access;
pub mod api;
pub mod commit;
pub mod constant_time;
pub mod directory;
pub mod documents;
pub mod domain;
#[cfg(target_arch = "wasm32")]
pub mod host;
pub mod http;
pub mod job_runner;
pub mod jobs;
pub mod openapi;
pub mod routes;
pub mod service;
pub mod store;
pub mod timestamp;
