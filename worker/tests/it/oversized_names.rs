//! Tests texts of megabytes in every place that reads a name: refused with the place and the bound, without a fault of the store.

use crate::in_process::Edge;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};

const NOW: i64 = 1_772_323_200_000;

fn send(edge: &Edge, call: &str, more: &[(&str, &str)], body: &Json) -> (u16, Json) {
    let (method, target) = call.split_once(' ').unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
    let request = Request {
        method: method.into(),
        path: path.into(),
        query: query.into(),
        headers: headers.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
    };
    let reply = edge.send(request, NOW, None);
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
}

#[test]
fn names_in_bodies() {
    let edge = Edge::new();
    let long = "y".repeat(2_000);
    let fine = json!([{ "object": "voucher", "id": "A" }]);
    let order = |name: &str, value: Json| json!({ "redeemables": fine, "order": { name: value } });
    let item = |item: Json| json!({ "redeemables": fine, "order": { "items": [item] } });
    let cases = [
        (json!({ "redeemables": [{ "object": "voucher", "id": long }] }), "redeemables[0].id"),
        (json!({ "redeemables": [{ "object": "promotion_tier", "id": long }] }), "redeemables[0].id"),
        (
            json!({ "redeemables": [{ "object": "voucher", "id": "A", "reward": { "id": long } }] }),
            "redeemables[0].reward.id",
        ),
        (json!({ "redeemables": fine, "customer": { "source_id": long } }), "customer.source_id"),
        (json!({ "redeemables": fine, "customer": { "id": long } }), "customer.id"),
        (json!({ "redeemables": fine, "tracking_id": long }), "tracking_id"),
        (json!({ "redeemables": fine, "session": { "type": "LOCK", "key": long } }), "session.key"),
        (json!({ "redeemables": fine, "metadata": { (long.as_str()): 1 } }), "metadata"),
        (
            json!({ "redeemables": fine, "customer": { "source_id": "a", "metadata": { (long.as_str()): 1 } } }),
            "customer.metadata",
        ),
        (order("id", json!(long)), "order.id"),
        (order("source_id", json!(long)), "order.source_id"),
        (order("metadata", json!({ (long.as_str()): 1 })), "order.metadata"),
        (item(json!({ "product_id": long })), "order.items[0].product_id"),
        (item(json!({ "sku_id": long })), "order.items[0].sku_id"),
        (item(json!({ "source_id": long, "related_object": "sku" })), "order.items[0].source_id"),
        (item(json!({ "product": { "source_id": long } })), "order.items[0].product.source_id"),
        (item(json!({ "metadata": { (long.as_str()): 1 } })), "order.items[0].metadata"),
    ];
    for (body, place) in &cases {
        for call in ["POST /v1/validations", "POST /v1/redemptions", "POST /v1/qualifications"] {
            if call.ends_with("qualifications") && place.starts_with("redeemables") {
                continue;
            }
            let (status, answer) = send(&edge, call, &[], body);
            let details = answer["details"].as_str().unwrap_or_default();
            assert_eq!(status, 400, "{call} {place}: {details:.300}");
            assert!(details.starts_with(&format!("Property .{place} must NOT have")), "{call} {place}: {details:.300}");
            assert!(details.contains("1000 characters") && details.len() < 500, "{call} {place}: {details:.300}");
        }
    }
    for (call, body) in [
        ("POST /v1/customers", json!({ "source_id": "a", "metadata": { (long.as_str()): 1 } })),
        (
            "POST /v1/vouchers/X",
            json!({ "discount": { "type": "AMOUNT", "amount_off": 1 }, "metadata": { (long.as_str()): 1 } }),
        ),
        ("POST /v1/redemptions/r_1/rollback", json!({ "tracking_id": long })),
        ("POST /v1/redemptions/r_1/rollback", json!({ "customer": { "id": long } })),
    ] {
        let (status, answer) = send(&edge, call, &[], &body);
        let details = answer["details"].as_str().unwrap_or_default();
        assert!(status == 400 && details.contains("1000 characters"), "{call}: {status} {details:.300}");
    }
}

