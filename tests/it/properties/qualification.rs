//! Tests that a redeemable qualifies exactly when a validation of it alone finds it applicable.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::time::Instant;
use serde_json::{Value, json};

use crate::properties::holds;

const PRODUCTS: [&str; 4] = ["prod_a", "prod_b", "prod_c", "prod_d"];
const SEGMENTS: [&str; 4] = ["gold", "silver", "new", "7"];
const TIERS: usize = 8;

fn goods(ids: Vec<&str>) -> Value {
    ids.into_iter().map(|id| json!({ "id": id, "object": "product", "type": "product_or_sku" })).collect()
}

/// Generates one test of a rule that does not count redemptions.
fn test() -> impl Strategy<Value = Value> {
    let compare =
        select(vec!["$is", "$less_than", "$less_than_or_equal", "$more_than", "$more_than_or_equal", "$in", "$not_in"]);
    let names = select(vec!["order.amount", "order.initial_amount", "order.items.count", "order.total_amount"]);
    let amount = (names, compare, prop::collection::vec(select(vec![0, 1, 500, 1000, 1500, 2000]), 1..3)).prop_map(
        |(name, operator, mut operands)| {
            if !matches!(operator, "$in" | "$not_in") {
                operands.truncate(1);
            }
            json!({ "name": name, "conditions": { operator: operands } })
        },
    );
    let operators = select(vec!["$in", "$not_in", "$is", "$is_not", "$contains", "$has_value"]);
    let segment =
        (operators, subsequence(SEGMENTS.to_vec(), 1..=3), any::<bool>()).prop_map(|(operator, operands, turned)| {
            let mut operands: Vec<&str> =
                if matches!(operator, "$is" | "$is_not") { operands[..1].to_vec() } else { operands };
            if turned {
                operands.reverse();
            }
            json!({ "name": "customer.metadata", "property": "segment", "conditions": { operator: operands } })
        });
    let names = select(vec!["order.items.any", "order.items.every", "order.items.none", "order.items.cheapest"]);
    let items = (names, subsequence(PRODUCTS.to_vec(), 1..=2), any::<bool>()).prop_map(|(name, ids, refined)| {
        let mut test = json!({ "name": name, "conditions": { "$is": goods(ids) } });
        if refined && name != "order.items.none" {
            test["rules"] =
                json!({ "1": { "name": "order.items.aggregated_quantity", "conditions": { "$more_than": [1] } } });
        }
        test
    });
    let data = select(vec!["order.metadata", "redemption.metadata"])
        .prop_map(|name| json!({ "name": name, "property": "gift", "conditions": { "$is": [true] } }));
    prop_oneof![3 => amount, 3 => segment, 3 => items, 1 => data]
}

fn rule() -> impl Strategy<Value = Value> {
    let logic = select(vec!["", "1", "1 and 2", "1 or 2", "(1 or 2) and 3", "1 and (2 or 3)", "1 and 2 and 3"]);
    (prop::collection::vec(test(), 3), logic)
        .prop_map(|(tests, logic)| json!({ "rules": { "1": tests[0], "2": tests[1], "3": tests[2], "logic": logic } }))
}

fn order() -> impl Strategy<Value = Value> {
    let item = (select(PRODUCTS.to_vec()), 1..3_u64, select(vec![0, 250, 500, 1000]))
        .prop_map(|(id, quantity, price)| json!({ "product_id": id, "quantity": quantity, "price": price }));
    let whole = (prop::collection::vec(item, 0..4), any::<bool>(), prop::option::of(select(vec![0, 100, 700])))
        .prop_map(|(items, gift, discount)| {
            let mut order = json!({ "items": items, "metadata": { "gift": gift } });
            if let Some(discount) = discount {
                order["discount_amount"] = json!(discount);
            }
            order
        });
    prop_oneof![6 => whole, 1 => select(vec![0, 500, 1000]).prop_map(|amount| json!({ "amount": amount }))]
}

fn customer() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => select(SEGMENTS.to_vec()).prop_map(|segment| json!({ "metadata": { "segment": segment } })),
        1 => Just(json!({ "metadata": { "segment": ["gold", "new"] } })),
        1 => Just(json!({ "metadata": {} })),
    ]
}

/// Generates tiers with up to two rules each, and the request.
fn cases() -> impl Strategy<Value = (Value, Value, Value)> {
    let assigned = prop::collection::vec(prop::collection::vec(0..5_usize, 0..3), TIERS);
    (prop::collection::vec(rule(), 5), assigned, order(), customer()).prop_map(|(rules, assigned, order, customer)| {
        let numbered = rules.into_iter().enumerate().map(|(position, mut rule)| {
            rule["id"] = json!(format!("val_{position}"));
            rule
        });
        let tier = |position: usize| {
            json!({ "id": format!("promo_{position}"), "name": "tier", "campaign_id": "camp_1",
                    "action": { "discount": { "type": "AMOUNT", "amount_off": 100 } } })
        };
        let assignment = |(position, rule): (usize, usize)| json!({ "related_object_id": format!("promo_{position}"), "rule_id": format!("val_{rule}") });
        let pairs = assigned.iter().enumerate().flat_map(|(position, rules)| rules.iter().map(move |rule| (position, *rule)));
        let given = json!({
            "complete": true, "campaigns": [{ "id": "camp_1", "name": "Promo" }],
            "validation_rules": numbered.collect::<Vec<_>>(),
            "promotion_tiers": (0..TIERS).map(tier).collect::<Vec<_>>(),
            "validation_rules_assignments": pairs.map(assignment).collect::<Vec<_>>(),
        });
        (given, order, customer)
    })
}

#[test]
fn qualification_equals_single_validations() {
    let context = Context { now: Instant::parse("2026-03-01T12:00:00Z").unwrap(), seed: [1; 32], first_number: None };
    holds(400, cases(), |(given, order, customer)| {
        let prepared = PreparedRules::new(crate::support::service_facts::world(&given.to_string()).as_bytes()).unwrap();
        let request = json!({ "order": order, "customer": customer, "options": { "limit": 50 } });
        let answer: Value =
            serde_json::from_slice(&prepared.qualify(request.to_string().as_bytes(), &context).body).unwrap();
        let data = answer["redeemables"]["data"].as_array().unwrap();
        for position in 0..TIERS {
            let id = format!("promo_{position}");
            let request = json!({ "redeemables": [{ "object": "promotion_tier", "id": id }], "order": order, "customer": customer });
            let alone: Value =
                serde_json::from_slice(&prepared.validate(request.to_string().as_bytes(), &context).body).unwrap();
            let result = data.iter().find(|item| item["id"] == json!(id));
            prop_assert_eq!(alone["valid"] == json!(true), result.is_some(), "{} in {}", id, answer);
            if let Some(result) = result {
                prop_assert_eq!(&result["order"], &alone["redeemables"][0]["order"], "{}", id);
                prop_assert_eq!(&result["result"], &alone["redeemables"][0]["result"], "{}", id);
            }
        }
        prop_assert_eq!(&answer["redeemables"]["total"], &json!(data.len()));
        Ok(())
    });
}
