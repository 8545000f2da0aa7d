//! Tests of shares of keys for a failing webhook, and of a clock that was ahead.

use scrip::Context;
use scrip::time::Instant;
use scrip_worker::jobs::outbox::{DeliveryOutcome, DispatchBatch, DispatchReport, OF_KEY_MAX, catch_up, enqueue};
use scrip_worker::service;
use scrip_worker::store::Store;
use scrip_worker::store::document::Document;
use scrip_worker::store::sql::{self, Sql};
use scrip_worker::store::sqlite::Sqlite;
use scrip_worker::store::webhooks::outbox::{AT_ONCE, TOKEN, WEBHOOK, WebhookDelivery};
use serde_json::json;

const NOW: i64 = 1_772_323_200_000;

/// Inserts waiting deliveries of a key, each about its own entity, and returns the number of the last.
fn flood(sql: &Sqlite, cause: &str, count: i64) -> i64 {
    let statement = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
         INSERT INTO outbox (id, webhook, entity, type, body, created_at, attempts, cause, at)
         SELECT ?1 || i, 'wh_1', ?1 || (i / 2), 'x', '{}', 0, 0, ?1, CASE i % 2 WHEN 0 THEN 0 END FROM n";
    sql.run(statement, &[cause.into(), count.into()]).unwrap();
    number(sql, "SELECT MAX(seq) FROM outbox")
}

fn number(sql: &Sqlite, statement: &str) -> i64 {
    sql::int(sql.run(statement, &[]).unwrap().first().unwrap(), 0).unwrap()
}

fn put_webhook(store: &mut Store<'_>) {
    let webhook = json!({ "id": "wh_1", "active": true, "target_url": "https://shop.example/" });
    let body = webhook.as_object().cloned().unwrap();
    store.upsert(WEBHOOK, &Document::new("wh_1".into(), None, 0, body));
    store.upsert(
        "secret",
        &Document::new(TOKEN.into(), None, 0, json!({ "secret": "s" }).as_object().cloned().unwrap()),
    );
    store.flush().unwrap();
}

fn round_at(store: &mut Store<'_>, now_ms: i64, outcomes: Vec<DeliveryOutcome>) -> DispatchBatch {
    let context = Context { now: Instant::from_millis(now_ms).unwrap(), seed: [1; 32], first_number: None };
    service::deliveries(store, &context, &DispatchReport { outcomes, ..DispatchReport::default() }).unwrap()
}

fn seqs(round: &DispatchBatch) -> Vec<i64> {
    round.deliveries.iter().map(|delivery| delivery.seq).collect()
}

#[test]
fn deliveries_go_on_and_retries_keep_their_pauses_after_the_clock_was_set_back() {
    const HOUR: i64 = 3_600_000;
    let sql = Sqlite::memory().unwrap();
    let mut store = Store::open(&sql, NOW).unwrap();
    put_webhook(&mut store);
    let delivery = |id: &str, entity: &str| {
        let [id, entity] = [id, entity].map(str::to_owned);
        WebhookDelivery { id, webhook: "wh_1".into(), entity, event: "x", customer: None, body: "{}".into() }
    };
    let failed = |seq| vec![DeliveryOutcome { seq, status: Some(500), failure: None }];
    // The clock is an hour ahead: one delivery fails, and another waits for an earlier one of its entity.
    enqueue(&mut store, NOW + HOUR, "shop", vec![delivery("1", "a"), delivery("2", "b"), delivery("3", "b")]);
    store.flush().unwrap();
    round_at(&mut store, NOW + HOUR, failed(1));
    // The clock is right: deliveries without an attempt are due, and the next of the entity after its delivery.
    let right = round_at(&mut store, NOW, Vec::new());
    assert_eq!((seqs(&right), right.next), (vec![2], Some(NOW)));
    let next = round_at(&mut store, NOW, vec![DeliveryOutcome { seq: 2, status: Some(200), failure: None }]);
    assert_eq!(seqs(&next), [3]);
    let minute = |attempts: i64| {
        number(&sql, &format!("SELECT at FROM outbox WHERE seq = 1 AND attempts = {attempts}")).saturating_sub(NOW)
    };
    assert_eq!(minute(1), HOUR + 60_000);
    catch_up(&mut store, NOW).unwrap();
    assert_eq!(minute(1), 60_000, "a retry waits a minute, and not an hour");
    catch_up(&mut store, NOW).unwrap();
    assert_eq!(minute(1), 60_000);
    // Further retries follow the right clock.
    round_at(&mut store, NOW + 60_000, failed(1));
    assert_eq!(minute(2), 3 * 60_000);
    // The clock was set back by a year without notice: a retry beyond the maximum delay is due.
    round_at(&mut store, NOW + 8_760 * HOUR, failed(1));
    let right = round_at(&mut store, NOW, Vec::new());
    assert_eq!((seqs(&right), right.next), (vec![1, 3], Some(NOW)));
}

