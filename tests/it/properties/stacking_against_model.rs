//! Tests stacking against its model, and the ledger chain of a redemption: its reverse restores all accounts.

use std::cell::RefCell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;
use scrip::bundle::PreparedRules;
use scrip::decide;
use scrip::ledger::{Book, Entry, Journal};
use scrip::wire::request::read_redeemables;
use serde_json::{Map, Value, json};

use crate::properties::fixtures::{context, list, text, validate};
use crate::properties::holds;
use crate::properties::stacking_model::{Code, Effect, ModelOutcome, Rules, stack};

const CASES: u32 = 2_000;
const CATEGORIES: usize = 4;

fn effect() -> impl Strategy<Value = Effect> {
    prop_oneof![
        (0..101_i64).prop_map(Effect::OrderPercent),
        (0..900_i64).prop_map(Effect::OrderAmount),
        (0..101_i64, 0..3_usize).prop_map(|(percent, product)| Effect::LinePercent(percent, product)),
        (0..900_i64, 0..3_usize).prop_map(|(amount, product)| Effect::LineAmount(amount, product)),
    ]
}

fn code() -> impl Strategy<Value = Code> {
    let rarely = |usual: bool| prop_oneof![9 => Just(usual), 1 => Just(!usual)];
    let category = prop_oneof![1 => Just(None), 3 => (0..CATEGORIES).prop_map(Some)];
    let more_than = prop_oneof![3 => Just(None), 1 => (0..2_000_i64).prop_map(Some)];
    (rarely(true), rarely(true), more_than, category, effect()).prop_map(
        |(exists, active, more_than, category, effect)| {
            // A redeemable that does not exist has no category.
            let category = category.filter(|_| exists);
            Code { exists, active, more_than, category, effect }
        },
    )
}

fn flags() -> impl Strategy<Value = Vec<bool>> {
    prop::collection::vec(prop_oneof![3 => Just(false), 1 => Just(true)], CATEGORIES)
}

fn rules() -> impl Strategy<Value = Rules> {
    let limit = || prop_oneof![1 => Just(None), 1 => (1..4_usize).prop_map(Some)];
    let of_category = prop::collection::vec(prop_oneof![3 => Just(None), 1 => (1..4_usize).prop_map(Some)], CATEGORIES);
    let modes = prop::collection::vec(any::<bool>(), 6);
    let lists = prop::collection::vec(flags(), 6);
    let limits = (1..6_usize, limit(), of_category, 1..4_usize, limit());
    let hierarchy = prop::collection::vec(0..3_i64, CATEGORIES);
    (modes, lists, limits, hierarchy).prop_map(|(modes, lists, limits, hierarchy)| {
        let (limit, per_category, of_category, exclusive_limit, exclusive_per_category) = limits;
        let list = |position: usize| lists[position].clone();
        Rules {
            all: modes[0],
            by_hierarchy: modes[1],
            joint_last: modes[2],
            once: modes[3],
            skip_no_effect: modes[4],
            initial: modes[5],
            limit,
            per_category,
            of_category,
            exclusive_limit,
            exclusive_per_category,
            exclusive: list(0),
            joint: list(1),
            initial_categories: list(2),
            discounted_categories: list(3),
            skip_categories: list(4),
            anyway_categories: list(5),
            hierarchy,
        }
    })
}

fn category(number: usize) -> String {
    format!("cat_{number}")
}

fn stacking_rules(rules: &Rules) -> Value {
    let named =
        |flags: &[bool]| -> Vec<String> { (0..CATEGORIES).filter(|number| flags[*number]).map(category).collect() };
    let limits: Map<String, Value> =
        (0..CATEGORIES).filter_map(|number| Some((category(number), json!(rules.of_category[number]?)))).collect();
    let either = |flag: bool, yes: &'static str, no: &'static str| if flag { yes } else { no };
    json!({
        "redeemables_application_mode": either(rules.all, "ALL", "PARTIAL"),
        "redeemables_sorting_rule": either(rules.by_hierarchy, "CATEGORY_HIERARCHY", "REQUESTED_ORDER"),
        "grouped_redeemables_sorting_rule": either(rules.joint_last, "JOINT_ALWAYS_LAST", "REDEEMABLES_SORTING_RULE"),
        "redeemables_products_application_mode": either(rules.once, "ONCE", "STACK"),
        "redeemables_no_effect_rule": either(rules.skip_no_effect, "SKIP", "REDEEM_ANYWAY"),
        "discount_calculation_mode": either(rules.initial, "INITIAL_AMOUNT", "DISCOUNTED_AMOUNT"),
        "applicable_redeemables_limit": rules.limit,
        "applicable_redeemables_per_category_limit": rules.per_category,
        "applicable_redeemables_category_limits": limits,
        "applicable_exclusive_redeemables_limit": rules.exclusive_limit,
        "applicable_exclusive_redeemables_per_category_limit": rules.exclusive_per_category,
        "exclusive_categories": named(&rules.exclusive),
        "joint_categories": named(&rules.joint),
        "initial_amount_mode_categories": named(&rules.initial_categories),
        "discounted_amount_mode_categories": named(&rules.discounted_categories),
        "no_effect_skip_categories": named(&rules.skip_categories),
        "no_effect_redeem_anyway_categories": named(&rules.anyway_categories),
    })
}

