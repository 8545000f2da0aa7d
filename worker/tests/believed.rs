//! What a page is answered about somebody else's customer, order and code: the same bytes whether or not they are there.
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
use scrip::text::sha256;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};

/// A project whose events have the seeds of their names, so that two of them draw the same.
struct World {
    edge: Edge,
}

impl World {
    fn send(&self, keys: &[(&str, &str)], call: &str, body: &Json, seed: &str) -> (u16, String) {
        let (method, target) = call.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers = keys.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
        let reply = self.edge.send(request, 1_772_323_200_000, Some(sha256(&[seed.as_bytes()])));
        (reply.status, String::from_utf8(reply.body).unwrap())
    }

    fn make(&self, call: &str, body: &Json) -> Json {
        let (status, text) =
            self.send(&[("x-app-id", "dev-app"), ("x-app-token", "dev-token")], call, body, &format!("{call}{body}"));
        assert_eq!(status, 200, "{call} {body}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    fn page(&self, call: &str, body: &Json) -> (u16, String) {
        let keys = [
            ("x-client-application-id", "dev-client"),
            ("x-client-token", "dev-client-token"),
            ("origin", "http://localhost:3000"),
        ];
        let (status, text) = self.send(&keys, call, body, &format!("{call}{body}"));
        (status, without_tracking_ids(&text))
    }
}

/// They are sealed with a key that the database draws.
fn without_tracking_ids(text: &str) -> String {
    let mut parts = text.split("track_");
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        told.push_str("track_");
        told.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_hexdigit()));
    }
    told
}

/// A project with codes for anybody; the names of what is somebody's, when it is there.
fn world(theirs: bool) -> (World, Option<[String; 2]>) {
    let world = World { edge: Edge::new() };
    for code in ["ANY", "VIP", "ONCE"] {
        let discount =
            json!({ "discount": { "type": "AMOUNT", "amount_off": 100 }, "redemption": { "quantity": null } });
        world.make(&format!("POST /v1/vouchers/{code}"), &discount);
    }
    let rules = [
        ("VIP", json!({ "name": "customer.metadata", "property": "tier", "conditions": { "$is": ["gold"] } })),
        ("ONCE", json!({ "name": "redemption.count.per_customer", "conditions": { "$less_than_or_equal": [1] } })),
    ];
    for (code, test) in rules {
        let rule =
            world.make("POST /v1/validation-rules", &json!({ "name": code, "rules": { "1": test, "logic": "1" } }));
        let assignments = format!("POST /v1/validation-rules/{}/assignments", rule["id"].as_str().unwrap());
        world.make(&assignments, &json!({ "voucher": code }));
    }
    let own = json!({ "name": "Own", "voucher": { "discount": { "type": "AMOUNT", "amount_off": 100 } }, "vouchers_count": 0 });
    world.make("POST /v1/campaigns", &own);
    if !theirs {
        return (world, None);
    }
    let anna =
        json!({ "source_id": "anna", "name": "Anna", "email": "anna@example.com", "metadata": { "tier": "gold" } });
    let anna = world.make("POST /v1/customers", &anna);
    let order = json!({ "source_id": "1001", "status": "PAID", "amount": 9000, "customer": { "source_id": "anna" } });
    let order = world.make("POST /v1/orders", &order);
    world.make("POST /v1/campaigns/Own/vouchers/HELD", &json!({}));
    world.make("POST /v1/publications", &json!({ "voucher": "HELD", "customer": { "source_id": "anna" } }));
    let id = |of: &Json| of["id"].as_str().unwrap().to_owned();
    (world, Some([id(&anna), id(&order)]))
}

/// What a page may ask about them, by each way of naming the customer. What is redeemed under one name and then under another one
/// tells whether they are one customer's, as a limit per customer has it.
fn asked([anna, order]: &[String; 2]) -> Vec<Vec<(String, Json)>> {
    let customers = [
        json!({}),
        json!({ "customer": { "id": anna } }),
        json!({ "customer": { "source_id": "anna" } }),
        json!({ "customer": { "id": "cust_none", "source_id": "anna", "metadata": { "tier": "gold" } } }),
        json!({ "tracking_id": "anna" }),
        json!({ "tracking_id": "anna", "customer": { "email": "anna@example.com" } }),
    ];
    let orders = [
        json!({ "amount": 500 }),
        json!({ "source_id": "1001" }),
        json!({ "id": order }),
        json!({ "id": order, "source_id": "1001", "amount": 700 }),
        json!({ "source_id": "1001", "amount": 700, "customer_id": "cust_none", "referrer_id": anna }),
        json!({ "source_id": "1001", "status": "CANCELED" }),
    ];
    let about = |customer: &Json| {
        let with = |name: &str, value: Json, body: &Json| {
            let mut body = body.clone();
            body[name] = value;
            body
        };
        let mut asked = Vec::new();
        for body in orders.iter().map(|order| with("order", order.clone(), customer)) {
            for scenario in ["ALL", "CUSTOMER_WALLET"] {
                asked.push(("POST /client/v1/qualifications".to_owned(), with("scenario", scenario.into(), &body)));
            }
            for code in ["ANY", "VIP", "ONCE", "HELD"] {
                asked.push((format!("POST /client/v1/redeem?code={code}"), body.clone()));
                let whole = with("redeemables", json!([{ "object": "voucher", "id": code }]), &body);
                let whole = with("options", json!({ "expand": ["trace", "redeemable", "redemption"] }), &whole);
                asked.push(("POST /client/v1/validations".to_owned(), whole.clone()));
                asked.push(("POST /client/v1/redemptions".to_owned(), whole));
            }
        }
        asked
    };
    let by_query = |who: &str| {
        let ask = |code| (format!("GET /client/v1/validate?code={code}&amount=500&{who}"), Json::Null);
        ["ANY", "HELD"].map(ask).to_vec()
    };
    let queries = ["customer=anna".to_owned(), format!("customer[id]={anna}"), "tracking_id=anna".to_owned()];
    customers.iter().map(about).chain(queries.iter().map(|who| by_query(who))).collect()
}

#[test]
fn what_is_somebodys_is_for_a_page_as_what_is_not_there() {
    let mut statuses = std::collections::BTreeMap::new();
    for asked in asked(&world(true).1.unwrap()) {
        let ((with, _), (without, _)) = (world(true), world(false));
        for (call, body) in asked {
            let (found, wanted) = (with.page(&call, &body), without.page(&call, &body));
            assert_eq!(found, wanted, "{call} {body}");
            *statuses.entry(found.0).or_insert(0) += 1;
        }
        let server = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
        let anna = with.send(&server, "GET /v1/customers/anna", &Json::Null, "").1;
        assert!(anna.contains(r#""name":"Anna""#) && anna.contains(r#""tier":"gold""#), "{anna}");
        let order = with.send(&server, "GET /v1/orders/1001", &Json::Null, "").1;
        assert!(order.contains(r#""amount":9000"#) && order.contains(r#""status":"PAID""#), "{order}");
    }
    // Nothing was looked at if everything was refused.
    assert!(statuses[&200] > 100 && statuses[&404] > 10, "{statuses:?}");
}
