//! Tests every field of every request, body and query, of the served operations, as published and as declared by the routes. Each is
//! accepted by the table of its route. Each is returned, affects the behaviour in a named story, or is ignored for a listed reason.
//!
//! The stories are the evidence: the values of each accepted call are searched for in its answer and in later answers.
//! `interface/fields-with-effect.txt` names a story that sends a field whose effect is not an echo, and `interface/fields-ignored.txt`
//! lists the fields that are not read.

use crate::field_coverage::FieldCoverage;
#[allow(dead_code, reason = "the walk only looks on")]
use crate::published_operations::{ListedField, Operation, listed_fields, operations};
use scrip_worker::http::route::Route;
use scrip_worker::http::shape::{Field, FieldType};
use scrip_worker::routes::TABLE;
use std::collections::BTreeSet;

/// Fields that the service acts on without returning them, each with the story that proves it.
const WITH_EFFECT: &str = include_str!("../../src/interface/fields-with-effect.txt");
/// Fields that the service does not read, each with the reason.
const IGNORED: &str = include_str!("../../src/interface/fields-ignored.txt");

fn route_of(operation: &Operation) -> &'static Route {
    let found = TABLE.find(&operation.method, &operation.example());
    let route = found.unwrap_or_else(|_| panic!("{} {} is not served", operation.method, operation.path)).route;
    assert_eq!(route.method, operation.method, "{}", operation.path);
    route
}

/// Returns true if a table of fields accepts a field, at any depth.
fn passes(fields: &[Field], path: &str) -> bool {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let name = first.trim_end_matches("[]");
    let lists = (first.len() - name.len()) / 2;
    fields.iter().find(|field| field.name == name).is_some_and(|field| within(&field.kind, lists, rest))
}

fn within(kind: &FieldType, lists: usize, rest: &str) -> bool {
    match kind.resolved() {
        FieldType::Any | FieldType::Map | FieldType::MapOf(_) | FieldType::Open(..) => true,
        FieldType::Either(kinds) => kinds.iter().any(|kind| within(kind, lists, rest)),
        FieldType::Named(_) => false,
        FieldType::List(item, _, _) if lists > 0 => within(item, lists - 1, rest),
        FieldType::Object(fields) if lists == 0 => rest.is_empty() || passes(fields, rest),
        FieldType::List(..) | FieldType::Object(_) => rest.is_empty(),
        FieldType::Text
        | FieldType::Name(_)
        | FieldType::Int(..)
        | FieldType::Number(..)
        | FieldType::Bool
        | FieldType::Date
        | FieldType::DateTime
        | FieldType::Duration
        | FieldType::Clock
        | FieldType::HttpsUrl
        | FieldType::OneOf(_) => rest.is_empty(),
    }
}

#[test]
fn every_published_field_passes_its_table() {
    let ignored = listed_fields(IGNORED);
    let mut dropped = Vec::new();
    for operation in operations() {
        let route = route_of(&operation);
        for field in &operation.fields {
            let let_through = match field.strip_prefix('?') {
                Some(parameter) => passes(route.query, parameter),
                None => passes(route.body, field.strip_prefix("[].").filter(|_| route.many).unwrap_or(field)),
            };
            if !let_through && !ignored.iter().any(|listed| listed.is_about(&operation, field)) {
                dropped.push(format!("{} {} {field}", operation.method, operation.path));
            }
        }
    }
    assert!(dropped.is_empty(), "{} fields pass no table:\n{}", dropped.len(), dropped.join("\n"));
}

/// Returns every operation with its declared and its published fields.
fn all_operations() -> Vec<Operation> {
    let published = operations();
    let mut all = Vec::new();
    for route in scrip_worker::routes::AREAS.iter().flat_map(|area| area.iter()) {
        if route.path.starts_with("/test-hooks/") {
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

/// Collects the leaves of a table. A free object is a leaf, and so is a list of plain values.
fn collect(fields: &[Field], path: &str, into: &mut Vec<String>) {
    fields.iter().for_each(|field| leaf(&field.kind, format!("{path}{}", field.name), into));
}

fn leaf(kind: &FieldType, path: String, into: &mut Vec<String>) {
    match kind.resolved() {
        FieldType::Object(fields) => collect(fields, &format!("{path}."), into),
        FieldType::List(kind, ..) => leaf(kind, format!("{path}[]"), into),
        FieldType::MapOf(kind) => leaf(kind, format!("{path}.*"), into),
        // A recursive shape is visited once.
        FieldType::Open(fields, kind) if !path.contains(".*.") => {
            collect(fields, &format!("{path}."), into);
            leaf(kind, format!("{path}.*"), into);
        }
        FieldType::Either(kinds) => leaf(&kinds[0], path, into),
        _ => into.push(path),
    }
}

#[test]
fn every_field_is_returned_or_effective_or_ignored_for_a_reason() {
    let coverage = FieldCoverage::of_all_stories();
    let (with_effect, ignored) = (listed_fields(WITH_EFFECT), listed_fields(IGNORED));
    let mut used = BTreeSet::new();
    let mut wrong = Vec::new();
    let mut counts = [0; 3];
    for operation in all_operations() {
        let call = operation.shape();
        for field in &operation.fields {
            // The effect of a parameter is visible in the answer of the story that sends it.
            let is_witnessed = if field.starts_with('?') { FieldCoverage::sent_to } else { FieldCoverage::has_echoed };
            if is_witnessed(&coverage, &call, field) {
                counts[0] += 1;
                continue;
            }
            let about = |listed: &&ListedField| listed.is_about(&operation, field);
            if let Some(listed) = ignored.iter().find(about) {
                used.insert(listed.line.clone());
                counts[2] += 1;
            } else if let Some(listed) = with_effect.iter().find(about) {
                used.insert(listed.line.clone());
                counts[1] += 1;
                let is_sent = coverage.has_sent(listed.word(), &operation, listed, field);
                if !is_sent {
                    let named = listed.word();
                    wrong.push(format!(
                        "{} {} {field}: no accepted call of {named} sends it",
                        operation.method, operation.path
                    ));
                }
            } else {
                let sent = if coverage.sent_to(&call, field) { "sent, but nowhere shown" } else { "sent by no story" };
                wrong.push(format!("{} {} {field}: {sent}", operation.method, operation.path));
            }
        }
    }
    println!("{} fields are shown back, {} have an effect, {} are ignored", counts[0], counts[1], counts[2]);
    for listed in with_effect.iter().chain(&ignored).filter(|listed| !used.contains(&listed.line)) {
        wrong.push(format!("`{}` is about no field any more", listed.line));
    }
    assert!(wrong.is_empty(), "{} fields:\n{}", wrong.len(), wrong.join("\n"));
}
