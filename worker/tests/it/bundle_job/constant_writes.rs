//! Tests that builds beside constant writes have slices as short as others, and give the core of one moment.

use super::{SECOND, Shop};
use scrip_worker::domain::bundle::core::{self, CoreBuild, SliceBudget};
use scrip_worker::domain::bundle::project::BundleProject;
use scrip_worker::http::caller::Settings;
use scrip_worker::service;
use scrip_worker::store::bundle_heads;
use scrip_worker::store::sql::{int, text};
use serde_json::{Value as Json, json};
use std::collections::{BTreeSet, VecDeque};

/// Kinds of the documents that a build reads.
const KINDS: [&str; 11] = [
    "campaign",
    "voucher",
    "promotion_tier",
    "promotion_stack",
    "validation_rules",
    "validation_rules_assignment",
    "product",
    "sku",
    "products_collection",
    "segment",
    "category",
];

impl Shop {
    /// Returns the hash of the core that one slice would build now.
    fn core_at_once(&self) -> String {
        self.event(|store, context| {
            let stored = bundle_heads::find_project(store).unwrap().unwrap();
            let settings: Settings = serde_json::from_str(&stored.settings).unwrap();
            let project = BundleProject { id: &stored.id, settings: &settings, time_zone: settings.time_zone.clone() };
            let state = bundle_heads::find_state(store).unwrap();
            let mut build = CoreBuild::begin(store, &project, &state, context.now).unwrap();
            let mut budget = SliceBudget { rows: u64::MAX, goods_rows: 0, is_urgent: false };
            assert!(build.advance(store, &project, &mut budget).unwrap());
            build.into_core().unwrap().parts.core
        })
    }

    /// Returns the text of the core in KV.
    fn core_text(&self) -> String {
        let core = self.core();
        let Some(parts) = core["parts"].as_array() else { return core.to_string() };
        let kv = self.kv.borrow();
        parts.iter().map(|hash| kv[&format!("bundle-part:proj_dev:{}", hash.as_str().unwrap())].clone()).collect()
    }

    /// Changes documents without a second of rest, until the next slice may not wait any longer.
    pub(super) fn change_until_urgent(&self, change: &dyn Fn(i64)) {
        change(0);
        self.pass(300);
        let since = || {
            let rows = self.sql_rows(
                "SELECT json_extract(cursor, '$.since_ms') FROM due WHERE id = ?1 AND cursor <> ''",
                "BUNDLE",
            );
            rows.first().map(|row| int(row, 0).unwrap())
        };
        while since().is_none_or(|since| self.at.get() < since + 8 * SECOND) {
            change(self.at.get());
            self.alarm.set(Some(self.at.get()));
            self.pass(300);
        }
        change(self.at.get());
        self.at.set(since().unwrap() + 9 * SECOND + 1);
    }

    fn id_of(&self, kind: &str, number: u64) -> Option<String> {
        let count = int(&self.sql_rows("SELECT COUNT(*) FROM document WHERE kind = ?1", kind)[0], 0).unwrap();
        let offset = number.checked_rem(u64::try_from(count).unwrap())?;
        let statement = format!("SELECT id FROM document WHERE kind = ?1 ORDER BY seq LIMIT 1 OFFSET {offset}");
        Some(text(&self.sql_rows(&statement, kind)[0], 0).unwrap().to_owned())
    }

    fn sql_rows(&self, statement: &str, kind: &str) -> Vec<scrip_worker::store::sql::SqlRow> {
        use scrip_worker::store::sql::Sql;
        self.sql.run(statement, &[kind.into()]).unwrap()
    }

    /// Changes the body of a document by a statement, as an import does.
    pub(super) fn set(&self, kind: &str, number: u64, path: &str, value: Json) {
        let Some(id) = self.id_of(kind, number) else { return };
        self.run(
            &format!("UPDATE document SET body = json_set(body, '{path}', json(?3)) WHERE kind = ?1 AND id = ?2"),
            &[kind.into(), id.into(), value.to_string().into()],
        );
    }

    /// Deletes a document of a kind, inserts one again that was deleted, or both at once: under the same id, with another name.
    fn replace(&self, way: u64, kind: &str, number: u64) {
        const COLUMNS: &str = "kind, id, key, parent, holder, created_at, body";
        let scratch = format!("CREATE TABLE IF NOT EXISTS gone AS SELECT {COLUMNS} FROM document WHERE false");
        self.run(&scratch, &[]);
        if way != 1 {
            let Some(id) = self.id_of(kind, number) else { return };
            let one = [kind.into(), id.into()];
            self.run(&format!("INSERT INTO gone SELECT {COLUMNS} FROM document WHERE kind = ?1 AND id = ?2"), &one);
            self.run("DELETE FROM document WHERE kind = ?1 AND id = ?2", &one);
        }
        if way != 0 {
            let last = "SELECT max(rowid) FROM gone WHERE kind = ?1";
            let renamed = COLUMNS.replace("body", "json_set(body, '$.name', ?2)");
            self.run(
                &format!(
                    "INSERT OR IGNORE INTO document ({COLUMNS}) SELECT {renamed} FROM gone WHERE rowid = ({last})"
                ),
                &[kind.into(), format!("again {number}").into()],
            );
            self.run(&format!("DELETE FROM gone WHERE rowid = ({last})"), &[kind.into()]);
        }
    }

