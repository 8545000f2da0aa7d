//! Runs every vector with complete facts through the whole service in process: the answer has the engine's bytes.
#![cfg(feature = "test-hooks")]

use crate::in_process::Edge;
use crate::support::test_report;
use crate::support::vector::{self, Vector};
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};

fn post(path: &str, body: Vec<u8>, seed: Option<&str>) -> Request {
    let headers = match path.starts_with("/client/") {
        true => [
            ("x-client-application-id", "dev-client"),
            ("x-client-token", "dev-client-token"),
            ("origin", "http://localhost:3000"),
        ]
        .to_vec(),
        false => [("x-app-id", "dev-app"), ("x-app-token", "dev-token")].to_vec(),
    };
    let mut headers: Vec<(String, String)> =
        headers.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    headers.extend(seed.map(|seed| ("scrip-test-seed".into(), seed.into())));
    Request { method: "POST".into(), path: path.into(), headers, body, ..Request::default() }
}

/// Returns the call of a verb.
fn call(vector: &Vector) -> (String, Vec<u8>) {
    let given: Json = serde_json::from_str(&vector.given).unwrap();
    // The client policy of the development project is that of `true`.
    let client = if given["client"] == true { "/client" } else { "" };
    let whole = |path: &str| (format!("{client}{path}"), vector.request.clone().into_bytes());
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

/// Returns true if the service can have the same facts as the engine: only a client lacks facts, or has a part of a list.
fn is_complete(vector: &Vector) -> bool {
    let given: Json = serde_json::from_str(&vector.given).unwrap();
    let is_whole = |value: &Json| !value.is_null() && value.get("data_ref").is_none();
    given["complete"] == true && given.as_object().unwrap().values().all(is_whole)
}

/// Returns the fault of the service's answer, if there is one.
fn fault(edge: &Edge, vector: &Vector) -> Option<String> {
    let now_ms = scrip_worker::timestamp::parse(&vector.now).unwrap();
    let seed = scrip::text::decode_hex_array::<32>(&vector.seed).unwrap();
    let given = edge.send(post("/test-hooks/given", vector.given.clone().into_bytes(), None), now_ms, None);
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
    test_report::record(&json!({ "kind": "vectors", "subject": "service", "ran": ran, "skipped": [] }));
    println!("{ran} vectors");
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
}