#[test]
fn paths_queries_and_headers() {
    let edge = Edge::new();
    let long = "y".repeat(2_100_000);
    for call in [
        "GET /v1/vouchers/@",
        "GET /v1/customers/@",
        "POST /v1/vouchers/@",
        "GET /v1/customers/@/segments",
        "GET /v1/@",
        "POST /v1/redemptions/@/rollback",
    ] {
        for name in [&long, &"y".repeat(2_000)] {
            let (status, answer) = send(&edge, &call.replace('@', name), &[], &Json::Null);
            let details = answer["details"].as_str().unwrap_or_default();
            let is_route = call != "GET /v1/@";
            assert_eq!(status, if is_route { 400 } else { 404 }, "{call}: {details:.300}");
            assert!(!is_route || details.contains("1000 characters"), "{call}: {details:.300}");
            assert!(details.len() < 500, "{call}: {details:.600}");
        }
    }
    let (status, answer) = send(&edge, &format!("GET /v1/customers?email={long}"), &[], &Json::Null);
    let details = answer["details"].as_str().unwrap_or_default();
    assert!(status == 400 && details.contains("20000 characters") && details.len() < 500, "{status} {details:.300}");
    for header in
        ["idempotency-key", "x-voucherify-channel", "accept", "content-type", "if-none-match", "authorization"]
    {
        let (status, answer) = send(&edge, "POST /v1/customers", &[(header, &long)], &json!({ "source_id": "a" }));
        let details = answer["details"].as_str().unwrap_or_default();
        let is_named = details.to_ascii_lowercase().contains(header);
        assert!(status == 400 && is_named && details.len() < 500, "{header}: {status} {details:.300}");
    }
}

/// Many names of maximal length exceed one statement.
#[test]
fn many_long_names() {
    let edge = Edge::new();
    let name = |place: usize| format!("{place:04}{}", "\u{1F381}".repeat(990));
    let (status, answer) =
        send(&edge, "POST /v1/vouchers/TEN", &[], &json!({ "discount": { "type": "AMOUNT", "amount_off": 1 } }));
    assert_eq!(status, 200, "{answer}");
    let items: Vec<Json> = (0..500)
        .map(|place| json!({ "product_id": name(place), "sku_id": name(place), "price": 1, "quantity": 1 }))
        .collect();
    let body = json!({ "redeemables": [{ "object": "voucher", "id": "TEN" }], "order": { "items": items } });
    let (status, answer) = send(&edge, "POST /v1/validations", &[], &body);
    assert_eq!((status, &answer["valid"]), (200, &json!(true)), "{}", answer["details"]);
    let names: Vec<String> = (0..1_000).map(name).collect();
    let (status, answer) =
        send(&edge, "POST /v1/segments", &[], &json!({ "name": "s", "type": "static", "customers": names }));
    assert_eq!(status, 404, "{answer:.300}");
    let listed: Vec<Json> = names.iter().map(|name| json!({ "id": name, "object": "product" })).collect();
    let made = json!({ "name": "c", "type": "STATIC", "products": listed });
    let (status, answer) = send(&edge, "POST /v1/product-collections", &[], &made);
    assert_eq!(status, 404, "{answer:.300}");
    for place in 0..600 {
        let path = format!("POST /v1/vouchers/{}", percent(&name(place)));
        let (status, answer) = send(
            &edge,
            &path,
            &[],
            &json!({ "discount": { "type": "AMOUNT", "amount_off": 1 }, "redemption": { "quantity": 5 } }),
        );
        assert_eq!(status, 200, "{answer:.300}");
    }
    let (status, answer) = send(&edge, "POST /v1/qualifications", &[], &json!({ "order": { "amount": 1000 } }));
    assert_eq!((status, &answer["redeemables"]["total"]), (200, &json!(601)), "{answer:.300}");
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}
