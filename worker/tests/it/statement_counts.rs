//! Tests the number of SQL statements of requests: the hot path stays short.

use crate::statement_counter::Counting;
use scrip::Context;
use scrip::time::Instant;
use scrip_worker::http::request::Request;
use scrip_worker::service::{self};
use scrip_worker::store::Store;
use scrip_worker::store::record_tables::next_number;
use scrip_worker::store::sql::{self, Sql};

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
    let context = {
        let now = Instant::parse("2026-03-01T00:00:00Z").unwrap();
        Context { now, seed: [seed; 32], first_number: Some(next_number(now.millis())) }
    };
    let is_first = store.statements.borrow().is_empty();
    let mut opened = if is_first { Store::open(store, 0).unwrap() } else { Store::new(store) };
    let reply = service::serve(&request, &mut opened, &context).unwrap();
    (reply.status, String::from_utf8(reply.body).unwrap(), opened.alarms())
}

#[test]
fn a_redemption_is_seven_statements() {
    let counting = Counting::new();
    let campaign = r#"{"name":"C","vouchers_count":1,"voucher":{"discount":{"type":"AMOUNT","amount_off":100},"redemption":{"quantity":19},"code_config":{"pattern":"CODE"}}}"#;
    assert_eq!(send(&counting, 1, "/v1/campaigns", campaign, None).0, 200);
    let redemption = r#"{"redeemables":[{"object":"voucher","id":"CODE"}],"order":{"amount":1000}}"#;
    // The first one with a key also looks for pending deliveries.
    let most = [("plain", redemption.to_owned(), None, 7), ("with a key", redemption.to_owned(), Some("k"), 11)];
    let anna = redemption.replace("\"order\"", "\"customer\":{\"source_id\":\"anna\"},\"order\"");
    // Three more: the customer, earnings of the order, and the update of the customer.
    let most = most.into_iter().chain([("of a customer", anna, None, 10)]);
    let address = redemption.replace("\"order\"", "\"customer\":{\"email\":\"anna@example.com\"},\"order\"");
    let most = most.chain([("of a customer named by an e-mail address", address, None, 10)]);
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
    let most = most.chain([("of forty lines", goods, None, 7)]);
    for (seed, (name, body, key, limit)) in (2..).zip(most) {
        // The first one of a customer creates them.
        send(&counting, seed + 100, "/v1/redemptions", &body, None);
        counting.statements.replace(vec!["-".into()]);
        let (status, answer) = send(&counting, seed, "/v1/redemptions", &body, key);
        assert_eq!(status, 200, "{answer}");
        let statements = &counting.statements.borrow()[1..];
        let of_vouchers =
            statements.iter().filter(|statement| statement.starts_with("SELECT named.value, v.id,")).count();
        assert_eq!(of_vouchers, 1, "{name}: the vouchers are read at once");
        assert!(statements.len() <= limit, "{name}: {} statements, at most {limit}: {statements:#?}", statements.len());
    }
}

