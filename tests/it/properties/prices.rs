//! Tests the prices of goods: each is that of a cart with one unit of it, also where rules are missing, and one that is the same in every cart
//! stays so.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use scrip::bundle::PreparedRules;
use serde_json::{Value, json};

use crate::properties::best_stack::{PRODUCTS, documents, offer, stacking_rules};
use crate::properties::fixtures::{context, list, text};
use crate::properties::holds;
use crate::support::service_facts::world;

/// Number of projects in each run.
const CASES: u32 = 150;
/// Number of projects of which larger carts are tried.
const LARGER_CARTS: u32 = 600;
/// The names of a request: products, SKUs of one of them, and one that does not exist.
const NAMES: [&str; 7] = ["prod_a", "sku_1", "prod_b", "source_c", "sku_2", "prod_none", "prod_a"];

pub fn prepare(given: &Value) -> PreparedRules {
    PreparedRules::new(world(&given.to_string()).as_bytes()).unwrap_or_else(|problem| panic!("{problem:?}\n{given}"))
}

/// Returns an answer to a request.
pub fn answer(prepared: &PreparedRules, verb: &str, request: &Value) -> Value {
    let request = request.to_string();
    let answer = match verb {
        "prices" => prepared.prices(request.as_bytes(), &context()),
        "qualify" => prepared.qualify(request.as_bytes(), &context()),
        _ => prepared.validate(request.as_bytes(), &context()),
    };
    serde_json::from_slice(&answer.body).unwrap()
}

/// Returns the order of a cart with one unit of priced goods.
fn cart(price: &Value) -> Value {
    let member = if price["object"] == "sku" { "sku_id" } else { "product_id" };
    json!({ "items": [{ member: price["id"] }] })
}

/// Returns the best stack of a cart, of promotion tiers alone.
fn best_of(prepared: &PreparedRules, order: &Value, customer: Option<&Value>) -> Value {
    let filters = json!({ "resource_type": { "conditions": { "$is": ["promotion_tier"] } } });
    let options = json!({ "limit": 100, "optimise": true, "filters": filters });
    answer(prepared, "qualify", &json!({ "order": order, "customer": customer, "options": options }))
}

/// Generates a test that bars a product, or only some units of it.
fn exclusion() -> impl Strategy<Value = Value> {
    let units = (select(vec!["$more_than", "$less_than"]), 1..3_u64);
    (select(PRODUCTS.to_vec()), prop::option::of(units)).prop_map(|(product, units)| {
        let goods = json!([{ "object": "product", "id": product }]);
        let mut test = json!({ "name": "order.items.none", "conditions": { "$is": goods } });
        if let Some((operator, count)) = units {
            let nested = json!({ "name": "order.items.quantity", "conditions": { operator: [count] } });
            test["rules"] = json!({ "1": nested, "logic": "1" });
        }
        test
    })
}

/// A project with a catalogue, and the customer of a request.
fn project() -> impl Strategy<Value = (Value, Option<Value>)> {
    // Products of one price share a search.
    let prices = prop::collection::vec(
        prop_oneof![1 => Just(0), 1 => Just(1), 4 => select(vec![250, 1_000]), 4 => 2..5_000_u64],
        4,
    );
    let customer = prop_oneof![Just(None), Just(Some(json!({ "id": "cust_1" })))];
    let segments = subsequence((0..6_usize).collect::<Vec<_>>(), 0..=2);
    let excluded = prop::option::of((0..6_usize, exclusion()));
    (prop::collection::vec(offer(), 1..=6), stacking_rules(), prices, (segments, excluded), customer).prop_map(
        |(offers, rules, prices, (segments, excluded), customer)| {
            let mut given = documents(&offers, &rules);
            for (place, id) in PRODUCTS.iter().enumerate() {
                given["products"][place] = json!({ "id": id, "name": id, "price": prices[place] });
            }
            given["products"][2]["source_id"] = json!("source_c");
            given["skus"] = json!([
                { "id": "sku_1", "product_id": "prod_b", "price": prices[3] },
                { "id": "sku_2", "product_id": "prod_a" },
            ]);
            given["segments"] = json!([{ "id": "seg_1", "name": "s", "type": "static", "customers": ["cust_1"] }]);
            given["customers"] = json!([{ "id": "cust_1", "object": "customer" }]);
            let in_segment = || json!({ "name": "customer.segment", "conditions": { "$is": ["seg_1"] } });
            let tests = segments.into_iter().map(|rank| (rank, in_segment())).chain(excluded);
            for (rank, test) in tests.filter(|(rank, _)| *rank < offers.len()) {
                given["validation_rules"][rank]["rules"] = json!({ "1": test, "logic": "1" });
            }
            (given, customer)
        },
    )
}