fn discount(effect: Effect) -> (Value, Option<usize>) {
    let percent = |percent: i64, effect: &str| json!({ "type": "PERCENT", "percent_off": percent, "effect": effect });
    let amount = |amount: i64, effect: &str| json!({ "type": "AMOUNT", "amount_off": amount, "effect": effect });
    match effect {
        Effect::OrderPercent(share) => (percent(share, "APPLY_TO_ORDER"), None),
        Effect::OrderAmount(off) => (amount(off, "APPLY_TO_ORDER"), None),
        Effect::LinePercent(share, product) => (percent(share, "APPLY_TO_ITEMS"), Some(product)),
        Effect::LineAmount(off, product) => (amount(off, "APPLY_TO_ITEMS"), Some(product)),
    }
}

/// The project of the model's codes, as promotion tiers of one promotion.
fn given(codes: &[Code], rules: &Rules) -> Value {
    let mut tiers = Vec::new();
    let (mut validation, mut assigned) = (Vec::new(), Vec::new());
    for (position, code) in codes.iter().enumerate().filter(|(_, code)| code.exists) {
        let (discount, product) = discount(code.effect);
        tiers.push(json!({ "id": format!("promo_{position}"), "campaign_id": "camp_p", "active": code.active,
                           "category_id": code.category.map(category), "action": { "discount": discount } }));
        let test = |bound: i64| json!({ "name": "order.amount", "conditions": { "$more_than": [bound] }, "rules": {} });
        let (rules, logic) = match code.more_than {
            Some(bound) => (json!({ "1": test(bound), "logic": "1" }), true),
            None => (json!({ "logic": "" }), false),
        };
        let included: Vec<Value> = product
            .iter()
            .map(|product| json!({ "object": "product", "id": format!("prod_{product}"), "effect": "APPLY_TO_EVERY" }))
            .collect();
        if logic || !included.is_empty() {
            validation.push(json!({ "id": format!("val_{position}"), "name": "v", "rules": rules,
                "applicable_to": { "included_all": false, "included": included, "excluded": [] } }));
            assigned.push(
                json!({ "rule_id": format!("val_{position}"), "related_object_id": format!("promo_{position}") }),
            );
        }
    }
    let categories: Vec<Value> = (0..CATEGORIES)
        .map(|number| json!({ "id": category(number), "name": "c", "hierarchy": rules.hierarchy[number] }))
        .collect();
    json!({ "complete": true, "stacking_rules": stacking_rules(rules), "categories": categories,
            "campaigns": [{ "id": "camp_p", "name": "P", "campaign_type": "PROMOTION" }],
            "promotion_tiers": tiers, "validation_rules": validation, "validation_rules_assignments": assigned })
}

fn request(codes: &[Code], lines: &[(usize, i64)]) -> Value {
    let redeemables: Vec<Value> = (0..codes.len())
        .map(|position| json!({ "object": "promotion_tier", "id": format!("promo_{position}") }))
        .collect();
    let items: Vec<Value> = lines
        .iter()
        .map(|(product, price)| json!({ "product_id": format!("prod_{product}"), "quantity": 1, "price": price }))
        .collect();
    json!({ "redeemables": redeemables, "order": { "items": items } })
}

/// Returns the results of an answer in mode ALL, in the terms of the model.
fn outcomes(answer: &Value) -> Vec<(String, String, Option<i64>)> {
    let outcome = |entry: &Value| {
        let key = entry["result"]["details"]["key"].as_str().filter(|_| entry["status"] == "SKIPPED");
        let status = key.map_or_else(|| text(entry, "status"), str::to_owned);
        (text(entry, "id"), status, entry["order"]["total_amount"].as_i64())
    };
    list(answer, "redeemables").iter().map(outcome).collect()
}

