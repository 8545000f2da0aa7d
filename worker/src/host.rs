//! Connects the Workers runtime to the service: the entry of a request, the object that commits, its SQL.
//! It passes bytes, headers, a time and a seed.

mod asset;
mod attempt_limiter;
mod bindings;
mod bundle;
mod bundle_calls;
mod bundle_goods;
mod directory_instructions;
mod durable;
mod edge;
mod edge_engine;
mod edge_pass;
mod entry;
mod entry_outcome;
mod feed;
mod health;
mod key;
mod log;
mod metrics;
mod object;
mod object_protocol;
mod passed_headers;
mod random;
#[cfg(feature = "test-hooks")]
mod test_hooks;