/// Keeping the input of a redemption for a replay costs two statements, one row of at most 4 kB, and no read: the other statement finds that the
/// retention sweep is due already.
#[test]
fn an_input_is_two_statements_and_one_row() {
    let statements_of = |days: i64| {
        let counting = Counting::new();
        let settings = |(name, caller): (String, String)| {
            let mut caller: serde_json::Value = serde_json::from_str(&caller).unwrap();
            caller["settings"]["replay_days"] = days.into();
            (name, caller.to_string())
        };
        let mut seed = 0;
        let mut call = |path: &str, body: &str| {
            seed += 1;
            let headers = vec![settings(crate::caller::server())];
            let request =
                Request { method: "POST".into(), path: path.into(), headers, body: body.into(), ..Request::default() };
            let context = {
                let now = Instant::parse("2026-03-01T00:00:00Z").unwrap();
                Context { now, seed: [seed; 32], first_number: Some(next_number(now.millis())) }
            };
            let mut store = if seed == 1 { Store::open(&counting, 0).unwrap() } else { Store::new(&counting) };
            let reply = service::serve(&request, &mut store, &context).unwrap();
            assert_eq!(reply.status, 200, "{path}: {}", String::from_utf8_lossy(&reply.body));
        };
        call("/v1/vouchers/CODE", r#"{"type":"DISCOUNT_VOUCHER","discount":{"type":"AMOUNT","amount_off":100}}"#);
        let redemption = r#"{"redeemables":[{"object":"voucher","id":"CODE"}],"order":{"amount":1000}}"#;
        // The first one schedules the retention sweep, and has the stored setting in memory.
        call("/v1/redemptions", redemption);
        let rows = || sql::int(&counting.run("SELECT COUNT(*) FROM redemption_input", &[]).unwrap()[0], 0).unwrap();
        let before = rows();
        counting.statements.replace(vec![]);
        call("/v1/redemptions", redemption);
        let statements = counting.statements.take();
        let length = "SELECT COALESCE(MAX(octet_length(body)), 0) FROM redemption_input";
        let length = sql::int(&counting.run(length, &[]).unwrap()[0], 0).unwrap();
        (statements, rows() - before, length)
    };
    let ((with, rows, length), (without, none, _)) = (statements_of(30), statements_of(0));
    assert_eq!((rows, none), (1, 0));
    assert!((1..=4_096).contains(&length), "{length} bytes");
    let begins = ["INSERT OR REPLACE INTO redemption_input", "INSERT INTO due"];
    let (own, others): (Vec<String>, Vec<String>) =
        with.into_iter().partition(|statement| begins.iter().any(|begin| statement.starts_with(begin)));
    assert_eq!(own.len(), 2, "{own:#?}");
    assert_eq!(others, without);
}

/// Webhooks of a redemption cost a few statements, independently of other deliveries.
#[test]
fn a_redemption_with_a_webhook_is_sixteen_statements() {
    let counting = Counting::new();
    let campaign = r#"{"name":"C","vouchers_count":1,"voucher":{"discount":{"type":"AMOUNT","amount_off":100},"redemption":{"quantity":9},"code_config":{"pattern":"CODE"}}}"#;
    assert_eq!(send(&counting, 1, "/v1/campaigns", campaign, None).0, 200);
    let hook = r#"{"target_url":"https://hooks.shop.example/in","events":["redemption.succeeded"]}"#;
    let hook = send(&counting, 2, "/management/v1/projects/proj_dev/webhooks", hook, None);
    assert_eq!(hook.0, 200, "{}", hook.1);
    let redemption = r#"{"redeemables":[{"object":"voucher","id":"CODE"}],"order":{"amount":1000}}"#;
    // Then the configuration is in memory.
    assert_eq!(send(&counting, 4, "/v1/validations", redemption, None).0, 200);
    counting.statements.replace(vec!["-".into()]);
    let (status, answer, [work, deliveries]) = ask(&counting, 3, "/v1/redemptions", redemption, None);
    assert_eq!(status, 200, "{answer}");
    assert!(work.is_none() && deliveries.is_some(), "a webhook delivery does not look for other work");
    let statements = &counting.statements.borrow()[1..];
    assert!(statements.len() <= 16, "{} statements: {statements:#?}", statements.len());
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

/// A supplement reads a customer, their counts and vouchers, and writes nothing.
#[test]
fn a_supplement_is_at_most_twenty_statements_and_eight_kilobytes() {
    let counting = Counting::new();
    let now = Instant::parse("2026-03-01T00:00:00Z").unwrap();
    let call = |seed: u8, caller: (String, String), call: &str, body: &str, token: Option<&str>| {
        let (method, path) = call.split_once(' ').unwrap();
        let mut headers = vec![caller, ("scrip-test-now".into(), now.millis().to_string())];
        headers.extend(token.map(|token| ("x-customer-token".to_owned(), token.to_owned())));
        let request =
            Request { method: method.into(), path: path.into(), headers, body: body.into(), ..Request::default() };
        let is_first = counting.statements.borrow().is_empty();
        let mut opened = if is_first { Store::open(&counting, 0).unwrap() } else { Store::new(&counting) };
        let reply =
            service::serve(&request, &mut opened, &Context { now, seed: [seed; 32], first_number: None }).unwrap();
        let text = String::from_utf8(reply.body).unwrap();
        assert!(reply.status < 300, "{call} {body}: {} {text}", reply.status);
        text
    };
    let make = |seed, path: &str, body: serde_json::Value| -> serde_json::Value {
        let text = call(seed, crate::caller::server(), &format!("POST {path}"), &body.to_string(), None);
        serde_json::from_str(&text).unwrap()
    };
    use serde_json::json;
    let filter = json!({ "junction": "and", "metadata.level": { "conditions": { "$is": ["gold"] } } });
    let gold = make(1, "/v1/segments", json!({ "name": "Gold", "type": "auto-update", "filter": filter }));
    let tests = json!({ "1": { "name": "customer.segment", "conditions": { "$is": [gold["id"]] } },
        "2": { "name": "redemption.count.per_customer.daily", "conditions": { "$less_than_or_equal": [9] } } });
    let rule = make(2, "/v1/validation-rules", json!({ "name": "Gold", "rules": tests }));
    let off = json!({ "type": "AMOUNT", "amount_off": 100 });
    let tiers = json!([{ "name": "T", "action": { "discount": off }, "validation_rules": [rule["id"]] }]);
    let sale = json!({ "name": "Sale", "campaign_type": "PROMOTION", "promotion": { "tiers": tiers } });
    let sale = make(3, "/v1/campaigns", sale);
    make(4, "/v1/customers", json!({ "source_id": "anna", "metadata": { "level": "gold" } }));
    let kinds = [
        ("News", json!({ "type": "DISCOUNT_VOUCHER", "discount": off, "redemption": { "quantity": 2 } }), 1),
        ("Cards", json!({ "type": "GIFT_VOUCHER", "gift": { "amount": 900, "effect": "APPLY_TO_ORDER" } }), 1),
        ("Club", json!({ "type": "LOYALTY_CARD", "loyalty_card": { "points": 9 } }), 1),
        // More than fit.
        ("Many", json!({ "type": "DISCOUNT_VOUCHER", "discount": off, "redemption": { "quantity": 1 } }), 20),
    ];
    let token = make(5, "/v1/customer-tokens", json!({ "customer": { "source_id": "anna" }, "ttl": 3600 }));
    let token = token["token"].as_str().unwrap();
    call(6, crate::caller::client(), "GET /client/v1/bundle", "", None);
    let mut wholes = Vec::new();
    for (seed, (name, voucher, count)) in (10..).step_by(10).zip(kinds) {
        let mut campaign = json!({ "name": name, "type": "AUTO_UPDATE", "voucher": voucher });
        if name != "Club" {
            campaign["validation_rules"] = json!([rule["id"]]);
        }
        make(seed, "/v1/campaigns", campaign);
        let publish = json!({ "campaign": { "name": name, "count": count }, "customer": { "source_id": "anna" } });
        make(seed + 1, "/v1/publications", publish);
        let tier = sale["promotion"]["tiers"][0]["id"].clone();
        let redeem = json!({ "redeemables": [{ "object": "promotion_tier", "id": tier }], "order": { "amount": 900 }, "customer": { "source_id": "anna" } });
        make(seed + 2, "/v1/redemptions", redeem);
        counting.statements.replace(vec!["-".into()]);
        let text = call(seed + 3, crate::caller::client(), "GET /client/v1/bundle/me", "", Some(token));
        let statements = &counting.statements.borrow()[1..];
        assert!(statements.len() <= 20, "{name}: {} statements: {statements:#?}", statements.len());
        assert!(text.len() <= 8_192, "{name}: {} bytes", text.len());
        let writes = ["INSERT", "UPDATE", "DELETE", "REPLACE"];
        assert!(!statements.iter().any(|sql| writes.iter().any(|word| sql.contains(word))), "{name}: {statements:#?}");
        let claims = crate::bundle::claims_of(text.as_bytes()).unwrap();
        assert_eq!(claims["facts"]["customers"][0]["conditions"], json!(["1"]), "{claims}");
        wholes.push(claims["facts"]["own_candidates"].clone());
    }
    assert_eq!(json!(wholes), json!([true, true, true, null]), "the last vouchers are too large");
}
