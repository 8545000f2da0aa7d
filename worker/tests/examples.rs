//! Plays the published examples of the loyalty, referral and event operations through the real routes, and holds what is answered to
//! what is published of it. What the examples are is data under `tests/examples`; it must not know what any call means.
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
#[path = "examples/held.rs"]
mod held;
#[path = "examples/shop.rs"]
mod shop;

use held::{Held, Problem};
use serde_json::{Map, Value as Json};
use shop::Shop;
use std::collections::BTreeSet;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/examples");

fn read(name: &str) -> Json {
    let text = std::fs::read_to_string(format!("{FOLDER}/{name}.json")).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The examples of an operation: of its body, or of its query.
fn examples(operation: &Json) -> Vec<(String, String, Json)> {
    let label = |name: &str| name.replace(' ', "_");
    match (operation["requests"].as_object(), operation["queries"].as_array()) {
        (Some(requests), _) => requests.iter().map(|(name, body)| (label(name), String::new(), body.clone())).collect(),
        (None, Some(queries)) => {
            let queries = queries.iter().map(|query| query.as_str().unwrap());
            queries.map(|query| (label(&format!("?{query}")), query.to_owned(), Json::Null)).collect()
        }
        (None, None) => vec![("plain".to_owned(), String::new(), Json::Null)],
    }
}

/// What was played, what was otherwise, and which activities were written.
#[derive(Default)]
struct Played {
    examples: usize,
    wrong: Vec<Problem>,
    activities: BTreeSet<String>,
}

/// Changes that write something else than an activity: a transaction, or nothing.
const TOLD_OTHERWISE: &[&str] =
    &["/points", "/pending-points/", "/expiring-points/", "/rewards/purchases", "/orders/payments", "/examine/"];

fn play(name: &str, operation: &Json, recipes: &[Json], shapes: &Map<String, Json>, played: &mut Played) {
    let shop = Shop::new(recipes);
    let examples = examples(operation);
    let method = name.split_once(' ').unwrap().0;
    for (label, query, body) in &examples {
        operation["anew"].as_array().into_iter().flatten().for_each(|name| shop.forget(name.as_str().unwrap()));
        let path = shop.fill_text(operation["path"].as_str().unwrap());
        let sent = shop.fill(body);
        let who = if path.starts_with("/client/") { "client" } else { "server" };
        let before = shop.activities().len();
        let (status, told) = shop.send(who, method, &path, query, &sent);
        let mut held = Held { shapes, operation: name, label, problems: &mut played.wrong };
        let is_told =
            method != "GET" && path.starts_with("/v2/") && !TOLD_OTHERWISE.iter().any(|part| path.contains(part));
        let is_empty = sent
            .as_object()
            .is_some_and(|members| members.values().all(|value| value.as_array().is_some_and(Vec::is_empty)));
        if status < 300 && is_told && !(path.ends_with("/batch") && is_empty) && shop.activities().len() == before {
            held.wrong("unwritten", "", format!("no activity is written of {sent}"));
        }
        match operation["answers"].get(status.to_string()) {
            None => held.wrong("status", "", format!("{status} {told}, to {sent}")),
            Some(shape) => {
                held.fits(shape, &told, "");
                held.told_back(shape, &sent, &told, "");
            }
        }
    }
    played.examples += examples.len();
    played.activities.extend(shop.activities());
}

/// Whether a text is one that a pattern means, `*` being any text.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|left| {
            rest.is_empty() || left.char_indices().any(|(at, _)| fits(rest, &left[at..])) || fits(rest, "")
        }),
    }
}

fn allows(line: &str, problem: &Problem) -> bool {
    let words: Vec<&str> = line.splitn(6, ' ').collect();
    let [what, method, path, place, label, why] = words[..] else { panic!("`{line}` says no reason") };
    assert!(!why.trim().is_empty(), "`{line}` says no reason");
    let texts = [what.to_owned(), format!("{method} {path}"), place.to_owned(), label.to_owned()];
    let found = [problem.what, &problem.operation, &problem.place, &problem.label];
    texts.iter().zip(found).all(|(pattern, text)| fits(pattern, text))
}

