//! Tests stored answers and their keeping time. Stored failures and answers to clients are bounded, a request with a key is never executed
//! twice, and expired data is deleted.

use crate::in_process::Edge;
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::store::sql::SqlValue;
use serde_json::{Value as Json, json};

const NOW: i64 = 1_772_323_200_000;
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

const SERVER: &[(&str, &str)] = &[("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
const MANAGEMENT: &[(&str, &str)] =
    &[("x-management-id", "dev-management"), ("x-management-token", "dev-management-token")];
const PAGE: &[(&str, &str)] = &[
    ("x-client-application-id", "dev-client"),
    ("x-client-token", "dev-client-token"),
    ("origin", "http://localhost:3000"),
];

/// A project with its clock.
struct Shop {
    edge: Edge,
    now: i64,
}

impl Shop {
    fn new() -> Shop {
        Shop { edge: Edge::new(), now: NOW }
    }

    fn send(&self, credentials: &[(&str, &str)], call: &str, body: &Json, key: Option<&str>) -> Reply {
        let (method, target) = call.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let key = key.map(|key| ("idempotency-key", key));
        let headers =
            credentials.iter().copied().chain(key).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        self.edge.send(
            Request { method: method.into(), path: path.into(), query: query.into(), headers, body },
            self.now,
            None,
        )
    }

    /// A call of the server that succeeds.
    fn call(&self, call: &str, body: &Json) -> Json {
        let credentials = if call.contains("/management/") { MANAGEMENT } else { SERVER };
        let reply = self.send(credentials, call, body, None);
        assert!(reply.status < 300, "{call}: {} {}", reply.status, String::from_utf8_lossy(&reply.body));
        serde_json::from_slice(&reply.body).unwrap_or(Json::Null)
    }

    fn number(&self, statement: &str) -> i64 {
        match self.edge.run("proj_dev", statement, &[])[0][0] {
            SqlValue::Int(number) => number,
            _ => panic!("{statement} gives no number"),
        }
    }

    fn rows(&self, table: &str) -> i64 {
        self.number(&format!("SELECT COUNT(*) FROM {table}"))
    }

    fn answers(&self) -> i64 {
        self.rows("answer WHERE status > 0")
    }

    fn failures(&self) -> i64 {
        self.rows("redemption WHERE json_extract(body, '$.result') = 'FAILURE'")
    }

    /// Runs due work until nothing is due; returns the number of events.
    fn alarms(&self) -> usize {
        let mut events = 0;
        while self.edge.alarm("proj_dev", self.now) {
            events += 1;
            assert!(events < 10_000, "the alarm does not come to rest");
        }
        events
    }

    /// Lets time pass with only the alarm as a caller; returns the number of events.
    fn wait(&mut self, long: i64) -> usize {
        let until = self.now + long;
        let mut events = self.alarms();
        while self.now < until {
            self.now = until.min(self.now + MINUTE * 10);
            events += self.alarms();
        }
        events
    }
}

fn json_of(reply: &Reply) -> Json {
    serde_json::from_slice(&reply.body).unwrap_or(Json::Null)
}

fn voucher(quantity: u64) -> Json {
    json!({ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 1 }, "redemption": { "quantity": quantity } })
}

/// Creates a public code with which every redemption fails; clients get the reason.
fn make_off(shop: &Shop) {
    let voucher = json!({ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 1 }, "code_config": { "pattern": "NONE" } });
    shop.call("POST /v1/campaigns", &json!({ "name": "None", "type": "STANDALONE", "voucher": voucher }));
    shop.call("POST /v1/vouchers/NONE/disable", &Json::Null);
}

fn redemption(code: &str) -> Json {
    json!({ "redeemables": [{ "object": "voucher", "id": code }], "customer": { "source_id": "ann" }, "order": { "amount": 1000 } })
}

fn failed_of(shop: &Shop, customer: &str) -> i64 {
    shop.call(&format!("GET /v1/customers/{customer}"), &Json::Null)["summary"]["redemptions"]["total_failed"]
        .as_i64()
        .unwrap()
}

