//! Tests properties that must be true for any input, against slow and simple second models. Seeds are fixed, so that every run is the same;
//! `SCRIP_SEED` selects another seed. A failure is printed in its smallest form and becomes a vector.

mod best_stack;
mod case_folding;
mod customer_conditions;
mod customer_texts;
mod date_parsing;
mod decisions;
mod differential;
mod earning;
mod exact_fractions;
mod fixtures;
mod formula;
mod formula_grammar;
mod formula_numbers;
mod free_units;
mod generator;
mod json;
mod ledger;
mod money;
mod order_lines;
mod order_returns;
mod ordered_map;
mod point_spending;
mod points;
mod price_examples;
mod prices;
mod pricing;
mod product_bundles;
mod qualification;
mod qualification_pages;
mod recurring_windows;
mod rule_input;
mod rules;
mod spreading;
mod stacking;
mod stacking_against_model;
mod stacking_model;
mod tiers;
mod time_zones;

use crate::support::test_report;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseResult, TestRunner};
use std::fmt::Debug;

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
    test_report::record(&serde_json::json!({ "kind": "properties", "ran": 1, "cases": cases }));
}
