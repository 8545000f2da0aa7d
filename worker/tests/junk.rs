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
use scrip_worker::http::request::Request;
use scrip_worker::http::route::Route;
use scrip_worker::http::shape::Kind;
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

/// Sends junk; gives what was accepted.
fn check(edge: &Edge, route: &Route, path: String, query: &str, body: &[u8]) -> Option<Json> {
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
        return None;
    }
    (route.method != "GET").then(|| serde_json::from_slice(&reply.body).unwrap_or_default())
}

/// A call that must be answered whatever was written before.
fn must_answer(edge: &Edge, method: &str, path: &str, body: &Json, told: &dyn Fn() -> String) -> Json {
    let client = path.starts_with("/client/");
    let pairs: &[(&str, &str)] = match client {
        true => &[
            ("x-client-application-id", "dev-client"),
            ("x-client-token", "dev-client-token"),
            ("origin", "http://localhost:1"),
        ],
        false => &[("x-app-id", "dev-app"), ("x-app-token", "dev-token")],
    };
    let request = Request {
        method: method.into(),
        path: path.into(),
        query: String::new(),
        headers: pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
    };
    let reply = edge.send(request, NOW, None);
    assert!(reply.status < 500, "{method} {path} answers {} after {}", reply.status, told());
    serde_json::from_slice(&reply.body).unwrap_or_default()
}

/// Puts to use what was accepted, where it does nothing before a rule names it; gives the code that needs it.
fn put_to_use(edge: &Edge, written: &Json, told: &dyn Fn() -> String) -> String {
    let post = |path: &str, body: Json| must_answer(edge, "POST", path, &body, told);
    let id = written["id"].as_str().unwrap_or_default();
    let goods = json!([{ "object": "products_collection", "id": id }]);
    let test = match written["object"].as_str() {
        Some("segment") => json!({ "name": "customer.segment", "conditions": { "$is_not": [id] } }),
        Some("products_collection") => json!({ "name": "order.items.none", "conditions": { "$is": goods } }),
        _ => return written["code"].as_str().unwrap_or("other").to_owned(),
    };
    let code = format!("uses-{id}");
    post(&format!("/v1/vouchers/{code}"), json!({ "discount": { "type": "AMOUNT", "amount_off": 1 } }));
    let rule = post("/v1/validation-rules", json!({ "name": id, "rules": { "1": test } }));
    let path = format!("/v1/validation-rules/{}/assignments", rule["id"].as_str().unwrap());
    post(&path, json!({ "related_object_type": "voucher", "related_object_id": code }));
    must_answer(edge, "GET", &format!("/v1/product-collections/{id}/products"), &Json::Null, told);
    code
}

/// What was accepted hurts nobody: a validation of each code that needs some of it, a qualification and the bundle answer.
fn still_answers(edge: &Edge, codes: &[String], told: &dyn Fn() -> String) {
    let post = |path: &str, body: Json| must_answer(edge, "POST", path, &body, told);
    let customer = json!({ "source_id": "thing" });
    let line = |kind: &str| json!({ "source_id": "thing", "related_object": kind });
    let order = json!({ "items": [line("product"), line("sku")] });
    for code in codes {
        let redeemables = json!([{ "object": "voucher", "id": "thing" }, { "object": "voucher", "id": code }]);
        post("/v1/validations", json!({ "redeemables": redeemables, "customer": customer, "order": order }));
    }
    let thing = json!([{ "object": "voucher", "id": "thing" }]);
    post("/v1/validations", json!({ "redeemables": thing, "order": { "source_id": "thing" } }));
    post("/v1/qualifications", json!({ "customer": customer, "order": order }));
    must_answer(edge, "GET", "/v1/customers/thing/segments", &Json::Null, told);
    must_answer(edge, "GET", "/client/v1/bundle", &Json::Null, told);
}

fn opened() -> Edge {
    let edge = Edge::new();
    let seed = routes().find(|route| route.path == "/v1/vouchers/{code}" && route.method == "POST").unwrap();
    check(&edge, seed, "/v1/vouchers/thing".into(), "", br#"{"discount":{"type":"AMOUNT","amount_off":1}}"#);
    edge
}

#[test]
fn junk_in_every_field_of_every_body() {
    let mut sent = 0;
    let mut accepted = 0;
    for route in routes().filter(|route| !route.body.is_empty() && !route.form) {
        let edge = opened();
        for value in junk() {
            let mut bodies = Vec::new();
            variants(route.body, &value, &mut bodies, &|body| if route.many { json!([body]) } else { body });
            bodies.push(value.clone());
            // What is new stays beside what comes after it, so that one look at the end sees it all; what replaces is looked
            // at before it is replaced.
            let mut codes = Vec::new();
            for body in &bodies {
                sent += 1;
                let text = body.to_string();
                let path = path_of(route, "thing");
                let Some(written) = check(&edge, route, path, "code=thing", text.as_bytes()) else { continue };
                accepted += 1;
                let told = || format!("{} {} {text}", route.method, route.path);
                codes.push(put_to_use(&edge, &written, &told));
                if route.method == "PUT" {
                    still_answers(&edge, &std::mem::take(&mut codes), &told);
                }
            }
            if !codes.is_empty() {
                codes.sort();
                codes.dedup();
                still_answers(&edge, &codes, &|| format!("{} {} with {value} somewhere", route.method, route.path));
            }
        }
    }
    assert!(sent > 5_000 && accepted > 500, "only {sent} bodies were sent, and {accepted} accepted");
}

/// What a filter compares with is the caller's, and read by nobody but the engine.
#[test]
fn junk_in_every_condition_of_a_filter() {
    let numbers = json!([5, "5", "abc", "yesterday", "2026-01-01", [[1]], { "a": 1 }]);
    let values = junk().into_iter().chain(numbers.as_array().unwrap().clone());
    let mut values: Vec<Json> = values.flat_map(|value| [json!([value]), value]).collect();
    values.push(serde_json::from_str("[10000000000000000000000000000000000000000]").unwrap());
    let mut accepted = 0;
    for (field, path) in
        [("price", "/v1/product-collections"), ("created_at", "/v1/segments"), ("birthday", "/v1/segments")]
    {
        let route = routes().find(|route| route.path == path && route.method == "POST").unwrap();
        for operator in scrip::wire::rules::FIELD_CONDITIONS.iter().map(|known| known.name) {
            // A project has 100 segments with a filter.
            let edge = opened();
            let mut codes = Vec::new();
            for value in &values {
                let filter = json!({ "junction": "and", field: { "conditions": { operator: value } } });
                let kind = if path == "/v1/segments" { "passive" } else { "AUTO_UPDATE" };
                let body = json!({ "name": "thing", "type": kind, "filter": filter }).to_string();
                if let Some(written) = check(&edge, route, path.to_owned(), "", body.as_bytes()) {
                    accepted += 1;
                    codes.push(put_to_use(&edge, &written, &|| format!("{path} {body}")));
                }
            }
            still_answers(&edge, &codes, &|| format!("{path} with junk for {field} {operator}"));
        }
    }
    assert!(accepted > 100, "only {accepted} filters were accepted");
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