#[test]
fn a_failure_stores_only_its_explanation() {
    let shop = Shop::new();
    let large = "x".repeat(15_000);
    let notes: Vec<&str> = (0..90).map(|_| large.as_str()).collect();
    shop.call("POST /v1/customers", &json!({ "source_id": "ann", "metadata": { "notes": notes } }));
    make_off(&shop);
    let mut request = redemption("NONE");
    request["metadata"] = json!({ "notes": notes });
    request["order"] = json!({ "amount": 1000, "metadata": { "notes": notes } });
    let reply = shop.send(PAGE, "POST /client/v1/redemptions", &request, None);
    assert_eq!((reply.status, &json_of(&reply)["key"]), (400, &json!("voucher_disabled")));
    let longest = shop.number("SELECT MAX(LENGTH(body)) FROM every_redemption");
    assert!(longest <= 2_000, "a failure of {longest} bytes is kept");
    // A caller chooses the length of codes, customer names and metadata.
    let longest_name = "\u{1f381}".repeat(1_000);
    let request = json!({
        "redeemables": [{ "object": "voucher", "id": longest_name }], "tracking_id": longest_name,
        "metadata": { "note": "x".repeat(900) },
    });
    assert_eq!(shop.send(PAGE, "POST /client/v1/redemptions", &request, None).status, 404);
    let longest = shop.number("SELECT MAX(LENGTH(CAST(body AS BLOB))) FROM every_redemption");
    assert!((5_000..12_000).contains(&longest), "a failure of {longest} bytes is kept");
}

#[test]
fn client_failures_are_bounded_by_minute_and_day() {
    let mut shop = Shop::new();
    shop.call("POST /v1/customers", &json!({ "source_id": "ann" }));
    make_off(&shop);
    let fail = |shop: &Shop, credentials, call| {
        let reply = shop.send(credentials, call, &redemption("NONE"), None);
        let body = json_of(&reply);
        assert_eq!(
            (reply.status, &body["key"], &body["resource_type"]),
            (400, &json!("voucher_disabled"), &json!("redemption"))
        );
    };
    for _ in 0..100 {
        fail(&shop, PAGE, "POST /client/v1/redemptions");
    }
    assert_eq!(shop.failures(), 60, "of a hundred in one minute sixty are kept");
    assert_eq!(failed_of(&shop, "ann"), 0, "a page that only names a customer writes nothing about them");
    shop.now += MINUTE;
    fail(&shop, PAGE, "POST /client/v1/redemptions");
    assert_eq!(shop.failures(), 61);
    for _ in 0..100 {
        fail(&shop, SERVER, "POST /v1/redemptions");
    }
    assert_eq!(shop.failures(), 161, "a server's are all kept");
    assert_eq!(failed_of(&shop, "ann"), 100, "and all of them count");
    for _ in 0..120 {
        shop.now += MINUTE;
        (0..61).for_each(|_| fail(&shop, PAGE, "POST /client/v1/redemptions"));
    }
    assert_eq!(shop.failures(), 5_100, "of a day five thousand are kept");
    shop.now += DAY;
    fail(&shop, PAGE, "POST /client/v1/redemptions");
    assert_eq!(shop.failures(), 5_101);
}

#[test]
fn a_client_token_shares_the_quota_of_its_key() {
    let shop = Shop::new();
    make_off(&shop);
    let token = || {
        let granted =
            shop.send(SERVER, "POST /v1/oauth/token?grant_type=client_credentials&scope=client_api", &Json::Null, None);
        format!("Bearer {}", json_of(&granted)["access_token"].as_str().unwrap())
    };
    for token in [token(), token()] {
        for _ in 0..40 {
            let credentials = [("authorization", token.as_str())];
            assert_eq!(shop.send(&credentials, "POST /client/v1/redemptions", &redemption("NONE"), None).status, 400);
        }
    }
    assert_eq!(shop.failures(), 60);
}

