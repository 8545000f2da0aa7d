//! Tests the goods of the bundle: that its buckets answer as the catalogue does, that a change rebuilds its buckets alone, and that a large
//! catalogue is built in slices.

mod sets;

use crate::bundle::{Bundle, claims_of, prove_bucket};
use crate::caller;
use crate::statement_counter::Counting;
use scrip::Context;
use scrip::facts::{Facts, Known};
use scrip::time::Instant;
use scrip_worker::domain::bundle::build_job::DEMAND_PATH;
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::service;
use scrip_worker::store::Store;
use scrip_worker::store::sql::{Sql, SqlValue, int};
use serde_json::{Value as Json, json};
use sets::NamedSets;
use std::cell::Cell;

const NOW: i64 = 1_772_323_200_000;

struct Shop {
    sql: Counting,
    at: Cell<i64>,
}

impl Shop {
    fn new() -> Shop {
        let shop = Shop { sql: Counting::new(), at: Cell::new(NOW) };
        service::queue_metrics(&mut Store::open(&shop.sql, NOW).unwrap(), &shop.context()).unwrap();
        shop.ask();
        shop
    }

    fn context(&self) -> Context {
        self.at.set(self.at.get() + 2_000);
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&self.at.get().to_be_bytes());
        Context { now: Instant::from_millis(self.at.get()).unwrap(), seed, first_number: None }
    }

    fn send(&self, class: &str, call: &str, body: &Json) -> Reply {
        let (method, path) = call.split_once(' ').unwrap();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let (name, text) = caller::server();
        let mut caller: Json = serde_json::from_str(&text).unwrap();
        caller["class"] = class.into();
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let headers = vec![(name, caller.to_string()), ("scrip-test-now".into(), self.at.get().to_string())];
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
        service::serve(&request, &mut Store::new(&self.sql), &self.context()).unwrap()
    }

    fn make(&self, call: &str, body: Json) -> Json {
        let reply = self.send("server", call, &body);
        assert!(reply.status < 300, "{call}: {}", String::from_utf8_lossy(&reply.body));
        serde_json::from_slice(&reply.body).unwrap_or_default()
    }

    fn head(&self) -> Vec<u8> {
        let head = self.send("client", "GET /client/v1/bundle", &Json::Null);
        assert_eq!(head.status, 200, "{}", String::from_utf8_lossy(&head.body));
        head.body
    }

    fn part(&self, path: &str) -> Vec<u8> {
        let part = self.send("bundle", &format!("GET {path}"), &Json::Null);
        assert_eq!(part.status, 200, "{path}");
        part.body
    }

    /// Returns the bundle after the job.
    fn bundle(&self) -> Bundle {
        self.build(2_000);
        Bundle::of(&self.head(), |path| self.part(path))
    }

    fn run(&self, statement: &str, params: &[SqlValue]) -> Vec<Vec<SqlValue>> {
        self.sql.run(statement, params).unwrap()
    }

    fn count(&self, statement: &str) -> i64 {
        int(&self.run(statement, &[])[0], 0).unwrap()
    }

    /// Stores so many products without a call, each with a SKU.
    fn fill(&self, products: u32) {
        let insert = |kind: &str, body: &str, parent: &str| {
            let statement = format!(
                "WITH RECURSIVE n (v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < {products})
                 INSERT INTO document (kind, id, key, parent, created_at, body)
                 SELECT '{kind}', '{kind}_' || v, '{kind}-' || v, {parent}, 0, replace('{body}', '#', v) FROM n"
            );
            self.run(&statement, &[]);
        };
        let product = r##"{"id":"product_#","source_id":"product-#","name":"Product number #","price":1#,"metadata":{"brand":"Loom"},"object":"product"}"##;
        insert("product", product, "NULL");
        let sku = r##"{"id":"sku_#","source_id":"sku-#","sku":"Size L of #","product_id":"product_#","price":2#,"metadata":{},"object":"sku"}"##;
        insert("sku", sku, "'product_' || v");
    }

    /// Informs the object as the entry does for a request of a client.
    fn ask(&self) {
        assert_eq!(self.send("server", &format!("PUT {DEMAND_PATH}"), &json!({ "is_missing": true })).status, 204);
    }

    /// Runs slices of the job until the goods are up to date; returns how many there were, and the most steps of
    /// SQLite's machine that one had.
    fn build(&self, rows: u64) -> (u32, u64) {
        let mut most = 0;
        for slices in 0..20_000 {
            let due = "SELECT EXISTS (SELECT 1 FROM due WHERE id = 'BUNDLE' AND at <= ?1)";
            if int(&self.run(due, &[self.at.get().into()])[0], 0).unwrap() == 0 {
                return (slices, most);
            }
            let context = self.context();
            self.sql.take_steps();
            service::alarm(&mut Store::new(&self.sql), &context, rows).unwrap();
            most = most.max(self.sql.take_steps());
        }
        panic!("the job has no end")
    }
}

