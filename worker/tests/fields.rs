//! Walks every field of every request, body and query, of the operations that are served, as it is published and as the tables of
//! the routes say it: each passes the table of its route, and is shown back, or acted on by a named story, or ignored for a reason
//! that stands on a list.
//!
//! The stories are the witnesses. While they run, what each accepted call sends is looked for in its answer and in those after it;
//! `surface/acted.txt` names a story that sends a field whose effect is not an echo, `surface/ignored.txt` says what is not read.

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
#[path = "support/published.rs"]
mod published;
#[allow(dead_code, reason = "the walk only looks on")]
#[path = "support/story.rs"]
mod story;
#[path = "support/witness.rs"]
mod witness;

use published::{Operation, Said, operations, said};
use scrip_worker::http::route::Route;
use scrip_worker::http::shape::{Field, Kind};
use scrip_worker::table::TABLE;
use std::collections::BTreeSet;
use witness::Witness;

/// Fields that the service acts on without showing them, each with the story that proves it.
const ACTED: &str = include_str!("../src/surface/acted.txt");
/// Fields that the service does not read, each with the reason.
const IGNORED: &str = include_str!("../src/surface/ignored.txt");

fn route_of(operation: &Operation) -> &'static Route {
    let found = TABLE.find(&operation.method, &operation.example());
    let route = found.unwrap_or_else(|_| panic!("{} {} is not served", operation.method, operation.path)).route;
    assert_eq!(route.method, operation.method, "{}", operation.path);
    route
}

/// Whether a table of fields lets a field through, at any depth.
fn passes(fields: &[Field], path: &str) -> bool {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let name = first.trim_end_matches("[]");
    let lists = (first.len() - name.len()) / 2;
    fields.iter().find(|field| field.name == name).is_some_and(|field| within(&field.kind, lists, rest))
}

fn within(kind: &Kind, lists: usize, rest: &str) -> bool {
    match kind.meant() {
        Kind::Any | Kind::Map | Kind::MapOf(_) | Kind::Open(..) => true,
        Kind::Either(kinds) => kinds.iter().any(|kind| within(kind, lists, rest)),
        Kind::Named(_) => false,
        Kind::List(item, _, _) if lists > 0 => within(item, lists - 1, rest),
        Kind::Object(fields) if lists == 0 => rest.is_empty() || passes(fields, rest),
        Kind::List(..) | Kind::Object(_) => rest.is_empty(),
        Kind::Text
        | Kind::Name(_)
        | Kind::Int(..)
        | Kind::Number(..)
        | Kind::Bool
        | Kind::Date
        | Kind::DateTime
        | Kind::Duration
        | Kind::Clock
        | Kind::OneOf(_) => rest.is_empty(),
    }
}

#[test]
fn every_published_field_passes_its_table() {
    let ignored = said(IGNORED);
    let mut dropped = Vec::new();
    for operation in operations() {
        let route = route_of(&operation);
        for field in &operation.fields {
            let let_through = match field.strip_prefix('?') {
                Some(parameter) => passes(route.query, parameter),
                None => passes(route.body, field.strip_prefix("[].").filter(|_| route.many).unwrap_or(field)),
            };
            if !let_through && !ignored.iter().any(|said| said.is_about(&operation, field)) {
                dropped.push(format!("{} {} {field}", operation.method, operation.path));
            }
        }
    }
    assert!(dropped.is_empty(), "{} fields pass no table:\n{}", dropped.len(), dropped.join("\n"));
}

/// Every operation with the fields that its tables say, beside those that are published.
fn all_operations() -> Vec<Operation> {
    let published = operations();
    let mut all = Vec::new();
    for route in scrip_worker::table::AREAS.iter().flat_map(|area| area.iter()) {
        if route.path.starts_with("/rehearsal/") {
            continue;
        }
        let (method, path) = (route.method.to_owned(), route.path.to_owned());
        let mut operation = Operation { method, path, fields: Vec::new() };
        collect(route.query, "?", &mut operation.fields);
        collect(route.body, if route.many { "[]." } else { "" }, &mut operation.fields);
        let shape = operation.shape();
        let published = published.iter().filter(|published| published.shape() == shape);
        operation.fields.extend(published.flat_map(|published| published.fields.clone()));
        operation.fields.sort();
        operation.fields.dedup();
        all.push(operation);
    }
    let served = |published: &&Operation| all.iter().any(|operation| operation.shape() == published.shape());
    assert_eq!(published.iter().filter(served).count(), published.len(), "an operation is published and not served");
    all
}

/// The leaves of a table. An object that may say anything is a leaf, and so is a list of plain values.
fn collect(fields: &[Field], path: &str, into: &mut Vec<String>) {
    fields.iter().for_each(|field| leaf(&field.kind, format!("{path}{}", field.name), into));
}

fn leaf(kind: &Kind, path: String, into: &mut Vec<String>) {
    match kind.meant() {
        Kind::Object(fields) => collect(fields, &format!("{path}."), into),
        Kind::List(kind, ..) => leaf(kind, format!("{path}[]"), into),
        Kind::MapOf(kind) => leaf(kind, format!("{path}.*"), into),
        // What stands in itself is walked once.
        Kind::Open(fields, kind) if !path.contains(".*.") => {
            collect(fields, &format!("{path}."), into);
            leaf(kind, format!("{path}.*"), into);
        }
        Kind::Either(kinds) => leaf(&kinds[0], path, into),
        _ => into.push(path),
    }
}

#[test]
fn every_field_is_shown_back_or_acted_on_or_ignored_for_a_reason() {
    let witness = Witness::of_all_stories();
    let (acted, ignored) = (said(ACTED), said(IGNORED));
    let mut used = BTreeSet::new();
    let mut wrong = Vec::new();
    let mut counts = [0; 3];
    for operation in all_operations() {
        let call = operation.shape();
        for field in &operation.fields {
            // A parameter shows in what is answered: the story that sends it says what that is.
            let is_witnessed = if field.starts_with('?') { Witness::sent_to } else { Witness::has_echoed };
            if is_witnessed(&witness, &call, field) {
                counts[0] += 1;
                continue;
            }
            let about = |said: &&Said| said.is_about(&operation, field);
            if let Some(said) = ignored.iter().find(about) {
                used.insert(said.line.clone());
                counts[2] += 1;
            } else if let Some(said) = acted.iter().find(about) {
                used.insert(said.line.clone());
                counts[1] += 1;
                let is_sent = witness.has_sent(said.word(), &operation, said, field);
                if !is_sent {
                    let named = said.word();
                    wrong.push(format!(
                        "{} {} {field}: no accepted call of {named} sends it",
                        operation.method, operation.path
                    ));
                }
            } else {
                let sent = if witness.sent_to(&call, field) { "sent, but nowhere shown" } else { "sent by no story" };
                wrong.push(format!("{} {} {field}: {sent}", operation.method, operation.path));
            }
        }
    }
    println!("{} fields are shown back, {} acted on, {} ignored", counts[0], counts[1], counts[2]);
    for said in acted.iter().chain(&ignored).filter(|said| !used.contains(&said.line)) {
        wrong.push(format!("`{}` is about no field any more", said.line));
    }
    assert!(wrong.is_empty(), "{} fields:\n{}", wrong.len(), wrong.join("\n"));
}
