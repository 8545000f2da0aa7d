//! Runs the stories under `tests/stories` in process: the same files that run over HTTP against the built Worker.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::string_slice,
    reason = "a test may fail loudly"
)]

#[path = "support/box_keys.rs"]
mod box_keys;
#[path = "support/bundle.rs"]
#[allow(dead_code, reason = "a story reads a core by a step of its own")]
mod bundle;
#[path = "support/description_check.rs"]
mod description_check;
#[path = "support/edge_comparison.rs"]
mod edge_comparison;
#[path = "support/in_process.rs"]
mod in_process;
#[path = "support/migrated.rs"]
mod migrated;
#[path = "support/nested_nulls.rs"]
mod nested_nulls;
#[path = "support/story.rs"]
mod story;
#[path = "../../tests/support/mod.rs"]
mod support;

use description_check::{Examples, Fit};
use scrip::bundle::PreparedRules;
use scrip::model::client::ClientContext;
use scrip_worker::access::client::response_filter;
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::openapi;
use scrip_worker::routes::{AREAS, TABLE};
use serde_json::Value as Json;
use support::{test_report, vector};

/// Members of answers that no story receives, each with the reason.
const WITHOUT_STORY: &str = include_str!("../src/interface/fields-without-story.txt");

/// Returns the examples of the description, as the last update has written them.
fn stored_examples() -> Json {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/interface/examples.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Compares every answer with the description, and selects examples for the next one.
struct DescriptionRun<'d> {
    document: &'d Json,
    fit: Fit<'d>,
    examples: Examples,
}

impl DescriptionRun<'_> {
    fn see(&mut self, request: &Request, reply: &Reply, body: &Json) -> Result<(), String> {
        let Ok(found) = TABLE.find(&request.method, &request.path) else { return Ok(()) };
        let route = found.route;
        if request.method == "OPTIONS" || request.method == "HEAD" || route.path.starts_with("/test-hooks/") {
            return Ok(());
        }
        let name = openapi::name(route);
        let status = reply.status.to_string();
        let described = &self.document["paths"][route.path][route.method.to_lowercase()]["responses"][&status];
        let response = match described["$ref"].as_str() {
            Some(named) => self.document.pointer(named.trim_start_matches('#')).unwrap(),
            None => described,
        };
        if response.is_null() {
            return Err(format!("nothing says that {name} answers {status}: {body}"));
        }
        let is_file = ["text~1csv", "image~1svg+xml", "application~1jose"]
            .iter()
            .any(|media| body.is_string() && response.pointer(&format!("/content/{media}")).is_some());
        if is_file {
            return Ok(());
        }
        if reply.status == route.success && route.path != "/openapi.json" {
            self.examples.see(&name, &request.body, body);
        } else if reply.status >= 400 {
            self.examples.see_refusal(&name, reply.status, body);
        }
        let Some(schema) = response.pointer("/content/application~1json/schema") else {
            return if body.is_null() { Ok(()) } else { Err(format!("{status} is described without a body: {body}")) };
        };
        match self.fit.misfit(schema, body, "the answer", &name) {
            None => Ok(()),
            Some(problem) => Err(format!("the shape of the answer to {name} says otherwise: {problem}")),
        }
    }

    /// Compares the answers of the vectors with the description as well, because they contain cases that no story has.
    fn see_vectors(&mut self) -> Vec<String> {
        let mut wrong = Vec::new();
        for vector in vector::beginning_with("") {
            let now = scrip::time::Instant::parse(&vector.now).unwrap();
            let seed = scrip::text::decode_hex_array(&vector.seed).unwrap();
            let context = scrip::Context { now, seed, first_number: None };
            let Ok(prepared) = PreparedRules::new(vector.given.as_bytes()) else { continue };
            let body = vector.request.as_bytes();
            let (name, answer) = match vector.verb.as_str() {
                "validate" => ("Validation", prepared.validate(body, &context)),
                "qualify" => ("Qualification", prepared.qualify(body, &context)),
                "redeem" => ("Redemptions", prepared.redeem(body, &context)),
                _ => {
                    let request: Json = serde_json::from_slice(body).unwrap();
                    let stack = request["stack"] == true;
                    let body = request.get("body").map_or("{}".to_owned(), Json::to_string);
                    let id = request["redemption"].as_str().unwrap();
                    let name = if stack { "Rollbacks" } else { "Rollback" };
                    (name, prepared.rollback(id, stack, body.as_bytes(), &context))
                }
            };
            let name = if answer.status >= 400 { "Error" } else { name };
            let body: Json = serde_json::from_slice(&answer.body).unwrap();
            let schema = serde_json::json!({ "$ref": format!("#/components/schemas/{name}") });
            if let Some(problem) = self.fit.misfit(&schema, &body, "the answer", name) {
                wrong.push(format!("{}: the shape of the answer says otherwise: {problem}", vector.path));
            }
        }
        wrong
    }

    /// Returns the described members of answers that no story received.
    fn without_story(&self) -> Vec<String> {
        let mut named = Vec::new();
        for (name, schema) in self.document["components"]["schemas"].as_object().unwrap() {
            if !name.ends_with("Request") && !name.starts_with("Client") {
                description_check::named(schema, name, &mut named);
            }
        }
        named.retain(|member| !self.fit.seen.contains(member));
        named
    }

    /// Writes the examples and the description, and the members that no answer contained with their known reasons.
    fn write(&self, without_story: &[String]) {
        let is_about = |line: &&str, member: &String| line.split(' ').next() == Some(member);
        let reason = |member: &String| WITHOUT_STORY.lines().find(|line| is_about(line, member)).map(str::to_owned);
        let head = WITHOUT_STORY.lines().filter(|line| line.starts_with('#')).map(str::to_owned);
        let lines = without_story
            .iter()
            .map(|member| reason(member).unwrap_or_else(|| format!("{member} No story or vector has it.")));
        let text: Vec<String> = head.chain(lines).collect();
        let folder = env!("CARGO_MANIFEST_DIR");
        std::fs::write(format!("{folder}/src/interface/fields-without-story.txt"), text.join("\n") + "\n").unwrap();
        let examples = self.examples.written();
        std::fs::write(format!("{folder}/src/interface/examples.json"), openapi::print(&examples)).unwrap();
        std::fs::write(format!("{folder}/openapi.json"), openapi::print(&openapi::generate(AREAS, &examples))).unwrap();
    }
}