/// The same numbers for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(bound)).unwrap()
    }
}

#[test]
fn more_than_a_thousand_products_are_decided_finally() {
    let shop = Shop::new();
    shop.fill(1_001);
    shop.make("POST /v1/campaigns", json!({ "name": "Sale", "campaign_type": "PROMOTION" }));
    let tier = shop.make(
        "POST /v1/promotions/Sale/tiers",
        json!({ "name": "t", "action": { "discount": { "type": "PERCENT", "percent_off": 10 } } }),
    );
    let bundle = shop.bundle();
    assert_eq!(bundle.claims["left_out"], json!([]));
    assert!(bundle.claims["goods"]["buckets"].as_u64().unwrap() >= 16);
    let prepared = bundle.prepare();
    let ask = |item: Json| -> Json {
        let request =
            json!({ "redeemables": [{ "object": "promotion_tier", "id": tier["id"] }], "order": { "items": [item] } });
        let now = Instant::from_millis(shop.at.get()).unwrap();
        let answer =
            prepared.validate(request.to_string().as_bytes(), &Context { now, seed: [7; 32], first_number: None });
        serde_json::from_slice(&answer.body).unwrap()
    };
    let known = ask(json!({ "source_id": "product-1000", "related_object": "product", "quantity": 1 }));
    assert_eq!((&known["missing"], &known["order"]["amount"]), (&Json::Null, &json!(11_000)));
    let sku = ask(json!({ "sku_id": "sku_7", "quantity": 1 }));
    assert_eq!(
        (&sku["missing"], &sku["order"]["items"][0]["product"]["name"]),
        (&Json::Null, &json!("Product number 7"))
    );
    let absent = ask(json!({ "product_id": "unlisted", "quantity": 1, "price": 500 }));
    assert_eq!((&absent["missing"], &absent["order"]["total_amount"]), (&Json::Null, &json!(450)));
}

/// Returns the goods that a name finds, in the store as a decision does.
fn stored(shop: &Shop, kind: &str, name: &str) -> Option<Json> {
    let store = Store::new(&shop.sql);
    store.stored_by_name(kind, name, name).unwrap().map(|found| serde_json::from_str(&found.text).unwrap())
}

