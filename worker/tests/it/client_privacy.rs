//! Tests that a client's answers about another customer's data, order and loyalty card are the same bytes if these exist or not.

use crate::in_process::Edge;
use scrip::text::sha256;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};

/// A project whose events have seeds from their names, so that two projects generate the same values.
struct TestProject {
    edge: Edge,
}

impl TestProject {
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

/// They are sealed with a key that the database generates.
fn without_tracking_ids(text: &str) -> String {
    let mut parts = text.split("track_");
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        masked.push_str("track_");
        masked.push_str(part.trim_start_matches(|character: char| character.is_ascii_hexdigit()));
    }
    masked
}

/// Creates a project with public codes, and returns the names of the other customer's objects when they exist.
fn world(theirs: bool) -> (TestProject, Option<[String; 2]>) {
    let world = TestProject { edge: Edge::new() };
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
    let own =
        json!({ "name": "Own", "campaign_type": "LOYALTY_PROGRAM", "voucher": { "loyalty_card": { "points": 100 } } });
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

/// Returns the requests of a client about them, with every way of naming the customer. A limit per customer shows if two names belong to
/// one customer: a redemption under one name counts for the other.
fn request([anna, order]: &[String; 2]) -> Vec<Vec<(String, Json)>> {
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
        let mut request = Vec::new();
        for body in orders.iter().map(|order| with("order", order.clone(), customer)) {
            for scenario in ["ALL", "CUSTOMER_WALLET"] {
                request.push(("POST /client/v1/qualifications".to_owned(), with("scenario", scenario.into(), &body)));
            }
            for code in ["ANY", "VIP", "ONCE", "HELD"] {
                request.push((format!("POST /client/v1/redeem?code={code}"), body.clone()));
                let whole = with("redeemables", json!([{ "object": "voucher", "id": code }]), &body);
                let whole = with("options", json!({ "expand": ["trace", "redeemable", "redemption"] }), &whole);
                request.push(("POST /client/v1/validations".to_owned(), whole.clone()));
                request.push(("POST /client/v1/redemptions".to_owned(), whole));
            }
        }
        request
    };
    let by_query = |who: &str| {
        let ask = |code| (format!("GET /client/v1/validate?code={code}&amount=500&{who}"), Json::Null);
        ["ANY", "HELD"].map(ask).to_vec()
    };
    let queries = ["customer=anna".to_owned(), format!("customer[id]={anna}"), "tracking_id=anna".to_owned()];
    customers.iter().map(about).chain(queries.iter().map(|who| by_query(who))).collect()
}

#[test]
fn objects_of_other_customers_look_missing_to_a_client() {
    let mut statuses = std::collections::BTreeMap::new();
    for request in request(&world(true).1.unwrap()) {
        let ((with, _), (without, _)) = (world(true), world(false));
        for (call, body) in request {
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
    // The comparison proves nothing if all requests are refused.
    assert!(statuses[&200] > 100 && statuses[&404] > 10, "{statuses:?}");
}
