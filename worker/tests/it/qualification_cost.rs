//! Tests that a qualification makes the same number of statements for few and for many candidates.
#![cfg(feature = "test-hooks")]

use crate::statement_counter::Counting;
use scrip::Context;
use scrip::time::Instant;
use scrip_worker::http::request::Request;
use scrip_worker::service::{self};
use scrip_worker::store::Store;
use serde_json::{Value as Json, json};

fn send(counting: &Counting, seed: u8, path: &str, body: &Json) -> Json {
    let (headers, body) = (vec![crate::caller::server()], body.to_string().into_bytes());
    let request = Request { method: "POST".into(), path: path.into(), headers, body, ..Request::default() };
    let context =
        Context { now: Instant::parse("2026-03-01T00:00:00Z").unwrap(), seed: [seed; 32], first_number: None };
    let is_first = counting.statements.borrow().is_empty();
    let mut store = if is_first { Store::open(counting, 0).unwrap() } else { Store::new(counting) };
    let reply = service::serve(&request, &mut store, &context).unwrap();
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    serde_json::from_slice(&reply.body).unwrap()
}

/// Returns this many tiers with a rule each, as many vouchers, half of them limited, and as many campaigns.
fn setup(count: usize) -> Json {
    let discount = json!({ "type": "PERCENT", "percent_off": 10 });
    let rule = |place: usize| {
        json!({ "id": format!("val_{place}"), "rules": {
            "1": { "name": "order.amount", "conditions": { "$more_than": [place] } },
            "2": { "name": "customer.metadata", "property": "segment", "conditions": { "$in": ["gold", "new"] } },
            "3": { "name": "order.items.any", "conditions": { "$is": [{ "id": "prod_a", "object": "product" }] } },
            "logic": "1 and 2 and 3" } })
    };
    let all = |make: &dyn Fn(usize) -> Json| (0..count).map(make).collect::<Vec<Json>>();
    let mut campaigns = all(&|place| {
        json!({ "id": format!("camp_{place}"), "name": format!("camp {place}"), "type": "AUTO_UPDATE",
                "voucher": { "type": "DISCOUNT_VOUCHER", "discount": discount } })
    });
    campaigns.push(json!({ "id": "camp_p", "name": "Promo" }));
    json!({
        "complete": true,
        "campaigns": campaigns,
        "promotion_tiers": all(&|place| json!({ "id": format!("promo_{place}"), "name": "tier", "campaign_id": "camp_p", "action": { "discount": discount } })),
        "vouchers": all(&|place| json!({ "id": format!("v_{place}"), "code": format!("CODE{place}"), "type": "DISCOUNT_VOUCHER", "discount": discount,
            "redemption": { "quantity": if place % 2 == 0 { Json::Null } else { json!(5) } } })),
        "validation_rules": all(&rule),
        "validation_rules_assignments": all(&|place| json!({ "id": format!("asgm_{place}"), "rule_id": format!("val_{place}"), "related_object_id": format!("promo_{place}") })),
    })
}

fn qualification_body() -> Json {
    json!({ "customer": { "source_id": "ann", "metadata": { "segment": "gold" } },
            "order": { "items": [{ "product_id": "prod_a", "price": 100_000, "quantity": 1 }] },
            "options": { "limit": 50, "expand": ["validation_rules"] } })
}

#[test]
fn statements_do_not_grow_with_candidates() {
    let mut found = Vec::new();
    for (count, total) in [(3, 9), (120, 360)] {
        let counting = Counting::new();
        send(&counting, 1, "/test-hooks/given", &setup(count));
        counting.statements.replace(vec!["-".into()]);
        let answer = send(&counting, 2, "/v1/qualifications", &qualification_body());
        assert_eq!(answer["redeemables"]["total"], json!(total));
        found.push(counting.statements.take());
    }
    assert_eq!(found[0].len(), found[1].len(), "{:#?}\n{:#?}", found[0], found[1]);
    assert!(found[0].len() <= 16, "{:#?}", found[0]);
}
