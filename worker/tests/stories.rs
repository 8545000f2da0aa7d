//! Runs the stories under `tests/stories` in process: the same files that run over HTTP against the built Worker.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

#[path = "support/edge.rs"]
mod edge;
#[path = "support/story.rs"]
mod story;

use std::io::Write;

#[test]
fn stories() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let stories = story::read_all(&only);
    assert!(!stories.is_empty(), "there is no story under `{only}`");
    let mut wrong = Vec::new();
    for (name, story) in &stories {
        if let Err(told) = story::run(story) {
            wrong.push(format!("{name}: {told}"));
        }
    }
    if let Some(path) = std::env::var_os("SCRIP_TALLY") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "{}", serde_json::json!({ "kind": "stories", "ran": stories.len(), "skipped": [] })).unwrap();
    }
    println!("{} stories", stories.len());
    assert!(wrong.is_empty(), "{} of {} stories:\n{}", wrong.len(), stories.len(), wrong.join("\n"));
}

/// A route without a story would be a promise that nothing checks.
#[test]
fn every_route_has_a_story() {
    let told: Vec<(String, String)> = story::read_all("").iter().flat_map(|(_, story)| story::calls(story)).collect();
    for route in scrip_worker::api::AREAS.iter().flat_map(|area| area.iter()) {
        if route.path.starts_with("/rehearsal/") {
            continue;
        }
        let has = told.iter().any(|(method, path)| {
            let found = scrip_worker::route::find(method, path);
            found.is_ok_and(|found| found.route.method == route.method && found.route.path == route.path)
        });
        assert!(has, "no story calls {} {}", route.method, route.path);
    }
}
