//! Tests of the engine in one program. Properties and the rules of this repository have their own programs.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "a test may fail loudly"
)]

#[path = "../support/mod.rs"]
mod support;

mod bundle_horizon;
mod engine_versions;
mod fuzz_targets;
mod overflow;
mod package_types;
mod shapes;
mod tier_vectors;
mod unknown_members;
mod vectors;
