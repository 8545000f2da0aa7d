//! The offline bundle: its head, its core, the parts of the core, its goods in buckets, the keys that sign it, the job that builds it, and its copies in KV.

pub mod box_keys;
pub mod build_job;
mod code_strength;
mod content;
pub mod core;
mod core_summary;
pub mod customer_conditions;
mod disclosed_documents;
mod goods_buckets;
pub mod goods_build;
mod goods_sets;
pub mod goods_tree;
pub mod head;
mod horizon;
pub mod kv_copies;
mod named_goods;
mod names_in_core;
pub mod offers;
mod parts;
mod preparation;
pub mod project;
mod read_documents;
mod sealed_codes;
mod selection;
pub mod signing_keys;
mod unreadable_names;