#[test]
fn ten_thousand_look_ups_equal_the_catalogue() {
    let shop = Shop::new();
    shop.fill(2_000);
    // Names that are the id of one and the source_id of another.
    for number in 1..200 {
        let statement =
            "UPDATE document SET key = ?3, body = json_set(body, '$.source_id', ?3) WHERE kind = ?1 AND id = ?2";
        for (kind, other) in [("product", number + 400), ("sku", number + 300)] {
            let params = [kind.to_owned(), format!("{kind}_{number}"), format!("{kind}_{other}")];
            shop.run(statement, &params.map(SqlValue::from));
        }
    }
    let brands = "UPDATE document SET body = json_set(body, '$.metadata.brand', CASE seq % 3 WHEN 0 THEN 'Loom' WHEN 1 THEN 'Oak' ELSE 'Reef' END)
         WHERE kind IN ('product', 'sku') AND seq % 4 > 0";
    shop.run(brands, &[]);
    shop.run(
        "UPDATE document SET body = json_remove(body, '$.metadata.brand') WHERE kind = 'product' AND seq % 4 = 0",
        &[],
    );
    let sets = NamedSets::make(&shop);
    let mut numbers = Numbers(5);
    let mut counts = [[0_u32; 3]; 3];
    for round in 0..4 {
        let bundle = shop.bundle();
        let prepared = bundle.prepare();
        for _ in 0..2_500 {
            let (number, kind) = (numbers.below(2_100), ["product", "sku"][numbers.below(2) as usize]);
            let name = format!("{kind}{}{number}", ["_", "-", "."][numbers.below(3) as usize]);
            let found = if kind == "sku" { prepared.facts().sku(&name) } else { prepared.facts().product(&name) };
            let own = match found {
                Known::Is(goods) => {
                    let known = goods.sets.as_ref().unwrap();
                    let states = [sets.loom, sets.listed, sets.not_oak].map(|number| known.state(number));
                    Some((goods.id.as_ref().unwrap().to_string(), states))
                }
                Known::Absent => None,
                Known::Unknown | Known::Unreadable => panic!("{kind} {name} is unknown"),
            };
            let stored = stored(&shop, kind, &name);
            let plain = stored.map(|stored| (stored["id"].as_str().unwrap().to_owned(), sets.plain(kind, &stored)));
            assert_eq!(own, plain, "{kind} {name}");
            for (state, counts) in own.into_iter().flat_map(|(_, states)| states).zip(&mut counts) {
                counts[match state {
                    Some(true) => 0,
                    Some(false) => 1,
                    None => 2,
                }] += 1;
            }
        }
        let (tree, root) = (bundle.claims["goods"].clone(), "UPDATE goods_tree SET shown = 'other'");
        // What the changes made of the tree is what a whole build makes of the documents.
        shop.run(root, &[]);
        shop.run("UPDATE due SET at = 0 WHERE id = 'BUNDLE'", &[]);
        shop.run("UPDATE bundle_head SET revision = 'another'", &[]);
        assert_eq!(shop.bundle().claims["goods"], tree, "{round}");
        for _ in 0..40 {
            change(&shop, &mut numbers);
        }
    }
    let [loom, listed, [met, unmet, without]] = counts;
    assert!(
        [loom[0], loom[2], listed[0], listed[2], met, unmet, without].iter().all(|count| *count > 100),
        "{counts:?}"
    );
}

fn change(shop: &Shop, numbers: &mut Numbers) {
    let kind = ["product", "sku"][numbers.below(2) as usize];
    let id = SqlValue::from(format!("{kind}_{}", numbers.below(2_000) + 1));
    match numbers.below(5) {
        0 => _ = shop.run("DELETE FROM document WHERE kind = ?1 AND id = ?2", &[kind.into(), id]),
        1 => {
            let name = SqlValue::from(format!("{kind}-new-{}", numbers.below(1_000_000)));
            let statement =
                "UPDATE document SET key = ?3, body = json_set(body, '$.source_id', ?3) WHERE kind = ?1 AND id = ?2";
            shop.run(statement, &[kind.into(), id, name]);
        }
        2 => {
            let id = format!("{kind}_{}", numbers.below(1_000_000) + 5_000);
            let body = json!({ "id": id, "name": "New", "object": kind }).to_string();
            let statement =
                "INSERT INTO document (kind, id, created_at, body) VALUES (?1, ?2, 0, ?3) ON CONFLICT DO NOTHING";
            shop.run(statement, &[kind.into(), id.into(), body.into()]);
        }
        3 => {
            let brand = ["Loom", "Oak", "Reef"][numbers.below(3) as usize];
            let statement =
                "UPDATE document SET body = json_set(body, '$.metadata.brand', ?3) WHERE kind = ?1 AND id = ?2";
            shop.run(statement, &[kind.into(), id, brand.into()]);
        }
        _ => {
            let statement = "UPDATE document SET body = json_set(body, '$.price', ?3) WHERE kind = ?1 AND id = ?2";
            shop.run(statement, &[kind.into(), id, SqlValue::from(i64::from(numbers.below(9_000)))]);
        }
    }
}

