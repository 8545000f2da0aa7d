//! Properties: what must hold for any input, beside slow and obvious second models. Seeds are fixed, so that a run is
//! the same everywhere; `SCRIP_SEED` looks elsewhere. A failure is printed at its smallest and becomes a vector.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unreachable,
    reason = "a trial may fail"
)]

#[path = "../support/tally.rs"]
mod tally;

mod basket;
mod big;
mod bundles;
mod corpus;
mod customers;
mod dates;
mod decisions;
mod differential;
mod earning;
mod formula;
mod grammar;
mod json;
mod ledger;
mod model;
mod money;
mod points;
mod pricing;
mod purchase;
mod qualifying;
mod ratios;
mod rule_input;
mod rules;
mod shelf;
mod spreading;
mod stacker;
mod stacking;
mod tiers;
mod windows;
mod world;
mod zones;

use std::fmt::Debug;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseResult, TestRunner};

/// Tries a property on `cases` inputs.
fn holds<S: Strategy>(cases: u32, inputs: S, property: impl Fn(S::Value) -> TestCaseResult)
where
    S::Value: Debug,
{
    let seed = std::env::var("SCRIP_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x5c21);
    let config = Config { cases, rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Config::default() };
    if let Err(failure) = TestRunner::new(config).run(&inputs, property) {
        panic!("{failure}\nseed {seed}");
    }
    tally::record(&serde_json::json!({ "kind": "properties", "ran": 1, "cases": cases }));
}
