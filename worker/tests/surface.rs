//! The route table against the published surface and the committed description.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

use scrip_worker::http::shape::{Field, Kind};
use scrip_worker::openapi::{self, PUBLISHED};
use scrip_worker::table::AREAS;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// The description as it is committed.
const DESCRIPTION: &str = include_str!("../openapi.json");

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().filter(|line| !line.is_empty()).map(shape_of).collect()
}

/// The names of parameters differ between descriptions; the place does not.
fn shape_of(operation: &str) -> String {
    let segments = operation.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

fn routes() -> BTreeSet<String> {
    AREAS
        .iter()
        .flat_map(|area| area.iter())
        .map(|route| shape_of(&format!("{} {}", route.method, route.path)))
        .collect()
}

#[test]
fn every_published_operation_is_a_route() {
    let (published, routes) = (lines(PUBLISHED), routes());
    let missing: Vec<_> = published.difference(&routes).collect();
    assert!(missing.is_empty(), "not in the table: {missing:#?}");
}

#[test]
fn the_committed_description_is_fresh() {
    // The stories refresh both files in their own run; what is on the disk is the newest.
    let examples = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/surface/examples.json")).unwrap();
    let examples = serde_json::from_str(&examples).unwrap();
    let fresh = openapi::written(&openapi::generate(AREAS, &examples));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json"), &fresh).unwrap();
        return;
    }
    assert!(fresh == DESCRIPTION, "openapi.json is stale: run the tests with UPDATE=1 and review the difference");
}

#[test]
fn every_schema_that_is_named_is_there() {
    let document: Json = serde_json::from_str(DESCRIPTION).unwrap();
    let named = DESCRIPTION.split("\"$ref\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap());
    let missing: BTreeSet<&str> = named.filter(|name| document.pointer(name).is_none()).collect();
    assert!(missing.is_empty(), "the description names {missing:?}, which it does not have");
}

/// The stories are played whole for the examples, so that an operation without one is an operation that no story asks for.
#[test]
fn every_operation_and_every_refusal_has_an_example() {
    if std::env::var_os("UPDATE").is_some() {
        return;
    }
    let document: Json = serde_json::from_str(DESCRIPTION).unwrap();
    let lacks = |part: &Json| part["content"].as_object().into_iter().flatten().any(|(_, of)| of["example"].is_null());
    let mut without = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap().iter().filter(|(path, _)| *path != "/openapi.json")
    {
        for (method, operation) in operations.as_object().unwrap() {
            let answers = operation["responses"].as_object().unwrap().iter();
            let mut told = answers.filter(|(status, _)| status.starts_with("20")).map(|(_, answer)| answer).peekable();
            if lacks(&operation["requestBody"]) || told.peek().is_some() && told.all(lacks) {
                without.push(format!("{method} {path}"));
            }
        }
    }
    let refusals = document["components"]["responses"].as_object().unwrap().iter();
    without.extend(refusals.filter(|(_, refusal)| lacks(refusal)).map(|(name, _)| name.clone()));
    assert!(without.is_empty(), "no example of {without:#?}");
}

/// A description that only repeats names would tell nobody anything.
#[test]
fn every_field_has_a_meaning_and_every_answer_a_schema() {
    let mut wrong = Vec::new();
    for route in AREAS.iter().flat_map(|area| area.iter()).filter(|route| !route.path.starts_with("/rehearsal/")) {
        let name = openapi::name(route);
        let beside = route.list.map_or(&[][..], |(_, beside)| beside);
        for fields in [route.body, route.query, beside] {
            speechless(fields, &name, &mut wrong);
        }
        within(&route.answers, &name, &mut wrong);
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{} fields say nothing:\n{}", wrong.len(), wrong.join("\n"));
}

fn speechless(fields: &[Field], place: &str, into: &mut Vec<String>) {
    for field in fields {
        let here = format!("{place}.{}", field.name);
        if field.meaning().is_empty() {
            into.push(here.clone());
        }
        within(&field.kind, &here, into);
    }
}

fn within(kind: &Kind, place: &str, into: &mut Vec<String>) {
    match kind {
        // A shape that stands in itself is looked at once.
        Kind::Named(shape) if place.split('.').any(|part| part == shape.name) => {}
        Kind::Named(shape) => within(&shape.kind, &format!("{place}.{}", shape.name), into),
        Kind::Object(fields) => speechless(fields, place, into),
        Kind::Open(fields, kind) => {
            speechless(fields, place, into);
            within(kind, place, into);
        }
        Kind::List(kind, ..) | Kind::MapOf(kind) => within(kind, place, into),
        Kind::Either(kinds) => kinds.iter().for_each(|kind| within(kind, place, into)),
        _ => {}
    }
}

#[test]
fn every_route_is_open_to_somebody_and_scoped() {
    use scrip_worker::http::caller::Class;
    for route in AREAS.iter().flat_map(|area| area.iter()) {
        let is_public = matches!(route.path, "/health" | "/health/live" | "/openapi.json");
        assert_eq!(route.classes.is_empty(), is_public, "{}", route.path);
        assert_eq!(
            route.scope.is_empty(),
            !route.classes.contains(&Class::OAuth),
            "{} has a scope where tokens may call it",
            route.path
        );
        assert!(!route.summary.is_empty(), "{}", route.path);
        assert!(
            !route.path.contains("rehearsal") || cfg!(feature = "rehearsal"),
            "{} must not be in a released build",
            route.path
        );
    }
}

#[test]
fn every_scope_that_a_route_asks_for_can_be_issued() {
    use scrip_worker::api::project::oauth::SCOPES;
    use scrip_worker::http::caller::Class;
    for route in AREAS.iter().flat_map(|area| area.iter()) {
        if !route.classes.contains(&Class::OAuth) || route.path.starts_with("/rehearsal/") {
            continue;
        }
        let scope = if route.is_client_side() { format!("client_{}", route.scope) } else { route.scope.to_owned() };
        assert!(SCOPES.contains(&scope.as_str()), "{} {} needs `{scope}`", route.method, route.path);
    }
}

#[test]
fn every_route_of_pages_says_what_it_tells_and_nothing_else_does() {
    use scrip_worker::access::page::shown;
    let routes = AREAS.iter().flat_map(|area| area.iter()).filter(|route| route.is_client_side());
    let mut paths: Vec<&str> = routes.map(|route| route.path).collect();
    let mut told: Vec<&str> = shown::paths().collect();
    paths.sort_unstable();
    told.sort_unstable();
    assert_eq!(paths, told);
}
