//! Tests that indexes of lists are made when a list of many documents first needs one, that its answers stay the same, and that an index
//! without use is dropped after 30 days.

use crate::in_process::Edge;
use scrip_worker::http::request::Request;
use scrip_worker::store::document_list::index::made_on_demand;
use serde_json::{Value as Json, json};
use std::cell::Cell;

const NOW: i64 = 1_772_323_200_000;
const DAY_MS: i64 = 86_400_000;
const PROJECT: &str = "proj_dev";

struct Shop {
    edge: Edge,
    now_ms: Cell<i64>,
}

impl Shop {
    fn open() -> Shop {
        Shop { edge: Edge::new(), now_ms: Cell::new(NOW) }
    }

    fn send(&self, method: &str, path: &str, body: &Json) -> (u16, Json) {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let headers = vec![("x-app-id".into(), "dev-app".into()), ("x-app-token".into(), "dev-token".into())];
        let body = if method == "GET" { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
        let reply = self.edge.send(request, self.now_ms.get(), None);
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
    }

    fn post(&self, path: &str, body: &Json) -> Json {
        self.now_ms.set(self.now_ms.get() + 1);
        let (status, answer) = self.send("POST", path, body);
        assert!(status < 300, "{path}: {answer}");
        answer
    }

    fn list(&self, path: &str) -> Json {
        let (status, answer) = self.send("GET", path, &Json::Null);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Runs the alarm until nothing is due.
    fn run_jobs(&self) {
        while self.edge.alarm(PROJECT, self.now_ms.get()) {}
    }

    /// Waits some days, one after the other.
    fn wait(&self, days: i64) {
        for _ in 0..days {
            self.now_ms.set(self.now_ms.get() + DAY_MS);
            self.run_jobs();
        }
    }

    /// The indexes on demand, which the schema has too.
    fn indexes(&self) -> Vec<String> {
        let names = |statement: &str| {
            let rows = self.edge.run(PROJECT, statement, &[]);
            rows.iter().map(|row| scrip_worker::store::sql::text(row, 0).unwrap().to_owned()).collect::<Vec<_>>()
        };
        let known = names("SELECT name FROM list_index ORDER BY name");
        assert_eq!(
            known,
            names(
                "SELECT name FROM sqlite_schema WHERE type = 'index' AND (name LIKE 'voucher!_%' ESCAPE '!' AND name NOT IN
                   ('voucher_campaign', 'voucher_visible') AND tbl_name = 'document'
                 OR name IN ('customer_city', 'customer_changed', 'orders_by_change', 'orders_by_age', 'redemption_by_result',
                   'redemption_by_code', 'redemption_by_age'))
                 ORDER BY name"
            )
        );
        known
    }
}

/// Creates a campaign with a number of codes.
fn create_codes(shop: &Shop, name: &str, count: u64, discount: u64) {
    let voucher = json!({ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": discount } });
    let campaign =
        json!({ "name": name, "campaign_type": "DISCOUNT_COUPONS", "vouchers_count": count, "voucher": voucher });
    shop.post("/v1/campaigns", &campaign);
    shop.run_jobs();
}

/// Lists of vouchers, each with the index that it needs among many documents.
const VOUCHER_LISTS: &[(&str, &str)] = &[
    ("/v1/vouchers?limit=20&order=-updated_at", "voucher_changed"),
    ("/v1/vouchers?limit=20&filters[type][conditions][$is]=GIFT_VOUCHER&filters[junction]=AND", "voucher_type"),
    ("/v1/vouchers?limit=20&category=news", "voucher_category"),
    (
        "/v1/vouchers?limit=20&filters[start_date][conditions][$after]=2026-04-01T00:00:00Z&filters[junction]=AND",
        "voucher_start",
    ),
    (
        "/v1/vouchers?limit=20&filters[expiration_date][conditions][$before]=2026-09-01T00:00:00Z&filters[junction]=AND",
        "voucher_end",
    ),
];

#[test]
fn a_list_of_many_vouchers_makes_the_index_that_it_needs() {
    let shop = Shop::open();
    for number in 0..25 {
        let gift = json!({ "type": "GIFT_VOUCHER", "gift": { "amount": 100 + number }, "category": if number % 2 == 0 { "news" } else { "old" },
            "start_date": format!("2026-0{}-01T00:00:00Z", 1 + number % 9), "expiration_date": format!("2027-0{}-01T00:00:00Z", 1 + number % 9) });
        shop.post(&format!("/v1/vouchers/GIFT-{number}"), &gift);
    }
    for number in 0..8 {
        shop.post(
            &format!("/v1/vouchers/SOON-{number}"),
            &json!({ "type": "GIFT_VOUCHER", "gift": { "amount": 1 }, "category": "news",
            "start_date": "2026-05-01T00:00:00Z", "expiration_date": format!("2026-08-{:02}T00:00:00Z", 10 + number) }),
        );
        let (status, _) = shop.send(
            "PUT",
            &format!("/v1/vouchers/SOON-{number}"),
            &json!({ "category": "news", "metadata": { "a": number } }),
        );
        assert_eq!(status, 200);
    }
    let few: Vec<Json> = VOUCHER_LISTS.iter().map(|(path, _)| shop.list(path)).collect();
    assert_eq!(shop.indexes(), [""; 0], "few documents need no index");
    create_codes(&shop, "Summer", 5_100, 100);
    for ((path, index), few) in VOUCHER_LISTS.iter().zip(&few) {
        assert!(!shop.indexes().contains(&(*index).to_owned()), "{index} before {path}");
        let many = shop.list(path);
        assert!(shop.indexes().contains(&(*index).to_owned()), "{index} after {path}");
        if *index == "voucher_changed" {
            assert_eq!(many["vouchers"].as_array().unwrap()[..8], few["vouchers"].as_array().unwrap()[..8]);
        } else {
            assert_eq!(&many, few, "{path}");
        }
        assert!(!few["vouchers"].as_array().unwrap().is_empty(), "{path}");
        assert_eq!(shop.list(path), many, "{path}, again");
    }
}

#[test]
fn an_index_of_a_list_is_dropped_30_days_after_its_last_use() {
    let shop = Shop::open();
    create_codes(&shop, "Summer", 5_100, 100);
    let list = |path: &str| shop.list(path)["total"].clone();
    let by_type = "/v1/vouchers?filters[type][conditions][$is]=DISCOUNT_VOUCHER&filters[junction]=AND";
    assert_eq!(list(by_type), 5_100);
    shop.list("/v1/vouchers?order=updated_at");
    assert_eq!(shop.indexes(), ["voucher_changed", "voucher_type"]);
    shop.wait(20);
    assert_eq!(list(by_type), 5_100);
    shop.wait(11);
    assert_eq!(shop.indexes(), ["voucher_type"], "it was used 11 days ago, the other one 31 days ago");
    shop.wait(20);
    assert_eq!(shop.indexes(), [""; 0]);
    assert_eq!(list(by_type), 5_100);
    assert_eq!(shop.indexes(), ["voucher_type"]);
}

#[test]
fn lists_of_many_redemptions_and_orders_make_the_indexes_that_they_need() {
    let shop = Shop::open();
    let codes: Vec<String> = (0..5).map(|number| format!("CODE-{number}")).collect();
    for code in &codes {
        let voucher = json!({ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 1 } });
        shop.post(&format!("/v1/vouchers/{code}"), &voucher);
    }
    let redeemables: Vec<Json> = codes.iter().map(|code| json!({ "object": "voucher", "id": code })).collect();
    let redeem = || shop.post("/v1/redemptions", &json!({ "redeemables": redeemables, "order": { "amount": 10_000 } }));
    redeem();
    let (status, _) = shop.send("POST", "/v1/vouchers/CODE-3/redemption", &json!({ "order": { "amount": -1 } }));
    assert_eq!(status, 400);
    shop.post(
        "/v1/redemptions",
        &json!({ "redeemables": [{ "object": "voucher", "id": "CODE-3" }], "order": { "amount": 500 } }),
    );
    let lists = [
        ("/v1/redemptions?limit=3&result=SUCCESS", "redemption_by_result"),
        ("/v1/redemptions?limit=3&order=-voucher_code", "redemption_by_code"),
        ("/v1/orders?limit=3&order=updated_at", "orders_by_change"),
        ("/v1/redemptions?limit=3&order=-id&created_at[after]=2026-02-28T00:00:00Z", "redemption_by_age"),
    ];
    for (path, _) in lists {
        shop.list(path);
    }
    assert_eq!(shop.indexes(), [""; 0]);
    for _ in 0..900 {
        redeem();
    }
    let orders: Vec<Json> =
        (0..5_000).map(|number| json!({ "source_id": format!("o-{number}"), "amount": number })).collect();
    for slice in orders.chunks(2_000) {
        shop.post("/v1/orders/import", &json!(slice));
    }
    shop.run_jobs();
    for (path, index) in lists {
        assert!(!shop.indexes().contains(&index.to_owned()), "{index} before {path}");
        let first = shop.list(path);
        assert!(shop.indexes().contains(&index.to_owned()), "{index} after {path}");
        assert_eq!(shop.list(path), first, "{path}");
        let name = first["data_ref"].as_str().unwrap();
        assert_eq!(first[name].as_array().unwrap().len(), 3, "{path}");
    }
    let export =
        shop.post("/v1/exports", &json!({ "exported_object": "order", "parameters": { "order": "created_at" } }));
    assert!(!shop.indexes().contains(&"orders_by_age".to_owned()));
    shop.run_jobs();
    assert!(shop.indexes().contains(&"orders_by_age".to_owned()), "the export of all orders makes it");
    assert_eq!(shop.list(&format!("/v1/exports/{}", export["id"].as_str().unwrap()))["status"], "DONE");
    let total = shop.list("/v1/redemptions?result=SUCCESS")["total"].as_u64().unwrap();
    assert_eq!(total, shop.list("/v1/redemptions")["total"].as_u64().unwrap());
}

#[test]
fn the_migration_names_each_index_on_demand() {
    let migration = include_str!("../../src/store/migrations/0054_list_indexes.sql");
    for index in made_on_demand() {
        assert!(migration.contains(&format!("'{}'", index.name)), "{}", index.name);
    }
}

#[test]
fn an_index_of_a_refused_list_is_dropped_too() {
    let shop = Shop::open();
    create_codes(&shop, "Summer", 45_000, 100);
    let refused =
        "/v1/vouchers?order=-updated_at&filters[type][conditions][$is_not]=GIFT_VOUCHER&filters[junction]=AND";
    let (status, answer) = shop.send("GET", refused, &Json::Null);
    assert_eq!((status, answer["key"].as_str()), (400, Some("request_too_complex")), "{answer}");
    assert_eq!(shop.indexes(), ["voucher_changed"]);
    // Nothing else waits for the sweep.
    shop.edge.run(PROJECT, "DELETE FROM due", &[]);
    shop.edge.reopen(PROJECT);
    shop.list("/v1/vouchers?limit=1");
    assert_eq!(shop.edge.count(PROJECT, "SELECT COUNT(*) FROM due WHERE id = 'sweep'"), 1);
    shop.wait(31);
    assert_eq!(shop.indexes(), [""; 0]);
}

#[test]
fn a_list_of_few_large_documents_makes_the_index_without_which_it_would_be_refused() {
    let shop = Shop::open();
    let metadata = json!({ "why": "x".repeat(15_000), "how": "y".repeat(15_000) });
    for number in 0..1_400 {
        let gift = json!({ "type": "GIFT_VOUCHER", "gift": { "amount": 1 }, "metadata": metadata,
            "category": if number == 0 { "news" } else { "old" } });
        shop.post(&format!("/v1/vouchers/GIFT-{number}"), &gift);
    }
    assert_eq!(shop.list("/v1/vouchers?category=news")["total"], 1, "one condition would read 42 MB of documents");
    assert_eq!(shop.indexes(), ["voucher_category"]);
}
