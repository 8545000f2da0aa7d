//! Tests for how many days inputs of redemptions are kept, and that a changed number reaches the project.

use super::shop::{DAY, Shop, id_of, json_of};
use serde_json::{Value as Json, json};

const HOUR: i64 = 3_600_000;

fn redemption_of(code: &str) -> Json {
    json!({ "redeemables": [{ "object": "voucher", "id": code }], "order": { "amount": 1000 } })
}

fn redeem_new(shop: &Shop, code: &str) {
    shop.voucher(code, 10);
    shop.call("POST /v1/redemptions", &redemption_of(code));
}

#[test]
fn inputs_are_deleted_after_their_days_and_earlier_where_the_number_falls() {
    let shop = Shop::new(30);
    let redeem = |code: &str| redeem_new(&shop, code);
    let start = shop.now.get();
    redeem("A");
    shop.now.set(start + 10 * DAY);
    redeem("B");
    shop.sweep(start + 20 * DAY);
    assert_eq!(shop.inputs(), 2);
    shop.sweep(start + 31 * DAY);
    assert_eq!(shop.inputs(), 1, "the first is older than its days");
    redeem("C");
    assert_eq!(shop.inputs(), 2);
    let project = format!("PUT /management/v1/projects/{}", shop.project);
    shop.call(&project, &json!({ "replay_days": 5 }));
    shop.sweep(shop.now.get() + 1_000);
    assert_eq!(shop.inputs(), 1, "a lower number deletes at once");
    shop.call(&project, &json!({ "replay_days": 0 }));
    shop.sweep(shop.now.get() + 1_000);
    assert_eq!(shop.inputs(), 0);
    assert_eq!(shop.count("SELECT COUNT(*) FROM redemption_input"), 0);
}

/// The notice of a change is sent once and may be lost, and a setup sends none: the next call brings the setting.
#[test]
fn a_call_brings_a_changed_number_of_days() {
    let shop = Shop::new(30);
    let redeem = |code: &str| redeem_new(&shop, code);
    let swept_after = |wait: i64| {
        shop.sweep(shop.now.get() + wait);
        shop.inputs()
    };
    shop.edge.loses_notices.set(true);
    redeem("A");
    shop.now.set(shop.now.get() + 10 * DAY);
    redeem("B");
    shop.set_days(5);
    shop.call("GET /v1/vouchers/A", &Json::Null);
    assert_eq!(swept_after(1_000), 1, "the first is older than five days");
    redeem("C");
    shop.set_days(0);
    assert_eq!(swept_after(2 * HOUR), 2, "nothing has brought it");
    // The alarm that the sweep above has forced.
    while shop.edge.alarm(&shop.project, shop.now.get()) {}
    assert_eq!(shop.send("GET /v1/vouchers/UNKNOWN", "").status, 404);
    while shop.edge.alarm(&shop.project, shop.now.get() + 1_000) {}
    assert_eq!(shop.inputs(), 0, "a refused call brings it too, and sets the alarm of the sweep");
}

/// A project that turns the replay off keeps no input from its next redemption on, and shows none, also where an entry still has the
/// former setting.
#[test]
fn the_first_redemption_brings_the_end_of_replays() {
    for late_call in ["redemption", "replay"] {
        let shop = Shop::new(30);
        ["A", "B", "C"].iter().for_each(|code| shop.voucher(code, 10));
        let id = id_of(&shop.send("POST /v1/redemptions", &redemption_of("A").to_string()));
        shop.edge.loses_notices.set(true);
        let late = match late_call {
            "redemption" => shop.request("POST /v1/redemptions", &redemption_of("C").to_string()),
            _ => shop.request(&format!("POST /v1/redemptions/{id}/replay"), "{}"),
        };
        let reply = shop.edge.send_with_former_keys(late, shop.now.get() + 20, || {
            shop.set_days(0);
            shop.call("POST /v1/redemptions", &redemption_of("B"));
        });
        let refused = (409, json!("replay_not_kept"));
        assert_eq!(
            (reply.status, json_of(&reply)["key"].clone()),
            if late_call == "replay" { refused } else { (200, Json::Null) }
        );
        assert_eq!(shop.inputs(), 1, "{late_call}: the first until the sweep");
        shop.sweep(shop.now.get() + 1_000);
        assert_eq!(shop.inputs(), 0, "{late_call}");
    }
}

/// A setting that a failed call brought is undone with it, and is not taken for stored.
#[test]
fn a_call_after_a_failed_one_brings_the_number_of_days() {
    let shop = Shop::new(30);
    ["A", "B"].iter().for_each(|code| shop.voucher(code, 10));
    shop.call("POST /v1/redemptions", &redemption_of("A"));
    shop.edge.loses_notices.set(true);
    shop.set_days(0);
    let mut failing = shop.request("POST /v1/redemptions", &redemption_of("B").to_string());
    failing.headers.push(("scrip-test-fault".into(), "sql".into()));
    assert_eq!(shop.edge.send(failing, shop.now.get(), None).status, 500);
    shop.call("POST /v1/redemptions", &redemption_of("B"));
    shop.sweep(shop.now.get() + 1_000);
    assert_eq!(shop.inputs(), 0);
}

/// A call after the start of an object that others may end early: it brings the setting too.
#[test]
fn the_first_event_after_a_start_brings_the_number_of_days() {
    for event in ["refused", "repeated", "webhook secret", "demand"] {
        let shop = Shop::new(30);
        shop.voucher("A", 10);
        let redeem = || {
            let mut request = shop.request("POST /v1/redemptions", &redemption_of("A").to_string());
            request.headers.push(("idempotency-key".into(), "once".into()));
            shop.edge.send(request, shop.now.get(), None)
        };
        assert_eq!(redeem().status, 200);
        shop.edge.loses_notices.set(true);
        shop.set_days(0);
        shop.edge.reopen(&shop.project);
        match event {
            "refused" => assert_eq!(shop.send("GET /v1/vouchers/UNKNOWN", "").status, 404),
            "repeated" => assert_eq!(redeem().status, 200),
            "demand" => shop.edge.demand_bundle(&shop.request("GET /client/v1/bundle", ""), shop.now.get()),
            _ => drop(shop.call(&format!("POST /management/v1/projects/{}/webhook-token", shop.project), &json!({}))),
        }
        shop.sweep(shop.now.get() + 1_000);
        assert_eq!(shop.inputs(), 0, "{event}");
    }
}

/// For a minute another entry has the former setting: it neither keeps an input by it nor undoes the reduction.
#[test]
fn a_former_number_of_days_does_not_count() {
    for days in [0, 5] {
        let shop = Shop::new(30);
        ["A", "B", "C"].iter().for_each(|code| shop.voucher(code, 10));
        shop.call("POST /v1/redemptions", &redemption_of("A"));
        shop.now.set(shop.now.get() + 6 * DAY);
        shop.call("GET /v1/vouchers/A", &Json::Null);
        let late = shop.request("POST /v1/redemptions", &redemption_of("B").to_string());
        let reply = shop.edge.send_with_former_keys(late, shop.now.get() + 20, || shop.set_days(days));
        assert_eq!(reply.status, 200);
        let at_once = shop.now.get() + 1_000;
        shop.sweep(at_once);
        assert_eq!(shop.inputs(), i64::from(days > 0), "the first is older than {days} days");
        shop.sweep(at_once + 7 * DAY);
        assert_eq!(shop.inputs(), 0, "the second too");
    }
}
