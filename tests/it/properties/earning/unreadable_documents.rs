//! Tests unreadable documents, each with the path of its problem.

use scrip::wire::document::read_document;
use scrip::wire::loyalty::earning_rule::read_earning_rule;
use scrip::wire::loyalty::incentive::read_incentive;
use serde_json::{Value, json};

fn rule() -> Value {
    json!({ "id": "lern_1", "status": "ACTIVE", "trigger": { "event": "customer.order.paid" }, "earnings": [
        { "id": "lernei_1", "name": null, "rules": null, "tier_rules": { "type": "NO_REQUIREMENTS" }, "effects": [
            { "type": "POINTS", "points": { "value": 5, "card_definition_id": "lcdef_1" } },
            { "type": "POINTS_PROPORTIONAL", "points_proportional": { "calculation_type": "ORDER_ITEMS_QUANTITY",
                "card_definition_id": "lcdef_1", "order_items": { "quantity": { "every": 1, "value": 2, "applicable_to": [
                    { "type": "product", "product": { "id": "prod_1" } }] } } } },
            { "type": "INCENTIVE", "incentive": { "id": "linc_1" } },
        ] }],
        "validity_hours": null, "start_date": null, "end_date": null, "metadata": {}, "error": null,
        "trigger_limits": { "cooldown": { "type": "NO_COOLDOWN" }, "frequency": { "type": "NO_LIMIT" } } })
}

fn wrong(path: &str, value: Value) -> String {
    let mut document = rule();
    *document.pointer_mut(path).unwrap() = value;
    read_document(&document.to_string(), read_earning_rule).unwrap_err().to_string()
}

#[test]
fn stored_documents_are_read_and_faults_are_named() {
    read_document(&rule().to_string(), read_earning_rule).unwrap();
    // An effect in proportion to a missing value gives no points, and other effects still apply.
    let mut entered = rule();
    entered["trigger"] = json!({ "event": "customer.segment.entered", "segment": { "id": "seg_1" } });
    read_document(&entered.to_string(), read_earning_rule).unwrap();
    let effects = "/earnings/0/effects";
    let cases = [
        ("/status", json!("SLEEPING"), "status"),
        ("/trigger/event", json!("customer.born"), "trigger.event"),
        ("/trigger", json!({ "event": "customer.custom_event" }), "custom_event"),
        (effects, json!([{ "type": "CAKE" }]), "earnings[0].effects[0].type"),
        (&format!("{effects}/0/points/value"), json!(1.5), "earnings[0].effects[0].points.value"),
        (&format!("{effects}/0/points/value"), json!(-1), "earnings[0].effects[0].points.value"),
        (&format!("{effects}/0/points/value"), json!(9_007_199_254_740_992_u64), "earnings[0].effects[0].points.value"),
        (
            &format!("{effects}/1/points_proportional/order_items/quantity/every"),
            json!(0),
            "order_items.quantity.every",
        ),
        (&format!("{effects}/1/points_proportional/order_items/quantity/applicable_to"), json!([]), "applicable_to"),
        (&format!("{effects}/1/points_proportional/calculation_type"), json!("PHASE_OF_THE_MOON"), "calculation_type"),
        (&format!("{effects}/1/points_proportional/order_items"), json!({}), "quantity"),
        (
            "/earnings/0/rules",
            json!({ "1": { "name": "redemption.metadata", "property": "p", "conditions": { "$is": ["a"] } },
            "logic": "1" }),
            "earnings[0].rules",
        ),
        ("/earnings/0/tier_rules", json!({ "type": "ALL_OF" }), "earnings[0].tier_rules.type"),
        ("/trigger_limits/cooldown", json!({ "type": "FIXED_COOLDOWN" }), "fixed_cooldown"),
        ("/trigger_limits/frequency", json!({ "type": "LIMITED" }), "limits"),
    ];
    for (path, value, named) in cases {
        let problem = wrong(path, value);
        assert!(problem.contains(named), "{path}: {problem}");
    }
}

#[test]
fn an_incentive_declares_its_grant() {
    let of = |kind: &str, name: &str, block: Value| {
        json!({ "id": "linc_1", "status": "ACTIVE", "stock": null, "type": kind, name: block }).to_string()
    };
    let sku = json!({ "type": "SKU", "sku": { "product_id": "p", "id": "s" } });
    let card = json!({ "type": "GIFT_VOUCHERS", "gift_vouchers": { "campaign_id": "c", "balance": 500 } });
    for text in [of("MATERIAL", "material", sku), of("DIGITAL", "digital", card)] {
        assert_eq!(read_document(&text, read_incentive).unwrap().stock, None);
    }
    for text in
        [of("MATERIAL", "digital", json!({})), of("DIGITAL", "digital", json!({ "type": "LOYALTY_CARD_POINTS" }))]
    {
        read_document(&text, read_incentive).unwrap_err();
    }
}