fn price_of<'a>(prices: &'a Value, name: &str) -> &'a Value {
    list(prices, "prices").iter().find(|price| price["id"] == name).unwrap()
}

#[test]
fn a_price_is_that_of_a_cart_of_the_product_alone() {
    let (discounted, stacked, ended) = (Cell::new(0_u32), Cell::new(0_u32), Cell::new(0_u32));
    holds(CASES, project(), |(given, customer)| {
        let prepared = prepare(&given);
        let prices = answer(&prepared, "prices", &json!({ "ids": NAMES, "customer": customer }));
        let named: Vec<&str> = list(&prices, "prices").iter().map(|price| price["id"].as_str().unwrap()).collect();
        prop_assert_eq!(named, NAMES, "{}", prices);
        for price in list(&prices, "prices").iter().filter(|price| price["id"] != "prod_none") {
            let order = cart(price);
            let qualified = best_of(&prepared, &order, customer.as_ref());
            let best = &qualified["best"];
            let total = if best["order"]["total_amount"].is_null() { "amount" } else { "total_amount" };
            // The search for a price may end earlier than that for a cart.
            if price["from"] == true && price["redeemables"] != best["redeemables"] {
                ended.set(ended.get() + 1);
                continue;
            }
            prop_assert_eq!(&price["redeemables"], &best["redeemables"], "{} {}", price, qualified);
            prop_assert_eq!(&price["missing"], &qualified["missing"]);
            prop_assert_eq!(&price["discounted_price"], &best["order"][total], "{} {}", price, best);
            let initial = answer(&prepared, "qualify", &json!({ "order": order, "options": { "optimise": true } }));
            prop_assert_eq!(&price["price"], &initial["best"]["order"]["items"][0]["price"], "{}", price);
            let count = list(price, "redeemables").len();
            if count > 0 {
                let request = json!({ "order": order, "customer": customer, "redeemables": price["redeemables"] });
                let validated = answer(&prepared, "validate", &request);
                prop_assert_eq!(&validated["valid"], &json!(true), "{} {}", price, validated);
                prop_assert_eq!(&price["discounted_price"], &validated["order"]["total_amount"], "{}", price);
                discounted.set(discounted.get() + 1);
                stacked.set(stacked.get() + u32::from(count > 1));
            }
        }
        prop_assert_eq!(text(&price_of(&prices, "prod_none")["error"], "key"), "not_found");
        Ok(())
    });
    assert!(discounted.get() > CASES && stacked.get() > CASES / 4, "{} and {}", discounted.get(), stacked.get());
    assert!(ended.get() < CASES / 30, "{} searches ended early", ended.get());
}

/// The lists of documents of which a part of the rules may lack some.
const LISTS: [&str; 6] = ["products", "skus", "validation_rules", "campaigns", "categories", "segments"];

#[test]
fn a_price_by_a_part_of_the_rules_is_that_of_all_or_provisional() {
    let (finals, provisionals) = (Cell::new(0_u32), Cell::new(0_u32));
    let dropped = prop::collection::vec((select(LISTS.to_vec()), 0..3_usize), 0..2);
    let inputs = (project(), dropped, prop::bool::weighted(0.8), any::<bool>(), prop::bool::weighted(0.8));
    holds(CASES, inputs, |((given, customer), dropped, has_rules, has_customer, is_listed)| {
        let request = json!({ "ids": NAMES, "customer": customer });
        let mut part = given;
        part["client"] = json!({});
        let full = answer(&prepare(&part), "prices", &request);
        let members = part.as_object_mut().unwrap();
        members.insert("complete".into(), json!(false));
        members.insert("public_offers".into(), json!(is_listed));
        members.insert("counted".into(), json!(true));
        members.insert("time_zone".into(), json!("UTC"));
        for (name, position) in dropped {
            if let Some(documents) = members[name].as_array_mut().filter(|documents| documents.len() > position) {
                documents.remove(position);
            }
        }
        if !has_customer {
            members.remove("customers");
        }
        if !has_rules {
            members.remove("stacking_rules");
        }
        let prepared = PreparedRules::new(part.to_string().as_bytes()).unwrap();
        let prices = answer(&prepared, "prices", &request);
        for (price, full) in list(&prices, "prices").iter().zip(list(&full, "prices")) {
            if price.get("missing").is_none() {
                prop_assert_eq!(price, full);
                finals.set(finals.get() + 1);
            } else {
                provisionals.set(provisionals.get() + 1);
            }
        }
        Ok(())
    });
    assert!(finals.get() > CASES / 2 && provisionals.get() > CASES, "{} and {}", finals.get(), provisionals.get());
}

