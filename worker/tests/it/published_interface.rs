//! Tests the route table against the published interface and the committed description.

use scrip_worker::http::shape::{Field, FieldType};
use scrip_worker::openapi::{self, PUBLISHED};
use scrip_worker::routes::AREAS;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// The description as it is committed.
const DESCRIPTION: &str = include_str!("../../openapi.json");

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().filter(|line| !line.is_empty()).map(shape_of).collect()
}

/// The names of parameters differ between descriptions, but not their positions.
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
    let examples =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/interface/examples.json")).unwrap();
    let examples = serde_json::from_str(&examples).unwrap();
    let fresh = openapi::print(&openapi::generate(AREAS, &examples));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json"), &fresh).unwrap();
        return;
    }
    assert!(fresh == DESCRIPTION, "openapi.json is stale: run the tests with UPDATE=1 and review the difference");
}

#[test]
fn every_referenced_schema_exists() {
    let document: Json = serde_json::from_str(DESCRIPTION).unwrap();
    let named = DESCRIPTION.split("\"$ref\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap());
    let missing: BTreeSet<&str> = named.filter(|name| document.pointer(name).is_none()).collect();
    assert!(missing.is_empty(), "the description names {missing:?}, which it does not have");
}

/// The stories run completely for the examples, so an operation without an example has no story.
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
            let mut shown = answers.filter(|(status, _)| status.starts_with("20")).map(|(_, answer)| answer).peekable();
            if lacks(&operation["requestBody"]) || shown.peek().is_some() && shown.all(lacks) {
                without.push(format!("{method} {path}"));
            }
        }
    }
    let refusals = document["components"]["responses"].as_object().unwrap().iter();
    without.extend(refusals.filter(|(_, refusal)| lacks(refusal)).map(|(name, _)| name.clone()));
    assert!(without.is_empty(), "no example of {without:#?}");
}

