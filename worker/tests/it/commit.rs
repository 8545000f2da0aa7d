//! Tests the commit pipeline: documents that follow from a call are checked like those of the call, and a refusal writes nothing.

use crate::in_process::Edge;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};

const NOW: i64 = 1_772_366_400_000;
const PROJECT: &str = "proj_dev";

fn call(edge: &Edge, method: &str, path: &str, body: &Json) -> (u16, Json) {
    let headers = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let body = if method == "GET" { Vec::new() } else { body.to_string().into_bytes() };
    let request = Request { method: method.into(), path: path.into(), query: String::new(), headers, body };
    let reply = edge.send(request, NOW, None);
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
}

fn make(edge: &Edge, method: &str, path: &str, body: &Json) -> Json {
    let (status, answer) = call(edge, method, path, body);
    assert!(status < 300, "{method} {path}: {status} {answer}");
    answer
}

/// Custom data that fills a customer's row except for some bytes.
fn filler(bytes: usize) -> Json {
    let texts = bytes.div_ceil(20_000);
    let lengths = (0..texts).map(|place| (bytes - place * 20_000).min(20_000));
    lengths.enumerate().map(|(place, length)| (format!("k{place}"), Json::from("y".repeat(length)))).collect()
}

/// Creates a loyalty campaign with an earning rule, and a card of Ann's.
fn open_club(edge: &Edge, name: &str, loyalty: &Json) {
    let club =
        make(edge, "POST", "/v1/loyalties", &json!({ "name": name, "voucher": { "loyalty_card": { "points": 0 } } }));
    let club = club["id"].as_str().unwrap();
    let rules = json!([{ "event": "order.paid", "active": true, "loyalty": loyalty }]);
    make(edge, "POST", &format!("/v1/loyalties/{club}/earning-rules"), &rules);
    make(edge, "POST", "/v1/customers", &json!({ "source_id": "ann" }));
    make(edge, "POST", &format!("/v1/campaigns/{club}/vouchers/A"), &json!({}));
    let joins = json!({ "voucher": "A", "customer": { "source_id": "ann" } });
    make(edge, "POST", &format!("/v1/loyalties/{club}/members"), &joins);
}

/// Gives Ann custom data that fills her row; fewer than `free` bytes stay free.
fn fill(edge: &Edge, free: usize) {
    let (mut fits, mut too_much) = (1_000_000, 1_900_000);
    while too_much - fits > free {
        let bytes = usize::midpoint(fits, too_much);
        match call(edge, "PUT", "/v1/customers/ann", &json!({ "metadata": filler(bytes) })).0 {
            200 => fits = bytes,
            _ => too_much = bytes,
        }
    }
    make(edge, "PUT", "/v1/customers/ann", &json!({ "metadata": filler(fits) }));
}

#[test]
fn a_changed_order_whose_points_do_not_fit_the_customers_row_is_refused_whole() {
    let edge = Edge::new();
    let loyalty = json!({
        "type": "PROPORTIONAL", "calculation_type": "ORDER_AMOUNT",
        "order": { "amount": { "every": 1, "points": 1 } },
    });
    open_club(&edge, "Club", &loyalty);
    let order = |amount: i64| json!({ "status": "PAID", "amount": amount, "customer": { "source_id": "ann" } });
    let created = make(&edge, "POST", "/v1/orders", &order(10));
    let path = format!("/v1/orders/{}", created["id"].as_str().unwrap());
    // There is no room for the further digits of her points.
    fill(&edge, 1);
    let before = edge.rows(PROJECT);
    let (status, answer) = call(&edge, "PUT", &path, &order(10_000_000));
    assert_eq!((status, answer["key"].as_str()), (400, Some("invalid_payload")), "{answer}");
    assert!(answer["details"].as_str().unwrap().contains("1900000 bytes"), "{answer}");
    assert_eq!(edge.rows(PROJECT), before, "nothing is written");
    make(&edge, "PUT", "/v1/customers/ann", &json!({ "metadata": { "k0": "y" } }));
    make(&edge, "PUT", &path, &order(10_000_000));
    assert_eq!(make(&edge, "GET", "/v1/vouchers/A", &Json::Null)["loyalty_card"]["points"], 10_000_000);
}

#[test]
fn an_order_whose_points_do_not_fit_the_customers_row_is_refused_whole() {
    let edge = Edge::new();
    // A long name makes the customer's entry for the campaign long.
    open_club(&edge, &"Club ".repeat(100), &json!({ "type": "FIXED", "points": 10 }));
    fill(&edge, 100);
    let order = json!({ "source_id": "o-1", "status": "PAID", "amount": 1000, "customer": { "source_id": "ann" } });
    let before = edge.rows(PROJECT);
    let (status, answer) = call(&edge, "POST", "/v1/orders", &order);
    assert_eq!((status, answer["key"].as_str()), (400, Some("invalid_payload")), "{answer}");
    assert!(answer["details"].as_str().unwrap().contains("1900000 bytes"), "{answer}");
    assert_eq!(edge.rows(PROJECT), before, "nothing is written");
    assert_eq!(make(&edge, "GET", "/v1/vouchers/A", &Json::Null)["loyalty_card"]["points"], 0);
    // With room for the entry the same order earns.
    make(&edge, "PUT", "/v1/customers/ann", &json!({ "metadata": { "k0": "y" } }));
    make(&edge, "POST", "/v1/orders", &order);
    assert_eq!(make(&edge, "GET", "/v1/vouchers/A", &Json::Null)["loyalty_card"]["points"], 10);
}

#[test]
fn a_job_stores_the_errors_that_fit_its_row() {
    let edge = Edge::new();
    // No voucher has these codes: each item is refused with its long name.
    let item = |place| json!({ "code": format!("{place}-{}", "n".repeat(990)), "metadata": {} });
    let items: Vec<Json> = (0..900).map(item).collect();
    let action = make(&edge, "POST", "/v1/vouchers/bulk/async", &Json::Array(items));
    let id = action["async_action_id"].as_str().unwrap();
    let mut now_ms = NOW;
    while edge.alarm(PROJECT, now_ms) {
        now_ms += 1;
    }
    let (_, action) = call(&edge, "GET", &format!("/v1/async-actions/{id}"), &Json::Null);
    assert_eq!(action["status"], "DONE", "{}", action["status"]);
    assert_eq!(action["result"]["failed_count"], 900);
    let errors = action["result"]["errors"].as_array().unwrap();
    assert!(
        errors.len() < 900 && Json::from(errors.clone()).to_string().len() <= 500_000 + 900,
        "{} errors",
        errors.len()
    );
}
