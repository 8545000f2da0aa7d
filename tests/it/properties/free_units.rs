//! Tests that a unit which one code makes free is not available to the others, in every order of the request.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::properties::fixtures::{amount, list, statuses, text, validate};
use crate::properties::holds;

const PRODUCTS: [&str; 3] = ["prod_a", "prod_b", "prod_c"];
const OTHERS: usize = 3;

/// Generates a discount or a gift card of another code. Percentages of the running order or of all lines are left out, because they depend
/// on the order of trying (docs/spec/calculation.md#17, examples 21 and 22).
fn grant() -> impl Strategy<Value = Value> {
    let discount = |discount: Value| json!({ "type": "DISCOUNT_VOUCHER", "discount": discount });
    let effects =
        vec!["APPLY_TO_ORDER", "APPLY_TO_ITEMS", "APPLY_TO_ITEMS_BY_QUANTITY", "APPLY_TO_ITEMS_PROPORTIONALLY"];
    let amounts = (0..900_u64, select(effects))
        .prop_map(move |(off, effect)| discount(json!({ "type": "AMOUNT", "amount_off": off, "effect": effect })));
    let formulas = (1..20_u64).prop_map(move |part| {
        let formula = format!("ORDER_AMOUNT / {part}");
        discount(json!({ "type": "AMOUNT", "amount_off": 1, "amount_off_formula": formula }))
    });
    let fixed = (0..2_000_u64)
        .prop_map(move |price| discount(json!({ "type": "FIXED", "fixed_amount": price, "effect": "APPLY_TO_ORDER" })));
    let gifts = (1..2_000_u64)
        .prop_map(|amount| json!({ "type": "GIFT_VOUCHER", "gift": { "amount": amount, "effect": "APPLY_TO_ORDER" } }));
    prop_oneof![3 => amounts, 1 => formulas, 1 => fixed, 1 => gifts]
}

/// A rule about the order, and in some of them a scope with limits.
fn rule() -> impl Strategy<Value = Value> {
    let compare = select(vec!["$is", "$less_than", "$more_than", "$more_than_or_equal"]);
    let numbers = select(vec!["order.amount", "order.initial_amount", "order.items.count", "order.total_amount"]);
    let number = (numbers, compare, select(vec![0, 1, 2, 3, 500, 1000, 1500, 2000, 3000]))
        .prop_map(|(name, operator, wanted)| json!({ "name": name, "conditions": { operator: [wanted] } }));
    let names = select(vec!["order.items.any", "order.items.every", "order.items.none", "order.items.cheapest"]);
    let goods = (names, select(PRODUCTS.to_vec()))
        .prop_map(|(name, id)| json!({ "name": name, "conditions": { "$is": [{ "object": "product", "id": id }] } }));
    let effects =
        select(vec!["APPLY_TO_EVERY", "APPLY_TO_CHEAPEST", "APPLY_FROM_CHEAPEST", "APPLY_FROM_MOST_EXPENSIVE"]);
    let entry = (select(PRODUCTS.to_vec()), effects, prop::option::of(1..3_u64), prop::option::of(1..3_u64)).prop_map(
        |(id, effect, most, all)| {
            let mut entry = json!({ "object": "product", "id": id, "effect": effect, "target": "UNIT" });
            entry["quantity_limit"] = json!(most);
            entry["aggregated_quantity_limit"] = json!(all);
            entry
        },
    );
    let scope = prop_oneof![1 => Just(Vec::new()), 2 => prop::collection::vec(entry, 1..3)];
    (prop::option::of(prop_oneof![number, goods]), scope).prop_map(|(test, included)| {
        let mut rule = json!({ "rules": {}, "applicable_to": { "included_all": false, "included": included } });
        if let Some(test) = test {
            rule["rules"] = json!({ "1": test, "logic": "1" });
        }
        rule
    })
}