#[test]
fn retries_that_are_due_do_not_wait_behind_new_deliveries() {
    let sql = Sqlite::memory().unwrap();
    let mut store = Store::open(&sql, NOW).unwrap();
    put_webhook(&mut store);
    flood(&sql, "shop", 40);
    sql.run("UPDATE outbox SET at = ?1 - seq, attempts = 1 WHERE seq IN (30, 36)", &[NOW.into()]).unwrap();
    assert_eq!(seqs(&round_at(&mut store, NOW, Vec::new())), [36, 30, 2, 4, 6, 8]);
}

#[test]
fn a_key_that_floods_a_webhook_loses_its_own_oldest_deliveries_and_no_others() {
    let sql = Sqlite::memory().unwrap();
    let mut store = Store::open(&sql, NOW).unwrap();
    put_webhook(&mut store);
    let of_shop = flood(&sql, "shop", 10);
    let of_till = flood(&sql, "till", OF_KEY_MAX + 6);
    let mut failed = |seq| {
        let outcomes = vec![DeliveryOutcome { seq, status: Some(500), failure: None }];
        let context = Context { now: Instant::from_millis(NOW).unwrap(), seed: [1; 32], first_number: None };
        service::deliveries(
            &mut store,
            &context,
            &DispatchReport { outcomes, closing: true, ..DispatchReport::default() },
        )
        .unwrap();
    };
    failed(of_shop);
    let count = |cause: &str| number(&sql, &format!("SELECT COUNT(*) FROM outbox WHERE cause = '{cause}'"));
    assert_eq!((count("shop"), count("till")), (10, OF_KEY_MAX + 6));
    failed(of_till);
    assert_eq!((count("shop"), count("till")), (10, OF_KEY_MAX));
    assert_eq!(number(&sql, "SELECT COUNT(*) FROM outbox WHERE id IN ('till1', 'till6')"), 0);
    assert_eq!(number(&sql, "SELECT at FROM outbox WHERE id = 'till7'"), AT_ONCE, "what waited behind it is tried");
    assert_eq!(number(&sql, "SELECT COUNT(*) FROM outbox WHERE dead_at IS NOT NULL"), 0);
    let active = "SELECT body ->> 'active' FROM document WHERE kind = 'webhook'";
    assert_eq!(number(&sql, active), 1, "the webhook goes on");
}

#[test]
fn the_last_failure_of_a_delivery_ends_the_other_deliveries_of_its_webhook_in_the_same_report() {
    let sql = Sqlite::memory().unwrap();
    let mut store = Store::open(&sql, NOW).unwrap();
    put_webhook(&mut store);
    flood(&sql, "shop", 6);
    sql.run("UPDATE outbox SET attempts = 12 WHERE seq = 2", &[]).unwrap();
    let failed = |seq| DeliveryOutcome { seq, status: Some(500), failure: None };
    let next = round_at(&mut store, NOW, vec![failed(2), failed(4)]);
    assert_eq!((seqs(&next), next.next), (Vec::new(), None), "the webhook is not active any more");
    assert_eq!(number(&sql, "SELECT COUNT(*) FROM outbox WHERE dead_at IS NOT NULL"), 6);
    assert_eq!(number(&sql, "SELECT attempts FROM outbox WHERE seq = 4"), 0, "it is a dead letter already");
    assert_eq!(number(&sql, "SELECT body ->> 'active' FROM document WHERE kind = 'webhook'"), 0);
}
