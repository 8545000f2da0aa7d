//! Tests the best stack against an enumeration of every ordered list of the offers, each of them validated. `BEST_STACKS=10000` tries more
//! carts than each run does; a release build takes minutes for them.

use std::cell::Cell;
use std::cmp::Reverse;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use scrip::bundle::PreparedRules;
use scrip::decide;
use scrip::model::request::Redeemables;
use scrip::pricing::Cart;
use scrip::stacking::ApplyOutcome;
use scrip::wire::request::read_redeemables;
use serde_json::{Value, json};

use crate::properties::fixtures::{context, list, text};
use crate::properties::holds;
use crate::support::service_facts::world;

/// Number of carts in each run.
const CASES: u32 = 60;
const OFFERS_MAX: usize = 6;
const CATEGORIES: [&str; 3] = ["cat_a", "cat_x", "cat_j"];
pub const PRODUCTS: [&str; 3] = ["prod_a", "prod_b", "prod_c"];

fn money_off() -> impl Strategy<Value = Value> {
    let percent = (select(vec![5, 10, 25, 50]), select(vec!["APPLY_TO_ORDER", "APPLY_TO_ITEMS"]))
        .prop_map(|(share, effect)| json!({ "type": "PERCENT", "percent_off": share, "effect": effect }));
    let effects = select(vec![
        "APPLY_TO_ORDER",
        "APPLY_TO_ORDER",
        "APPLY_TO_ITEMS",
        "APPLY_TO_ITEMS_BY_QUANTITY",
        "APPLY_TO_ITEMS_PROPORTIONALLY",
    ]);
    let amount = (select(vec![100, 250, 500, 900]), effects)
        .prop_map(|(off, effect)| json!({ "type": "AMOUNT", "amount_off": off, "effect": effect }));
    let fixed = (select(vec![300, 1_200]), select(vec!["APPLY_TO_ORDER", "APPLY_TO_ITEMS"]))
        .prop_map(|(price, effect)| json!({ "type": "FIXED", "fixed_amount": price, "effect": effect }));
    let formula = select(vec!["ORDER_AMOUNT / 10", "IF(ORDER_AMOUNT > 15;1;6)"]).prop_map(
        |formula| json!({ "type": "AMOUNT", "amount_off": 1, "amount_off_formula": formula, "effect": "APPLY_TO_ORDER" }),
    );
    prop_oneof![5 => percent, 5 => amount, 1 => fixed, 1 => formula]
}

fn discount() -> impl Strategy<Value = Value> {
    let effects = select(vec!["ADD_NEW_ITEMS", "ADD_NEW_ITEMS", "ADD_NEW_ITEMS", "ADD_MISSING_ITEMS"]);
    let units = (select(PRODUCTS.to_vec()), 1..3_u64, effects).prop_map(
        |(product, units, effect)| json!({ "type": "UNIT", "unit_off": units, "unit_type": product, "effect": effect }),
    );
    prop_oneof![9 => money_off(), 1 => units]
}

/// Generates the scope of an offer: all lines, one product, or some units of it.
fn scope() -> impl Strategy<Value = Value> {
    let goods = |product: &str| json!({ "object": "product", "id": product, "effect": "APPLY_TO_EVERY" });
    let one = select(PRODUCTS.to_vec()).prop_map(move |product| json!([goods(product)]));
    let cheapest = (subsequence(PRODUCTS.to_vec(), 2..=3), select(vec!["APPLY_TO_CHEAPEST", "APPLY_TO_MOST_EXPENSIVE"]))
        .prop_map(|(products, effect)| {
            products
                .into_iter()
                .map(|product| json!({ "object": "product", "id": product, "effect": effect, "aggregated_quantity_limit": 1 }))
                .collect::<Value>()
        });
    prop_oneof![4 => Just(json!([])), 4 => one, 1 => cheapest]
}

fn test() -> impl Strategy<Value = Value> {
    let amount = (select(vec!["$more_than", "$less_than"]), select(vec![600, 1_500, 2_500]))
        .prop_map(|(operator, bound)| json!({ "name": "order.amount", "conditions": { operator: [bound] } }));
    let budget = select(vec![300, 1_000]).prop_map(
        |most| json!({ "name": "campaign.orders.amount_discounted", "conditions": { "$less_than_or_equal": [most] } }),
    );
    let after = select(vec![500, 1_000])
        .prop_map(|least| json!({ "name": "order.total_amount", "conditions": { "$more_than": [least] } }));
    prop_oneof![3 => amount, 1 => budget, 1 => after]
}