#[test]
fn expired_data_is_deleted_and_then_no_alarm_is_set() {
    let mut shop = Shop::new();
    shop.call("POST /v1/customers", &json!({ "source_id": "ann" }));
    make_off(&shop);
    shop.call("POST /v1/vouchers/ONE", &voucher(5));
    let kept = shop.send(SERVER, "POST /v1/redemptions", &redemption("ONE"), Some("k"));
    assert_eq!(kept.status, 200);
    shop.send(SERVER, "POST /v1/redemptions", &redemption("NONE"), None);
    let locked = json!({ "redeemables": [{ "object": "voucher", "id": "ONE" }], "session": { "type": "LOCK", "ttl": 2, "ttl_unit": "HOURS" } });
    shop.call("POST /v1/validations", &locked);
    let done = json_of(&kept)["redemptions"][0]["id"].as_str().unwrap().to_owned();
    shop.call(&format!("POST /v1/redemptions/{done}/rollback"), &json!({}));
    assert_eq!(shop.send(SERVER, &format!("POST /v1/redemptions/{done}/rollback"), &json!({}), None).status, 400);
    shop.call("POST /v1/campaigns", &json!({ "name": "C", "vouchers_count": 3, "voucher": voucher(1) }));
    shop.alarms();
    let counts = |shop: &Shop| {
        [shop.answers(), shop.rows("hold"), shop.failures(), shop.rows("document WHERE kind = 'async_action'")]
    };
    assert_eq!(counts(&shop), [1, 1, 2, 1]);
    assert!(shop.wait(HOUR + MINUTE * 30) <= 2);
    assert_eq!(counts(&shop), [1, 1, 2, 1], "nothing has had its time");
    shop.wait(3 * HOUR);
    assert_eq!(counts(&shop), [1, 0, 2, 1], "a lock that ended is gone");
    shop.wait(DAY);
    assert_eq!(counts(&shop), [0, 0, 2, 1], "an answer is kept for a day");
    shop.wait(27 * DAY);
    assert_eq!(counts(&shop), [0, 0, 2, 1], "failures are kept for thirty days");
    shop.wait(3 * DAY);
    assert_eq!(counts(&shop), [0, 0, 0, 0], "failures and async actions are gone after thirty");
    assert_eq!(failed_of(&shop, "ann"), 1, "what is counted stays");
    assert_eq!(shop.rows("due"), 0);
    assert_eq!(shop.wait(90 * DAY), 0, "nothing wakes a project that has nothing to sweep");
    // The effect stays: the documents of two redemptions, and their transfers.
    assert_eq!(shop.rows("every_redemption"), 2);
    assert!(shop.rows("transfer") > 0);
}

#[test]
fn a_sweep_deletes_in_slices() {
    let mut shop = Shop::new();
    shop.call("POST /v1/vouchers/ONE", &voucher(5));
    assert_eq!(shop.send(SERVER, "POST /v1/redemptions", &redemption("ONE"), Some("k")).status, 200);
    shop.edge.run(
        "proj_dev",
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO answer (name, caller, request, key, body_hash, status, headers, body, created_at, bytes)
         SELECT 'n' || i, 'c', 'r', 'k' || i, 'h', 200, '[]', '{}', ?1, 0 FROM n",
        &[NOW.into()],
    );
    shop.edge.run(
        "proj_dev",
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         INSERT INTO redemption (is_named, id, created_at, body) SELECT 1, 'rf_' || i, ?1, '{\"result\":\"FAILURE\"}' FROM n",
        &[NOW.into()],
    );
    shop.now += 31 * DAY;
    let (mut events, mut left) = (0, shop.answers() + shop.failures());
    while left > 0 {
        assert!(shop.edge.alarm("proj_dev", shop.now), "{left} rows are left and nothing is due");
        let now_left = shop.answers() + shop.failures();
        assert!(left - now_left <= 400, "one event took {} rows", left - now_left);
        (events, left) = (events + 1, now_left);
        assert!(!shop.edge.alarm("proj_dev", shop.now), "between two events others have their turn");
        shop.now += 1_000;
    }
    assert!((25..200).contains(&events), "{events} events");
}

/// Creates thirty applicable codes, and an order of 500 lines with a note of this many letters each.
fn thirty(shop: &Shop, note: usize) -> Json {
    let rules = &shop.call("GET /management/v1/projects/proj_dev/stacking-rules", &Json::Null);
    let id = rules["stacking_rules"][0]["id"].as_str().or(rules["data"][0]["id"].as_str()).unwrap().to_owned();
    let limits = json!({ "redeemables_limit": 30, "applicable_redeemables_limit": 30 });
    shop.call(&format!("PUT /management/v1/projects/proj_dev/stacking-rules/{id}"), &limits);
    for at in 0..30 {
        shop.call(&format!("POST /v1/vouchers/C{at}"), &voucher(100));
    }
    let named: Vec<Json> = (0..30).map(|at| json!({ "object": "voucher", "id": format!("C{at}") })).collect();
    let note = "x".repeat(note);
    let line =
        |at| json!({ "product_id": format!("p{at}"), "quantity": 1, "price": 1000, "metadata": { "note": note } });
    let lines: Vec<Json> = (0..500).map(line).collect();
    json!({ "redeemables": named, "order": { "items": lines } })
}