#[test]
fn a_changed_price_rebuilds_its_buckets_and_pages_alone() {
    let shop = Shop::new();
    shop.fill(3_000);
    let before = shop.bundle();
    assert_eq!(before.claims["goods"]["buckets"], 128);
    let parts = "SELECT count(*) FROM bundle_part WHERE is_goods = 1";
    // The buckets, two pages of 64, and the page above them.
    assert_eq!(shop.count(parts), 128 + 2 + 1);
    shop.make("PUT /v1/products/product_77", json!({ "price": 5 }));
    let after = shop.bundle();
    assert_ne!(before.claims["goods"]["root"], after.claims["goods"]["root"]);
    assert_eq!(before.claims["core"], after.claims["core"], "no offer names it");
    let changed: Vec<usize> = (0..128).filter(|bucket| before.buckets[*bucket] != after.buckets[*bucket]).collect();
    assert!(changed.len() <= 2, "{changed:?}");
    assert!(shop.count(parts) - (128 + 3) <= 2 + 2 + 1);
    assert_eq!(after.goods()["products"].as_array().unwrap().len(), 3_000);
    // A change that no client may see changes neither.
    shop.make("PUT /v1/products/product_77", json!({ "metadata": { "brand": "Secret" } }));
    assert_eq!(shop.bundle().claims["goods"], after.claims["goods"]);
    assert!(!String::from_utf8(after.buckets.concat()).unwrap().contains("Loom"), "no metadata is public");
    // The former bucket is there for a client with the former head, with a path to its root.
    let [root, bucket] = [before.claims["goods"]["root"].as_str().unwrap(), &changed[0].to_string()];
    let path = format!("/client/v1/bundle/proj_dev/goods/{root}/{bucket}");
    let former = prove_bucket(&shop.part(&path), u32::try_from(changed[0]).unwrap(), &before.claims["goods"]);
    assert_eq!(former, before.buckets[changed[0]]);
    let known = scrip::text::sha256_hex(&former);
    let alone: Json = serde_json::from_slice(&shop.part(&format!("{path}?have={known}"))).unwrap();
    assert_eq!((alone["path"].as_array().unwrap().len(), alone.get("goods")), (7, None));
    let other = shop.part(&format!("{path}?have={root}"));
    assert!(String::from_utf8(other).unwrap().contains("\"goods\":"));
    // After 48 hours it is gone.
    shop.at.set(shop.at.get() + 49 * 3_600_000);
    shop.build(2_000);
    assert_eq!(shop.send("bundle", &format!("GET {path}"), &Json::Null).status, 404);
    assert_eq!(shop.count(parts), 128 + 3);
}

#[test]
fn a_large_catalogue_is_built_in_slices_and_left_out_until_then() {
    let shop = Shop::new();
    shop.fill(4_000);
    let claims = claims_of(&shop.head()).unwrap();
    assert_eq!((&claims["left_out"], claims.get("goods")), (&json!(["goods"]), None));
    let (slices, _) = shop.build(200);
    assert!(slices > 20, "{slices} slices");
    let bundle = shop.bundle();
    assert_eq!((&bundle.claims["left_out"], &bundle.claims["goods"]["buckets"]), (&json!([]), &json!(128)));
    assert_eq!(bundle.goods()["skus"].as_array().unwrap().len(), 4_000);
    // A change while the tree is there costs no whole build.
    shop.make("PUT /v1/products/product_5", json!({ "price": 5 }));
    let (slices, _) = shop.build(200);
    assert!(slices <= 3, "{slices} slices");
}

#[test]
fn a_wrong_address_of_a_bucket_is_not_found() {
    let shop = Shop::new();
    shop.fill(3);
    let claims = shop.bundle().claims;
    let root = claims["goods"]["root"].as_str().unwrap();
    let core = claims["core"].as_str().unwrap();
    for path in [
        format!("{root}/1"),
        format!("{root}/-1"),
        format!("{root}/00"),
        format!("{core}/0"),
        format!("{}/0", "0".repeat(64)),
    ] {
        let reply = shop.send("bundle", &format!("GET /client/v1/bundle/proj_dev/goods/{path}"), &Json::Null);
        assert_eq!(reply.status, 404, "{path}");
    }
    let reply = shop.send("bundle", &format!("GET /client/v1/bundle/proj_dev/goods/{root}/0?have=abc"), &Json::Null);
    let body: Json = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!((reply.status, &body["details"]), (400, &json!("have `abc` must be 64 lower-case hexadecimal digits")));
}

/// Returns the most steps of SQLite's machine that a slice of the first build of so many products has, and that of a changed price.
fn steps_of_builds(products: u32) -> [u64; 2] {
    let shop = Shop::new();
    shop.fill(products);
    let (_, first) = shop.build(200);
    shop.make("PUT /v1/products/product_77", json!({ "price": 5 }));
    let (_, price) = shop.build(200);
    [first, price]
}

#[test]
fn a_slice_and_a_price_cost_the_same_in_a_larger_catalogue() {
    let [small, large] = [500, 5_000].map(steps_of_builds);
    for (small, large) in small.into_iter().zip(large) {
        assert!(large < small * 2, "{large} steps in place of {small}");
    }
}
