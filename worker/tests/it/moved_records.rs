//! Tests that all answers are the same before, while and after the records of an earlier version move to their tables. Two shops get the same
//! calls with the same seeds; one is put back to the earlier version, and its records move in between.

use crate::in_process::Edge;
use scrip_worker::http::request::Request;
use scrip_worker::store::record_tables::RECORD_TABLES;
use serde_json::{Value as Json, json};
use std::cell::Cell;

const NOW: i64 = 1_772_323_200_000;
const PROJECT: &str = "proj_dev";
/// The statements that made the views of both tables.
const MIGRATION: &str = include_str!("../../src/store/migrations/0053_records.sql");

struct Shop {
    edge: Edge,
    calls: Cell<u64>,
}

impl Shop {
    fn open() -> Shop {
        let edge = Edge::new();
        edge.numbers_all.set(true);
        Shop { edge, calls: Cell::new(0) }
    }

    /// Calls with the next seed, a second later.
    fn call(&self, method: &str, path: &str, body: &Json) -> (u16, Json) {
        let call = self.calls.get() + 1;
        self.calls.set(call);
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let headers = vec![("x-app-id".into(), "dev-app".into()), ("x-app-token".into(), "dev-token".into())];
        let body = if method == "GET" { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&call.to_be_bytes());
        let reply = self.edge.send(request, NOW + i64::try_from(call).unwrap() * 1_000, Some(seed));
        assert!(reply.status < 500, "{method} {path}: {}", String::from_utf8_lossy(&reply.body));
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
    }

    /// Puts the records among the documents, in the order in which they were stored, and the schema back to the moment after its migration.
    fn put_back(&self) -> i64 {
        let run = |statement: &str| self.edge.run(PROJECT, statement, &[]);
        let tables: Vec<String> = RECORD_TABLES
            .iter()
            .map(|table| {
                format!(
                    "SELECT '{}' AS kind, seq, id, key, parent, holder, created_at, updated_at, body FROM {} WHERE seq >= 0",
                    table.kind, table.name
                )
            })
            .collect();
        run(&format!(
            "INSERT INTO document (kind, id, key, parent, holder, created_at, updated_at, body)
             SELECT kind, id, key, parent, holder, created_at, updated_at, body FROM ({}) ORDER BY seq",
            tables.join(" UNION ALL ")
        ));
        run(
            "UPDATE redemption_input SET seq = (SELECT seq FROM document WHERE kind = 'redemption' AND id = redemption_input.redemption)",
        );
        for table in RECORD_TABLES {
            run(&format!("DELETE FROM {} WHERE seq >= 0", table.name));
        }
        for paragraph in MIGRATION.split("\n\n").filter(|paragraph| paragraph.contains("CREATE VIEW every_")) {
            let statement: String =
                paragraph.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n");
            let name = statement.split_whitespace().nth(2).unwrap();
            run(&format!("DROP VIEW {name}"));
            run(statement.trim_end_matches(';'));
        }
        for index in [
            "event_type ON document (holder) WHERE kind = 'event'",
            "order_changed ON document (updated_at, created_at, seq) WHERE kind = 'order'",
            "order_counted ON document (holder, created_at, seq) WHERE kind = 'order'",
            "redemption_result ON document (json_extract(body, '$.result'), created_at, seq) WHERE kind = 'redemption'",
            "redemption_code ON document (json_extract(body, '$.voucher.code'), created_at, seq) WHERE kind = 'redemption'",
            "redemption_campaign ON document (parent) WHERE kind = 'redemption'",
            "document_failed ON document (created_at, seq) WHERE kind = 'redemption' AND (id GLOB 'rf_*' OR id GLOB 'rrf_*')",
        ] {
            run(&format!("CREATE INDEX {index}"));
        }
        run(
            "INSERT INTO due (id, at, kind, cursor, attempts, owner) VALUES ('MOVE_RECORDS', 0, 'MOVE_RECORDS', '', 0, '')",
        );
        self.edge.count(
            PROJECT,
            "SELECT COUNT(*) FROM document WHERE kind IN ('redemption', 'order', 'voucher_transaction', 'event')",
        )
    }