fn lines() -> impl Strategy<Value = Vec<(usize, i64)>> {
    prop::collection::vec((0..3_usize, 0..1_500_i64), 1..4)
}

#[test]
fn the_stacker_agrees_with_its_model() {
    let codes = prop::collection::vec(code(), 1..6);
    holds(CASES, (codes, rules(), lines()), |(codes, rules, lines)| {
        let answer = validate(&given(&codes, &rules), &request(&codes, &lines));
        let (model_outcomes, valid) = stack(&codes, &rules, &lines);
        prop_assert_eq!(answer["valid"].as_bool(), Some(valid), "{}", answer);
        let named = |outcome: &ModelOutcome| (format!("promo_{}", outcome.0), outcome.1.to_owned(), outcome.2);
        let status = |expected_status: &str| -> Vec<_> {
            model_outcomes.iter().filter(|outcome| outcome.1 == expected_status).map(named).collect()
        };
        let expected = match (rules.all, valid) {
            (true, _) => model_outcomes.iter().map(named).collect(),
            (false, true) => status("APPLICABLE"),
            (false, false) => status("INAPPLICABLE"),
        };
        prop_assert_eq!(outcomes(&answer), expected, "{}", answer);
        let skipped: Vec<String> = model_outcomes
            .iter()
            .filter(|outcome| !matches!(outcome.1, "APPLICABLE" | "INAPPLICABLE"))
            .map(|outcome| named(outcome).0)
            .collect();
        let found: Vec<String> = list(&answer, "skipped_redeemables").iter().map(|entry| text(entry, "id")).collect();
        prop_assert_eq!(found, skipped);
        Ok(())
    });
}

/// A stack is another name for its tiers (docs/spec/calculation.md#11.2, step 2).
#[test]
fn a_stack_is_its_tiers() {
    let codes = prop::collection::vec(code(), 1..6);
    holds(CASES / 4, (codes, rules(), lines()), |(codes, rules, lines)| {
        let mut project = given(&codes, &rules);
        let ids: Vec<String> = (0..codes.len()).map(|position| format!("promo_{position}")).collect();
        project["promotion_stacks"] = json!([{ "id": "stack_s", "tiers": { "ids": ids } }]);
        let mut stack_request = request(&codes, &lines);
        let one_by_one = validate(&project, &stack_request);
        stack_request["redeemables"] = json!([{ "object": "promotion_stack", "id": "stack_s" }]);
        prop_assert_eq!(validate(&project, &stack_request), one_by_one);
        Ok(())
    });
}

/// Creates codes, cards and tiers with all their counts.
fn counted() -> Value {
    json!({
        "complete": true,
        "customers": [{ "id": "cust_1", "source_id": "one" }],
        "campaigns": [
            { "id": "camp_c", "name": "C", "campaign_type": "DISCOUNT_COUPONS" },
            { "id": "camp_p", "name": "P", "campaign_type": "PROMOTION" },
            { "id": "camp_l", "name": "L", "campaign_type": "LOYALTY_PROGRAM" }
        ],
        "vouchers": [
            { "id": "v_A", "code": "A", "campaign_id": "camp_c", "redemption": { "quantity": 3 },
              "discount": { "type": "PERCENT", "percent_off": 10 } },
            { "id": "v_B", "code": "B", "campaign_id": "camp_c", "discount": { "type": "AMOUNT", "amount_off": 120 } },
            { "id": "v_G", "code": "G", "gift": { "amount": 700 } },
            { "id": "v_U", "code": "U", "campaign_id": "camp_c",
              "discount": { "type": "UNIT", "unit_off": 2, "unit_type": "prod_a", "effect": "ADD_NEW_ITEMS" } },
            { "id": "v_K", "code": "K", "campaign_id": "camp_c",
              "discount": { "type": "AMOUNT", "amount_off": 3, "effect": "APPLY_TO_ITEMS_BY_QUANTITY" } },
            { "id": "v_L", "code": "L", "campaign_id": "camp_l", "holder_id": "cust_1", "loyalty_card": { "points": 90 } }
        ],
        "promotion_tiers": [
            { "id": "promo_T", "campaign_id": "camp_p", "action": { "discount": { "type": "AMOUNT", "amount_off": 5 } } }
        ],
        "products": [{ "id": "prod_a", "price": 50 }],
        "validation_rules": [{ "id": "val_k", "name": "k", "rules": { "logic": "" }, "applicable_to": {
            "included_all": false, "excluded": [],
            "included": [{ "object": "product", "id": "prod_a", "effect": "APPLY_TO_EVERY",
                "product_campaign_quantity_limit": 3, "product_customer_campaign_quantity_limit": 2 }] } }],
        "validation_rules_assignments": [{ "rule_id": "val_k", "related_object_id": "v_K" }],
        "rewards": [
            { "id": "rew_coin", "parameters": { "coin": { "exchange_ratio": 1, "points_ratio": 7 } } },
            { "id": "rew_mug", "stock": 2, "parameters": { "product": { "id": "prod_mug" } } }
        ],
        "reward_assignments": [
            { "id": "rewa_1", "reward_id": "rew_coin", "related_object_id": "camp_l" },
            { "id": "rewa_2", "reward_id": "rew_mug", "related_object_id": "camp_l",
              "parameters": { "loyalty": { "points": 40 } } }
        ]
    })
}

