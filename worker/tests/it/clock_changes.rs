//! Tests a machine clock that is ahead for a while and is then corrected. Work that is due continues at once, and nothing is deleted or
//! expires before its time by the corrected clock.

use crate::in_process::Edge;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};

const NOW: i64 = 1_772_323_200_000;
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// A project whose requests state their instant.
struct Shop(Edge);

impl Shop {
    fn ask(&self, now_ms: i64, call: &str, body: &Json, key: Option<&str>) -> (u16, Json) {
        let (method, path) = call.split_once(' ').unwrap();
        let sent = [
            Some(("x-app-id", "dev-app")),
            Some(("x-app-token", "dev-token")),
            key.map(|key| ("idempotency-key", key)),
        ];
        let headers = sent.into_iter().flatten().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request { method: method.into(), path: path.into(), query: String::new(), headers, body };
        let reply = self.0.send(request, now_ms, None);
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
    }

    fn call(&self, now_ms: i64, call: &str, body: &Json) -> Json {
        let (status, answer) = self.ask(now_ms, call, body, None);
        assert!(status < 300, "{call}: {status} {answer}");
        answer
    }

    /// Runs the work that is due at an instant.
    fn alarms(&self, now_ms: i64) {
        let mut events = 0;
        while self.0.alarm("proj_dev", now_ms) {
            events += 1;
            assert!(events < 1_000, "the alarm does not come to rest");
        }
    }

    fn count(&self, statement: &str) -> i64 {
        self.0.count("proj_dev", statement)
    }

    /// A code, a loyalty card whose points last a month, and a sweep that is due before [`NOW`].
    fn new() -> Shop {
        let shop = Shop(Edge::new());
        let begun = NOW - 3 * HOUR;
        let code = json!({ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 1 }, "redemption": { "quantity": 2 } });
        shop.call(begun, "POST /v1/vouchers/TWO", &code);
        let card = json!({ "points": 0, "expiration_rules": { "period_type": "MONTH", "period_value": 1 } });
        let config = json!({ "pattern": "CARD-#", "charset": "1" });
        let club =
            json!({ "name": "Club", "vouchers_count": 1, "voucher": { "loyalty_card": card, "code_config": config } });
        shop.call(begun, "POST /v1/loyalties", &club);
        shop.alarms(begun);
        let member = json!({ "voucher": "CARD-1", "customer": { "source_id": "ann" } });
        shop.call(begun, "POST /v1/loyalties/Club/members", &member);
        shop.ask(begun, "POST /v1/vouchers/TWO/redemption", &json!({}), Some("before"));
        shop
    }
}

#[test]
fn queued_work_continues_and_nothing_expires_early() {
    for ahead in [HOUR, DAY, 366 * DAY] {
        for is_reopened in [false, true] {
            let shop = Shop::new();
            let list: Vec<Json> = (0..250).map(|place| json!({ "source_id": format!("c{place}") })).collect();
            let started = shop.call(NOW + ahead, "POST /v1/customers/bulk/async", &Json::Array(list));
            // The clock is right again.
            if is_reopened {
                shop.0.reopen("proj_dev");
            } else {
                shop.0.hasten("proj_dev");
            }
            let lock = json!({ "redeemables": [{ "object": "voucher", "id": "TWO" }], "order": { "amount": 100 },
                "session": { "type": "LOCK", "ttl": 30, "ttl_unit": "MINUTES" } });
            assert_eq!(shop.call(NOW, "POST /v1/validations", &lock)["valid"], true);
            shop.call(NOW, "POST /v1/loyalties/Club/members/CARD-1/balance", &json!({ "points": 70 }));
            let expirations = "SELECT COUNT(*) FROM due WHERE kind = 'VOUCHERS.POINTS_LAPSE'";
            assert_eq!(shop.count(expirations), 1, "the points lapse one day");
            shop.alarms(NOW);
            let action = format!("GET /v1/async-actions/{}", started["async_action_id"].as_str().unwrap());
            assert_eq!(
                shop.call(NOW, &action, &Json::Null)["status"],
                "DONE",
                "{ahead} ms ahead, reopened: {is_reopened}"
            );
            assert_eq!(shop.count("SELECT COUNT(*) FROM hold"), 1, "the lock holds");
            let redemption = shop.ask(NOW, "POST /v1/vouchers/TWO/redemption", &json!({}), None);
            assert_eq!(redemption.0, 400, "what is locked is not sold: {}", redemption.1);
            let (status, again) = shop.ask(NOW, "POST /v1/vouchers/TWO/redemption", &json!({}), Some("before"));
            assert_eq!((status, &again["result"]), (200, &json!("SUCCESS")), "the answer is kept");
            assert_eq!(shop.count("SELECT COUNT(*) FROM redemption WHERE body ->> 'result' = 'SUCCESS'"), 1);
            let card = shop.call(NOW + 29 * DAY, "GET /v1/vouchers/CARD-1", &Json::Null);
            assert_eq!(card["loyalty_card"]["balance"], 70, "{ahead} ms ahead: {card}");
            // It is due at its instant by the corrected clock.
            shop.alarms(NOW + 40 * DAY);
            assert_eq!(shop.count("SELECT COUNT(*) FROM hold"), 0);
            assert_eq!(shop.count(expirations), 0, "the points have lapsed");
        }
    }
}

