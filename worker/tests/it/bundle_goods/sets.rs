//! Tests the sets of goods in a bundle: which condition has which number, and when buckets are built anew.

use super::Shop;
use crate::bundle::{Bundle, claims_of};
use scrip_worker::service;
use scrip_worker::store::Store;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The sets of a bundle, and the conditions that they represent.
pub struct NamedSets {
    /// Goods of the brand Loom.
    pub loom: u64,
    /// The products up to this number with their SKUs, and the SKUs from 700 to 709.
    pub listed: u64,
    /// Another brand than Oak, as a test compares it.
    pub not_oak: u64,
}

const LISTED: u32 = 200;

impl NamedSets {
    /// Stores two collections and a promotion that names them.
    pub fn make(shop: &Shop) -> NamedSets {
        let filter = json!({ "junction": "AND", "metadata.brand": { "conditions": { "$is": ["Loom"] } } });
        let loom = json!({ "type": "AUTO_UPDATE", "name": "Loom", "filter": filter });
        let products = (1..=LISTED).map(|number| json!({ "id": format!("product_{number}"), "object": "product" }));
        let skus = (700..710).map(|number| {
            json!({ "id": format!("sku_{number}"), "product_id": format!("product_{number}"), "object": "sku" })
        });
        let listed = json!({ "type": "STATIC", "name": "Listed", "products": products.chain(skus).collect::<Json>() });
        let [loom, listed] = [loom, listed].map(|body| shop.make("POST /v1/product-collections", body)["id"].clone());
        let named = |id: &Json| json!({ "name": "order.items.any", "conditions": { "$is": [{ "id": id, "object": "products_collection", "type": "products_collection" }] } });
        let not_oak = json!({ "name": "product.metadata", "property": "brand", "conditions": { "$is_not": ["Oak"] } });
        let rules = json!({ "1": named(&loom), "2": named(&listed), "3": not_oak, "logic": "1 or 2 or 3" });
        let rule = shop.make("POST /v1/validation-rules", json!({ "name": "r", "rules": rules }));
        shop.make("POST /v1/campaigns", json!({ "name": "Sale", "campaign_type": "PROMOTION" }));
        let discount = json!({ "discount": { "type": "PERCENT", "percent_off": 10 } });
        let tier = json!({ "name": "t", "action": discount, "validation_rules": [rule["id"]] });
        shop.make("POST /v1/promotions/Sale/tiers", tier);
        let core = shop.bundle().json();
        let set_of = |id: &Json| {
            let all = core["product_collections"].as_array().unwrap();
            all.iter().find(|collection| collection["id"] == *id).unwrap()["set"].as_u64().unwrap()
        };
        let test = &core["validation_rules"][0]["rules"]["3"];
        assert_eq!((&test["name"], &test["conditions"]), (&json!("goods.set"), &json!({ "$is": [true] })), "{core}");
        let not_oak = test["property"].as_str().unwrap().parse().unwrap();
        NamedSets { loom: set_of(&loom), listed: set_of(&listed), not_oak }
    }

    /// Returns the states of stored goods in the three sets.
    pub fn plain(&self, kind: &str, stored: &Json) -> [Option<bool>; 3] {
        let number_of = |name: &Json| name.as_str().and_then(|id| id.rsplit('_').next()?.parse::<u32>().ok());
        let is_listed = |id: &Json| id.as_str().is_some() && number_of(id).is_some_and(|number| number <= LISTED);
        let listed = match kind {
            "product" => is_listed(&stored["id"]),
            _ => {
                is_listed(&stored["product_id"])
                    || number_of(&stored["id"]).is_some_and(|number| (700..710).contains(&number))
            }
        };
        let brand = stored["metadata"].get("brand");
        let is = |wanted: bool| wanted.then_some(true);
        [is(brand == Some(&json!("Loom"))), is(listed), brand.map(|brand| brand != "Oak")]
    }
}

/// Returns the sets that the goods of a bundle are in, each with the number of its members.
fn members_of(bundle: &Bundle) -> BTreeMap<u64, usize> {
    let goods = bundle.goods();
    let all = ["products", "skus"].into_iter().flat_map(|list| goods[list].as_array().unwrap());
    let mut members = BTreeMap::new();
    for set in all.flat_map(|one| one["sets"].as_array().into_iter().flatten()) {
        *members.entry(set.as_u64().unwrap()).or_default() += 1;
    }
    members
}

