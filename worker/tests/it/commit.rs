//! Tests the commit pipeline: its steps run in the order that ARCHITECTURE.md lists, documents that follow from a call are checked like
//! those of the call, and a refusal writes nothing.

use crate::in_process::Edge;
use scrip::Context;
use scrip::time::Instant;
use scrip_worker::http::request::Request;
use scrip_worker::service;
use scrip_worker::store::Store;
use scrip_worker::store::sql::{Fault, Sql, SqlRow, SqlValue};
use scrip_worker::store::sqlite::Sqlite;
use serde_json::{Value as Json, json};
use std::cell::RefCell;

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

/// Records all statements, each with its parameters.
struct StatementRecorder {
    sql: Sqlite,
    statements: RefCell<Vec<String>>,
}

impl Sql for StatementRecorder {
    fn run(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        let words: Vec<&str> = statement.split_whitespace().collect();
        self.statements.borrow_mut().push(format!("{} {params:?}", words.join(" ")));
        self.sql.run(statement, params)
    }

    fn bytes(&self) -> Result<i64, Fault> {
        self.sql.bytes()
    }
}

/// A project whose customer Ann has a card of a loyalty campaign (v1) and of a loyalty program (v2), with a webhook for redemptions.
struct RecordedShop {
    store: StatementRecorder,
    calls: RefCell<u8>,
}

impl RecordedShop {
    fn new() -> RecordedShop {
        let store = StatementRecorder { sql: Sqlite::memory().unwrap(), statements: RefCell::default() };
        RecordedShop { store, calls: RefCell::new(0) }
    }

    fn post(&self, path: &str, body: &Json, key: Option<&str>) -> Json {
        let mut headers = vec![crate::caller::server()];
        headers.extend(key.map(|key| ("idempotency-key".to_owned(), key.to_owned())));
        let body = body.to_string().into_bytes();
        let request = Request { method: "POST".into(), path: path.into(), headers, body, ..Request::default() };
        let number = self.calls.replace_with(|number| *number + 1);
        let context =
            Context { now: Instant::parse("2026-03-01T00:00:00Z").unwrap(), seed: [number; 32], first_number: None };
        let mut opened = if number == 0 { Store::open(&self.store, 0).unwrap() } else { Store::new(&self.store) };
        let reply = service::serve(&request, &mut opened, &context).unwrap();
        let answer = serde_json::from_slice(&reply.body).unwrap_or(Json::Null);
        assert!(reply.status < 300, "{path}: {} {answer}", reply.status);
        answer
    }

    fn make(&self, path: &str, body: &Json) -> String {
        self.post(path, body, None)["id"].as_str().unwrap_or_default().to_owned()
    }

    /// Asserts that each step has a statement with all of its texts, after that of the step before.
    fn assert_order(&self, steps: &[(&str, &[&str])]) {
        let statements = self.store.statements.borrow();
        let mut rest = statements.iter();
        for (step, texts) in steps {
            let found = rest.any(|statement| texts.iter().all(|text| statement.contains(text)));
            assert!(found, "{step} has no statement after the step before: {statements:#?}");
        }
    }
}

/// Ann pays an order with points of her v1 card, under an `Idempotency-Key`: the redemption causes all steps of the pipeline.
#[test]
fn the_steps_of_a_commit_run_in_their_order() {
    let shop = RecordedShop::new();
    let club = shop.make("/v1/loyalties", &json!({ "name": "Club", "voucher": { "loyalty_card": { "points": 500 } } }));
    let rules = json!([{ "event": "order.paid", "active": true, "loyalty": { "type": "FIXED", "points": 10 } }]);
    shop.make(&format!("/v1/loyalties/{club}/earning-rules"), &rules);
    let ann = shop.make("/v1/customers", &json!({ "source_id": "ann" }));
    let card = shop.make(&format!("/v1/campaigns/{club}/vouchers/A"), &json!({}));
    let joins = json!({ "voucher": "A", "customer": { "source_id": "ann" } });
    shop.make(&format!("/v1/loyalties/{club}/members"), &joins);
    let coin = json!({ "name": "Coins", "parameters": { "coin": { "exchange_ratio": 1, "points_ratio": 1 } } });
    let coin = shop.make("/v1/rewards", &coin);
    shop.make(&format!("/v1/rewards/{coin}/assignments"), &json!({ "campaign": club }));
    let definition = json!({ "name": "Points", "type": "INDIVIDUAL", "status": "ACTIVE" });
    let definition = shop.make("/v2/loyalties/card-definitions", &definition);
    let effect = json!({ "points": { "value": 7, "card_definition_id": definition } });
    let rule = json!({ "name": "R", "status": "ACTIVE", "trigger": { "event": "customer.order.paid" },
        "earnings": [{ "effects": [effect] }] });
    let rule = shop.make("/v2/loyalties/earning-rules", &rule);
    let program = json!({ "name": "P", "status": "ACTIVE", "card_definitions": [{ "id": definition }],
        "earning_rules": [{ "id": rule }] });
    let program = shop.make("/v2/loyalties/programs", &program);
    shop.make(&format!("/v2/loyalties/programs/{program}/members"), &json!({ "customer_id": ann }));
    let webhook = json!({ "target_url": "https://hooks.shop.example/in", "events": ["redemption.succeeded"] });
    shop.make("/management/v1/projects/proj_dev/webhooks", &webhook);
    shop.store.statements.take();

    let pays = json!({ "object": "voucher", "id": "A", "reward": { "id": coin, "points": 44 } });
    let redemption = json!({ "redeemables": [pays], "customer": { "source_id": "ann" },
        "order": { "source_id": "o-1", "status": "PAID", "amount": 100_000 } });
    shop.post("/v1/redemptions", &redemption, Some("k"));

    shop.assert_order(&[
        ("step 1, domain events", &["SELECT", "EXISTS (SELECT 1 FROM document WHERE kind = 'earning_rule')"]),
        ("step 2, the transfers of the handler", &["INSERT INTO transfer", "/points"]),
        ("step 2, the redemption", &["INSERT INTO redemption ", "Text(\"redemption\")"]),
        ("step 2, the answer of the key", &["INSERT INTO answer"]),
        ("step 3, the card that paid", &["SELECT", "Text(\"voucher\")", &card]),
        ("step 4, rules of loyalty campaigns", &["SELECT", "WHERE kind = 'earning_rule' AND"]),
        (
            "step 4, points of the loyalty campaign",
            &["INSERT INTO voucher_transaction ", "Text(\"voucher_transaction\")"],
        ),
        ("step 4, points of the loyalty program", &["INSERT INTO earning_firing"]),
        ("step 5, the redeemed card of the webhook event", &["SELECT", "Text(\"voucher\")", &card]),
        ("step 6, retention, whose row is written at once", &["INSERT INTO due", "Text(\"sweep\")"]),
        ("the last flush, with the delivery of step 5", &["INSERT INTO outbox"]),
    ]);
}
