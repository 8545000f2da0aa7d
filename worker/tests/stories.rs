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
#[path = "support/learned.rs"]
mod learned;
#[path = "support/story.rs"]
mod story;

use learned::{Learned, misfit};
use scrip::model::page::Page;
use scrip_worker::access::page::shown;
use scrip_worker::http::openapi;
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::http::route;
use serde_json::Value as Json;
use std::io::Write;

/// Holds every answer against the description, or learns from it what the description is to say.
struct Described {
    document: Json,
    learned: Option<Learned>,
}

impl Described {
    fn see(&mut self, request: &Request, reply: &Reply, body: &Json) -> Result<(), String> {
        let Ok(found) = route::find(&request.method, &request.path) else { return Ok(()) };
        let route = found.route;
        if request.method == "OPTIONS" || route.path.starts_with("/rehearsal/") {
            return Ok(());
        }
        let operation = &self.document["paths"][route.path][route.method.to_lowercase()];
        let status = reply.status.to_string();
        let responses = &operation["responses"];
        let also = route.also.filter(|(also, _)| reply.status == *also);
        if reply.status < 400 && reply.status != route.success && also.is_none() {
            return Err(format!("the route says that it answers {} and answers {status}", route.success));
        }
        if let Some(learned) = self.learned.as_mut() {
            if reply.status < 300 && !body.is_null() {
                learned.see(&openapi::name(route), also.map_or(route.answers, |(_, answers)| answers), body);
            }
            return Ok(());
        }
        let response = responses.get(&status).unwrap_or(&responses["default"]);
        let Some(schema) = response.pointer("/content/application~1json/schema") else {
            return if body.is_null() { Ok(()) } else { Err(format!("{status} is described without a body: {body}")) };
        };
        let told = misfit(&self.document, schema, body, "the answer");
        told.map_or(Ok(()), |told| Err(format!("openapi.json says otherwise (run with UPDATE=1 and review): {told}")))
    }

    fn write(&self) {
        let Some(learned) = &self.learned else { return };
        let folder = env!("CARGO_MANIFEST_DIR");
        let answers = learned.written();
        std::fs::write(format!("{folder}/src/surface/answers.json"), openapi::written(&answers)).unwrap();
        let document = openapi::written(&openapi::generate(&answers));
        std::fs::write(format!("{folder}/openapi.json"), document).unwrap();
    }
}

/// Holds every answer to a page against what a page may be told. Where the engine writes it, nothing else does.
fn tells_no_more(story: &Json, request: &Request, reply: &Reply, body: &Json) -> Result<(), String> {
    let Ok(found) = route::find(&request.method, &request.path) else { return Ok(()) };
    let is_server = request.headers.iter().any(|(name, _)| name == "x-app-id");
    if !found.route.is_client_side() || is_server || reply.status >= 400 || body.is_null() {
        return Ok(());
    }
    let setup: Json = serde_json::from_str(edge::SETUP).unwrap();
    let id = format!("proj_{}", story["project"].as_str().unwrap_or("dev"));
    let project = setup["projects"].as_array().unwrap().iter().find(|project| project["id"] == id.as_str()).unwrap();
    let mut client = project["client"].as_object().unwrap().clone();
    client.retain(|name, _| scrip::wire::page::NAMES.contains(&name.as_str()));
    let terms = scrip::wire::page::terms_of(Json::Object(client).to_string().as_bytes()).unwrap();
    // One that has proven who its customer is is told the most.
    let page = Page { terms, proven: Some("whoever".into()) };
    let mut kept = body.clone();
    shown::keep_of(found.route, &page, &mut kept);
    if kept == *body { Ok(()) } else { Err(format!("a page is told more than it may be: {body}\n  instead of {kept}")) }
}

#[test]
fn stories() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let stories = story::read_all(&only);
    assert!(!stories.is_empty(), "there is no story under `{only}`");
    let mut wrong = Vec::new();
    let document = serde_json::from_str(openapi::DOCUMENT).unwrap();
    let learned = (only.is_empty() && std::env::var_os("UPDATE").is_some()).then(Learned::default);
    let mut described = Described { document, learned };
    for (name, story) in &stories {
        let see = &mut |request: &Request, reply: &Reply, body: &Json| {
            tells_no_more(story, request, reply, body)?;
            described.see(request, reply, body)
        };
        if let Err(told) = story::run(story, see) {
            wrong.push(format!("{name}: {told}"));
        }
    }
    if let Some(path) = std::env::var_os("SCRIP_TALLY") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        writeln!(file, "{}", serde_json::json!({ "kind": "stories", "ran": stories.len(), "skipped": [] })).unwrap();
    }
    println!("{} stories", stories.len());
    described.write();
    assert!(wrong.is_empty(), "{} of {} stories:\n{}", wrong.len(), stories.len(), wrong.join("\n"));
}

/// A route without a story would be a promise that nothing checks.
#[test]
fn every_route_has_a_story() {
    let told: Vec<(String, String)> = story::read_all("").iter().flat_map(|(_, story)| story::calls(story)).collect();
    for route in scrip_worker::table::AREAS.iter().flat_map(|area| area.iter()) {
        if route.path.starts_with("/rehearsal/") {
            continue;
        }
        let has = told.iter().any(|(method, path)| {
            let found = scrip_worker::http::route::find(method, path);
            found.is_ok_and(|found| found.route.method == route.method && found.route.path == route.path)
        });
        assert!(has, "no story calls {} {}", route.method, route.path);
    }
}
