//! The offline bundle: its head, its core, the parts of the core, the keys that sign it, the job that builds it, and its copies in KV.

pub mod box_keys;
pub mod build_job;
mod code_strength;
pub mod core;
mod customer_conditions;
pub mod head;
mod horizon;
pub mod kv_copies;
mod names_in_core;
pub mod offers;
mod parts;
pub mod sealed_codes;
pub mod signing_keys;
