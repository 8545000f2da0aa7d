//! Tests locks of clients: the limit for one address, and their end.

use scrip::Context;
use scrip::time::Instant;
use scrip_worker::http::caller::{Caller, CredentialClass, Settings};
use scrip_worker::http::request::Request;
use scrip_worker::service::{self};
use scrip_worker::store::Store;
use scrip_worker::store::sql::Sql;
use scrip_worker::store::sqlite::Sqlite;
use serde_json::{Value as Json, json};
use std::cell::Cell;

const START: i64 = 1_772_323_200_000;

/// A service with one project, and a code that can be redeemed a hundred times.
struct Shop {
    sql: Sqlite,
    count: Cell<u64>,
}

/// An answer: its status, its `Retry-After`, and its body.
type LockAnswer = (u16, Option<String>, Json);

impl Shop {
    fn new() -> Shop {
        let shop = Shop { sql: Sqlite::memory().unwrap(), count: Cell::new(0) };
        let code = json!({ "discount": { "type": "AMOUNT", "amount_off": 100 }, "redemption": { "quantity": 100 } });
        let (status, _, body) =
            shop.send(&caller(CredentialClass::Server, None), None, START, "/v1/vouchers/HUNDRED", &code);
        assert_eq!(status, 200, "{body}");
        shop
    }

    fn send(&self, caller: &Caller, token: Option<&str>, now_ms: i64, path: &str, body: &Json) -> LockAnswer {
        self.count.set(self.count.get() + 1);
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.count.get().to_be_bytes());
        let context = Context { now: Instant::from_millis(now_ms).unwrap(), seed, first_number: None };
        let mut headers = vec![("scrip-caller".to_owned(), caller.header())];
        headers.extend(token.map(|token| ("x-customer-token".to_owned(), token.to_owned())));
        let request = Request {
            method: "POST".into(),
            path: path.into(),
            query: String::new(),
            headers,
            body: body.to_string().into_bytes(),
        };
        let is_first = self.count.get() == 1;
        let reply = self.sql.transaction(|sql| {
            let mut store = if is_first { Store::open(sql, now_ms)? } else { Store::new(sql) };
            service::serve(&request, &mut store, &context)
        });
        let reply = reply.unwrap();
        let retry = reply.headers.iter().find(|(name, _)| name == "retry-after").map(|(_, value)| value.clone());
        (reply.status, retry, serde_json::from_slice(&reply.body).unwrap())
    }

    /// Runs a statement directly on the database; returns its rows as text.
    fn run(&self, statement: &str) -> String {
        format!("{:?}", self.sql.transaction(|sql| sql.run(statement, &[])).unwrap())
    }

    /// Sets a lock as a client, under its own key.
    fn lock(&self, client: &Caller, token: Option<&str>, now_ms: i64, session: Json) -> LockAnswer {
        let body = json!({ "redeemables": [{ "object": "voucher", "id": "HUNDRED" }], "order": { "amount": 10_000 }, "session": session });
        self.send(client, token, now_ms, "/client/v1/validations", &body)
    }

    /// Sets locks until one is refused with that reason; returns their number.
    fn locks(&self, client: &Caller, token: Option<&str>, now_ms: i64) -> (usize, LockAnswer) {
        let lock = || self.lock(client, token, now_ms, json!({ "type": "LOCK", "ttl": 10, "ttl_unit": "MINUTES" }));
        let refused = |count| Some((count, lock())).filter(|(_, answer)| answer.0 != 200);
        (0..).find_map(refused).unwrap()
    }
}

fn caller(class: CredentialClass, address: Option<&str>) -> Caller {
    let settings = Settings {
        name: String::new(),
        time_zone: "UTC".into(),
        currency: "EUR".into(),
        case_sensitive_codes: true,
        charset: None,
        client: true.into(),
        address_header: None,
        replay_days: 0,
        changed_ms: 0,
        client_edge: Default::default(),
    };
    Caller {
        project: "proj_dev".into(),
        class,
        key_id: "dev".into(),
        secrets: vec![],
        user: None,
        scopes: vec![],
        origin: None,
        channel: None,
        address: address.map(str::to_owned),
        origins: vec![],
        redeem: true,
        publish: scrip_worker::http::client_publication_policy::ClientPublicationPolicy::Any(true),
        events: true,
        role: None,
        signing: None,
        others: Default::default(),
        rates: Default::default(),
        expires_at: None,
        local: false,
        settings,
    }
}

fn refused(answer: &LockAnswer, limit: usize, source: &str) {
    let (status, retry, body) = answer;
    assert_eq!((*status, &body["key"]), (429, &json!("too_many_sessions")), "{body}");
    assert_eq!(retry.as_deref(), Some("600"), "{body}");
    let said = format!("pages may lock {limit} sessions at a time from {source}, and the first of them ends in 600 s");
    assert_eq!(body["details"], said);
}