/// Generates other codes with their rules, the code that makes units free, and a cart with an amount above 0.
fn cases() -> impl Strategy<Value = (Value, Value)> {
    let effect = prop_oneof![4 => Just("ADD_MISSING_ITEMS"), 1 => Just("ADD_NEW_ITEMS")];
    let claimer = (effect, 1..4_u64, select(PRODUCTS.to_vec())).prop_map(|(effect, units, id)| {
        json!({ "id": "v_FREE", "code": "FREE", "type": "DISCOUNT_VOUCHER",
                "discount": { "type": "UNIT", "effect": effect, "unit_off": units, "unit_type": id } })
    });
    let line = |id: &'static str, least: u64| (Just(id), least..4);
    let lines = (line(PRODUCTS[0], 1), line(PRODUCTS[1], 0), line(PRODUCTS[2], 0), any::<bool>());
    let others = prop::collection::vec((grant(), rule()), OTHERS);
    (others, claimer, lines).prop_map(|(others, claimer, (one, two, three, turned))| {
        let (mut vouchers, mut rules, mut assigned) = (vec![claimer], Vec::new(), Vec::new());
        for (position, (mut voucher, mut rule)) in others.into_iter().enumerate() {
            let (voucher_id, rule_id) = (format!("v_{position}"), format!("val_{position}"));
            (voucher["id"], voucher["code"]) = (json!(voucher_id), json!(format!("C{position}")));
            (rule["id"], rule["name"]) = (json!(rule_id), json!(rule_id));
            assigned
                .push(json!({ "id": format!("asgm_{position}"), "rule_id": rule_id, "related_object_id": voucher_id,
                                  "related_object_type": "voucher" }));
            vouchers.push(voucher);
            rules.push(rule);
        }
        let prices = PRODUCTS.iter().zip([1000, 500, 750]);
        let products: Vec<Value> = prices.map(|(id, price)| json!({ "id": id, "name": id, "price": price })).collect();
        let given = json!({ "complete": true, "products": products, "vouchers": vouchers, "validation_rules": rules,
                            "validation_rules_assignments": assigned });
        let mut bought: Vec<(&str, u64)> = [one, two, three].into_iter().filter(|(_, units)| *units > 0).collect();
        if turned {
            bought.reverse();
        }
        let items: Vec<Value> =
            bought.into_iter().map(|(id, units)| json!({ "product_id": id, "quantity": units })).collect();
        (given, json!({ "items": items }))
    })
}

/// Returns the discount of each code by its name.
fn given_by_each(answer: &Value) -> BTreeMap<String, i64> {
    let entries = list(answer, "redeemables").iter().filter(|entry| entry["status"] == "APPLICABLE");
    entries.map(|entry| (text(entry, "id"), amount(&entry["order"], "total_applied_discount_amount"))).collect()
}

#[test]
fn free_units_give_equal_discounts_in_every_order() {
    holds(1_500, cases(), |(mut given, order)| {
        for mode in ["PARTIAL", "ALL"] {
            given["stacking_rules"] = json!({ "redeemables_application_mode": mode });
            let mut first = None;
            for position in 0..=OTHERS {
                let mut codes: Vec<String> = (0..OTHERS).map(|other| format!("C{other}")).collect();
                codes.insert(position, "FREE".into());
                let named: Vec<Value> = codes.iter().map(|code| json!({ "object": "voucher", "id": code })).collect();
                let answer = validate(&given, &json!({ "redeemables": named, "order": order }));
                // Under ALL a refusal prevents later redeemables from being tried.
                let tried = if mode == "ALL" { BTreeMap::new() } else { statuses(&answer) };
                let by_each = if mode == "ALL" { BTreeMap::new() } else { given_by_each(&answer) };
                let whole = (answer["valid"].clone(), answer["order"]["total_amount"].clone());
                let found = (whole, tried, by_each);
                let first = first.get_or_insert_with(|| found.clone());
                prop_assert_eq!(&*first, &found, "{} with FREE at {} of {}", answer, position, given);
            }
        }
        Ok(())
    });
}