/// Checks that an answer to a client contains only disclosed members. Answers that the engine writes are excluded.
fn tells_no_more(story: &Json, request: &Request, reply: &Reply, body: &Json) -> Result<(), String> {
    let Ok(found) = TABLE.find(&request.method, &request.path) else { return Ok(()) };
    let is_server = request.headers.iter().any(|(name, _)| name == "x-app-id");
    if !found.route.is_client_side() || is_server || reply.status >= 400 || body.is_null() {
        return Ok(());
    }
    let setup: Json = serde_json::from_str(in_process::SETUP).unwrap();
    let id = format!("proj_{}", story["project"].as_str().unwrap_or("dev"));
    let project = setup["projects"].as_array().unwrap().iter().find(|project| project["id"] == id.as_str()).unwrap();
    let mut client = project["client"].as_object().unwrap().clone();
    client.retain(|name, _| scrip::wire::project::client::NAMES.contains(&name.as_str()));
    let terms = scrip::wire::project::client::client_policy_of(&Json::Object(client)).unwrap();
    // A client with a verified customer gets the most data.
    let page = ClientContext { policy: terms, proven: Some("customer".into()), ..ClientContext::default() };
    let mut kept = body.clone();
    response_filter::filter_body(found.route, &page, &mut kept);
    if kept == *body { Ok(()) } else { Err(format!("a page receives more than it may: {body}\n  instead of {kept}")) }
}

#[test]
fn stories() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let stories = story::read_all(&only);
    assert!(!stories.is_empty(), "there is no story under `{only}`");
    let mut wrong = Vec::new();
    let document = openapi::generate(AREAS, &Json::Null);
    let mut described = DescriptionRun { document: &document, fit: Fit::new(&document), examples: Examples::default() };
    edge_comparison::begin();
    for (name, story) in &stories {
        described.examples.in_sample_shop = name.starts_with("00-sample-shop/");
        let see = &mut |request: &Request, reply: &Reply, body: &Json| {
            tells_no_more(story, request, reply, body)?;
            described.see(request, reply, body)
        };
        if let Err(problem) = story::run(story, see) {
            wrong.push(format!("{name}: {problem}"));
        }
    }
    test_report::record(&serde_json::json!({ "kind": "stories", "ran": stories.len(), "skipped": [] }));
    let compared = edge_comparison::begin();
    println!("{} stories, {compared} answers of the entry's rules compared", stories.len());
    assert!(compared > 20 || !only.is_empty(), "the rules of the entry answer only {compared} requests of the stories");
    if only.is_empty() {
        wrong.extend(described.see_vectors());
        let without_story = described.without_story();
        if std::env::var_os("UPDATE").is_some() {
            described.write(&without_story);
        } else {
            let lines = WITHOUT_STORY.lines().filter(|line| !line.starts_with('#'));
            let known: Vec<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
            let new = without_story.iter().filter(|member| !known.contains(&member.as_str()));
            wrong.extend(new.map(|member| format!("no story or vector is given {member}")));
            let old = known.iter().filter(|member| !without_story.iter().any(|found| found == *member));
            wrong.extend(
                old.map(|member| format!("fields-without-story.txt lists {member}, which is seen or not described")),
            );
            if stored_examples()["keys"] != described.examples.keys() {
                wrong.push("examples.json has other error keys than the stories: run them with UPDATE=1".into());
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} stories:\n{}", wrong.len(), stories.len(), wrong.join("\n"));
}

/// Inside an object that replaces the present one, `null` equals an absent field, as on creation: every story of a change has the same
/// answers with all of these nulls.
#[test]
fn nulls_inside_the_objects_of_a_change_are_absent_fields() {
    let document = openapi::generate(AREAS, &Json::Null);
    let mut described = DescriptionRun { document: &document, fit: Fit::new(&document), examples: Examples::default() };
    let (mut wrong, mut changed) = (Vec::new(), 0);
    for (name, mut story) in story::read_all(&std::env::var("ONLY").unwrap_or_default()) {
        if !nested_nulls::add(&mut story) {
            continue;
        }
        changed += 1;
        let see = &mut |request: &Request, reply: &Reply, body: &Json| described.see(request, reply, body);
        wrong.extend(story::run(&story, see).err().map(|problem| format!("{name}: {problem}")));
    }
    assert!(wrong.is_empty(), "{} of {changed} stories:\n{}", wrong.len(), wrong.join("\n"));
}

/// A route without a story would be a promise without a test.
#[test]
fn every_route_has_a_story() {
    let calls: Vec<(String, String)> = story::read_all("").iter().flat_map(|(_, story)| story::calls(story)).collect();
    for route in AREAS.iter().flat_map(|area| area.iter()) {
        if route.path.starts_with("/test-hooks/") {
            continue;
        }
        let has = calls.iter().any(|(method, path)| {
            let found = TABLE.find(method, path);
            found.is_ok_and(|found| found.route.method == route.method && found.route.path == route.path)
        });
        assert!(has, "no story calls {} {}", route.method, route.path);
    }
}
