//! Tests the copies of the bundle in KV: after an interruption, and their removal.

use super::{HOUR, Shop};
use scrip_worker::access::edge_part::EdgeKey;
use scrip_worker::domain::bundle::kv_copies::CopyReport;
use scrip_worker::service;
use serde_json::{Value as Json, json};

/// Whenever the process ends, the head in KV names parts that are there, and the next start writes what is lacking.
#[test]
fn copies_that_were_interrupted_are_made_good() {
    for ends_after in 0..8 {
        let shop = Shop::built();
        let goods: Vec<Json> = (0..700)
            .map(|at| json!({ "name": format!("Product {at}"), "source_id": format!("p{at}"), "price": 100 }))
            .collect();
        for some in goods.chunks(100) {
            shop.make("POST /v1/products/bulk/async", some.into());
        }
        shop.make("POST /v1/campaigns", json!({ "name": "Long", "campaign_type": "PROMOTION" }));
        for at in 0..30 {
            let action = json!({ "discount": { "type": "AMOUNT", "amount_off": 100 } });
            let tier = json!({ "name": format!("tier {at}"), "banner": "long ".repeat(3_900), "action": action });
            shop.make("POST /v1/promotions/Long/tiers", tier);
        }
        let mut steps = 0;
        let mut report = CopyReport::default();
        for _ in 0..2_000 {
            shop.alarm.set(None);
            shop.event(|store, context| service::alarm(store, context, 2_000).unwrap());
            shop.at.set(shop.at.get() + 500);
        }
        // Steps are carried out, and the last one is not recorded.
        while steps < ends_after {
            let Some(step) = shop.next_step(&report) else { break };
            shop.carry_out(&step);
            shop.check_kv();
            (steps, report) = (steps + 1, step.report);
        }
        let now = shop.at.get();
        shop.alarm.set(None);
        shop.event(|store, _| service::schedule_alarms(store, now).unwrap());
        if shop.next_step(&CopyReport::default()).is_some() {
            assert!(shop.alarm.get().is_some_and(|at| at <= now), "a start copies what is lacking ({ends_after})");
        }
        shop.copy();
        assert!(shop.core()["parts"].as_array().unwrap().len() >= 2);
        assert_eq!(shop.head().unwrap()["goods"]["buckets"], 8);
    }
}

/// Parts that no head has named for 48 hours are removed from KV, and not before.
#[test]
fn former_parts_are_removed_from_kv() {
    let shop = Shop::built();
    let parts = || shop.kv.borrow().keys().filter(|name| name.starts_with("bundle-part:")).count();
    shop.make("POST /v1/products", json!({ "name": "Shirt", "source_id": "shirt", "price": 900 }));
    shop.pass(47 * HOUR);
    assert_eq!(parts(), 3, "a core and two goods buckets");
    shop.pass(14 * HOUR);
    assert_eq!(parts(), 2);
    // KV has lost all.
    shop.kv.borrow_mut().clear();
    shop.ask(true);
    shop.pass(0);
    assert_eq!((parts(), shop.goods()["products"].as_array().unwrap().len()), (2, 1));
}

/// KV gets the part of the entry with the head, if the Worker has a secret, and again when the entry finds none.
#[test]
fn with_a_secret_kv_gets_the_part_of_the_entry_beside_the_head() {
    const SECRET: &str = "a secret of the tests";
    let shop = Shop::built();
    assert!(!shop.kv.borrow().contains_key("bundle-edge:proj_dev"));
    for _ in 0..2 {
        let path = format!("PUT {}", scrip_worker::domain::bundle::build_job::DEMAND_PATH);
        assert_eq!(shop.serve(&path, &json!({ "lacks_edge_part": true })).status, 204);
        let first = CopyReport::default();
        let step = shop.event(|store, context| service::copy_bundle(store, context, &first, Some(SECRET)).unwrap());
        let step = step.expect("the head is written again");
        assert_eq!(step.pairs.len(), 2, "a head and its part: {step:?}");
        let value = |name: &str| step.pairs.iter().find(|pair| pair.name == name).unwrap().value.clone();
        let key = EdgeKey::derive(SECRET, "proj_dev").unwrap();
        let part = key.open(&value("bundle-edge:proj_dev")).unwrap();
        assert_eq!(Some(&part.head), step.head.as_ref());
        assert!(value("bundle-head:proj_dev").contains(&part.head));
        let is_done = shop.event(|store, context| {
            service::copy_bundle(store, context, &step.report, Some(SECRET)).unwrap().is_none()
        });
        assert!(is_done);
    }
}
