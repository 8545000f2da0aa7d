//! The offline bundle: its head, its core, the parts of the core, and the keys that sign it.

pub mod core;
mod customer_conditions;
pub mod head;
mod horizon;
mod names_in_core;
pub mod offers;
mod parts;
pub mod signing_keys;
pub mod supplement;
