//! Shops through the routes: generated shops are made with the calls that a shop makes, and carts that name goods in every
//! form are asked of the service, of a second and slow model, of a redemption, of a qualification and of a page.
//!
//! `SHOPS_SEED=17` runs one shop, `SHOPS_MORE=10` ten times as many; a mismatch prints the calls that lead to it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

#[path = "support/edge.rs"]
mod edge;
#[path = "shops/mod.rs"]
mod shops;
#[path = "../../tests/support/tally.rs"]
mod tally;

use shops::trial;

/// How many shops a shard makes, and how many carts each is asked about.
const SHOPS: u64 = 38;
const SHARDS: u64 = 4;

fn shard(number: u64) {
    if let Ok(seed) = std::env::var("SHOPS_SEED") {
        let seed: u64 = seed.parse().unwrap();
        if seed % SHARDS == number {
            let told = trial::shop(seed);
            assert!(told.wrong.is_empty(), "{}", told.wrong.join("\n"));
        }
        return;
    }
    let more: u64 = std::env::var("SHOPS_MORE").ok().and_then(|more| more.parse().ok()).unwrap_or(1);
    let mut all = trial::Told::default();
    for count in 0..SHOPS * more {
        all.add(trial::shop(count * SHARDS + number));
    }
    println!("{} carts: {:?}", all.carts, all.reached);
    assert!(all.wrong.is_empty(), "{} of {} carts:\n{}", all.wrong.len(), all.carts, first(&all.wrong));
    all.reached_enough();
    tally::record(&serde_json::json!({ "kind": "carts through the routes", "ran": all.carts, "skipped": [] }));
}

/// The shortest faults are the easiest to read; more than a few help nobody.
fn first(wrong: &[String]) -> String {
    let mut sorted: Vec<&String> = wrong.iter().collect();
    sorted.sort_by_key(|told| told.len());
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
fn lines_of_the_tally_stay_whole_when_many_append_to_it() {
    let path = std::env::temp_dir().join(format!("scrip-tally-{}", std::process::id()));
    let line = serde_json::json!({ "kind": "lines", "ran": 1, "skipped": ["one reason", "another reason"] });
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..200).for_each(|_| tally::append(&path, &line)));
        }
    });
    let written = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(written.lines().eq(std::iter::repeat_n(line.to_string(), 1600)), "{written}");
}
