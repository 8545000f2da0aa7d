//! The offline bundle: its head, its core, the parts of the core, the keys that sign it, the job that builds it, and its copies in KV.

pub mod build_job;
pub mod core;
pub mod customer_conditions;
pub mod head;
mod horizon;
pub mod kv_copies;
mod names_in_core;
pub mod offers;
mod parts;
pub mod signing_keys;