/// Generates an offer: a discount, its category, its scope and its test.
pub fn offer() -> impl Strategy<Value = Value> {
    let category = prop_oneof![3 => Just(None), 2 => select(CATEGORIES.to_vec()).prop_map(Some)];
    let test = prop_oneof![3 => Just(None), 1 => test().prop_map(Some)];
    (discount(), category, scope(), test).prop_map(|(discount, category, scope, test)| {
        json!({ "discount": discount, "category": category, "scope": scope, "test": test })
    })
}

pub fn stacking_rules() -> impl Strategy<Value = Value> {
    let few = || prop_oneof![3 => Just(Value::Null), 1 => (1..4_u64).prop_map(Value::from)];
    let categories = |name: &'static str| prop_oneof![2 => Just(json!([])), 1 => Just(json!([name]))];
    let modes = (
        select(vec!["ALL", "PARTIAL"]),
        select(vec!["REQUESTED_ORDER", "REQUESTED_ORDER", "CATEGORY_HIERARCHY"]),
        select(vec!["STACK", "STACK", "ONCE"]),
        select(vec!["REDEEM_ANYWAY", "SKIP"]),
        select(vec!["DISCOUNTED_AMOUNT", "DISCOUNTED_AMOUNT", "INITIAL_AMOUNT"]),
        select(vec!["JOINT_ALWAYS_LAST", "REDEEMABLES_SORTING_RULE"]),
    );
    let limits = (few(), few(), few());
    (limits, categories("cat_x"), categories("cat_j"), modes).prop_map(|(limits, alone, joint, modes)| {
        let mut rules = json!({
            "applicable_redeemables_limit": limits.0, "applicable_redeemables_per_category_limit": limits.1,
            "applicable_exclusive_redeemables_limit": limits.2, "exclusive_categories": alone, "joint_categories": joint,
            "redeemables_application_mode": modes.0, "redeemables_sorting_rule": modes.1,
            "redeemables_products_application_mode": modes.2, "redeemables_no_effect_rule": modes.3,
            "discount_calculation_mode": modes.4, "grouped_redeemables_sorting_rule": modes.5,
        });
        rules.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        rules
    })
}

fn order() -> impl Strategy<Value = Value> {
    let line = (select(PRODUCTS.to_vec()), 1..4_u64, select(vec![99, 250, 500, 1_000]))
        .prop_map(|(product, quantity, price)| json!({ "product_id": product, "quantity": quantity, "price": price }));
    let before = prop_oneof![8 => Just(0), 1 => Just(300), 1 => Just(5_000)];
    (prop::collection::vec(line, 1..4), before).prop_map(|(items, before)| match before {
        0 => json!({ "items": items }),
        before => json!({ "items": items, "discount_amount": before }),
    })
}

/// Returns the documents of a project with these offers as promotion tiers of two promotions.
pub fn documents(offers: &[Value], rules: &Value) -> Value {
    let id = |position: usize| format!("promo_{position}");
    let tier = |(position, offer): (usize, &Value)| {
        let campaign = if position % 2 == 0 { "camp_a" } else { "camp_b" };
        json!({ "id": id(position), "name": "t", "campaign_id": campaign, "category_id": offer["category"],
                "created_at": format!("2026-02-0{}T00:00:00Z", 1 + position % 3), "action": { "discount": offer["discount"] } })
    };
    let rule = |(position, offer): (usize, &Value)| {
        let mut tests = json!({ "logic": "" });
        if !offer["test"].is_null() {
            tests = json!({ "1": offer["test"], "logic": "1" });
        }
        json!({ "id": format!("val_{position}"), "name": "r", "rules": tests,
                "applicable_to": { "included_all": false, "included": offer["scope"], "excluded": [] } })
    };
    let assigned = |position: usize| json!({ "rule_id": format!("val_{position}"), "related_object_id": id(position), "id": id(position) });
    json!({
        "complete": true, "stacking_rules": rules,
        "campaigns": [
            { "id": "camp_a", "name": "a", "campaign_type": "PROMOTION" },
            { "id": "camp_b", "name": "b", "campaign_type": "PROMOTION" },
        ],
        "categories": CATEGORIES.iter().zip([1, 0, 1]).map(|(id, hierarchy)| json!({ "id": id, "name": id, "hierarchy": hierarchy })).collect::<Vec<_>>(),
        "products": PRODUCTS.iter().map(|id| json!({ "id": id, "name": id, "price": 400 })).collect::<Vec<_>>(),
        "promotion_tiers": offers.iter().enumerate().map(tier).collect::<Vec<_>>(),
        "validation_rules": offers.iter().enumerate().map(rule).collect::<Vec<_>>(),
        "validation_rules_assignments": (0..offers.len()).map(assigned).collect::<Vec<_>>(),
    })
}

fn project(offers: &[Value], rules: &Value) -> PreparedRules {
    let given = documents(offers, rules);
    PreparedRules::new(world(&given.to_string()).as_bytes()).unwrap_or_else(|problem| panic!("{problem:?}\n{given}"))
}

