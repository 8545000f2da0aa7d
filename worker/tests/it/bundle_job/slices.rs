//! Tests that a core which is built in slices is that of one revision, and the same as one that is built at once.

use super::{SECOND, Shop};
use scrip_worker::domain::bundle::box_keys::DerivationReport;
use scrip_worker::domain::bundle::core::{self, CoreBuild};
use scrip_worker::domain::bundle::project::BundleProject;
use scrip_worker::http::caller::Settings;
use scrip_worker::service;
use scrip_worker::store::bundle_heads;
use scrip_worker::store::bundle_work::BundleWork;
use serde_json::{Value as Json, json};

impl Shop {
    /// A project with offers of each kind and with what they name, whose sealed codes have their keys.
    pub(super) fn varied() -> Shop {
        let shop = Shop::new();
        let id = |answer: Json| answer["id"].as_str().unwrap().to_owned();
        let category = id(shop.make("POST /v1/categories", json!({ "name": "Sale", "hierarchy": 1 })));
        shop.make("POST /v1/categories", json!({ "name": "Unnamed", "hierarchy": 2 }));
        let shirt = json!({ "name": "Shirt", "source_id": "shirt", "price": 900, "metadata": { "brand": "Loom" } });
        let shirt = id(shop.make("POST /v1/products", shirt));
        let sku = json!({ "sku": "Blue", "source_id": "blue", "price": 700 });
        shop.make(&format!("POST /v1/products/{shirt}/skus"), sku);
        let filter = json!({ "junction": "and", "name": { "conditions": { "$is": ["Anna"] } } });
        let segment =
            id(shop.make("POST /v1/segments", json!({ "name": "s", "type": "auto-update", "filter": filter })));
        let goods = json!([{ "id": shirt, "object": "product" }]);
        let collections: Vec<String> = (0..30)
            .map(|at| json!({ "type": "STATIC", "name": format!("c{at}"), "products": goods }))
            .map(|collection| id(shop.make("POST /v1/product-collections", collection)))
            .collect();
        let promotion = json!({ "name": "Tiers", "campaign_type": "PROMOTION", "category_id": category });
        let promotion = id(shop.make("POST /v1/campaigns", promotion));
        let tiers: Vec<String> = (0..40)
            .map(|at| shop.make(&format!("POST /v1/promotions/{promotion}/tiers"), super::tier(&format!("tier {at}"))))
            .map(id)
            .collect();
        for (at, tier) in tiers.iter().enumerate() {
            let conditions = [
                json!({ "name": "order.amount", "conditions": { "$more_than": [100 + at] } }),
                json!({ "name": "customer.segment", "conditions": { "$is": [segment] } }),
                json!({ "name": "customer.metadata", "property": "level", "conditions": { "$is": [at] } }),
                json!({ "name": "product.metadata", "property": "brand", "conditions": { "$is": ["Loom"] } }),
                json!({ "name": "product.id", "conditions": { "$is": [collections[at % 20]] } }),
            ];
            let rule = json!({ "name": format!("r{at}"), "rules": { "1": conditions[at % 5] } });
            let rule = id(shop.make("POST /v1/validation-rules", rule));
            let assigned = json!({ "related_object_id": tier, "related_object_type": "promotion_tier" });
            shop.make(&format!("POST /v1/validation-rules/{rule}/assignments"), assigned);
        }
        let stack = json!({ "name": "s", "tiers": { "ids": [tiers[0], tiers[1]] } });
        shop.make(&format!("POST /v1/promotions/{promotion}/stacks"), stack);
        let free = json!({ "type": "UNIT", "unit_off": 1, "effect": "ADD_NEW_ITEMS", "unit_type": shirt });
        for at in 0..28 {
            let discount = if at % 7 == 0 { free.clone() } else { json!({ "type": "AMOUNT", "amount_off": 100 + at }) };
            let mut campaign = json!({ "name": format!("Open {at}"), "type": "STANDALONE", "campaign_type": "DISCOUNT_COUPONS",
                "voucher": { "discount": discount, "code_config": { "pattern": format!("OPEN-{at}") } } });
            if at % 3 == 0 {
                campaign["visibility"] = "public".into();
            }
            if at % 5 == 0 {
                campaign["category_id"] = category.as_str().into();
            }
            shop.make("POST /v1/campaigns", campaign);
        }
        for at in 0..10 {
            let mut voucher = json!({ "discount": { "type": "PERCENT", "percent_off": 5 } });
            if at % 6 == 0 {
                voucher["expiration_date"] = "2026-02-01T00:00:00Z".into();
                voucher["start_date"] = "2026-01-01T00:00:00Z".into();
            }
            shop.make(&format!("POST /v1/vouchers/ALONE-{at}"), voucher);
        }
        shop.ask(true);
        shop.pass(60 * SECOND);
        let mut report = DerivationReport::default();
        while let Some(step) = shop.event(|store, context| service::derive_box_keys(store, context, &report).unwrap()) {
            report = crate::box_keys::carry_out(&step);
        }
        shop.pass(60 * SECOND);
        shop
    }

    pub(super) fn core_hash(&self) -> String {
        self.head().unwrap()["core"].as_str().unwrap().to_owned()
    }

    /// Has the bundle built again from the documents, without a wait.
    pub(super) fn build_again(&self) {
        self.at.set(self.at.get() + 2 * SECOND);
        self.run("UPDATE bundle_head SET revision = 'another', is_copied = 0", &[]);
        self.run("UPDATE due SET at = 0, cursor = '' WHERE id = 'BUNDLE'", &[]);
        self.alarm.set(Some(self.at.get()));
    }

