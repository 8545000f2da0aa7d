//! Tests that heads end with the last settings of a project, also where callers have former ones.

use super::{NOW, SECOND, Shop};
use serde_json::{Value as Json, json};

const MINUTE: i64 = 60 * SECOND;

impl Shop {
    /// Sets what the records of callers have from now on: other public metadata of products, and the time of that change.
    fn set_settings(&self, public: &[&str], changed_ms: i64) {
        *self.settings.borrow_mut() =
            json!({ "client": { "metadata": { "product": public } }, "changed_ms": changed_ms });
    }

    fn demand(&self, demand: &Json) {
        let path = format!("PUT {}", super::DEMAND_PATH);
        assert_eq!(self.serve(&path, demand).status, 204);
    }

    fn shown_metadata(&self) -> Json {
        self.goods()["products"][0]["metadata"].clone()
    }
}

fn shop() -> Shop {
    let shop = Shop::built();
    let metadata = json!({ "season": "spring", "margin": 30 });
    shop.make("POST /v1/products", json!({ "name": "Shirt", "source_id": "shirt", "price": 1, "metadata": metadata }));
    shop.pass(MINUTE);
    shop
}

#[test]
fn a_caller_with_former_settings_changes_no_head() {
    let shop = shop();
    let now = shop.at.get();
    shop.set_settings(&["season"], now);
    shop.ask(false);
    shop.pass(SECOND);
    assert_eq!(shop.shown_metadata(), json!({ "season": "spring" }));
    let rev = shop.rev();
    // The record of another entry is a minute old.
    shop.set_settings(&["season", "margin"], NOW);
    for _ in 0..10 {
        shop.ask(false);
        shop.pass(6 * SECOND);
        assert_eq!(shop.rev(), rev);
    }
    // Later there are no such records: the settings are those of a database that was restored, or of a clock that was ahead.
    shop.pass(MINUTE);
    shop.ask(false);
    shop.pass(SECOND);
    assert_eq!(shop.shown_metadata(), json!({ "season": "spring", "margin": 30 }));
}

#[test]
fn settings_that_change_back_between_two_builds_are_those_of_the_next_head() {
    let shop = shop();
    let former = (shop.head().unwrap()["goods"].clone(), shop.shown_metadata());
    let now = shop.at.get();
    shop.set_settings(&["season"], now);
    shop.demand(&json!({ "is_of_change": true }));
    shop.set_settings(&[], now + 1);
    shop.demand(&json!({ "is_of_change": true }));
    // A demand of before comes late.
    shop.set_settings(&["season"], now);
    shop.demand(&json!({ "is_missing": false }));
    shop.pass(MINUTE);
    assert_eq!((shop.head().unwrap()["goods"].clone(), shop.shown_metadata()), former);
    // No client asks for a head, as where pages listen to the feed.
    shop.set_settings(&["margin"], shop.at.get());
    shop.demand(&json!({ "is_of_change": true }));
    shop.pass(SECOND);
    assert_eq!(shop.shown_metadata(), json!({ "margin": 30 }));
}

#[test]
fn a_tier_that_becomes_private_while_settings_change_is_in_no_later_head() {
    let shop = shop();
    let promotion = shop.make("POST /v1/campaigns", json!({ "name": "Tiers", "campaign_type": "PROMOTION" }));
    let path = format!("POST /v1/promotions/{}/tiers", promotion["id"].as_str().unwrap());
    let tier = shop.make(&path, super::tier("secret"));
    shop.pass(MINUTE);
    assert_eq!(shop.core()["promotion_tiers"].as_array().unwrap().len(), 1);
    for (millis, name) in [(0, "season"), (300, "margin"), (1_000, "season")] {
        shop.set_settings(&[name], shop.at.get());
        shop.demand(&json!({ "is_of_change": true }));
        shop.pass(millis);
    }
    shop.make(&format!("PUT /v1/promotions/tiers/{}", tier["id"].as_str().unwrap()), json!({ "visibility": "server" }));
    let rev = shop.rev();
    for _ in 0..40 {
        shop.pass(50);
        assert!(shop.rev() == rev || shop.core()["promotion_tiers"] == json!([]), "the next head is without it");
    }
    assert!(shop.rev() > rev);
    assert_eq!(shop.shown_metadata(), json!({ "season": "spring" }));
}

#[test]
fn a_change_of_settings_builds_nothing_that_no_client_requests() {
    let shop = Shop::new();
    shop.set_settings(&["season"], NOW);
    shop.demand(&json!({ "is_of_change": true }));
    shop.pass(MINUTE);
    assert!(shop.sql.statements.take().iter().all(|statement| !statement.contains("INTO bundle_head")));
    assert!(shop.kv.borrow().is_empty());
}