/// The names of what happens to the documents of loyalty programs. No card definition is deactivated, nor an incentive or a
/// benefit, whose names are one; and what has been drawn for a card is told where there is none left, which no example comes to.
fn activity_names() -> impl Iterator<Item = &'static str> {
    let text = "
        vl.program.created vl.program.updated vl.program.activated vl.program.deactivated vl.program.deleted
        vl.program.card_definition.assigned vl.program.card_definition.unassigned
        vl.program.earning_rule.assigned vl.program.earning_rule.unassigned
        vl.program.reward.assigned vl.program.reward.unassigned vl.program.reward.updated
        vl.program.tier_structure.assigned vl.program.tier_structure.unassigned
        vl.card_definition.created vl.card_definition.updated vl.card_definition.activated vl.card_definition.drafted
        vl.card_definition.deleted vl.card_definition.assigned vl.card_definition.unassigned
        vl.earning_rule.created vl.earning_rule.updated vl.earning_rule.activated vl.earning_rule.deactivated
        vl.earning_rule.drafted vl.earning_rule.deleted vl.earning_rule.assigned vl.earning_rule.unassigned
        vl.tier_structure.created vl.tier_structure.updated vl.tier_structure.activated vl.tier_structure.deactivated
        vl.tier_structure.drafted vl.tier_structure.deleted vl.tier_structure.assigned vl.tier_structure.unassigned
        vl.tier_structure.tier.created vl.tier_structure.tier.updated vl.tier_structure.tier.deleted
        vl.reward.created vl.reward.updated vl.reward.activated vl.reward.deactivated vl.reward.drafted vl.reward.deleted
        vl.reward.assigned vl.reward.unassigned
        vl.incentive.created vl.incentive.updated vl.incentive.activated vl.incentive.drafted vl.incentive.deleted
        vl.member.created vl.member.updated vl.member.activated vl.member.deactivated vl.member.deleted
        vl.member.card.assigned vl.member.card.unassigned
        vl.card.created vl.card.assigned vl.card.unassigned vl.card.code_generation.succeeded";
    text.split_whitespace()
}

#[test]
fn every_example_plays() {
    let recipes = read("made");
    let recipes = recipes.as_array().unwrap();
    let mut all = Played::default();
    for group in ["loyalties-v2", "loyalties", "referrals", "events", "rewards"] {
        let group = read(group);
        let shapes = group["shapes"].as_object().unwrap();
        for (name, operation) in group["operations"].as_object().unwrap() {
            play(name, operation, recipes, shapes, &mut all);
        }
    }
    let Played { examples: played, mut wrong, activities } = all;
    let written: BTreeSet<&str> = activities.iter().map(String::as_str).collect();
    let named: BTreeSet<&str> = activity_names().collect();
    let (new, never) = (written.difference(&named).collect::<Vec<_>>(), named.difference(&written).collect::<Vec<_>>());
    assert!(new.is_empty() && never.is_empty(), "written under no name {new:?}, and never written {never:?}");
    // What may be otherwise than it is published: `what METHOD /path place example why...`.
    let otherwise = std::fs::read_to_string(format!("{FOLDER}/otherwise.txt")).unwrap();
    let lines: Vec<&str> = otherwise.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let mut of_use = BTreeSet::new();
    wrong.retain(|problem| {
        let allowing: Vec<&&str> = lines.iter().filter(|line| allows(line, problem)).collect();
        of_use.extend(allowing.iter().map(|line| **line));
        allowing.is_empty()
    });
    let told: BTreeSet<String> = wrong.iter().map(Problem::written).collect();
    let idle: Vec<&&str> = lines.iter().filter(|line| !of_use.contains(**line)).collect();
    println!("{played} examples");
    assert!(
        told.is_empty(),
        "{} of {played} examples:\n{}",
        told.len(),
        told.into_iter().collect::<Vec<_>>().join("\n")
    );
    assert!(idle.is_empty(), "otherwise.txt allows what does not happen: {idle:#?}");
}