#[test]
fn a_hundred_locks_without_end_leave_a_code_redeemable() {
    let shop = Shop::new();
    let client = caller(CredentialClass::Client, Some("192.0.2.1"));
    for _ in 0..100 {
        shop.lock(&client, None, START, json!({ "type": "LOCK", "ttl": 365_000, "ttl_unit": "DAYS" }));
        shop.lock(&client, None, START, json!({ "type": "LOCK" }));
    }
    let body = json!({ "redeemables": [{ "object": "voucher", "id": "HUNDRED" }], "order": { "amount": 10_000 } });
    let (status, _, answer) = shop.send(&caller(CredentialClass::Server, None), None, START, "/v1/redemptions", &body);
    assert_eq!(status, 200, "{answer}");
}

#[test]
fn an_address_has_twenty_locks_at_a_time() {
    let shop = Shop::new();
    let client = caller(CredentialClass::Client, Some("192.0.2.1"));
    let (count, answer) = shop.locks(&client, None, START);
    assert_eq!(count, 20);
    refused(&answer, 20, "one address");
    // Another address counts separately, and a lock that ends makes room for another.
    let other = caller(CredentialClass::Client, Some("192.0.2.2"));
    assert_eq!(shop.lock(&other, None, START, json!({ "type": "LOCK", "key": "mine" })).0, 200);
    let (count, _) = shop.locks(&client, None, START + 600_000);
    assert_eq!(count, 20);
    // Its own lock can be set again at the limit.
    let (count, _) = shop.locks(&other, None, START + 600_000);
    assert_eq!(count, 19);
    assert_eq!(shop.lock(&other, None, START + 600_000, json!({ "type": "LOCK", "key": "mine" })).0, 200);
    assert_eq!(shop.lock(&other, None, START + 600_000, json!({ "type": "LOCK", "key": "more" })).0, 429);
    // Another key has its own quota.
    let other_key = Caller { key_id: "second".into(), ..caller(CredentialClass::Client, Some("192.0.2.1")) };
    let (count, _) = shop.locks(&other_key, None, START + 600_000);
    assert_eq!(count, 20);
    let kept = shop.run("SELECT * FROM hold");
    assert!(!kept.contains("192.0.2"), "an address is kept: {kept}");
}

#[test]
fn a_verified_customer_has_twenty_locks_from_all_addresses() {
    let shop = Shop::new();
    let body = json!({ "customer": { "source_id": "anna" } });
    let (_, _, made) = shop.send(&caller(CredentialClass::Server, None), None, START, "/v1/customer-tokens", &body);
    let token = made["token"].as_str().unwrap();
    let (count, answer) = shop.locks(&caller(CredentialClass::Client, Some("192.0.2.1")), Some(token), START);
    assert_eq!(count, 20);
    refused(&answer, 20, "one customer");
    let (count, _) = shop.locks(&caller(CredentialClass::Client, Some("192.0.2.2")), Some(token), START);
    assert_eq!(count, 0);
    let (count, _) = shop.locks(&caller(CredentialClass::Client, Some("192.0.2.1")), None, START);
    assert_eq!(count, 20);
}

#[test]
fn where_no_address_is_known_the_key_counts() {
    let shop = Shop::new();
    let free = json!({ "discount": { "type": "AMOUNT", "amount_off": 100 } });
    shop.send(&caller(CredentialClass::Server, None), None, START, "/v1/vouchers/FREE", &free);
    let client = caller(CredentialClass::Client, None);
    let lock = json!({ "redeemables": [{ "object": "voucher", "id": "FREE" }], "order": { "amount": 10_000 },
        "session": { "type": "LOCK", "ttl": 10, "ttl_unit": "MINUTES" } });
    let answer = shop.send(&client, None, START, "/client/v1/validations", &lock);
    assert_eq!((answer.0, &answer.2["valid"]), (200, &json!(true)), "{}", answer.2);
    // More are set by one client after the other, which is not faster.
    shop.run(
        "WITH RECURSIVE more (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM more WHERE number < 998)
         INSERT INTO hold SELECT key || number, owner, account, amount, expires_at, created_at, origin FROM hold, more",
    );
    assert_eq!(shop.send(&client, None, START, "/client/v1/validations", &lock).0, 200);
    refused(&shop.send(&client, None, START, "/client/v1/validations", &lock), 1_000, "one key");
    // Locks of a server are not limited.
    assert_eq!(shop.send(&caller(CredentialClass::Server, None), None, START, "/v1/validations", &lock).0, 200);
}