#[test]
fn a_retry_delayed_by_a_clock_ahead_waits_at_most_a_pause() {
    let shop = Shop::new();
    let started = shop.call(NOW + DAY, "POST /v1/customers/bulk/async", &json!([{ "source_id": "ann" }]));
    shop.0.run("proj_dev", "UPDATE due SET at = ?1, attempts = 1 WHERE owner <> ''", &[(NOW + DAY + 2_000).into()]);
    let status = |now_ms: i64| {
        let action = format!("GET /v1/async-actions/{}", started["async_action_id"].as_str().unwrap());
        shop.call(now_ms, &action, &Json::Null)["status"].clone()
    };
    shop.0.run("proj_dev", "UPDATE due SET at = ?1 WHERE owner <> ''", &[(NOW + 2_000).into()]);
    shop.0.hasten("proj_dev");
    shop.alarms(NOW);
    assert_eq!(status(NOW), "IN_PROGRESS", "a pause is not over");
    shop.0.run("proj_dev", "UPDATE due SET at = ?1 WHERE owner <> ''", &[(NOW + DAY + 2_000).into()]);
    shop.0.reopen("proj_dev");
    shop.call(NOW, "GET /v1/customers/ann", &Json::Null);
    shop.alarms(NOW);
    assert_eq!(status(NOW), "DONE");
}

#[test]
fn a_clock_a_year_ahead_delays_no_sweep_and_no_retry() {
    let shop = Shop::new();
    let year = NOW + 366 * DAY;
    let at = |kind: &str| shop.count(&format!("SELECT at FROM due WHERE kind = '{kind}'")) - NOW;
    shop.call(NOW, "POST /v1/loyalties/Club/members/CARD-1/balance", &json!({ "points": 70 }));
    let expirations = at("VOUCHERS.POINTS_LAPSE");
    assert!(expirations > 27 * DAY);
    let put_off = |attempts: i64| {
        let statement = "UPDATE due SET at = ?1, attempts = ?2 WHERE owner = '' AND (kind = 'SWEEP' OR ?2 > 0)";
        shop.0.run("proj_dev", statement, &[year.into(), attempts.into()]);
    };
    // The correction was not noticed: the next object with a keeping time of a day schedules the retention sweep again.
    put_off(0);
    shop.ask(NOW, "POST /v1/vouchers/TWO/redemption", &json!({}), Some("after"));
    assert_eq!(at("SWEEP"), HOUR);
    // The correction was noticed: the sweep and retries are due now, and work with its own instant is still due then.
    put_off(0);
    shop.0.catch_up("proj_dev", NOW);
    assert_eq!((at("SWEEP"), at("VOUCHERS.POINTS_LAPSE")), (0, expirations));
    put_off(1);
    shop.0.catch_up("proj_dev", NOW);
    assert_eq!((at("SWEEP"), at("VOUCHERS.POINTS_LAPSE")), (0, 0));
    shop.alarms(NOW);
    assert_eq!(at("VOUCHERS.POINTS_LAPSE"), expirations, "there was nothing to do");
    assert!(at("SWEEP") > 0);
}
