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

use edge::Edge;
use scrip_worker::http::request::Request;
use serde_json::Value as Json;
use std::path::Path;

fn read_all() -> Vec<(String, Json)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors"));
    let mut vectors = Vec::new();
    for area in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for file in std::fs::read_dir(&area).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.strip_prefix(folder).unwrap().display().to_string();
            if name.ends_with(".json") && name.starts_with(&std::env::var("ONLY").unwrap_or_default()) {
                vectors.push((name, serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap()));
            }
        }
    }
    vectors.sort_by(|(one, _), (other, _)| one.cmp(other));
    vectors
}

fn post(path: &str, body: &Json, seed: Option<&str>) -> Request {
    let mut headers = vec![("x-app-id".into(), "dev-app".into()), ("x-app-token".into(), "dev-token".into())];
    headers.extend(seed.map(|seed| ("scrip-rehearsal-seed".into(), seed.into())));
    Request {
        method: "POST".into(),
        path: path.into(),
        headers,
        body: body.to_string().into_bytes(),
        ..Request::default()
    }
}

fn call(vector: &Json) -> (String, Json) {
    let request = &vector["request"];
    match vector["verb"].as_str().unwrap() {
        "validate" => ("/v1/validations".into(), request.clone()),
        "qualify" => ("/v1/qualifications".into(), request.clone()),
        "redeem" => ("/v1/redemptions".into(), request.clone()),
        _ => {
            let verb = if request["stack"] == true { "rollbacks" } else { "rollback" };
            let body = request.get("body").cloned().unwrap_or(Json::Object(Default::default()));
            (format!("/v1/redemptions/{}/{verb}", request["redemption"].as_str().unwrap()), body)
        }
    }
}

#[test]
fn vectors() {
    let edge = Edge::new();
    let mut wrong = Vec::new();
    let mut ran = 0;
    for (name, vector) in read_all() {
        if vector["given"]["complete"] != true {
            continue;
        }
        ran += 1;
        let now_ms = scrip_worker::moment::parse(vector["context"]["now"].as_str().unwrap()).unwrap();
        let digits = vector["context"]["seed"].as_str().unwrap();
        let seed = scrip::text::unhex::<32>(digits).unwrap();
        let given = edge.send(post("/rehearsal/given", &vector["given"], None), now_ms, None);
        if given.status != 200 {
            wrong.push(format!("{name}: not given: {}", String::from_utf8_lossy(&given.body)));
            continue;
        }
        let (path, body) = call(&vector);
        let reply = edge.send(post(&path, &body, Some(digits)), now_ms, Some(seed));
        let answer: Json = serde_json::from_slice(&reply.body).unwrap();
        let wanted = &vector["expect"]["answer"];
        if answer != *wanted {
            wrong.push(format!("{name}:\n  wanted {wanted}\n  found  {answer}"));
        }
    }
    if let Some(path) = std::env::var_os("SCRIP_TALLY") {
        use std::io::Write;
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        let line = serde_json::json!({ "kind": "vectors", "subject": "service", "ran": ran, "skipped": [] });
        writeln!(file, "{line}").unwrap();
    }
    println!("{ran} vectors");
    assert!(ran > 0 || std::env::var_os("ONLY").is_some());
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
}
