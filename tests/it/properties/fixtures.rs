//! Generates random projects, carts and requests in the API's own JSON, and calls the engine with them. Numbers are small so that cases
//! collide: limits are reached, codes are used up, units become free.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::time::Instant;
use serde_json::{Value, json};

/// A project with a request.
#[derive(Debug, Clone)]
pub struct ProjectCase {
    pub given: Value,
    pub request: Value,
}

const CATEGORIES: [&str; 4] = ["cat_a", "cat_b", "cat_x", "cat_j"];
const PRODUCTS: [&str; 3] = ["prod_a", "prod_b", "prod_c"];
pub const CODES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

fn discount() -> impl Strategy<Value = Value> {
    let percents = select(vec!["0", "5", "10", "12.5", "33.3333", "50", "99.99", "100"]);
    let limit = || prop_oneof![3 => Just(Value::Null), 1 => (0..800_u64).prop_map(Value::from)];
    let percent = (percents, select(vec!["APPLY_TO_ORDER", "APPLY_TO_ITEMS"]), limit(), limit()).prop_map(
        |(percent, effect, limit, aggregated)| {
            let percent: Value = serde_json::from_str(percent).unwrap();
            json!({ "type": "PERCENT", "percent_off": percent, "effect": effect, "amount_limit": limit,
                    "aggregated_amount_limit": aggregated })
        },
    );
    let effects = select(vec![
        "APPLY_TO_ORDER",
        "APPLY_TO_ITEMS",
        "APPLY_TO_ITEMS_BY_QUANTITY",
        "APPLY_TO_ITEMS_PROPORTIONALLY",
        "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY",
    ]);
    let amount = (0..1_500_u64, effects, limit()).prop_map(|(amount, effect, aggregated)| {
        json!({ "type": "AMOUNT", "amount_off": amount, "effect": effect, "aggregated_amount_limit": aggregated })
    });
    let without_nulls = |mut discount: Value| {
        discount.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        discount
    };
    prop_oneof![percent, amount].prop_map(without_nulls)
}

fn grant() -> impl Strategy<Value = Value> {
    let gift = (0..3_000_u64, 0..3_000_u64, any::<bool>()).prop_map(|(loaded, spent, items)| {
        let spent = spent.min(loaded);
        let effect = if items { "APPLY_TO_ITEMS" } else { "APPLY_TO_ORDER" };
        json!({ "type": "GIFT_VOUCHER", "redemption": { "redeemed_amount": spent },
                "gift": { "amount": loaded, "balance": loaded - spent, "effect": effect } })
    });
    let coupon = discount().prop_map(|discount| json!({ "type": "DISCOUNT_VOUCHER", "discount": discount }));
    prop_oneof![4 => coupon, 1 => gift]
}

/// Generates defects of a voucher as fields of its document. The current instant is always the same.
fn flaw() -> impl Strategy<Value = Value> {
    prop_oneof![
        12 => Just(json!({})),
        1 => Just(json!({ "active": false })),
        1 => Just(json!({ "start_date": "2026-03-01T12:00:00.001Z" })),
        1 => Just(json!({ "expiration_date": "2026-03-01T11:59:59.999Z" })),
        1 => Just(json!({ "validity_day_of_week": [1, 2] })),
    ]
}

fn voucher(code: &'static str) -> impl Strategy<Value = Value> {
    let category = prop_oneof![2 => Just(Value::Null), 3 => select(CATEGORIES.to_vec()).prop_map(Value::from)];
    let quantity = prop_oneof![3 => Just(Value::Null), 1 => (0..3_u64).prop_map(Value::from)];
    (grant(), flaw(), category, quantity, 0..3_u64).prop_map(move |(grant, flaw, category, quantity, used)| {
        let mut document = json!({ "id": format!("v_{code}"), "code": code });
        let fields = document.as_object_mut().unwrap();
        fields.extend(grant.as_object().unwrap().clone());
        fields.extend(flaw.as_object().unwrap().clone());
        if !category.is_null() {
            fields.insert("category_id".into(), category);
        }
        let redemption = fields.entry("redemption").or_insert_with(|| json!({}));
        let used = quantity.as_u64().map_or(used, |quantity| used.min(quantity));
        redemption["quantity"] = quantity;
        redemption["redeemed_quantity"] = json!(used);
        document
    })
}

