//! Tests jobs: a hundred thousand codes while redemptions continue, and a job that keeps failing.

use crate::in_process::Edge;
use scrip::Context;
use scrip::time::Instant;
use scrip_worker::http::request::Request;
use scrip_worker::jobs::async_actions::{NewAction, insert_action};
use scrip_worker::service::{self};
use scrip_worker::store::Store;
use scrip_worker::store::sql::{Sql, SqlValue};
use scrip_worker::store::sqlite::Sqlite;
use serde_json::{Value as Json, json};

const NOW: i64 = 1_772_323_200_000;

fn call(edge: &Edge, method: &str, target: &str, body: &Json, now_ms: i64) -> Json {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers = vec![("x-app-id".into(), "dev-app".into()), ("x-app-token".into(), "dev-token".into())];
    let body = if method == "GET" { Vec::new() } else { body.to_string().into_bytes() };
    let reply = edge.send(
        Request { method: method.into(), path: path.into(), query: query.into(), headers, body },
        now_ms,
        None,
    );
    let answer = serde_json::from_slice(&reply.body).unwrap_or(Json::Null);
    assert!(reply.status < 300, "{method} {target}: {} {answer}", reply.status);
    answer
}

#[test]
fn a_hundred_thousand_codes_are_created_during_redemptions() {
    let edge = Edge::new();
    let discount = json!({ "discount": { "type": "AMOUNT", "amount_off": 100 } });
    call(&edge, "POST", "/v1/vouchers/MEANWHILE", &discount, NOW);
    let campaign = json!({ "name": "Large", "vouchers_count": 100_000, "voucher": discount });
    call(&edge, "POST", "/v1/campaigns", &campaign, NOW);
    let redemption =
        json!({ "redeemables": [{ "object": "voucher", "id": "MEANWHILE" }], "order": { "amount": 1000 } });
    let (mut chunks, mut progress) = (0, 0);
    while edge.alarm("proj_dev", NOW) {
        chunks += 1;
        call(&edge, "POST", "/v1/redemptions", &redemption, NOW);
        let actions = call(&edge, "GET", "/v1/async-actions", &Json::Null, NOW);
        let now_at = actions["async_actions"][0]["progress"].as_i64().unwrap();
        assert!(now_at >= progress, "progress went from {progress} to {now_at}");
        progress = now_at;
    }
    assert!(chunks >= 50, "{chunks} chunks are too few to let a redemption through in between");
    assert_eq!(progress, 100);
    let shown = call(&edge, "GET", "/v1/campaigns/Large", &Json::Null, NOW);
    assert_eq!((&shown["vouchers_count"], &shown["creation_status"]), (&json!(100_000), &json!("DONE")));
    // The total counts rows, and codes are unique by the index, so that each code was made once.
    assert_eq!(call(&edge, "GET", "/v1/vouchers?campaign=Large&limit=1", &Json::Null, NOW)["total"], 100_000);
    let meanwhile = call(&edge, "GET", "/v1/vouchers/MEANWHILE", &Json::Null, NOW);
    assert_eq!(meanwhile["redemption"]["redeemed_quantity"], chunks);
}

/// Returns the number of vouchers of a campaign, or of all.
fn vouchers(edge: &Edge, of: &str) -> i64 {
    call(edge, "GET", &format!("/v1/vouchers?limit=1{of}"), &Json::Null, NOW)["total"].as_i64().unwrap()
}

#[test]
fn a_job_slice_stays_within_its_row_limit() {
    let edge = Edge::new();
    let step = |rows: u64| assert!(edge.alarm_of("proj_dev", NOW, rows), "there is work");
    let discount = json!({ "discount": { "type": "AMOUNT", "amount_off": 100 } });
    call(&edge, "POST", "/v1/campaigns", &json!({ "name": "C", "vouchers_count": 100, "voucher": discount }), NOW);
    for (rows, made) in [(40, 40), (0, 41), (50, 91), (50, 100)] {
        step(rows);
        assert_eq!(vouchers(&edge, "&campaign=C"), made, "after {rows} rows");
    }
    call(&edge, "PUT", "/v1/campaigns/C", &json!({ "expiration_date": "2030-01-01T00:00:00Z" }), NOW);
    step(60);
    let changed = call(&edge, "GET", "/v1/vouchers?campaign=C&limit=100", &Json::Null, NOW);
    let changed =
        changed["vouchers"].as_array().unwrap().iter().filter(|one| !one["expiration_date"].is_null()).count();
    assert_eq!(changed, 60);
    step(60);
    let named =
        |at: usize| json!({ "code": format!("I-{at}"), "discount": discount["discount"], "type": "DISCOUNT_VOUCHER" });
    let list: Vec<Json> = (0..450).map(named).collect();
    call(&edge, "POST", "/v1/vouchers/import", &Json::Array(list), NOW);
    // An item costs as much as ten rows, at least one is written, and a slice ends after it.
    for (rows, written) in [(40, 4), (1, 5), (1_000, 105), (2_000, 200), (2_000, 400), (2_000, 450)] {
        step(rows);
        assert_eq!(vouchers(&edge, ""), 100 + written, "after {rows} rows");
    }
    call(&edge, "DELETE", "/v1/campaigns/C", &Json::Null, NOW);
    step(30);
    let left = |edge: &Edge| edge.count("proj_dev", "SELECT COUNT(*) FROM document WHERE kind = 'voucher'");
    assert_eq!(left(&edge), 450 + 70);
    step(100);
    assert_eq!(left(&edge), 450);
}

