//! Junk in every field of every body and in every parameter: always an answer that names the field, never a fault, nothing written.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail loudly"
)]

#[path = "support/edge.rs"]
mod edge;
#[path = "support/walk.rs"]
mod walk;

use edge::Edge;
use scrip_worker::route::Route;
use scrip_worker::service::Request;
use scrip_worker::shape::Kind;
use serde_json::{Value as Json, json};
use walk::{headers, path_of, routes, variants};

const NOW: i64 = 1_772_323_200_000;

/// Values that no field expects all of.
fn junk() -> Vec<Json> {
    let mut values: Vec<Json> =
        ["null", "5", "-1", "1.5", "0", "9007199254740992", "18446744073709551615", "-9223372036854775808", "1e300"]
            .iter()
            .map(|text| serde_json::from_str(text).unwrap())
            .collect();
    values.extend([
        json!(true),
        json!(""),
        json!("x"),
        json!("\u{0}'\"; DROP TABLE document; --"),
        json!("2026-02-30"),
        json!("P1M"),
    ]);
    values.extend([
        json!([]),
        json!({}),
        json!([null]),
        json!([[]]),
        json!({ "a": { "b": [1] } }),
        json!("y".repeat(1200)),
    ]);
    values
}

fn check(edge: &Edge, route: &Route, path: String, query: &str, body: &[u8]) {
    let before = edge.rows("proj_dev");
    let request = Request {
        method: route.method.into(),
        path,
        query: query.into(),
        headers: headers(route),
        body: body.to_vec(),
    };
    let told = format!("{} {}?{} {}", route.method, request.path, query, String::from_utf8_lossy(body));
    let reply = edge.send(request, NOW, None);
    assert!(reply.status < 500, "{told}: {}", reply.status);
    if reply.status >= 400 {
        let error: Json = serde_json::from_slice(&reply.body).unwrap();
        assert!(error["message"].is_string(), "{told}: {error}");
        // A redemption that fails is written down as such; whatever else is refused leaves nothing.
        if error["key"] == "invalid_payload" || error["key"] == "invalid_query_params" {
            assert!(error["details"].is_string(), "{told}: {error}");
            assert_eq!(edge.rows("proj_dev"), before, "{told}: {error}");
        }
    }
}

fn opened() -> Edge {
    let edge = Edge::new();
    let seed = routes().find(|route| route.path == "/v1/vouchers/{code}" && route.method == "POST").unwrap();
    check(&edge, seed, "/v1/vouchers/thing".into(), "", br#"{"discount":{"type":"AMOUNT","amount_off":1}}"#);
    edge
}

#[test]
fn junk_in_every_field_of_every_body() {
    let edge = opened();
    let mut sent = 0;
    for route in routes().filter(|route| !route.body.is_empty() && !route.form) {
        for value in junk() {
            let mut bodies = Vec::new();
            variants(route.body, &value, &mut bodies, &|body| if route.many { json!([body]) } else { body });
            for body in bodies {
                sent += 1;
                check(&edge, route, path_of(route, "thing"), "code=thing", body.to_string().as_bytes());
            }
            check(&edge, route, path_of(route, "thing"), "code=thing", value.to_string().as_bytes());
        }
    }
    assert!(sent > 5_000, "only {sent} bodies were sent");
}

#[test]
fn junk_in_every_parameter() {
    let edge = opened();
    let values = [
        "",
        "x",
        "-1",
        "0",
        "1.5",
        "99999999999999999999",
        "%00",
        "%",
        "'",
        "2026-02-30",
        "true",
        "$in",
        "a[b]",
        "%F0%9F%8E%81",
        "[]",
    ];
    for route in routes() {
        for value in values {
            for field in route.query {
                for name in [
                    field.name.to_owned(),
                    format!("{}[before]", field.name),
                    format!("{}[code][conditions][$in][0]", field.name),
                ] {
                    check(&edge, route, path_of(route, "thing"), &format!("{name}={value}"), b"");
                }
            }
            if !value.is_empty() && !value.contains('[') {
                check(&edge, route, path_of(route, value), "", b"");
            }
        }
    }
}

#[test]
fn bytes_that_are_no_json() {
    let edge = opened();
    let bodies: [&[u8]; 8] =
        [b"{", b"nul", b"\xff\xfe", b"{\"a\":\"\\ud800\"}", b"[1,2", b"{\"a\":1}}", b"'x'", b"\x00"];
    for route in routes() {
        for body in bodies {
            check(&edge, route, path_of(route, "thing"), "code=thing", body);
        }
    }
}

/// The description says of every field that may be left out that it may be null: then it has to mean the same.
#[test]
fn a_null_is_as_good_as_nothing() {
    let mut asked = 0;
    for route in routes().filter(|route| !route.body.is_empty() && !route.form) {
        let whole = walk::fitting(&Kind::Object(route.body));
        for field in route.body.iter().filter(|field| !field.required) {
            let status = |body: Json| {
                let body = if route.many { json!([body]) } else { body };
                let request = Request {
                    method: route.method.into(),
                    path: path_of(route, "thing"),
                    query: "code=thing".into(),
                    headers: headers(route),
                    body: body.to_string().into_bytes(),
                };
                opened().send(request, NOW, None).status
            };
            let mut with = whole.clone();
            with[field.name] = Json::Null;
            asked += 1;
            assert_eq!(status(with), status(whole.clone()), "{} {} {}", route.method, route.path, field.name);
        }
    }
    assert!(asked > 200, "only {asked} fields were asked for");
}
