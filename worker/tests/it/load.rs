//! Tests the largest request of each kind, from `tests/load/worst.json`: each has the answer of its case, and is refused where it exceeds
//! the bounds. Times are measured on the real runtime (`tests/workerd/load.test.mjs`); with `TIMES=1` this test prints its own.
#![cfg(feature = "test-hooks")]

use crate::in_process::Edge;
use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::time::Instant;
use scrip_worker::http::request::{Reply, Request};
use serde_json::{Map, Value as Json};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/load/worst.json");
const NOW: i64 = 1_772_323_200_000;

/// A template with its loops written out: `{"$times": 3, "of": …}` is a list, `{"$keys": 3, "name": …, "of": …}` an object and
/// `{"$text": "ab", "times": 3}` a text. `{n}`, or what `as` names, is the turn.
fn written_out(template: &Json, turns: &[(String, usize)]) -> Json {
    let fill = |text: &str| {
        turns.iter().fold(text.to_owned(), |text, (name, turn)| text.replace(&format!("{{{name}}}"), &turn.to_string()))
    };
    let each = |object: &Map<String, Json>, count: &Json| -> Vec<Vec<(String, usize)>> {
        let name = object.get("as").and_then(Json::as_str).unwrap_or("n");
        let with = |turn| turns.iter().cloned().chain([(name.to_owned(), turn)]).collect();
        (0..usize::try_from(count.as_u64().unwrap()).unwrap()).map(with).collect()
    };
    match template {
        Json::String(text) => fill(text).into(),
        Json::Array(items) => items.iter().map(|item| written_out(item, turns)).collect(),
        Json::Object(object) => {
            if let Some(count) = object.get("$times") {
                return each(object, count).iter().map(|turns| written_out(&object["of"], turns)).collect();
            }
            if let Some(count) = object.get("$keys") {
                let member = |turns: &Vec<_>| {
                    (
                        written_out(&object["name"], turns).as_str().unwrap().to_owned(),
                        written_out(&object["of"], turns),
                    )
                };
                return Json::Object(each(object, count).iter().map(member).collect());
            }
            if let Some(text) = object.get("$text") {
                let times = usize::try_from(object["times"].as_u64().unwrap()).unwrap();
                return fill(text.as_str().unwrap()).repeat(times).into();
            }
            object.iter().map(|(name, value)| (fill(name), written_out(value, turns))).collect()
        }
        other => other.clone(),
    }
}

fn send(edge: &Edge, (method, target, body): &Call, seed: Option<[u8; 32]>) -> Reply {
    let mut headers = vec![("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
    // Then an answer is what a page decides, byte for byte.
    headers.extend(seed.map(|_| ("scrip-test-seed", "set")));
    let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let (method, path, query) = (method.clone(), path.to_owned(), query.to_owned());
    edge.send(Request { method, path, query, headers, body }, NOW, seed)
}

fn details_of(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).chars().take(400).collect()
}

#[test]
fn the_largest_request_of_each_kind_is_answered_or_refused() {
    let file: Json = serde_json::from_str(&std::fs::read_to_string(CASES).unwrap()).unwrap();
    let edge = Edge::new();
    let times = std::env::var("TIMES").is_ok();
    // The last given rules, for a client that decides without the service.
    let mut given = Json::Null;
    for case in file["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        for call in case["before"].as_array().into_iter().flatten().map(call) {
            let reply = send(&edge, &call, None);
            assert!(reply.status < 300, "{name}: {} {}: {}", call.0, call.1, details_of(&reply));
            given = if call.1 == "/test-hooks/given" { call.2 } else { Json::Null };
        }
        let request = call(&case["request"]);
        let rows = edge.rows("proj_dev");
        let started = std::time::Instant::now();
        let reply = send(&edge, &request, None);
        if times {
            println!("{:>6} ms  {} {name} ({} bytes)", started.elapsed().as_millis(), reply.status, reply.body.len());
        }
        assert_eq!(u64::from(reply.status), case["status"].as_u64().unwrap(), "{name}: {}", details_of(&reply));
        let expected = case["expected"].as_str().unwrap_or_default();
        assert!(details_of(&reply).contains(expected), "{name}: {}", details_of(&reply));
        if !expected.is_empty() {
            assert_eq!(edge.rows("proj_dev"), rows, "{name}: what is refused writes nothing");
        }
        if request.1 == "/v1/validations" && given.is_object() {
            agrees(&edge, name, &given, &request);
        }
    }
}

/// Returns true if a client with the same rules gives the same bytes. The bounds are the same.
fn agrees(edge: &Edge, name: &str, given: &Json, request: &Call) {
    let context = Context { now: Instant::from_millis(NOW).unwrap(), seed: [7; 32], first_number: None };
    let prepared = PreparedRules::new(crate::support::service_facts::world(&given.to_string()).as_bytes()).unwrap();
    let page = prepared.validate(request.2.to_string().as_bytes(), &context);
    let service = send(edge, request, Some(context.seed));
    assert_eq!(page.status, service.status, "{name}: {}", details_of(&service));
    assert!(
        page.body == service.body,
        "{name}: {} and {}",
        String::from_utf8_lossy(&page.body[..300]),
        details_of(&service)
    );
}

/// A method, a target and a body.
type Call = (String, String, Json);

/// Converts a call that is written as a list.
fn call(of: &Json) -> Call {
    let text = |place: usize| written_out(&of[place], &[]).as_str().unwrap().to_owned();
    (text(0), text(1), written_out(of.get(2).unwrap_or(&Json::Null), &[]))
}