#[test]
fn a_rollback_restores_every_balance() {
    let seen = RefCell::new(BTreeSet::new());
    let names = prop::sample::subsequence(vec!["A", "B", "G", "K", "L", "U", "promo_T"], 1..=5).prop_shuffle();
    let reward = select(vec!["rew_coin", "rew_mug"]);
    holds(
        CASES / 4,
        (names, reward, 1..3_000_u64, any::<bool>(), any::<bool>()),
        |(names, reward, amount, known, app)| {
            let redeemable = |name: &&str| match *name {
                "promo_T" => json!({ "object": "promotion_tier", "id": name }),
                "L" => json!({ "object": "voucher", "id": name, "reward": { "id": reward } }),
                name => json!({ "object": "voucher", "id": name }),
            };
            let mut body = json!({ "redeemables": names.iter().map(redeemable).collect::<Vec<_>>(),
                               "order": { "items": [{ "product_id": "prod_a", "quantity": 1 + amount % 5 },
                                                    { "product_id": "prod_b", "quantity": 1, "price": amount }] } });
            if known {
                body["customer"] = json!({ "source_id": "one" });
            }
            let mut request = read_redeemables(body.to_string().as_bytes()).unwrap();
            request.channel.id = if app { "app".into() } else { "".into() };
            let prepared =
                PreparedRules::new(crate::support::service_facts::world(&counted().to_string()).as_bytes()).unwrap();
            let context = context();
            let decision = decide::redeem(prepared.facts(), &request, &context).unwrap();
            let changes = decision.changes.unwrap_or_default();
            let Some(whole) = decision.answer.parent_id() else {
                prop_assert!(changes.entries.is_empty());
                return Ok(());
            };
            let mut journal = Journal::default();
            journal.apply(&changes.entries).unwrap();
            seen.borrow_mut().extend(journal.balances().map(|(account, _)| kind_of(account.as_str())));
            let posted = changes.entries.iter().filter(|entry| matches!(entry, Entry::Post(_))).count();
            let chain = journal.chain(whole);
            prop_assert_eq!(chain.len(), posted, "a transfer that no rollback would find");
            prop_assert!(journal.balances().any(|(_, balance)| balance != 0));
            // Transfers start and end at accounts.
            prop_assert_eq!(journal.balances().map(|(_, balance)| balance).sum::<i64>(), 0);
            let mut book = Book::default();
            book.reverse(&chain, &"rr_1".into(), context.now).unwrap();
            journal.apply(&book.into_entries()).unwrap();
            prop_assert!(journal.balances().all(|(_, balance)| balance == 0));
            Ok(())
        },
    );
    // The reverse must not return more than was taken.
    let expected_kinds = [
        "campaign redeemed",
        "channel",
        "channel of",
        "customer of",
        "discounted",
        "orders",
        "promotion_tier redemptions",
        "reward stock",
        "units prod_a",
        "voucher credits",
        "voucher points",
        "voucher redemptions",
    ];
    let seen = seen.into_inner();
    assert!(expected_kinds.iter().all(|kind| seen.contains(*kind)), "{seen:?}");
}

/// Returns the kind of an account without the ids in its name.
fn kind_of(account: &str) -> String {
    let parts: Vec<&str> = account.split('/').collect();
    let about = parts.get(2).copied().unwrap_or_default();
    format!("{} {about}", parts[0]).trim().to_owned()
}
