//! Tests texts of megabytes in every field of every body, and in every parameter and header. The answer always names the place and its
//! bound. No request causes a fault or a write.

use crate::in_process::Edge;
use crate::route_walk::{fitting, headers, path_of, routes, variants};
use scrip_worker::http::request::Request;
use scrip_worker::http::request_checks::MediaKind;
use scrip_worker::http::route::Route;
use scrip_worker::http::shape::{Field, FieldType};
use serde_json::{Value as Json, json};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

const NOW: i64 = 1_772_323_200_000;

/// More than the limit of a row.
const LONG: usize = 2_100_000;
/// More than the limit of a text; a field that refuses it refuses longer ones too.
const LONGER: usize = 20_001;

/// Objects of the project, each under the name `thing`.
const SHOP: &[(&str, &str)] = &[
    ("/v1/vouchers/thing", r#"{"discount":{"type":"AMOUNT","amount_off":1}}"#),
    (
        "/v1/campaigns",
        r#"{"name":"thing","campaign_type":"GIFT_VOUCHERS","voucher":{"type":"GIFT_VOUCHER","gift":{"amount":100}}}"#,
    ),
    ("/v1/customers", r#"{"source_id":"thing"}"#),
    ("/v1/products", r#"{"source_id":"thing"}"#),
    ("/v1/products/thing/skus", r#"{"source_id":"thing"}"#),
    ("/v1/categories", r#"{"name":"thing","hierarchy":1}"#),
    ("/v1/orders", r#"{"source_id":"thing","amount":100}"#),
];

struct Walk {
    edge: Edge,
    sent: Cell<usize>,
    wrong: RefCell<Vec<String>>,
}

impl Walk {
    fn new() -> Walk {
        let walk = Walk { edge: Edge::new(), sent: Cell::new(0), wrong: RefCell::default() };
        for (path, body) in SHOP {
            let server = routes().find(|route| route.path == "/v1/vouchers").unwrap();
            let request = Request {
                method: "POST".into(),
                path: (*path).into(),
                headers: headers(server),
                body: body.as_bytes().to_vec(),
                ..Request::default()
            };
            let reply = walk.edge.send(request, NOW, None);
            assert!(reply.status < 300, "{path}: {}", String::from_utf8_lossy(&reply.body));
        }
        walk
    }

    /// Sends a request. A refusal must be short and must write nothing. Returns the details of a refusal.
    fn send(&self, route: &Route, request: Request, what: &str) -> Option<String> {
        self.sent.set(self.sent.get() + 1);
        let before = self.edge.rows("proj_dev");
        let reply = self.edge.send(request, NOW, None);
        let message = format!("{} {} {what}: {}", route.method, route.path, reply.status);
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        let wrong = |why: &str| self.wrong.borrow_mut().push(format!("{message} {why}: {}", start(&text)));
        if reply.status >= 500 {
            wrong("is a fault");
        }
        if reply.status < 400 {
            return None;
        }
        if text.len() > 8_000 {
            wrong("repeats the long text");
        }
        let error: Json = serde_json::from_str(&text).unwrap_or_default();
        if reply.status == 400 && error["key"] != "redemption_failed" && self.edge.rows("proj_dev") != before {
            // A failed redemption is recorded as such.
            if !error["resource_type"].is_string() {
                wrong("left something");
            }
        }
        Some(error["details"].as_str().unwrap_or_default().to_owned())
    }

    /// Sends a request whose long text must be refused with its place and bound.
    fn refused(&self, route: &Route, request: Request, place: &str, what: &str) {
        let details = self.send(route, request, what).unwrap_or_default();
        let is_placed = details.to_ascii_lowercase().contains(&place.to_ascii_lowercase());
        if !(is_placed && details.contains("more than")) {
            let message = format!("{} {} {what}: {}", route.method, route.path, start(&details));
            self.wrong.borrow_mut().push(message);
        }
    }

    fn end(self, least: usize) {
        let wrong = self.wrong.into_inner();
        println!("{} requests", self.sent.get());
        assert!(self.sent.get() >= least, "only {} requests were sent", self.sent.get());
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), self.sent.get(), wrong.join("\n"));
    }
}

fn start(text: &str) -> String {
    text.chars().take(300).collect()
}

fn request(route: &Route, body: Vec<u8>) -> Request {
    Request {
        method: route.method.into(),
        path: path_of(route, "thing"),
        query: "code=thing".into(),
        headers: headers(route),
        body,
    }
}

#[test]
fn long_texts_in_every_field_of_every_body() {
    let walk = Walk::new();
    for route in routes().filter(|route| !route.body.is_empty() && route.media_kind() == MediaKind::Json) {
        let mut bodies = Vec::new();
        variants(route.body, &json!("(long)"), &mut bodies, &|body| if route.many { json!([body]) } else { body });
        for (place, body) in bodies.iter().map(Json::to_string).enumerate() {
            let length = if place == 0 { LONG } else { LONGER };
            let sent = body.replace("(long)", &"y".repeat(length));
            walk.refused(route, request(route, sent.into_bytes()), "Property .", &body);
        }
        let name = json!({ "metadata": { "y".repeat(LONGER): 1 } });
        walk.refused(route, request(route, name.to_string().into_bytes()), "name", "a long name");
    }
    walk.end(1_500);
}

/// Each text is within its bound, and all together exceed the limit of a row.
#[test]
fn bodies_beyond_a_row_are_refused() {
    let walk = Walk::new();
    let mut seen = HashSet::new();
    let map: serde_json::Map<String, Json> =
        (0..106).map(|place| (format!("k{place}"), "y".repeat(20_000).into())).collect();
    for route in routes().filter(|route| !route.body.is_empty() && route.media_kind() == MediaKind::Json) {
        let mut bodies = Vec::new();
        wide(route.body, &Json::Object(map.clone()), &mut bodies, &|body| {
            if route.many { json!([body]) } else { body }
        });
        // A field that several routes of an area share is sent once.
        let area = route.path.split('/').nth(2);
        for (name, body) in bodies.into_iter().filter(|(name, _)| seen.insert((area, name.clone()))) {
            walk.send(route, request(route, body.to_string().into_bytes()), &name);
        }
    }
    // Each job has its own instant: ids of one millisecond may collide.
    let mut now_ms = NOW;
    while walk.edge.alarm("proj_dev", now_ms) {
        now_ms += 1;
    }
    walk.end(60);
}

/// Returns whole objects with a large map in place of each map, and a long list in place of each list.
fn wide(fields: &[Field], map: &Json, into: &mut Vec<(String, Json)>, wrap: &dyn Fn(Json) -> Json) {
    let whole = fitting(&FieldType::Object(Box::leak(fields.to_vec().into_boxed_slice())));
    for field in fields {
        let with = |inner: Json| {
            let mut object = whole.clone();
            object[field.name] = inner;
            wrap(object)
        };
        match field.kind.resolved() {
            FieldType::Map | FieldType::Open(..) | FieldType::Any => {
                into.push((field.name.to_owned(), with(map.clone())))
            }
            FieldType::Object(inner) => wide(inner, map, into, &with),
            FieldType::List(item, _, most) => {
                if let FieldType::Object(inner) = item.resolved() {
                    wide(inner, map, into, &|item| with(json!([item])));
                }
                let items = (0..*most.min(&2_400)).map(|place| match item.resolved() {
                    FieldType::Text | FieldType::Name(_) => Json::from(format!("{place}{}", "y".repeat(900))),
                    FieldType::Object(fields) => {
                        let mut object = fitting(&FieldType::Object(fields));
                        for field in
                            fields.iter().filter(|field| matches!(field.kind, FieldType::Text | FieldType::Name(_)))
                        {
                            object[field.name] = format!("{place}{}", "y".repeat(900)).into();
                        }
                        object
                    }
                    kind => fitting(kind),
                });
                into.push((format!("{}[]", field.name), with(items.collect())));
            }
            _ => {}
        }
    }
}

#[test]
fn long_paths_parameters_and_headers() {
    let walk = Walk::new();
    for (count, route) in routes().enumerate() {
        let long = "y".repeat(if count % 40 == 0 { LONG } else { LONGER });
        let body = || {
            if route.body.is_empty() || route.media_kind() != MediaKind::Json {
                Vec::new()
            } else {
                fitting_body(route)
            }
        };
        for part in route.path.split('/').filter(|part| part.starts_with('{') && *part != "{projectId}") {
            let mut asked = request(route, body());
            let parts = route.path.split('/').zip(asked.path.split('/'));
            let parts = parts.map(|(wanted, part_of)| if wanted == part { long.as_str() } else { part_of });
            asked.path = parts.collect::<Vec<_>>().join("/");
            walk.refused(route, asked, part.trim_matches(['{', '}']), &format!("path {part}"));
        }
        for field in route.query {
            for name in [field.name.to_owned(), format!("{}[before]", field.name)] {
                let mut asked = request(route, body());
                asked.query = format!("{name}={long}");
                walk.refused(route, asked, field.name, &format!("query {name}"));
            }
        }
        for name in ["filters[code][conditions][$in][0]", "unknown", &long] {
            let mut asked = request(route, body());
            asked.query = format!("{name}={long}");
            assert!(walk.send(route, asked, "query").is_some());
        }
        for (name, place) in [("idempotency-key", "Idempotency-Key"), ("x-voucherify-channel", "X-Voucherify-Channel")]
        {
            let mut asked = request(route, body());
            asked.headers.push((name.into(), long.clone()));
            if name == "idempotency-key" && !(route.method == "POST" && route.stores_response) {
                walk.send(route, asked, name);
            } else {
                walk.refused(route, asked, place, name);
            }
        }
        for name in ["accept", "content-type", "if-none-match", "x-voucherify-api-version", "x-anything", "origin"] {
            let mut asked = request(route, body());
            asked.headers.retain(|(known, _)| known != name);
            asked.headers.push((name.into(), long.clone()));
            walk.send(route, asked, name);
        }
        if route.form {
            for field in route.body {
                let mut asked = request(route, format!("{}={long}", field.name).into_bytes());
                asked.headers.push(("content-type".into(), "application/x-www-form-urlencoded".into()));
                walk.refused(route, asked, field.name, "form");
            }
        }
    }
    walk.end(1_000);
}

fn fitting_body(route: &Route) -> Vec<u8> {
    let one = fitting(&FieldType::Object(route.body));
    if route.many { json!([one]) } else { one }.to_string().into_bytes()
}

/// Credentials are only compared: at every length they are wrong.
#[test]
fn long_credentials() {
    let walk = Walk::new();
    let route = routes().find(|route| route.path == "/v1/vouchers").unwrap();
    for place in 0..2 {
        let mut asked = request(route, Vec::new());
        asked.headers[place].1 = "y".repeat(LONG);
        walk.send(route, asked, "credentials");
    }
    let mut asked = request(route, Vec::new());
    asked.headers = vec![("authorization".into(), format!("Bearer {}", "y".repeat(LONG)))];
    walk.send(route, asked, "token");
    walk.end(3);
}
