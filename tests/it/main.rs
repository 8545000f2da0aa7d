//! Tests of the engine in one program. The rules of this repository have their own (`tests/tidy.rs`).
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    clippy::unreachable,
    reason = "a test may fail loudly"
)]

#[path = "../support/mod.rs"]
mod support;

mod added_goods;
mod bundle_horizon;
mod engine_versions;
mod fuzz_targets;
mod overflow;
mod package_types;
mod past_decisions;
mod properties;
mod shapes;
mod tier_vectors;
mod unknown_members;
mod vectors;