    /// Runs a slice whose writes are undone, as after a fault at its end.
    pub(super) fn undone_slice(&self) {
        self.run("SAVEPOINT slice", &[]);
        self.at.set(self.at.get() + 1);
        self.event(|store, context| service::alarm(store, context, self.rows.get()).unwrap());
        self.run("ROLLBACK TO slice", &[]);
        self.run("RELEASE slice", &[]);
    }

    /// Makes a change of a kind that a build reads, chosen by a number.
    fn change(&self, number: u64) {
        let (kind, number) = (number % 24, number / 24);
        match kind {
            0 => self.set("voucher", number, "$.discount", json!({ "type": "AMOUNT", "amount_off": number % 1_000 })),
            1 => self.set("campaign", number, "$.active", json!(number % 3 > 0)),
            2 => self.set("promotion_tier", number, "$.name", json!(format!("tier of {number}"))),
            3 => self.set("product", number, "$.price", json!(number % 1_000)),
            4 => {
                // Goods are found by their keys, which offers and collections name.
                self.run("UPDATE document SET key = iif(key = 'shirt', 'coat', 'shirt') WHERE kind = 'product' AND key IN ('shirt', 'coat')", &[]);
            }
            5 => {
                let body =
                    json!({ "name": format!("more {number}"), "source_id": format!("more{}", number % 3), "price": 5 });
                self.make("POST /v1/products", body);
            }
            6 => {
                let listed = json!([{ "id": format!("more{}", number % 3), "object": "product" }]);
                self.set("products_collection", number % 20, "$.products", listed);
            }
            7 => self.set("validation_rules", number, "$.rules.1.conditions", json!({ "$is": [number % 7] })),
            8 => {
                let level = json!({ "junction": "and", "name": { "conditions": { "$is_unknown": [number % 2 > 0] } } });
                self.set("segment", number, "$.filter", level);
            }
            9 => {
                let Some(tier) = self.id_of("promotion_tier", number) else { return };
                self.run("DELETE FROM document WHERE kind = 'promotion_tier' AND id = ?1", &[tier.into()]);
            }
            10 => {
                self.make(
                    &format!("POST /v1/vouchers/NEW-{number}"),
                    json!({ "discount": { "type": "PERCENT", "percent_off": 5 } }),
                );
            }
            11 => {
                self.run("DELETE FROM document WHERE kind = 'product' AND key = 'more0'", &[]);
            }
            12 => self.set("sku", number, "$.price", json!(number % 1_000)),
            13 => self.set("category", number, "$.hierarchy", json!(number % 10)),
            14 => self.set("promotion_stack", number, "$.name", json!(format!("stack of {number}"))),
            15 => {
                let Some(rule) = self.id_of("validation_rules", number) else { return };
                self.set("validation_rules_assignment", number / 7, "$.rule_id", json!(rule));
            }
            _ => {
                let kind = usize::try_from(number / 3).unwrap() % KINDS.len();
                self.replace(number % 3, KINDS[kind], number / 40);
            }
        }
    }
}

