//! Tests generated shops through the routes. Carts that name goods in every form are sent to the service and to a slow second model, as
//! validations, redemptions, qualifications and decisions of a client.
//!
//! `SHOPS_SEED=17` runs one shop, `SHOPS_MORE=4` four times as many, which are more than ten thousand carts; a mismatch prints the calls that
//! lead to it.

use crate::edge_comparison;
use crate::shops::checks;

/// Number of shops in a shard.
const SHOPS: u64 = 38;
const SHARDS: u64 = 4;

fn shard(number: u64) {
    if let Ok(seed) = std::env::var("SHOPS_SEED") {
        let seed: u64 = seed.parse().unwrap();
        if seed % SHARDS == number {
            let report = checks::shop(seed);
            assert!(report.wrong.is_empty(), "{}", report.wrong.join("\n"));
        }
        return;
    }
    let more: u64 = std::env::var("SHOPS_MORE").ok().and_then(|more| more.parse().ok()).unwrap_or(1);
    let mut all = checks::TrialReport::default();
    edge_comparison::begin();
    for count in 0..SHOPS * more {
        all.add(checks::shop(count * SHARDS + number));
    }
    let compared = edge_comparison::begin();
    println!(
        "{} carts in {} shops: {:?}, {compared} answers of the entry's rules",
        all.carts,
        SHOPS * more,
        all.reached
    );
    assert!(compared > 100, "the rules of the entry answer only {compared} carts");
    assert!(all.wrong.is_empty(), "{} of {} carts:\n{}", all.wrong.len(), all.carts, first(&all.wrong));
    all.reached_enough();
    crate::support::test_report::record(
        &serde_json::json!({ "kind": "carts through the routes", "ran": all.carts, "skipped": [] }),
    );
}

/// Returns the shortest faults, which are the easiest to read; a few are enough.
fn first(wrong: &[String]) -> String {
    let mut sorted: Vec<&String> = wrong.iter().collect();
    sorted.sort_by_key(|report| report.len());
    let shown = std::env::var("SHOPS_SHOW").ok().and_then(|shown| shown.parse().ok()).unwrap_or(3);
    sorted.into_iter().take(shown).cloned().collect::<Vec<_>>().join("\n\n")
}

#[test]
fn carts_of_the_first_shops() {
    shard(0);
}

#[test]
fn carts_of_the_second_shops() {
    shard(1);
}

#[test]
fn carts_of_the_third_shops() {
    shard(2);
}

#[test]
fn carts_of_the_fourth_shops() {
    shard(3);
}

/// Tests of several binaries run at once and append to one file.
#[test]
fn parallel_lines_of_the_test_report_stay_whole() {
    let path = std::env::temp_dir().join(format!("scrip-test-report-{}", std::process::id()));
    let line = serde_json::json!({ "kind": "lines", "ran": 1, "skipped": ["one reason", "another reason"] });
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..200).for_each(|_| crate::support::test_report::append(&path, &line)));
        }
    });
    let written = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(written.lines().eq(std::iter::repeat_n(line.to_string(), 1600)), "{written}");
}