/// Every operation and every field has its own text.
#[test]
fn every_field_has_a_description_and_every_answer_a_schema() {
    let mut wrong = Vec::new();
    for route in AREAS.iter().flat_map(|area| area.iter()).filter(|route| !route.path.starts_with("/test-hooks/")) {
        let name = openapi::name(route);
        if route.id.is_empty() || route.about.is_empty() || (route.returns.is_empty() && route.success == 200) {
            wrong.push(format!("{name} has no id, description or contents"));
        }
        let beside = route.list.map_or(&[][..], |(_, beside)| beside);
        for fields in [route.body, route.query, beside] {
            speechless(fields, &name, &mut wrong);
        }
        within(&route.answers, &name, &mut wrong);
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{} texts are missing:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn operation_ids_are_unique() {
    let mut known = BTreeSet::new();
    let routes = AREAS.iter().flat_map(|area| area.iter()).filter(|route| !route.id.is_empty());
    let twice: Vec<&str> = routes.filter(|route| !known.insert(route.id)).map(|route| route.id).collect();
    assert!(twice.is_empty(), "{}", twice.join(", "));
}

fn speechless(fields: &[Field], place: &str, into: &mut Vec<String>) {
    for field in fields {
        let here = format!("{place}.{}", field.name);
        if field.description_text().is_empty() {
            into.push(here.clone());
        }
        within(&field.kind, &here, into);
    }
}

fn within(kind: &FieldType, place: &str, into: &mut Vec<String>) {
    match kind {
        // A recursive shape is visited once.
        FieldType::Named(shape) if place.split('.').any(|part| part == shape.name) => {}
        FieldType::Named(shape) => within(&shape.kind, &format!("{place}.{}", shape.name), into),
        FieldType::Object(fields) => speechless(fields, place, into),
        FieldType::Open(fields, kind) => {
            speechless(fields, place, into);
            within(kind, place, into);
        }
        FieldType::List(kind, ..) | FieldType::MapOf(kind) => within(kind, place, into),
        FieldType::Either(kinds) => kinds.iter().for_each(|kind| within(kind, place, into)),
        _ => {}
    }
}

#[test]
fn every_route_has_callers_and_a_scope() {
    use scrip_worker::http::caller::CredentialClass;
    for route in AREAS.iter().flat_map(|area| area.iter()) {
        let is_public = matches!(route.path, "/health" | "/health/live" | "/openapi.json");
        assert_eq!(route.classes.is_empty(), is_public, "{}", route.path);
        assert_eq!(
            route.scope.is_empty(),
            !route.classes.contains(&CredentialClass::OAuth),
            "{} has a scope where tokens may call it",
            route.path
        );
        assert!(!route.summary.is_empty(), "{}", route.path);
        assert!(
            !route.path.contains("test-hooks") || cfg!(feature = "test-hooks"),
            "{} must not be in a released build",
            route.path
        );
    }
}

#[test]
fn every_required_scope_can_be_issued() {
    use scrip_worker::api::oauth::SCOPES;
    use scrip_worker::http::caller::CredentialClass;
    for route in AREAS.iter().flat_map(|area| area.iter()) {
        if !route.classes.contains(&CredentialClass::OAuth) || route.path.starts_with("/test-hooks/") {
            continue;
        }
        let scope = if route.is_client_side() { format!("client_{}", route.scope) } else { route.scope.to_owned() };
        assert!(SCOPES.contains(&scope.as_str()), "{} {} needs `{scope}`", route.method, route.path);
    }
}

#[test]
fn only_client_routes_declare_their_disclosure() {
    use scrip_worker::access::client::response_filter;
    let routes = AREAS.iter().flat_map(|area| area.iter()).filter(|route| route.is_client_side());
    let mut paths: Vec<&str> = routes.map(|route| route.path).collect();
    let mut shown: Vec<&str> = response_filter::paths().collect();
    paths.sort_unstable();
    shown.sort_unstable();
    assert_eq!(paths, shown);
}

/// Returns the operations of the committed description, each with its name.
fn operations(document: &Json) -> Vec<(String, &Json)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let all = paths.flat_map(|(path, operations)| {
        let operations = operations.as_object().unwrap().iter();
        operations.map(move |(method, operation)| (format!("{} {path}", method.to_uppercase()), operation))
    });
    all.collect()
}

/// The sentences are generated: an operation without them, or with one written by hand in addition, is wrong.
#[test]
fn each_operation_names_its_callers() {
    let document: Json = serde_json::from_str(DESCRIPTION).unwrap();
    let mut wrong = Vec::new();
    for (name, operation) in operations(&document) {
        let description = operation["description"].as_str().unwrap();
        let callers = description.split("Callable with").nth(1).unwrap_or_default();
        let security = operation["security"].as_array().unwrap();
        let mut expected = Vec::new();
        for alternative in security.iter().filter_map(Json::as_object) {
            for (scheme, scopes) in alternative {
                match scheme.as_str() {
                    "X-App-Id" => expected.push("a server key".to_owned()),
                    "X-Client-Application-Id" => expected.push("a client key".to_owned()),
                    "X-Management-Id" => expected.push("a management key".to_owned()),
                    "OAuth" => expected.extend(
                        scopes.as_array().unwrap().iter().map(|scope| format!("`{}`", scope.as_str().unwrap())),
                    ),
                    _ => {}
                }
            }
        }
        if expected.is_empty() {
            expected.push("out credentials".to_owned());
        }
        let is_complete = expected.iter().all(|part| callers.contains(part.as_str()));
        if !is_complete || description.matches("Callable with").count() != 1 || description.contains("The call needs") {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "these do not name their callers: {wrong:#?}");
}

/// The roles that a description names are those that authentication admits.
#[test]
fn each_operation_names_its_roles() {
    use scrip_worker::access::roles;
    use scrip_worker::http::caller::{CredentialClass, ROLES};
    let document: Json = serde_json::from_str(DESCRIPTION).unwrap();
    let described = operations(&document);
    for (name, operation) in described {
        let route = AREAS.iter().flat_map(|area| area.iter()).find(|route| openapi::name(route) == name).unwrap();
        let description = operation["description"].as_str().unwrap();
        let named = description.split("the user needs the role ").nth(1);
        let needs_key =
            !route.classes.iter().all(|class| matches!(class, CredentialClass::Image | CredentialClass::Bundle));
        let is_open_to_all = ROLES.iter().all(|(_, role)| roles::allows(*role, route));
        assert_eq!(named.is_some(), needs_key && !is_open_to_all, "{name}");
        for (role, value) in ROLES.iter().filter(|_| named.is_some()) {
            let is_named = named.unwrap().contains(&format!("`{role}`"));
            assert_eq!(is_named, roles::allows(*value, route), "{name} and {role}");
        }
    }
}
