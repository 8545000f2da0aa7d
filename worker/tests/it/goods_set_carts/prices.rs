//! Tests that the prices of a listing page, by the rules of a bundle, are those of the service for a cart of the product alone.

use super::{STEP_MS, Shop, filled_shop};
use scrip::Context;
use scrip::time::Instant;
use serde_json::{Value as Json, json};

/// Number of selections of promotions whose prices are compared, and of promotions in each.
const SELECTIONS: usize = 12;
const SELECTED: usize = 4;

impl Shop {
    /// Keeps some of the promotions in force, others than before.
    fn select_tiers(&mut self) {
        let selected = self.random.some(&self.tiers, SELECTED);
        let mut all = self.tiers.clone();
        all.dedup();
        for tier in all {
            let act = if selected.contains(&tier) { "enable" } else { "disable" };
            self.make(&format!("POST /v1/promotions/tiers/{tier}/{act}"), &Json::Null);
        }
    }

    /// Returns the best stack of promotions for a cart, and the total after a validation of these redeemables, as the service decides both.
    fn decided(&mut self, order: &Json, redeemables: &Json) -> (Json, Json) {
        let filters = json!({ "resource_type": { "conditions": { "$is": ["promotion_tier"] } } });
        let options = json!({ "limit": 1, "optimise": true, "filters": filters });
        let mut answer = |path: &str, body: Json| -> Json {
            let reply = self.ask(&format!("POST /client/v1/{path}"), &body);
            assert_eq!(reply.status, 200, "{body}: {}", String::from_utf8_lossy(&reply.body));
            serde_json::from_slice(&reply.body).unwrap()
        };
        let best = answer("qualifications", json!({ "order": order, "options": options }))["best"].clone();
        if redeemables.as_array().unwrap().is_empty() {
            return (best, Json::Null);
        }
        let validated = answer("validations", json!({ "redeemables": redeemables, "order": order }));
        assert_eq!(validated["valid"], true, "{validated}");
        (best, validated["order"]["total_amount"].clone())
    }
}

#[test]
fn prices_of_the_page_are_those_of_the_service() {
    let mut shop = filled_shop(72);
    let (mut finals, mut discounted, mut stacked) = (0, 0, 0);
    for _ in 0..SELECTIONS {
        shop.now += STEP_MS;
        shop.select_tiers();
        let bundle = shop.bundle();
        let products: Vec<Json> =
            shop.products.iter().flat_map(|one| [&one["id"], &one["source_id"]]).cloned().collect();
        let mut ids: Vec<Json> = shop.random.some(&products, 6);
        ids.extend(shop.skus.iter().take(4).map(|sku| sku["id"].clone()));
        ids.push(shop.gone[0].clone().into());
        let request = json!({ "ids": ids });
        let at = Context { now: Instant::from_millis(shop.now).unwrap(), seed: [7; 32], first_number: None };
        let rules = bundle.prepare_for(&bundle.prepare(), &request, None);
        let prices: Json = serde_json::from_slice(&rules.prices(request.to_string().as_bytes(), &at).body).unwrap();
        for price in prices["prices"].as_array().unwrap().iter().filter(|price| price["missing"].is_null()) {
            finals += 1;
            if price["price"].is_null() {
                let is_gone = price["id"] == shop.gone[0].as_str();
                assert_eq!(price["error"]["key"], if is_gone { "not_found" } else { "missing_amount" }, "{price}");
                continue;
            }
            let member = if price["object"] == "sku" { "sku_id" } else { "product_id" };
            let order = json!({ "items": [{ member: price["id"] }] });
            let (best, validated) = shop.decided(&order, &price["redeemables"]);
            assert_eq!(price["redeemables"], best["redeemables"], "{price} {best}");
            let total = if best["order"]["total_amount"].is_null() { "amount" } else { "total_amount" };
            assert_eq!(price["discounted_price"], best["order"][total], "{price} {best}");
            if !validated.is_null() {
                assert_eq!(price["discounted_price"], validated, "{price}");
                discounted += 1;
                stacked += usize::from(price["redeemables"].as_array().unwrap().len() > 1);
            }
        }
    }
    eprintln!("{finals} final prices, {discounted} with promotions, {stacked} with several");
    assert!(
        finals > SELECTIONS * 8 && discounted > SELECTIONS * 3 && stacked > SELECTIONS,
        "{finals} {discounted} {stacked}"
    );
}