#[test]
fn a_long_answer_is_repeated_for_its_key() {
    let mut shop = Shop::new();
    let request = thirty(&shop, 1_600);
    let first = shop.send(SERVER, "POST /v1/redemptions", &request, Some("once"));
    assert_eq!(first.status, 200, "{}", String::from_utf8_lossy(&first.body));
    assert!(first.body.len() > 25_000_000, "an answer of {} bytes is not long", first.body.len());
    let again = shop.send(SERVER, "POST /v1/redemptions", &request, Some("once"));
    assert_eq!(again.status, 200);
    let counted = shop.call("GET /v1/vouchers/C7", &Json::Null)["redemption"]["redeemed_quantity"].clone();
    assert_eq!(counted, 1, "the same key has counted again");
    assert!(again.body == first.body, "the same key answers otherwise");
    assert!(again.headers.iter().any(|(name, value)| name == "idempotency-replayed" && value == "true"));
    // All rows expire together.
    shop.wait(2 * DAY);
    assert_eq!(shop.answers(), 0);
    assert_eq!(shop.rows("answer_slice"), 0);
}

#[test]
fn an_answer_that_cannot_be_sent_is_refused_before_it_commits() {
    let shop = Shop::new();
    let request = thirty(&shop, 2_100);
    let before = shop.edge.rows("proj_dev");
    for key in [Some("once"), None, Some("once")] {
        let reply = shop.send(SERVER, "POST /v1/redemptions", &request, key);
        let body = String::from_utf8_lossy(reply.body.get(..300.min(reply.body.len())).unwrap()).into_owned();
        assert_eq!(reply.status, 413, "an answer of {} bytes was given: {body}", reply.body.len());
        assert!(body.contains("\"key\":\"answer_too_large\"") && body.contains("33488896"), "{body}");
        assert_eq!(shop.edge.rows("proj_dev"), before);
        assert_eq!(shop.answers(), 0);
    }
    // Reads are refused long before that, by their read limit.
    let large = "x".repeat(19_000);
    for at in 0..40 {
        let notes: Vec<&str> = (0..90).map(|_| large.as_str()).collect();
        shop.call("POST /v1/customers", &json!({ "source_id": format!("c{at}"), "metadata": { "notes": notes } }));
    }
    let reply = shop.send(SERVER, "GET /v1/customers?limit=40", &Json::Null, None);
    assert_eq!((reply.status, &json_of(&reply)["key"]), (400, &json!("request_too_complex")));
    assert_eq!(shop.send(SERVER, "GET /v1/customers?limit=5", &Json::Null, None).status, 200);
}

#[test]
fn a_client_answer_is_stored_only_after_a_write_and_within_a_bound() {
    let mut shop = Shop::new();
    shop.call("POST /v1/vouchers/ONE", &voucher(1_000));
    let mut request = redemption("ONE");
    assert_eq!(shop.send(PAGE, "POST /client/v1/validations", &request, Some("v")).status, 200);
    assert_eq!(shop.answers(), 0, "a validation without a lock has no effect");
    request["session"] = json!({ "type": "LOCK", "key": "basket", "ttl": 1, "ttl_unit": "MINUTES" });
    assert_eq!(shop.send(PAGE, "POST /client/v1/validations", &request, Some("v")).status, 200);
    assert_eq!(shop.answers(), 1);
    // A long answer, repeated under new keys until the hour's quota is used up.
    let note = "x".repeat(19_000);
    let line = json!({ "product_id": "p", "quantity": 1, "price": 1, "metadata": { "note": note, "more": note, "most": note } });
    request["order"] = json!({ "items": vec![line; 60] });
    let (mut kept, mut refused) = (0, None);
    for at in 0..60 {
        let reply = shop.send(PAGE, "POST /client/v1/validations", &request, Some(&format!("long-{at}")));
        match reply.status {
            200 => kept += 1,
            429 => {
                assert!(reply.headers.iter().any(|(name, value)| name == "retry-after" && value == "3600"));
                refused = Some((at, json_of(&reply)));
            }
            other => panic!("{other} {}", String::from_utf8_lossy(&reply.body)),
        }
        if refused.is_some() {
            break;
        }
    }
    let (at, refusal) =
        refused.unwrap_or_else(|| panic!("{kept} answers of a page are kept, and no bound is in sight"));
    assert_eq!(refusal["key"], "too_many_requests");
    assert_eq!(shop.answers(), 1 + kept, "what is refused is not kept");
    // A stored answer is repeated. Requests without a key, requests of a server and those of the next hour succeed.
    assert_eq!(shop.send(PAGE, "POST /client/v1/validations", &request, Some("long-0")).status, 200);
    assert_eq!(shop.send(PAGE, "POST /client/v1/validations", &request, None).status, 200);
    assert_eq!(shop.send(SERVER, "POST /v1/validations", &request, Some("mine")).status, 200);
    shop.now += HOUR;
    assert_eq!(shop.send(PAGE, "POST /client/v1/validations", &request, Some(&format!("long-{at}"))).status, 200);
}