/// A rule for some of the vouchers: the order's amount, and sometimes a product.
fn rule(code: &'static str) -> impl Strategy<Value = Option<Value>> {
    let scope = prop_oneof![1 => Just(None), 2 => (select(PRODUCTS.to_vec()), any::<bool>()).prop_map(Some)];
    let rule = (0..3_000_u64, select(vec!["order.amount", "order.initial_amount"]), scope).prop_map(
        move |(bound, name, scope)| {
            let entry = |product: &str| json!([{ "object": "product", "id": product, "effect": "APPLY_TO_EVERY" }]);
            let (included, excluded) = match scope {
                None => (json!([]), json!([])),
                Some((product, true)) => (entry(product), json!([])),
                Some((product, false)) => (json!([]), entry(product)),
            };
            json!({ "id": format!("val_{code}"), "name": code,
                    "rules": { "1": { "name": name, "conditions": { "$more_than": [bound] }, "rules": {} }, "logic": "1" },
                    "applicable_to": { "included_all": false, "included": included, "excluded": excluded } })
        },
    );
    prop_oneof![2 => Just(None), 1 => rule.prop_map(Some)]
}

fn stacking_rules() -> impl Strategy<Value = Value> {
    let limit = || prop_oneof![2 => Just(Value::Null), 2 => (1..4_u64).prop_map(Value::from)];
    let categories = || prop_oneof![1 => Just(json!([])), 1 => Just(json!(["cat_x"])), 1 => Just(json!(["cat_j"]))];
    let one_of = |names: &[&'static str]| select(names.to_vec());
    let limits = (limit(), limit(), limit(), limit(), categories(), categories());
    let modes = (
        one_of(&["ALL", "PARTIAL"]),
        one_of(&["REQUESTED_ORDER", "CATEGORY_HIERARCHY"]),
        one_of(&["STACK", "ONCE"]),
        one_of(&["REDEEM_ANYWAY", "SKIP"]),
        one_of(&["DISCOUNTED_AMOUNT", "DISCOUNTED_AMOUNT", "INITIAL_AMOUNT"]),
    );
    (limits, modes).prop_map(|((total, category, exclusive, exclusive_category, alone, joint), modes)| {
        let mut rules = json!({
            "applicable_redeemables_limit": total, "applicable_redeemables_per_category_limit": category,
            "applicable_exclusive_redeemables_limit": exclusive,
            "applicable_exclusive_redeemables_per_category_limit": exclusive_category,
            "exclusive_categories": alone, "joint_categories": joint,
            "redeemables_application_mode": modes.0, "redeemables_sorting_rule": modes.1,
            "redeemables_products_application_mode": modes.2, "redeemables_no_effect_rule": modes.3,
            "discount_calculation_mode": modes.4
        });
        rules.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        if rules["exclusive_categories"] == rules["joint_categories"] {
            rules["joint_categories"] = json!([]);
        }
        rules
    })
}

fn order() -> impl Strategy<Value = Value> {
    let price = prop_oneof![6 => (0..2_000_u64).prop_map(Value::from), 1 => Just(Value::Null)];
    let before = prop_oneof![5 => Just(Value::Null), 1 => (0..500_u64).prop_map(Value::from)];
    let line = (select(PRODUCTS.to_vec()), price, 1..5_u64, before).prop_map(|(product, price, quantity, before)| {
        let mut line =
            json!({ "product_id": product, "price": price, "quantity": quantity, "discount_amount": before });
        // No merchant sends an order with a discount above the line.
        let amount = line["price"].as_u64().map(|price| price * quantity);
        if line["discount_amount"].as_u64() > amount {
            line["discount_amount"] = Value::Null;
        }
        line.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        line
    });
    let lines = prop::collection::vec(line, 0..5);
    let amount = prop_oneof![3 => Just(Value::Null), 1 => (0..9_000_u64).prop_map(Value::from)];
    let before = prop_oneof![5 => Just(Value::Null), 1 => (0..300_u64).prop_map(Value::from)];
    (lines, amount, before).prop_map(|(lines, amount, before)| {
        let mut order = json!({ "items": lines, "amount": amount, "discount_amount": before });
        if order["items"].as_array().is_some_and(Vec::is_empty) && order["amount"].is_null() {
            order["amount"] = json!(4_000);
        }
        order.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        order
    })
}

/// A project with six vouchers, and a request for some of them in some order, sometimes for one that does not exist.
pub fn project_case() -> impl Strategy<Value = ProjectCase> {
    let vouchers: Vec<_> = CODES.iter().map(|code| voucher(code)).collect();
    let rules: Vec<_> = CODES.iter().map(|code| rule(code)).collect();
    let mut codes: Vec<&str> = CODES.to_vec();
    codes.push("NOPE");
    let requested_codes = prop::sample::subsequence(codes, 1..=6).prop_shuffle();
    let credits = prop_oneof![2 => Just(None), 1 => (0..1_500_u64).prop_map(Some)];
    (vouchers, rules, stacking_rules(), order(), requested_codes, credits).prop_map(
        |(vouchers, rules, stacking_rules, order, requested_codes, credits)| {
            let rules: Vec<Value> = rules.into_iter().flatten().collect();
            let assigned = |rule: &Value| {
                let code = rule["name"].as_str().unwrap();
                json!({ "id": format!("asgm_{code}"), "rule_id": rule["id"], "related_object_type": "voucher",
                        "related_object_id": format!("v_{code}") })
            };
            let assignments: Vec<Value> = rules.iter().map(assigned).collect();
            let hierarchies = CATEGORIES.iter().enumerate();
            let categories: Vec<Value> = hierarchies
                .map(|(position, id)| json!({ "id": id, "name": id, "hierarchy": position / 2, "object": "category" }))
                .collect();
            let is_gift = |code: &str| {
                vouchers.iter().any(|voucher| voucher["code"] == code && voucher["type"] == "GIFT_VOUCHER")
            };
            let redeemable = |code: &str| match credits.filter(|_| is_gift(code)) {
                Some(credits) => json!({ "object": "voucher", "id": code, "gift": { "credits": credits } }),
                None => json!({ "object": "voucher", "id": code }),
            };
            let redeemables: Vec<Value> = requested_codes.into_iter().map(redeemable).collect();
            ProjectCase {
                given: json!({ "complete": true, "stacking_rules": stacking_rules, "vouchers": vouchers,
                               "categories": categories, "validation_rules": rules,
                               "validation_rules_assignments": assignments }),
                request: json!({ "redeemables": redeemables, "order": order }),
            }
        },
    )
}

pub fn context() -> Context {
    let mut seed = [0; 32];
    seed[0] = 7;
    Context { now: Instant::parse("2026-03-01T12:00:00Z").unwrap(), seed, first_number: None }
}

fn prepared(given: &Value) -> PreparedRules {
    PreparedRules::new(crate::support::service_facts::world(&given.to_string()).as_bytes())
        .unwrap_or_else(|problem| panic!("{problem:?}\n{given}"))
}

/// The bytes of a validation.
pub fn validation_bytes(given: &Value, request: &Value) -> Vec<u8> {
    prepared(given).validate(request.to_string().as_bytes(), &context()).body
}

pub fn validate(given: &Value, request: &Value) -> Value {
    serde_json::from_slice(&validation_bytes(given, request)).unwrap()
}

pub fn redeem(given: &Value, request: &Value) -> Value {
    let answer = prepared(given).redeem(request.to_string().as_bytes(), &context());
    serde_json::from_slice(&answer.body).unwrap()
}

/// Undoes a redemption, on the route for stacks.
pub fn rollback(given: &Value, redemption: &str) -> Value {
    let answer = prepared(given).rollback(redemption, true, b"{}", &context());
    serde_json::from_slice(&answer.body).unwrap()
}

/// The entries of a list of an answer; none when it is absent.
pub fn list<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    answer[name].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the status of each redeemable by its code.
pub fn statuses(answer: &Value) -> BTreeMap<String, String> {
    let lists = ["redeemables", "skipped_redeemables", "inapplicable_redeemables"];
    let entries = lists.iter().flat_map(|name| list(answer, name));
    entries.map(|entry| (text(entry, "id"), text(entry, "status"))).collect()
}

pub fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// The codes that were applied, in order.
pub fn applied(answer: &Value) -> Vec<String> {
    let entries = list(answer, "redeemables").iter().filter(|entry| entry["status"] == "APPLICABLE");
    entries.map(|entry| text(entry, "id")).collect()
}

/// Returns the requested codes in order.
pub fn requested_codes(request: &Value) -> Vec<String> {
    list(request, "redeemables").iter().map(|entry| text(entry, "id")).collect()
}

/// The voucher of a code, when it exists.
pub fn voucher_of<'a>(given: &'a Value, code: &str) -> Option<&'a Value> {
    list(given, "vouchers").iter().find(|voucher| voucher["code"] == code)
}

/// Returns an amount; an absent one is 0.
pub fn amount(value: &Value, name: &str) -> i64 {
    value[name].as_i64().unwrap_or(0)
}
