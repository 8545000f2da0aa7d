//! Runs the published examples of the loyalty, referral and event operations through the real routes, and compares the answers with the
//! published ones. The examples are data under `tests/examples`.

mod comparison;
mod fixtures;

use comparison::{AnswerCheck, Problem};
use fixtures::Shop;
use serde_json::{Map, Value as Json};
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

/// The operations that ran, the differences, and the activities that were written.
#[derive(Default)]
struct ExampleRun {
    examples: usize,
    wrong: Vec<Problem>,
    activities: BTreeSet<String>,
}

/// Changes that write a transaction or nothing instead of an activity.
const TOLD_OTHERWISE: &[&str] =
    &["/points", "/pending-points/", "/expiring-points/", "/rewards/purchases", "/orders/payments", "/examine/"];

fn play(name: &str, operation: &Json, recipes: &[Json], shapes: &Map<String, Json>, played: &mut ExampleRun) {
    let shop = Shop::new(recipes);
    let examples = examples(operation);
    let method = name.split_once(' ').unwrap().0;
    for (label, query, body) in &examples {
        operation["anew"].as_array().into_iter().flatten().for_each(|name| shop.drop_object(name.as_str().unwrap()));
        let path = shop.fill_text(operation["path"].as_str().unwrap());
        let sent = shop.fill(body);
        let who = if path.starts_with("/client/") { "client" } else { "server" };
        let before = shop.activities().len();
        let (status, answer) = shop.send(who, method, &path, query, &sent);
        let mut held = AnswerCheck { shapes, operation: name, label, problems: &mut played.wrong };
        let is_recorded =
            method != "GET" && path.starts_with("/v2/") && !TOLD_OTHERWISE.iter().any(|part| path.contains(part));
        let is_empty = sent
            .as_object()
            .is_some_and(|members| members.values().all(|value| value.as_array().is_some_and(Vec::is_empty)));
        if status < 300 && is_recorded && !(path.ends_with("/batch") && is_empty) && shop.activities().len() == before {
            held.wrong("unwritten", "", format!("no activity is written of {sent}"));
        }
        match operation["answers"].get(status.to_string()) {
            None => held.wrong("status", "", format!("{status} {answer}, to {sent}")),
            Some(shape) => {
                held.fits(shape, &answer, "");
                held.returns_what_was_sent(shape, &sent, &answer, "");
            }
        }
    }
    played.examples += examples.len();
    played.activities.extend(shop.activities());
}

/// Returns true if a text matches a pattern; `*` is any text.
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

/// Returns the activity names of the documents of loyalty programs. Card definitions, incentives and benefits are not deactivated. No
/// example uses up the draws of a card, so that activity is excluded.
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
fn every_published_example_is_answered() {
    let recipes = read("made");
    let recipes = recipes.as_array().unwrap();
    let mut all = ExampleRun::default();
    for group in ["loyalties-v2", "loyalties", "referrals", "events", "rewards"] {
        let group = read(group);
        let shapes = group["shapes"].as_object().unwrap();
        for (name, operation) in group["operations"].as_object().unwrap() {
            play(name, operation, recipes, shapes, &mut all);
        }
    }
    let ExampleRun { examples: played, mut wrong, activities } = all;
    let written: BTreeSet<&str> = activities.iter().map(String::as_str).collect();
    let named: BTreeSet<&str> = activity_names().collect();
    let (new, never) = (written.difference(&named).collect::<Vec<_>>(), named.difference(&written).collect::<Vec<_>>());
    assert!(new.is_empty() && never.is_empty(), "written under no name {new:?}, and never written {never:?}");
    // Accepted differences from the published form: `kind METHOD /path place example why...`.
    let otherwise = std::fs::read_to_string(format!("{FOLDER}/otherwise.txt")).unwrap();
    let lines: Vec<&str> = otherwise.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let mut of_use = BTreeSet::new();
    wrong.retain(|problem| {
        let allowing: Vec<&&str> = lines.iter().filter(|line| allows(line, problem)).collect();
        of_use.extend(allowing.iter().map(|line| **line));
        allowing.is_empty()
    });
    let problems: BTreeSet<String> = wrong.iter().map(Problem::written).collect();
    let idle: Vec<&&str> = lines.iter().filter(|line| !of_use.contains(**line)).collect();
    println!("{played} examples");
    assert!(
        problems.is_empty(),
        "{} of {played} examples:\n{}",
        problems.len(),
        problems.into_iter().collect::<Vec<_>>().join("\n")
    );
    assert!(idle.is_empty(), "otherwise.txt allows what does not happen: {idle:#?}");
}