/// However the documents change between the slices, the head has the core of one moment.
#[test]
fn a_core_is_that_of_one_moment_beside_any_writes() {
    let mut most_slices = 0;
    for seed in 1..=12_u64 {
        let shop = Shop::varied();
        let drawn = std::cell::Cell::new(seed);
        let draw = || {
            drawn.set(drawn.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
            drawn.get() >> 33
        };
        shop.rows.set(1_000_000);
        shop.change_until_urgent(&|_| shop.change(draw()));
        shop.rows.set(15 + seed * 7);
        let mut moments = BTreeSet::new();
        let rev = shop.rev();
        let mut other_process = VecDeque::new();
        let slices = (1..400)
            .find(|_| {
                for _ in 0..draw() % 3 + 1 {
                    shop.change(draw());
                }
                moments.insert(shop.core_at_once());
                if draw() % 12 == 0 {
                    core::swap_builds(&mut other_process);
                }
                if draw() % 8 == 0 {
                    shop.undone_slice();
                }
                shop.slice();
                shop.rev() > rev
            })
            .expect("a head");
        assert!(moments.contains(&shop.core_hash()), "seed {seed}, {slices} slices");
        most_slices = most_slices.max(slices);
        shop.rows.set(100);
        shop.pass(20 * SECOND);
        assert_eq!(shop.core_hash(), shop.core_at_once(), "seed {seed}");
    }
    assert!(most_slices > 10, "{most_slices} slices");
}

/// A slice reads as many documents as its rows allow, and those of one step, however many there are and however often they change.
#[test]
fn no_slice_reads_more_documents_than_its_bound() {
    const ROWS: u64 = 100;
    let shop = Shop::built();
    let promotion = shop.make("POST /v1/campaigns", json!({ "name": "Tiers", "campaign_type": "PROMOTION" }));
    let tiers = format!("POST /v1/promotions/{}/tiers", promotion["id"].as_str().unwrap());
    let tier = shop.make(&tiers, super::tier("tier"))["id"].clone();
    let rule =
        json!({ "name": "r", "rules": { "1": { "name": "order.amount", "conditions": { "$more_than": [100] } } } });
    let rule = shop.make("POST /v1/validation-rules", rule)["id"].as_str().unwrap().to_owned();
    let assigned = json!({ "related_object_id": tier, "related_object_type": "promotion_tier" });
    shop.make(&format!("POST /v1/validation-rules/{rule}/assignments"), assigned);
    shop.make("POST /v1/vouchers/ALONE", json!({ "discount": { "type": "PERCENT", "percent_off": 5 } }));
    // Copies with ids, keys and names of their own: 2,000 tiers with rules, 2,000 campaigns with codes, and 1,000 codes without one.
    for (kind, count) in [
        ("promotion_tier", 2_000),
        ("validation_rules", 2_000),
        ("validation_rules_assignment", 2_000),
        ("campaign", 2_000),
        ("voucher", 2_000),
    ] {
        shop.run(
            "INSERT INTO document (kind, id, key, parent, holder, created_at, body)
             WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?2)
             SELECT kind, id || number, key || number,
               CASE WHEN kind IN ('voucher', 'validation_rules_assignment') THEN parent || number ELSE parent END, holder, created_at,
               json_set(body, '$.id', id || number,
                 CASE WHEN kind = 'voucher' THEN '$.code' ELSE '$.name' END, key || number,
                 CASE kind WHEN 'voucher' THEN '$.campaign_id' WHEN 'validation_rules_assignment' THEN '$.rule_id' ELSE '$.other' END,
                 CASE kind WHEN 'voucher' THEN parent || number WHEN 'validation_rules_assignment' THEN json_extract(body, '$.rule_id') || number END,
                 CASE kind WHEN 'validation_rules_assignment' THEN '$.related_object_id' ELSE '$.other' END, parent || number)
             FROM document, numbers WHERE kind = ?1 AND key IS NOT 'ALONE' AND body NOT LIKE '%PROMOTION_CAMPAIGN%' ORDER BY number",
            &[kind.into(), count.into()],
        );
    }
    shop.run(
        "INSERT INTO document (kind, id, key, created_at, body)
         WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 999)
         SELECT kind, id || number, key || number, created_at, json_set(body, '$.id', id || number, '$.code', key || number)
         FROM document, numbers WHERE kind = 'voucher' AND key = 'ALONE' ORDER BY number",
        &[],
    );
    shop.rows.set(1_000_000);
    let number = std::cell::Cell::new(0);
    shop.change_until_urgent(&|_| {
        number.set(number.get() + 1);
        shop.set("voucher", number.get(), "$.discount.percent_off", json!(number.get() % 90 + 1));
    });
    shop.rows.set(ROWS);
    let rev = shop.rev();
    let (mut slices, mut most, mut all) = (0, 0, 0);
    let mut rows = Vec::new();
    while shop.rev() == rev {
        for (kind, path) in
            [("voucher", "$.metadata.at"), ("promotion_tier", "$.banner"), ("campaign", "$.description")]
        {
            number.set(number.get() + 977);
            shop.set(kind, number.get(), path, json!(format!("text {}", number.get())));
        }
        shop.sql.documents.set(0);
        shop.sql.rows.set(0);
        shop.slice();
        rows.push(shop.sql.rows.get());
        let read = shop.sql.documents.get();
        (slices, most, all) = (slices + 1, most.max(read), all + read);
        assert!(slices < 1_000, "no head");
    }
    let core = shop.core_text();
    let long = rows.iter().filter(|rows| **rows > 5_000).count();
    eprintln!("{slices} slices, at most {most} documents, {all} together; {long} slices with all ids; rows: {rows:?}");
    // The slices before only read on, and list the ids of one kind at most.
    assert!(long <= 3, "{long} of {slices} slices list all ids: {rows:?}");
    assert!(rows.iter().all(|rows| *rows <= 15_200), "a slice reads more rows than the selection has: {rows:?}");
    assert!(most <= 100 + 25, "a slice reads {most} documents");
    assert!((9_000..14_000).contains(&all), "{all} documents");
    assert_eq!(core.matches("\"object\":\"promotion_tier\"").count(), 2_001);
}