fn request(ids: &[String], order: &Value) -> Redeemables {
    let redeemables: Vec<Value> = ids.iter().map(|id| json!({ "object": "promotion_tier", "id": id })).collect();
    read_redeemables(json!({ "redeemables": redeemables, "order": order }).to_string().as_bytes()).unwrap()
}

/// Returns what has been taken off an order, at most its amount.
fn off(cart: &Cart) -> u64 {
    cart.amount.map_or(0, |amount| amount.minor()) - cart.total().map_or(0, |total| total.minor())
}

/// Returns what a validation of this list saves, if it applies all of the list in its order.
fn saved(prepared: &PreparedRules, request: &Redeemables) -> Option<u64> {
    let context = context();
    let evaluated = decide::validate(prepared.facts(), request, &context).unwrap().answer.evaluated;
    let steps = evaluated.walk.steps.iter().enumerate();
    let is_next = |(at, step): (usize, &scrip::stacking::WalkStep)| {
        step.position == at && matches!(step.outcome, ApplyOutcome::Applied(_))
    };
    let is_whole = evaluated.valid && steps.clone().all(is_next);
    is_whole.then(|| off(&evaluated.walk.cart).saturating_sub(off(&evaluated.priced.cart)))
}

/// A list of offers, by rank, and what it saves.
type Tried = (Vec<usize>, u64);

/// Validates every list that begins with this one, and remembers the best.
fn enumerate(begun: &mut Vec<usize>, count: usize, best: &mut Tried, try_list: &dyn Fn(&[usize]) -> Option<u64>) {
    for rank in 0..count {
        if begun.contains(&rank) {
            continue;
        }
        begun.push(rank);
        if let Some(saved) = try_list(begun) {
            let key = |list: &[usize], saved: u64| (saved, Reverse((list.len(), list.to_vec())));
            if key(begun, saved) > key(&best.0, best.1) {
                *best = (begun.clone(), saved);
            }
        }
        enumerate(begun, count, best, try_list);
        begun.pop();
    }
}

#[test]
fn the_best_stack_is_that_of_an_enumeration() {
    let cases = std::env::var("BEST_STACKS").ok().and_then(|count| count.parse().ok()).unwrap_or(CASES);
    let (several, ordered) = (Cell::new(0_u32), Cell::new(0_u32));
    let (offers, unused) = (prop::collection::vec(offer(), 1..=OFFERS_MAX), ["unused".to_owned()]);
    holds(cases, (offers, stacking_rules(), order()), |(offers, rules, order)| {
        let prepared = project(&offers, &rules);
        let body =
            json!({ "order": order, "options": { "limit": 100, "sorting_rule": "BEST_DEAL", "optimise": true } });
        let answer: Value =
            serde_json::from_slice(&prepared.qualify(body.to_string().as_bytes(), &context()).body).unwrap();
        // The candidates are the offers that a validation of each alone applies, the largest discount first.
        let qualified = list(&answer["redeemables"], "data").iter().map(|item| text(item, "id"));
        let ids: Vec<String> =
            qualified.filter(|id| saved(&prepared, &request(std::slice::from_ref(id), &order)).is_some()).collect();
        let named = |ranks: &[usize]| ranks.iter().map(|rank| ids[*rank].clone()).collect::<Vec<String>>();
        // Without candidates there is no list to validate.
        let whole = request(if ids.is_empty() { &unused } else { &ids }, &order);
        let try_list = |ranks: &[usize]| {
            let redeemables = ranks.iter().map(|rank| whole.redeemables[*rank].clone()).collect();
            saved(&prepared, &Redeemables { redeemables, ..whole.clone() })
        };
        let mut best = (Vec::new(), 0);
        enumerate(&mut Vec::new(), ids.len(), &mut best, &try_list);
        let found: Vec<String> = list(&answer["best"], "redeemables").iter().map(|one| text(one, "id")).collect();
        prop_assert_eq!(
            answer["best"]["saved_amount"].as_u64(),
            Some(best.1),
            "{} not {:?}",
            answer["best"],
            named(&best.0)
        );
        prop_assert_eq!(found, named(&best.0), "{}", answer["best"]);
        prop_assert_eq!(&answer["best"]["proven"], &json!(true));
        several.set(several.get() + u32::from(best.0.len() > 1));
        let sorted = best.0.is_sorted();
        ordered.set(ordered.get() + u32::from(!sorted));
        Ok(())
    });
    // Carts whose best stack has one offer, or needs no order, would compare little.
    assert!(
        several.get() * 3 > cases && ordered.get() * 20 > cases,
        "{} and {} of {cases}",
        several.get(),
        ordered.get()
    );
}
