//! Every vector whose facts are complete, through the whole service in process: the bytes that the engine alone gives.
#![cfg(feature = "rehearsal")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail loudly"
)]

#[path = "support/edge.rs"]
mod edge;
#[path = "../../tests/support/mod.rs"]
mod support;

use edge::Edge;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};
use support::tally;
use support::vector::{self, Vector};

fn post(path: &str, body: Vec<u8>, seed: Option<&str>) -> Request {
    let mut headers = vec![("x-app-id".into(), "dev-app".into()), ("x-app-token".into(), "dev-token".into())];
    headers.extend(seed.map(|seed| ("scrip-rehearsal-seed".into(), seed.into())));
    Request { method: "POST".into(), path: path.into(), headers, body, ..Request::default() }
}

/// The call that a verb stands for.
fn call(vector: &Vector) -> (String, Vec<u8>) {
    let whole = |path: &str| (path.to_owned(), vector.request.clone().into_bytes());
    match vector.verb.as_str() {
        "validate" => whole("/v1/validations"),
        "qualify" => whole("/v1/qualifications"),
        "redeem" => whole("/v1/redemptions"),
        _ => {
            let request: Json = serde_json::from_str(&vector.request).unwrap();
            let verb = if request["stack"] == true { "rollbacks" } else { "rollback" };
            let body = request.get("body").map_or("{}".to_owned(), Json::to_string);
            (format!("/v1/redemptions/{}/{verb}", request["redemption"].as_str().unwrap()), body.into_bytes())
        }
    }
}

/// Whether the service can be given what the engine is given: only a page lacks facts.
fn is_complete(vector: &Vector) -> bool {
    let given: Json = serde_json::from_str(&vector.given).unwrap();
    given["complete"] == true
}

/// What is wrong with the service's answer, if anything.
fn fault(edge: &Edge, vector: &Vector) -> Option<String> {
    let now_ms = scrip_worker::moment::parse(&vector.now).unwrap();
    let seed = scrip::text::unhex::<32>(&vector.seed).unwrap();
    let given = edge.send(post("/rehearsal/given", vector.given.clone().into_bytes(), None), now_ms, None);
    if given.status != 200 {
        return Some(format!("{}: not given: {}", vector.path, String::from_utf8_lossy(&given.body)));
    }
    let (path, body) = call(vector);
    let reply = edge.send(post(&path, body, Some(&vector.seed)), now_ms, Some(seed));
    vector.fault("service", &String::from_utf8(reply.body).unwrap())
}

#[test]
fn vectors() {
    let edge = Edge::new();
    let vectors: Vec<Vector> = vector::chosen().into_iter().filter(is_complete).collect();
    let wrong: Vec<String> = vectors.iter().filter_map(|vector| fault(&edge, vector)).collect();
    let ran = vectors.len();
    tally::record(&json!({ "kind": "vectors", "subject": "service", "ran": ran, "skipped": [] }));
    println!("{ran} vectors");
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
}
