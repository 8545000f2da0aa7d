//! Tests malformed values in every field of every body and in every parameter: the answer always names the field, and there is never a
//! fault or a write.

use crate::in_process::Edge;
use crate::route_walk::{headers, path_of, routes, variants};
use scrip_worker::http::request::Request;
use scrip_worker::http::route::Route;
use scrip_worker::http::shape::FieldType;
use serde_json::{Value as Json, json};

const NOW: i64 = 1_772_323_200_000;

/// Values of which no field accepts all.
fn malformed_values() -> Vec<Json> {
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

/// Sends malformed values; returns those that were accepted.
fn check(edge: &Edge, route: &Route, path: String, query: &str, body: &[u8]) -> Option<Json> {
    let before = edge.rows("proj_dev");
    let request = Request {
        method: route.method.into(),
        path,
        query: query.into(),
        headers: headers(route),
        body: body.to_vec(),
    };
    let context = format!("{} {}?{} {}", route.method, request.path, query, String::from_utf8_lossy(body));
    let reply = edge.send(request, NOW, None);
    assert!(reply.status < 500, "{context}: {}", reply.status);
    if reply.status >= 400 {
        let error: Json = serde_json::from_slice(&reply.body).unwrap();
        assert!(error["message"].is_string(), "{context}: {error}");
        // A failed redemption is recorded; every other refusal writes nothing.
        if error["key"] == "invalid_payload" || error["key"] == "invalid_query_params" {
            assert!(error["details"].is_string(), "{context}: {error}");
            assert_eq!(edge.rows("proj_dev"), before, "{context}: {error}");
        }
        return None;
    }
    (route.method != "GET").then(|| serde_json::from_slice(&reply.body).unwrap_or_default())
}

/// Makes a call that must be answered after any accepted write.
fn must_answer(edge: &Edge, method: &str, path: &str, body: &Json, context: &dyn Fn() -> String) -> Json {
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
    assert!(reply.status < 500, "{method} {path} answers {} after {}", reply.status, context());
    serde_json::from_slice(&reply.body).unwrap_or_default()
}

/// Uses an accepted object that has no effect before a rule names it; returns the code that needs it.
fn use_object(edge: &Edge, written: &Json, context: &dyn Fn() -> String) -> String {
    let post = |path: &str, body: Json| must_answer(edge, "POST", path, &body, context);
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
    must_answer(edge, "GET", &format!("/v1/product-collections/{id}/products"), &Json::Null, context);
    code
}

/// Checks that accepted objects harm nothing: a validation of each code that needs them, a qualification and the bundle are answered.
fn check_answers(edge: &Edge, codes: &[String], context: &dyn Fn() -> String) {
    let post = |path: &str, body: Json| must_answer(edge, "POST", path, &body, context);
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
    must_answer(edge, "GET", "/v1/customers/thing/segments", &Json::Null, context);
    must_answer(edge, "GET", "/client/v1/bundle", &Json::Null, context);
}

fn opened() -> Edge {
    let edge = Edge::new();
    let seed = routes().find(|route| route.path == "/v1/vouchers/{code}" && route.method == "POST").unwrap();
    check(&edge, seed, "/v1/vouchers/thing".into(), "", br#"{"discount":{"type":"AMOUNT","amount_off":1}}"#);
    edge
}

#[test]
fn malformed_values_in_every_body_field_are_refused() {
    let mut sent = 0;
    let mut accepted = 0;
    for route in routes().filter(|route| !route.body.is_empty() && !route.form) {
        let edge = opened();
        for value in malformed_values() {
            let mut bodies = Vec::new();
            variants(route.body, &value, &mut bodies, &|body| if route.many { json!([body]) } else { body });
            bodies.push(value.clone());
            // New objects stay until the end and are checked together; an object that replaces another is checked before it is replaced.
            let mut codes = Vec::new();
            for body in &bodies {
                sent += 1;
                let text = body.to_string();
                let path = path_of(route, "thing");
                let Some(written) = check(&edge, route, path, "code=thing", text.as_bytes()) else { continue };
                accepted += 1;
                let context = || format!("{} {} {text}", route.method, route.path);
                codes.push(use_object(&edge, &written, &context));
                if route.method == "PUT" {
                    check_answers(&edge, &std::mem::take(&mut codes), &context);
                }
            }
            if !codes.is_empty() {
                codes.sort();
                codes.dedup();
                check_answers(&edge, &codes, &|| format!("{} {} with {value} somewhere", route.method, route.path));
            }
        }
    }
    assert!(sent > 5_000 && accepted > 500, "only {sent} bodies were sent, and {accepted} accepted");
}

/// A filter compares with values of the caller, which only the engine reads.
#[test]
fn malformed_filter_conditions_are_refused() {
    let numbers = json!([5, "5", "abc", "yesterday", "2026-01-01", [[1]], { "a": 1 }]);
    let values = malformed_values().into_iter().chain(numbers.as_array().unwrap().clone());
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
                    codes.push(use_object(&edge, &written, &|| format!("{path} {body}")));
                }
            }
            check_answers(&edge, &codes, &|| format!("{path} with junk for {field} {operator}"));
        }
    }
    assert!(accepted > 100, "only {accepted} filters were accepted");
}

#[test]
fn malformed_parameters_are_refused() {
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
fn bytes_that_are_not_json_are_refused() {
    let edge = opened();
    let bodies: [&[u8]; 8] =
        [b"{", b"nul", b"\xff\xfe", b"{\"a\":\"\\ud800\"}", b"[1,2", b"{\"a\":1}}", b"'x'", b"\x00"];
    for route in routes() {
        for body in bodies {
            check(&edge, route, path_of(route, "thing"), "code=thing", body);
        }
    }
}

/// The description permits null for every optional field: it must have the meaning of an absent field.
#[test]
fn null_equals_an_absent_field() {
    let mut asked = 0;
    for route in routes().filter(|route| !route.body.is_empty() && !route.form) {
        let whole = crate::route_walk::fitting(&FieldType::Object(route.body));
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