#[test]
fn promotions_of_another_cart_change_only_a_price_that_says_from() {
    let steady = Cell::new(0_u32);
    let inputs = (project(), select(vec!["prod_a", "prod_b", "source_c"]), 1..4_u64);
    holds(CASES, inputs, |((given, customer), other, quantity)| {
        let prepared = prepare(&given);
        let prices =
            answer(&prepared, "prices", &json!({ "ids": ["prod_a", "sku_1", "prod_b"], "customer": customer }));
        for price in list(&prices, "prices").iter().filter(|price| price["from"] == false && price["price"] != 0) {
            let mut order = cart(price);
            let lines = order["items"].as_array_mut().unwrap();
            lines.push(json!({ "product_id": other, "quantity": quantity }));
            let applied: Vec<String> = list(price, "redeemables").iter().map(|one| text(one, "id")).collect();
            let qualified = best_of(&prepared, &order, customer.as_ref());
            let offers = list(&qualified["redeemables"], "data");
            for offer in offers.iter().filter(|offer| !applied.contains(&text(offer, "id"))) {
                let line = &offer["order"]["items"][0];
                prop_assert!(
                    line["total_discount_amount"].is_null() || line["total_discount_amount"] == 0,
                    "{} {}",
                    price,
                    offer
                );
                prop_assert!(offer["order"]["discount_amount"].is_null(), "{} {}", price, offer);
            }
            let is_listed = |id: &String| offers.iter().any(|offer| offer["id"] == id.as_str());
            // A gift of another product may come and go: the price of this one stays.
            let tiers = list(&given, "promotion_tiers");
            let is_gift = |id: &String| {
                let of_tier = |tier: &&Value| tier["id"] == id.as_str() && tier["action"]["discount"]["type"] == "UNIT";
                tiers.iter().any(|tier| of_tier(&tier))
            };
            prop_assert!(applied.iter().all(|id| is_listed(id) || is_gift(id)), "{} {}", price, qualified);
            steady.set(steady.get() + u32::from(!applied.is_empty()));
        }
        Ok(())
    });
    assert!(steady.get() > CASES / 20, "{}", steady.get());
}

/// Returns the ids of the tiers in a list that give no units.
fn without_gifts(given: &Value, redeemables: &Value) -> Vec<String> {
    let tiers = list(given, "promotion_tiers");
    let is_gift = |id: &str| tiers.iter().any(|tier| tier["id"] == id && tier["action"]["discount"]["type"] == "UNIT");
    let ids = redeemables.as_array().unwrap().iter().map(|one| text(one, "id"));
    ids.filter(|id| !is_gift(id)).collect()
}

#[test]
fn the_best_stack_of_a_larger_cart_changes_only_a_price_that_says_from() {
    let steady = Cell::new(0_u32);
    let others = prop::collection::vec((select(vec!["prod_a", "prod_b", "source_c"]), 1..4_u64), 1..4);
    holds(LARGER_CARTS, (project(), others, 1..4_u64), |((given, customer), others, units)| {
        let prepared = prepare(&given);
        let ids = ["prod_a", "sku_1", "prod_b"];
        let prices = answer(&prepared, "prices", &json!({ "ids": ids, "customer": customer }));
        for price in list(&prices, "prices").iter().filter(|price| price["from"] == false && price["price"] != 0) {
            let alone = best_of(&prepared, &cart(price), customer.as_ref());
            let mut order = cart(price);
            let lines = order["items"].as_array_mut().unwrap();
            lines[0]["quantity"] = json!(units);
            let name = price["id"].as_str().unwrap();
            // The product of a SKU is another line.
            lines.extend(
                others
                    .iter()
                    .filter(|(id, _)| *id != name)
                    .map(|(id, count)| json!({ "product_id": id, "quantity": count })),
            );
            let qualified = best_of(&prepared, &order, customer.as_ref());
            if qualified["best"]["proven"] == false {
                continue;
            }
            let applied = without_gifts(&given, &price["redeemables"]);
            let found = without_gifts(&given, &qualified["best"]["redeemables"]);
            let off = |best: &Value| best["order"]["items"][0]["total_discount_amount"].as_u64().unwrap_or(0);
            // Another order of the same shares is rounded elsewhere, and two units are rounded once.
            let most = units * (applied.len() as u64 + 1);
            let difference = off(&qualified["best"]).abs_diff(units * off(&alone["best"]));
            prop_assert!(difference <= most, "{} off: {} {} {}", difference, price, qualified["best"], given);
            // A price of 0 needs no further tier.
            let is_free = off(&qualified["best"]) == units * price["price"].as_u64().unwrap();
            let all = applied.iter().all(|id| found.contains(id));
            prop_assert!(is_free || all, "{} {} {}", price, qualified["best"], given);
            steady.set(steady.get() + u32::from(!applied.is_empty()));
        }
        Ok(())
    });
    assert!(steady.get() > LARGER_CARTS / 20, "{}", steady.get());
}