    fn is_moving(&self) -> bool {
        self.edge.count(PROJECT, "SELECT COUNT(*) FROM due WHERE id = 'MOVE_RECORDS'") == 1
    }
}

/// A call with the same answer from both shops.
fn both(shops: [&Shop; 2], method: &str, path: &str, body: &Json) -> Json {
    let [moving, other] = shops.map(|shop| shop.call(method, path, body));
    assert_eq!(moving, other, "{method} {path} {body}");
    moving.1
}

fn both_start(shops: [&Shop; 2]) {
    shops.iter().for_each(|shop| drop(shop.call("GET", "/v1/vouchers", &Json::Null)));
}

/// Gives both shops the same secrets.
fn share_secrets([moving, other]: [&Shop; 2]) {
    both_start([moving, other]);
    for row in moving.edge.run(PROJECT, "SELECT body, id FROM document WHERE kind = 'secret'", &[]) {
        other.edge.run(PROJECT, "UPDATE document SET body = ?1 WHERE kind = 'secret' AND id = ?2", &row);
    }
}

fn fill(shops: [&Shop; 2]) -> Vec<Json> {
    share_secrets(shops);
    let post = |path: &str, body: Json| both(shops, "POST", path, &body);
    let campaign = post(
        "/v1/campaigns",
        json!({ "name": "Spring", "campaign_type": "DISCOUNT_COUPONS",
        "voucher": { "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 100 }, "redemption": { "quantity": null } } }),
    );
    post(&format!("/v1/campaigns/{}/vouchers/SPRING", campaign["id"].as_str().unwrap()), json!({}));
    post("/v1/vouchers", json!({ "code": "GIFT", "type": "GIFT_VOUCHER", "gift": { "amount": 100_000 } }));
    post(
        "/v1/vouchers",
        json!({ "code": "ONCE", "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 5 },
        "redemption": { "quantity": 1 } }),
    );
    post("/v1/promotions/custom-events", json!({}));
    post("/v1/metadata-schemas", json!({}));
    let mut redeemed = Vec::new();
    for turn in 0..14 {
        let (customer, code) = (["ann", "bob"][turn % 2], ["SPRING", "GIFT", "ONCE"][turn % 3]);
        let redeemable = match code {
            "GIFT" => json!({ "object": "voucher", "id": code, "gift": { "credits": 50 + turn } }),
            _ => json!({ "object": "voucher", "id": code }),
        };
        let found = post(
            "/v1/redemptions",
            json!({ "redeemables": [redeemable], "customer": { "source_id": customer },
            "order": { "source_id": format!("o-{turn}"), "amount": 1_000 + turn } }),
        );
        redeemed.extend(found["redemptions"].get(0).cloned());
        post(
            "/v1/orders",
            json!({ "source_id": format!("paid-{turn}"), "status": "PAID", "amount": 700, "customer": { "source_id": customer } }),
        );
        post("/v1/vouchers/GIFT/balance", json!({ "amount": 10 }));
    }
    redeemed
}

/// All that shows records.
fn compare(shops: [&Shop; 2], redemption: &str) {
    for path in [
        "/v1/redemptions?limit=100",
        "/v1/redemptions?limit=5&page=2&order=created_at",
        "/v1/redemptions?result=FAILURE&limit=50",
        "/v1/redemptions?result=SUCCESS&limit=3&page=2",
        "/v1/redemptions?order=voucher_code&limit=100",
        "/v1/redemptions?customer=ann&limit=50",
        "/v1/redemptions?campaign=Spring&limit=50",
        "/v1/redemptions?created_at[after]=2026-03-01T00:00:20Z&limit=50",
        "/v1/orders?limit=100",
        "/v1/orders?order=updated_at&limit=7",
        "/v1/orders?order=-created_at&limit=7&page=3",
        "/v1/vouchers/SPRING/redemption",
        "/v1/vouchers/GIFT/transactions?limit=100",
        "/v1/vouchers/GIFT/transactions?limit=5&order=id",
        "/v1/vouchers/GIFT/redemptions?limit=50",
        "/v1/customers/ann/activity?limit=100",
        "/v1/customers/ann",
        "/v1/customers/bob",
        "/v1/orders/o-3",
        "/v1/orders/paid-2",
        "/v1/campaigns/Spring/summary",
    ] {
        both(shops, "GET", path, &Json::Null);
    }
    both(shops, "GET", &format!("/v1/redemptions/{redemption}"), &Json::Null);
}

/// Changes of what is old, of what has moved and of what is new.
fn change(shops: [&Shop; 2], turn: usize, redeemed: &[Json]) {
    let post = |path: &str, body: Json| both(shops, "POST", path, &body);
    both(
        shops,
        "PUT",
        &format!("/v1/orders/paid-{turn}"),
        &json!({ "metadata": { "turn": turn }, "status": "FULFILLED" }),
    );
    both(shops, "PUT", &format!("/v1/orders/o-{turn}"), &json!({ "source_id": format!("renamed-{turn}") }));
    post(
        "/v1/redemptions",
        json!({ "redeemables": [{ "object": "voucher", "id": "SPRING" }], "customer": { "source_id": "ann" },
        "order": { "source_id": format!("paid-{}", 13 - turn) } }),
    );
    if let Some(id) = redeemed.get(turn).and_then(|redemption| redemption["id"].as_str()) {
        post(&format!("/v1/redemptions/{id}/rollback"), json!({}));
        post(&format!("/v1/redemptions/{id}/rollback"), json!({}));
    }
    post(
        "/v1/orders",
        json!({ "source_id": format!("new-{turn}"), "status": "PAID", "amount": 10, "customer": { "source_id": "bob" } }),
    );
    post("/v1/vouchers/GIFT/balance", json!({ "amount": 1 }));
}

#[test]
fn answers_are_the_same_before_while_and_after_records_move() {
    for rows in [24, 24 * 7, 24 * 1_000] {
        let (moving, other) = (Shop::open(), Shop::open());
        let shops = [&moving, &other];
        let redeemed = fill(shops);
        let first = redeemed[0]["id"].as_str().unwrap().to_owned();
        let earlier = moving.put_back();
        assert!(earlier > 40, "{earlier} records");
        compare(shops, &first);
        let mut slices = 0;
        while moving.is_moving() {
            moving.edge.hasten(PROJECT);
            assert!(moving.edge.alarm_of(PROJECT, NOW, rows));
            slices += 1;
            if slices < 12 || slices % 16 == 0 {
                change(shops, slices % 14, &redeemed);
                compare(shops, &first);
            }
            if slices % 5 == 0 {
                moving.edge.reopen(PROJECT);
            }
        }
        compare(shops, &first);
        let left =
            "SELECT COUNT(*) FROM document WHERE kind IN ('redemption', 'order', 'voucher_transaction', 'event')";
        assert_eq!(moving.edge.count(PROJECT, left), 0);
        let own = i64::try_from(slices).unwrap();
        assert!(rows > 24 || own > earlier, "{slices} slices of {earlier} records");
    }
}

/// The digits of these ids are numbers: of the year 2027, of the past, and of no time at all.
#[test]
fn an_order_under_any_id_is_stored_once() {
    let shop = Shop::open();
    shop.call(
        "POST",
        "/v1/vouchers",
        &json!({ "code": "TEN", "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 10 } }),
    );
    let ids = ["ord_1a2658bf2000000005", "ord_10000000000000000a", "ord_ffffffffffffffffff", "mine"];
    for id in ids {
        let (status, made) = shop.call("POST", "/v1/orders", &json!({ "id": id, "amount": 100 }));
        assert_eq!((status, &made["id"]), (200, &json!(id)), "{made}");
        let redeems = json!({ "redeemables": [{ "object": "voucher", "id": "TEN" }], "order": { "id": id } });
        let (status, redeemed) = shop.call("POST", "/v1/redemptions", &redeems);
        assert_eq!((status, &redeemed["order"]["id"]), (200, &json!(id)), "{redeemed}");
        let (_, again) = shop.call("PUT", &format!("/v1/orders/{id}"), &json!({ "metadata": { "again": true } }));
        assert_eq!((&again["id"], &again["total_discount_amount"]), (&json!(id), &json!(10)), "{again}");
    }
    let (_, orders) = shop.call("GET", "/v1/orders?limit=100", &Json::Null);
    assert_eq!((&orders["total"], orders["orders"].as_array().map(Vec::len)), (&json!(ids.len()), Some(ids.len())));
}