    /// Runs one slice; returns true if it has built a head.
    pub(super) fn slice(&self) -> bool {
        self.at.set(self.at.get() + 1);
        let has_built = self.event(|store, context| {
            service::alarm(store, context, self.rows.get()).unwrap();
            store.bundle_work == BundleWork::Built
        });
        self.copy();
        has_built
    }
}

#[test]
fn slices_of_any_size_build_the_same_core() {
    let shop = Shop::varied();
    let (core, hash) = (shop.core(), shop.core_hash());
    assert_eq!(shop.head().unwrap()["left_out"], json!([]));
    let count = |list: &Json| list.as_array().map_or_else(|| list.as_object().unwrap().len(), Vec::len);
    let counts = ["promotion_tiers", "vouchers", "validation_rules", "product_collections", "categories", "products"]
        .map(|list| count(&core[list]));
    assert_eq!((counts, count(&core["sealed_codes"]["boxes"])), ([40, 10, 40, 4, 1, 1], 18 + 10));
    let mut slices = Vec::new();
    for rows in [1, 7, 100, 1_000_000] {
        shop.rows.set(rows);
        shop.build_again();
        let rev = shop.rev();
        slices.push((1..).find(|_| shop.slice()).unwrap());
        assert!(shop.rev() > rev);
        assert_eq!(shop.core_hash(), hash, "slices of {rows} rows");
    }
    assert!(slices[0] > 30 && slices[1] > slices[2] && slices[2] > 3 && slices[3] == 1, "{slices:?}");
}

/// No head has a core that mixes the documents before a change with those after it, whenever the change comes.
#[test]
fn a_change_between_two_slices_begins_the_core_again() {
    let shop = Shop::varied();
    shop.rows.set(1);
    let mut before = shop.core_hash();
    for slices in [0, 1, 2, 5, 8, 12, 16, 20, 24, 28, 32, 36, 39, 42, 45, 50, 80] {
        shop.build_again();
        let had_built = (0..slices).any(|_| shop.slice());
        shop.make("PUT /v1/vouchers/OPEN-3", json!({ "discount": { "type": "AMOUNT", "amount_off": 1_000 + slices } }));
        let mut heads = vec![shop.core_hash()];
        for step in 0..400 {
            // A change soon after a head waits for a quiet second.
            shop.at.set(shop.at.get() + if step % 100 == 99 { SECOND } else { 0 });
            if shop.slice() {
                heads.push(shop.core_hash());
            }
        }
        let after = heads.last().unwrap().clone();
        assert!(heads.iter().all(|head| *head == before || *head == after), "{slices} slices: {heads:?}");
        assert_ne!(before, after);
        shop.rows.set(1_000_000);
        shop.build_again();
        assert!(shop.slice());
        assert_eq!(shop.core_hash(), after, "{slices} slices, {had_built}");
        shop.rows.set(1);
        before = after;
    }
}

/// A build that a process has lost begins again.
#[test]
fn a_lost_build_begins_again() {
    let (shop, other) = (Shop::varied(), Shop::built());
    let hash = shop.core_hash();
    shop.rows.set(1);
    for slices in [1, 10, 25] {
        shop.build_again();
        assert!((0..slices).all(|_| !shop.slice()));
        // The memory has one build of a project, and both have the same name.
        other.build_again();
        assert!(other.slice());
        let rev = shop.rev();
        let further = (1..).find(|_| shop.slice()).unwrap();
        assert!(further > 25, "{further} slices");
        assert!(shop.rev() > rev);
        assert_eq!(shop.core_hash(), hash);
    }
}

/// If builds of other projects occupy the memory, a slice completes the core instead of beginning it again and again. Builds
/// without a slice for a minute do not count.
#[test]
fn a_build_beside_many_others_ends_in_its_slice() {
    let shop = Shop::varied();
    let hash = shop.core_hash();
    shop.rows.set(1);
    shop.event(|store, context| {
        let stored = bundle_heads::find_project(store).unwrap().unwrap();
        let settings: Settings = serde_json::from_str(&stored.settings).unwrap();
        let state = bundle_heads::find_state(store).unwrap();
        for id in ["one", "two", "three", "four"] {
            let project = BundleProject { id, settings: &settings, time_zone: settings.time_zone.clone() };
            core::keep_build(CoreBuild::begin(store, &project, &state, context.now).unwrap(), context.now);
        }
    });
    shop.build_again();
    let rev = shop.rev();
    assert!(shop.slice());
    assert!(shop.rev() > rev);
    assert_eq!(shop.core_hash(), hash);
    shop.at.set(shop.at.get() + 60 * SECOND);
    shop.build_again();
    assert!(!shop.slice());
}

/// Changes that come before each slice do not keep the next head away for longer than ten seconds.
#[test]
fn constant_changes_get_a_head_within_ten_seconds() {
    let shop = Shop::varied();
    shop.rows.set(20);
    let shown = || {
        let core = shop.core();
        let codes = core["vouchers"].as_array().unwrap().iter();
        codes.clone().find(|voucher| voucher["code"] == "OPEN-3").unwrap()["discount"]["amount_off"].as_i64().unwrap()
    };
    let begin = shop.at.get();
    for _ in 0..300 {
        let amount = 1_000 + shop.at.get() - begin;
        shop.make("PUT /v1/vouchers/OPEN-3", json!({ "discount": { "type": "AMOUNT", "amount_off": amount } }));
        shop.pass(100);
        if shop.at.get() - begin > 10 * SECOND {
            let age = amount - shown();
            assert!(age <= 10 * SECOND, "the head has a state that is {age} ms old");
        }
    }
}
