//! Measures one native contender on one workload: `native <contender> <rules> <request> <ms>`. It prints the answer first, so that the
//! amounts are known to be right before they are timed, then nanoseconds. The workloads are files with objects of this API.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::float_arithmetic,
    reason = "a measurement may fail"
)]

mod engine;
mod floor;
mod qualification;

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Aimed duration of a batch.
const BATCH: Duration = Duration::from_millis(10);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [contender, rules, request, ms] = arguments.as_slice() else {
        println!(
            "native <floor|floor-text|engine|engine-text> <rules.json> <request.json> <ms>; `npm run bench` calls it"
        );
        return;
    };
    let rules = std::fs::read(rules).expect("the rules can be read");
    let request = std::fs::read(request).expect("the request can be read");
    let total = Duration::from_millis(ms.parse().expect("milliseconds"));
    match contender.as_str() {
        "floor" | "floor-text" => run_floor(contender == "floor", &rules, &request, total),
        "engine" => engine::run_compute(&rules, &request, total),
        "engine-text" => engine::run_text(&rules, &request, total),
        other => qualification::run(other, &rules, &request, total),
    }
}

fn run_floor(compute: bool, rules: &[u8], request: &[u8], total: Duration) {
    let rules = serde_json::from_slice(rules).expect("the rules are JSON");
    let floor = floor::Floor::new(&rules).expect("the rules are those of the workloads");
    let read = || serde_json::from_slice::<floor::Request<'_>>(black_box(request)).expect("the request is JSON");
    let text = || serde_json::to_vec(&floor.validate(&read())).expect("the answer can be written");
    print_answer(&text());
    if compute {
        let request = read();
        report(time(total, || floor.validate(black_box(&request))));
    } else {
        report(time(total, text));
    }
}

/// Prints the answer.
pub fn print_answer(answer: &[u8]) {
    println!("{}", String::from_utf8_lossy(answer));
}

/// Prints nanoseconds.
pub fn report(nanoseconds: f64) {
    println!("{{\"ns\":{nanoseconds}}}");
}

/// Returns the median of batches in nanoseconds, after a warm-up of the same length.
pub fn time<T>(total: Duration, mut body: impl FnMut() -> T) -> f64 {
    let mut batch = |count: u32| {
        let start = Instant::now();
        for _ in 0..count {
            black_box(body());
        }
        start.elapsed()
    };
    let mut count = 1;
    let warm = Instant::now();
    while warm.elapsed() < total {
        let took = batch(count);
        if took < BATCH {
            let factor = (BATCH.as_nanos() / took.as_nanos().max(1)).clamp(1, 8);
            count *= u32::try_from(factor).unwrap_or(8).max(1);
        }
    }
    let mut results = Vec::new();
    let measured = Instant::now();
    while measured.elapsed() < total {
        results.push(batch(count).as_nanos() as f64 / f64::from(count));
    }
    results.sort_by(f64::total_cmp);
    results[results.len() / 2]
}
