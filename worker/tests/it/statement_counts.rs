//! Tests the number of SQL statements of requests: the hot path stays short.

use crate::statement_counter::Counting;
use scrip::Context;
use scrip::time::Instant;
use scrip_worker::http::request::Request;
use scrip_worker::service::{self};
use scrip_worker::store::Store;

fn send(store: &Counting, seed: u8, path: &str, body: &str, key: Option<&str>) -> (u16, String) {
    let (status, answer, _) = ask(store, seed, path, body, key);
    (status, answer)
}

/// Returns the answer, and when jobs and webhook deliveries are due because of it.
fn ask(store: &Counting, seed: u8, path: &str, body: &str, key: Option<&str>) -> (u16, String, [Option<i64>; 2]) {
    let mut headers = vec![crate::caller::server()];
    headers.extend(key.map(|key| ("idempotency-key".to_owned(), key.to_owned())));
    let request =
        Request { method: "POST".into(), path: path.into(), headers, body: body.into(), ..Request::default() };
    let context = Context { now: Instant::parse("2026-03-01T00:00:00Z").unwrap(), seed: [seed; 32] };
    let is_first = store.statements.borrow().is_empty();
    let mut opened = if is_first { Store::open(store, 0).unwrap() } else { Store::new(store) };
    let reply = service::serve(&request, &mut opened, &context).unwrap();
    (reply.status, String::from_utf8(reply.body).unwrap(), opened.alarms())
}

#[test]
fn a_redemption_is_thirteen_statements() {
    let counting = Counting::new();
    let campaign = r#"{"name":"C","vouchers_count":1,"voucher":{"discount":{"type":"AMOUNT","amount_off":100},"redemption":{"quantity":19},"code_config":{"pattern":"CODE"}}}"#;
    assert_eq!(send(&counting, 1, "/v1/campaigns", campaign, None).0, 200);
    let redemption = r#"{"redeemables":[{"object":"voucher","id":"CODE"}],"order":{"amount":1000}}"#;
    // One of them looks for subscribed webhooks, and the first stored one with a key looks for pending deliveries. Two read the whole
    // voucher: its related documents, and the key of its images.
    let most = [("plain", redemption.to_owned(), None, 13), ("with a key", redemption.to_owned(), Some("k"), 17)];
    let anna = redemption.replace("\"order\"", "\"customer\":{\"source_id\":\"anna\"},\"order\"");
    // Two more: for earnings of the order, and for rules that wait for the customer to enter a segment.
    let most = most.into_iter().chain([("of a customer", anna, None, 19)]);
    let address = redemption.replace("\"order\"", "\"customer\":{\"email\":\"anna@example.com\"},\"order\"");
    let most = most.chain([("of a customer named by an e-mail address", address, None, 19)]);
    // The goods of all lines are looked up together, by every kind of name.
    let lines: Vec<String> = (0..40)
        .map(|line| match line % 4 {
            0 => format!(r#"{{"product_id":"p{line}","price":100}}"#),
            1 => format!(r#"{{"source_id":"s{line}","related_object":"sku","amount":100}}"#),
            2 => format!(r#"{{"product":{{"source_id":"p{line}"}},"price":100}}"#),
            _ => format!(r#"{{"product_id":"p{line}","sku":{{"id":"s{line}"}},"price":100}}"#),
        })
        .collect();
    let goods = redemption.replace(r#"{"amount":1000}"#, &format!(r#"{{"items":[{}]}}"#, lines.join(",")));
    let most = most.chain([("of forty lines", goods, None, 14)]);
    for (seed, (name, body, key, limit)) in (2..).zip(most) {
        // The first one of a customer creates them.
        send(&counting, seed + 100, "/v1/redemptions", &body, None);
        counting.statements.replace(vec!["-".into()]);
        let (status, answer) = send(&counting, seed, "/v1/redemptions", &body, key);
        assert_eq!(status, 200, "{answer}");
        let statements = &counting.statements.borrow()[1..];
        assert!(statements.len() <= limit, "{name}: {} statements, at most {limit}: {statements:#?}", statements.len());
    }
}

/// Webhooks of a redemption cost a few statements, independently of other deliveries.
#[test]
fn a_redemption_with_a_webhook_is_seventeen_statements() {
    let counting = Counting::new();
    let campaign = r#"{"name":"C","vouchers_count":1,"voucher":{"discount":{"type":"AMOUNT","amount_off":100},"redemption":{"quantity":9},"code_config":{"pattern":"CODE"}}}"#;
    assert_eq!(send(&counting, 1, "/v1/campaigns", campaign, None).0, 200);
    let hook = r#"{"target_url":"https://hooks.shop.example/in","events":["redemption.succeeded"]}"#;
    let hook = send(&counting, 2, "/management/v1/projects/proj_dev/webhooks", hook, None);
    assert_eq!(hook.0, 200, "{}", hook.1);
    let redemption = r#"{"redeemables":[{"object":"voucher","id":"CODE"}],"order":{"amount":1000}}"#;
    counting.statements.replace(vec!["-".into()]);
    let (status, answer, [work, deliveries]) = ask(&counting, 3, "/v1/redemptions", redemption, None);
    assert_eq!(status, 200, "{answer}");
    assert!(work.is_none() && deliveries.is_some(), "a webhook delivery does not look for other work");
    let statements = &counting.statements.borrow()[1..];
    assert!(statements.len() <= 17, "{} statements: {statements:#?}", statements.len());
}

/// Data of programs is cached, and data of a member is read together. One statement belongs to the test hooks.
#[test]
fn an_order_that_earns_is_twenty_statements() {
    let counting = Counting::new();
    let made = |seed: u8, path: &str, body: &str| {
        let (status, answer) = send(&counting, seed, path, body, None);
        assert_eq!(status, 200, "{path}: {answer}");
        serde_json::from_str::<serde_json::Value>(&answer).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let card = made(1, "/v2/loyalties/card-definitions", r#"{"name":"Card","type":"INDIVIDUAL","status":"ACTIVE"}"#);
    let rules: Vec<String> = (0..10)
        .map(|place| {
            let rule = format!(
                r#"{{"name":"R{place}","status":"ACTIVE","trigger":{{"event":"customer.order.paid"}},"earnings":[{{
                  "rules":{{"1":{{"name":"order.amount","conditions":{{"$more_than":[{}]}}}}}},
                  "effects":[{{"points":{{"value":7,"card_definition_id":"{card}"}}}}]}}]}}"#,
                if place == 0 { 0 } else { 1_000_000 }
            );
            format!(r#"{{"id":"{}"}}"#, made(10 + place, "/v2/loyalties/earning-rules", &rule))
        })
        .collect();
    let program = format!(
        r#"{{"name":"P","status":"ACTIVE","card_definitions":[{{"id":"{card}"}}],"earning_rules":[{}]}}"#,
        rules.join(",")
    );
    let program = made(2, "/v2/loyalties/programs", &program);
    let customer = made(3, "/v1/customers", r#"{"source_id":"anna"}"#);
    made(4, &format!("/v2/loyalties/programs/{program}/members"), &format!(r#"{{"customer_id":"{customer}"}}"#));
    let order =
        format!(r#"{{"status":"PAID","customer":{{"id":"{customer}"}},"items":[{{"product_id":"p","price":500}}]}}"#);
    made(50, "/v1/orders", &order);
    counting.statements.replace(vec!["-".into()]);
    made(51, "/v1/orders", &order);
    let statements = &counting.statements.borrow()[1..];
    assert!(statements.len() <= 23, "{} statements: {statements:#?}", statements.len());
}