#[test]
fn a_failing_job_ends_after_its_retries() {
    let sql = Sqlite::memory().unwrap();
    let context =
        |now_ms: i64| Context { now: Instant::from_millis(now_ms).unwrap(), seed: [1; 32], first_number: None };
    let mut store = Store::open(&sql, NOW).unwrap();
    let mut ids = scrip::id::Ids::new(&context(NOW));
    let (kind, broken) = ("CAMPAIGN.VOUCHERS_GENERATE", json!("no cursor"));
    let id = ids.hex18("aa_").to_string();
    let (owner, request_id) = ("dev-app", "v-1");
    let action = NewAction { id: &id, kind, cursor: &broken, owner, request_id, now_ms: NOW };
    insert_action(&mut store, action);
    store.flush().unwrap();
    let mut now_ms = NOW;
    for attempt in 1..=6 {
        assert!(sql.transaction(|sql| service::alarm(&mut Store::new(sql), &context(now_ms), 2_000)).is_err());
        let mut store = Store::new(&sql);
        service::record_alarm_failure(&mut store, &context(now_ms), "it broke").unwrap();
        assert_eq!(store.take_warnings(), [format!("the job {id} has failed {attempt} of 6 times")]);
        match store.alarm() {
            Some(next) if attempt < 6 => assert!(next > now_ms, "attempt {attempt} waits"),
            Some(next) => panic!("attempt {attempt} is followed by another at {next}"),
            None => assert_eq!(attempt, 6),
        }
        now_ms = store.alarm().unwrap_or(now_ms);
    }
    let rows = sql.run("SELECT body FROM document WHERE kind = 'async_action' AND id = ?1", &[id.into()]).unwrap();
    let [SqlValue::Text(body)] = rows[0].as_slice() else { panic!("one column of text") };
    let body: Json = serde_json::from_str(body).unwrap();
    assert_eq!((&body["status"], &body["operation_status"]), (&json!("FAILED"), &json!("FAILED")));
    assert_eq!(body["result"]["message"], "given up after 6 attempts: it broke");
}

#[test]
fn keys_take_turns_in_the_bulk_queue() {
    let edge = Edge::new();
    let ask = |headers: Vec<(String, String)>, path: &str, body: &Json| {
        let body = body.to_string().into_bytes();
        let request = Request { method: "POST".into(), path: path.into(), query: String::new(), headers, body };
        let reply = edge.send(request, NOW, None);
        let answer: Json = serde_json::from_slice(&reply.body).unwrap();
        assert!(reply.status < 300, "{path}: {} {answer}", reply.status);
        answer
    };
    let of_key = |id: &str, secret: &str| {
        vec![("x-app-id".to_owned(), id.to_owned()), ("x-app-token".to_owned(), secret.to_owned())]
    };
    let dora = || of_key("dora-app", "dora-token");
    let token = edge.send(
        Request {
            method: "POST".into(),
            path: "/v1/oauth/token".into(),
            query: "grant_type=client_credentials&scope=api".into(),
            headers: dora(),
            body: Vec::new(),
        },
        NOW,
        None,
    );
    let token: Json = serde_json::from_slice(&token.body).unwrap();
    let bearer = || vec![("authorization".to_owned(), format!("Bearer {}", token["access_token"].as_str().unwrap()))];
    let customers = |name: &str, count: usize| {
        json!((0..count).map(|place| json!({ "source_id": format!("{name}-{place}") })).collect::<Vec<_>>())
    };
    for place in 0..30 {
        ask(dora(), "/v1/customers/bulk/async", &customers(&format!("d{place}"), 20));
        ask(bearer(), "/v1/customers/bulk/async", &customers(&format!("t{place}"), 20));
        ask(dora(), "/v1/exports", &json!({ "exported_object": "voucher" }));
    }
    let started = ask(of_key("dev-app", "dev-token"), "/v1/customers/bulk/async", &customers("shop", 20));
    let id = started["async_action_id"].as_str().unwrap();
    let status = || call(&edge, "GET", &format!("/v1/async-actions/{id}"), &Json::Null, NOW)["status"].clone();
    // Ten items in a slice, and one that finds the end: three turns of this job, and as many of others before each.
    let mut pieces = 0;
    while status() != "DONE" {
        assert!(edge.alarm_of("proj_dev", NOW, 100), "there is work");
        pieces += 1;
    }
    assert!(pieces <= 8, "the shop's import waited for {pieces} pieces");
    while edge.alarm("proj_dev", NOW) {}
    assert_eq!(call(&edge, "GET", "/v1/customers?limit=1", &Json::Null, NOW)["total"], 1_220);
    assert_eq!(edge.count("proj_dev", "SELECT COUNT(*) FROM turn"), 1, "keys without work are forgotten");
}
