//! Runs the engine for a measurement: with rules prepared once, and the request read beforehand or as text.

use std::hint::black_box;
use std::time::Duration;

use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::time::Instant;

use crate::{print_answer, report, time};

fn context() -> Context {
    let mut seed = [0; 32];
    seed[0] = 1;
    Context { now: Instant::parse("2026-03-01T12:00:00Z").expect("a moment"), seed, first_number: None }
}

/// Reads and writes text.
pub fn run_text(rules: &[u8], request: &[u8], total: Duration) {
    let prepared = PreparedRules::new(rules).expect("the rules can be prepared");
    let context = context();
    print_answer(&prepared.validate(request, &context).body);
    report(time(total, || prepared.validate(black_box(request), &context)));
}

/// Measures the decision only.
pub fn run_compute(rules: &[u8], request: &[u8], total: Duration) {
    let prepared = PreparedRules::new(rules).expect("the rules can be prepared");
    let context = context();
    print_answer(&prepared.validate(request, &context).body);
    let request = scrip::wire::request::read_redeemables(request).expect("the request can be read");
    report(time(total, || scrip::decide::validate(prepared.facts(), black_box(&request), &context)));
}
