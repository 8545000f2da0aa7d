//! Tests that rules of a client find the offers of past orders: those that are in force at another instant than that of the order.

use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::time::Instant;
use serde_json::{Value as Json, json};

const ORDER: &str = "2025-03-01";
const IN_FORCE: &str = "2026-03-02";

/// Rules of a client. Of each kind of tier one began after the order, and one ended before its offers are tried.
fn core() -> Vec<u8> {
    let tier = |id: &str, dates: Json| {
        let mut tier = json!({ "id": id, "name": id, "active": true, "object": "promotion_tier",
            "action": { "discount": { "type": "PERCENT", "percent_off": 10 } } });
        tier.as_object_mut().unwrap().append(&mut dates.as_object().unwrap().clone());
        tier
    };
    let (begun, ended) = (json!({ "start_date": "2026-03-01" }), json!({ "expiration_date": "2025-12-31" }));
    // The discount of one of them cannot fail; then the time is known before the tier is tried. The others have a condition on the order.
    let tiers = [
        tier("plain_begun", begun.clone()),
        tier("plain_ended", ended.clone()),
        tier("ruled_begun", begun),
        tier("ruled_ended", ended),
    ];
    let assigned = ["ruled_begun", "ruled_ended"].map(|id| json!({ "rule_id": "val_1", "related_object_id": id }));
    let stack =
        |id: &str, tier: &str| json!({ "id": id, "name": id, "object": "promotion_stack", "tiers": { "ids": [tier] } });
    json!({
        "client": {}, "public_offers": true, "stacking_rules": {}, "time_zone": "UTC", "whole_catalogue": true, "skus": [],
        "products": [{ "id": "mug", "name": "Mug", "price": 1_000 }],
        "promotion_tiers": tiers, "promotion_stacks": [stack("stack_begun", "plain_begun"), stack("stack_ended", "plain_ended")],
        "validation_rules": [{ "id": "val_1", "rules": { "1": { "name": "order.amount", "conditions": { "$more_than": [100] } } } }],
        "validation_rules_assignments": assigned,
        "campaigns": [], "vouchers": [], "categories": [], "product_collections": [], "segments": [],
    })
    .to_string()
    .into_bytes()
}

/// Returns rules that decide about the past order, and its context.
fn past() -> (PreparedRules, Context) {
    let [now, in_force_at] = [ORDER, IN_FORCE].map(|text| Instant::parse(text).unwrap());
    let mut rules = PreparedRules::new(&core()).unwrap();
    rules.decide_past(now, in_force_at);
    (rules, Context { now, seed: [7; 32], first_number: None })
}

fn qualified(scenario: &str) -> Vec<String> {
    let (rules, context) = past();
    let request = json!({ "scenario": scenario, "order": { "items": [{ "product_id": "mug", "quantity": 2 }] } });
    let answer: Json = serde_json::from_slice(&rules.qualify(request.to_string().as_bytes(), &context).body).unwrap();
    let mut ids: Vec<String> = answer["redeemables"]["data"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"))
        .iter()
        .map(|one| one["id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids
}

#[test]
fn a_qualification_lists_the_promotions_in_force_at_the_other_instant() {
    for scenario in ["ALL", "AUDIENCE_ONLY"] {
        let ids = qualified(scenario);
        assert_eq!(ids, ["plain_begun", "ruled_begun"], "{scenario}");
    }
    assert_eq!(qualified("PROMOTION_STACKS"), ["stack_begun"]);
}

#[test]
fn prices_are_those_of_the_promotions_in_force_at_the_other_instant() {
    let (rules, context) = past();
    let answer: Json = serde_json::from_slice(&rules.prices(br#"{ "ids": ["mug"] }"#, &context).body).unwrap();
    let ids = answer["prices"][0]["redeemables"].to_string();
    assert!(ids.contains("plain_begun") && ids.contains("ruled_begun") && !ids.contains("ended"), "{answer}");
}