#[test]
fn a_changed_condition_is_another_set_and_rebuilds_the_buckets_in_slices() {
    let shop = Shop::new();
    shop.fill(3_000);
    let plain = shop.bundle();
    assert_eq!((members_of(&plain), plain.goods()["products"][0].get("sets")), (BTreeMap::new(), None));
    let test = |brand: &str| json!({ "1": { "name": "product.metadata", "property": "brand", "conditions": { "$is": [brand] } } });
    let rule = shop.make("POST /v1/validation-rules", json!({ "name": "r", "rules": test("Loom") }));
    shop.make("POST /v1/campaigns", json!({ "name": "Sale", "campaign_type": "PROMOTION" }));
    let discount = json!({ "discount": { "type": "PERCENT", "percent_off": 10 } });
    let tier = json!({ "name": "t", "action": discount, "validation_rules": [rule["id"]] });
    let tier = shop.make("POST /v1/promotions/Sale/tiers", tier);
    let (slices, _) = shop.build(200);
    assert!(slices > 5, "{slices} slices");
    let first = shop.bundle();
    assert_ne!(first.claims["goods"]["root"], plain.claims["goods"]["root"]);
    assert_eq!(members_of(&first), BTreeMap::from([(1, 3_000)]));
    // Another condition has another number; a condition that no rule has any more is in no entry.
    shop.make(
        &format!("PUT /v1/validation-rules/{}", rule["id"].as_str().unwrap()),
        json!({ "name": "r", "rules": test("Oak") }),
    );
    shop.build(200);
    let second = shop.bundle();
    assert_eq!(
        (members_of(&second), &second.json()["validation_rules"][0]["rules"]["1"]["property"]),
        (BTreeMap::new(), &json!("2"))
    );
    assert_eq!(second.goods()["products"][0]["out_of_sets"], json!([2]));
    // The same condition keeps its number while another one comes.
    let other = shop.make("POST /v1/validation-rules", json!({ "name": "s", "rules": test("Loom") }));
    let more = json!({ "name": "u", "action": discount, "validation_rules": [other["id"]] });
    shop.make("POST /v1/promotions/Sale/tiers", more);
    let third = shop.bundle();
    assert_eq!(third.goods()["products"][0]["sets"], json!([3]));
    assert_eq!(third.goods()["products"][0]["out_of_sets"], json!([2]));
    // A change that concerns no condition rebuilds nothing.
    shop.make(&format!("PUT /v1/promotions/tiers/{}", tier["id"].as_str().unwrap()), json!({ "name": "another" }));
    let fourth = shop.bundle();
    assert_ne!(fourth.claims["core"], third.claims["core"]);
    assert_eq!(fourth.claims["goods"], third.claims["goods"]);
    shop.make("DELETE /v1/campaigns/Sale", Json::Null);
    assert_eq!(shop.bundle().claims["goods"], plain.claims["goods"], "no set is left");
}

#[test]
fn conditions_that_change_while_goods_are_built_are_in_the_next_head() {
    let shop = Shop::new();
    shop.fill(3_000);
    let test = |brand: &str| json!({ "1": { "name": "product.metadata", "property": "brand", "conditions": { "$is": [brand] } } });
    let rule = shop.make("POST /v1/validation-rules", json!({ "name": "r", "rules": test("Oak") }));
    shop.make("POST /v1/campaigns", json!({ "name": "Sale", "campaign_type": "PROMOTION" }));
    let discount = json!({ "discount": { "type": "PERCENT", "percent_off": 10 } });
    let tier = json!({ "name": "t", "action": discount, "validation_rules": [rule["id"]] });
    shop.make("POST /v1/promotions/Sale/tiers", tier);
    for _ in 0..8 {
        service::alarm(&mut Store::new(&shop.sql), &shop.context(), 200).unwrap();
    }
    shop.make(
        &format!("PUT /v1/validation-rules/{}", rule["id"].as_str().unwrap()),
        json!({ "name": "r", "rules": test("Loom") }),
    );
    shop.build(200);
    let head = claims_of(&shop.head()).unwrap();
    assert_eq!(head["left_out"], json!([]));
    let bundle = shop.bundle();
    let number = bundle.json()["validation_rules"][0]["rules"]["1"]["property"].as_str().unwrap().parse().unwrap();
    assert_eq!(members_of(&bundle), BTreeMap::from([(number, 3_000)]));
}
