//! Tests invariants 4 to 7 and 9 to 11: which redeemables are applied together, and their effect on the order.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use serde_json::{Value, json};

use crate::properties::fixtures::{
    ProjectCase, amount, applied, list, project_case, requested_codes, statuses, text, validate, voucher_of,
};
use crate::properties::holds;

const CASES: u32 = 600;

/// Checks invariant 4 for any order of an answer.
pub fn amounts_agree(order: &Value) -> TestCaseResult {
    let total_discount = amount(order, "discount_amount") + amount(order, "items_discount_amount");
    prop_assert_eq!(amount(order, "total_discount_amount"), total_discount);
    let of_items = |name: &str| list(order, "items").iter().map(|item| amount(item, name)).sum::<i64>();
    prop_assert_eq!(amount(order, "items_discount_amount"), of_items("discount_amount"));
    prop_assert_eq!(amount(order, "items_applied_discount_amount"), of_items("applied_discount_amount"));
    let applied = amount(order, "applied_discount_amount") + amount(order, "items_applied_discount_amount");
    prop_assert_eq!(amount(order, "total_applied_discount_amount"), applied);
    if !order["amount"].is_null() {
        prop_assert_eq!(amount(order, "total_amount"), (amount(order, "amount") - total_discount).max(0));
    }
    let fields = order.as_object().into_iter().flatten();
    prop_assert!(fields.filter(|(name, _)| name.ends_with("amount")).all(|(_, value)| value.as_i64() >= Some(0)));
    prop_assert!(amount(order, "applied_discount_amount") <= amount(order, "discount_amount"));
    for item in list(order, "items") {
        prop_assert!(amount(item, "applied_discount_amount") <= amount(item, "discount_amount"));
        if !item["subtotal_amount"].is_null() {
            let subtotal = amount(item, "amount") - amount(item, "discount_amount");
            prop_assert_eq!(amount(item, "subtotal_amount"), subtotal);
            prop_assert!(subtotal >= 0);
        }
    }
    Ok(())
}

#[test]
fn amounts_agree_in_every_order_of_an_answer() {
    holds(CASES, project_case(), |ProjectCase { given, request }| {
        let answer = validate(&given, &request);
        let mut off = 0;
        for entry in list(&answer, "redeemables").iter().filter(|entry| entry["status"] == "APPLICABLE") {
            amounts_agree(&entry["order"])?;
            off += amount(&entry["order"], "total_applied_discount_amount");
        }
        prop_assert_eq!(answer["order"].is_null(), answer["valid"] == false, "an order is shown when it is valid");
        if !answer["order"].is_null() {
            amounts_agree(&answer["order"])?;
            prop_assert_eq!(amount(&answer["order"], "total_applied_discount_amount"), off);
        }
        Ok(())
    });
}

/// Checks that the generated cases reach enough results, because the other properties prove little without effects.
#[test]
fn generated_cases_have_effects() {
    let (applied_two, failed, skipped) = (Cell::new(0), Cell::new(0), Cell::new(0));
    holds(400, project_case(), |ProjectCase { given, request }| {
        let answer = validate(&given, &request);
        let outcomes = statuses(&answer);
        let has = |status: &str| outcomes.values().any(|found| found == status);
        let count = |cell: &Cell<u32>, counts: bool| cell.set(cell.get() + u32::from(counts));
        count(&applied_two, applied(&answer).len() >= 2 && answer["valid"] == true);
        count(&failed, has("INAPPLICABLE"));
        count(&skipped, has("SKIPPED"));
        Ok(())
    });
    let counts = [applied_two.get(), failed.get(), skipped.get()];
    assert!(counts.iter().all(|count| *count >= 60), "two applied, one failed, one skipped: {counts:?} of 400");
}

#[test]
fn every_redeemable_has_one_result() {
    holds(CASES, project_case(), |ProjectCase { given, request }| {
        let answer = validate(&given, &request);
        let (outcomes, requested_codes) = (statuses(&answer), requested_codes(&request));
        prop_assert_eq!(outcomes.len(), requested_codes.len());
        prop_assert!(requested_codes.iter().all(|code| outcomes.contains_key(code)));
        let of = |status: &str| outcomes.values().filter(|found| *found == status).count();
        prop_assert_eq!(of("APPLICABLE") + of("SKIPPED") + of("INAPPLICABLE"), requested_codes.len());
        prop_assert_eq!(list(&answer, "skipped_redeemables").len(), of("SKIPPED"));
        let partial = given["stacking_rules"]["redeemables_application_mode"] == "PARTIAL";
        prop_assert_eq!(list(&answer, "inapplicable_redeemables").len(), of("INAPPLICABLE"));
        let mut result_ids: Vec<String> = list(&answer, "redeemables").iter().map(|entry| text(entry, "id")).collect();
        let expected = match (partial, of("APPLICABLE")) {
            (true, 0) => of("INAPPLICABLE"),
            (true, applied) => applied,
            (false, _) => requested_codes.len(),
        };
        prop_assert_eq!(result_ids.len(), expected);
        result_ids.sort();
        result_ids.dedup();
        prop_assert_eq!(result_ids.len(), expected, "a redeemable is listed twice");
        Ok(())
    });
}

#[test]
fn no_limit_is_exceeded_and_exclusive_ones_are_single() {
    holds(CASES, project_case(), |ProjectCase { given, request }| {
        let answer = validate(&given, &request);
        let rules = &given["stacking_rules"];
        let limit = |name: &str, otherwise: u64| rules[name].as_u64().unwrap_or(otherwise) as usize;
        let codes = applied(&answer);
        let category = |code: &String| voucher_of(&given, code).map(|voucher| text(voucher, "category_id")).unwrap();
        let contains = |name: &str, category: &String| list(rules, name).iter().any(|id| id == category.as_str());
        let categories: Vec<String> = codes.iter().map(category).collect();
        prop_assert!(codes.len() <= limit("applicable_redeemables_limit", 5));
        let exclusive: Vec<&String> =
            categories.iter().filter(|category| contains("exclusive_categories", category)).collect();
        prop_assert!(exclusive.len() <= limit("applicable_exclusive_redeemables_limit", 1));
        for own in categories.iter().filter(|category| !category.is_empty()) {
            let same = categories.iter().filter(|other| *other == own).count();
            prop_assert!(same <= limit("applicable_redeemables_per_category_limit", 30));
            let alike = exclusive.iter().filter(|other| **other == own).count();
            prop_assert!(alike <= limit("applicable_exclusive_redeemables_per_category_limit", 30));
        }
        if !exclusive.is_empty() {
            let may_join = |own: &String| contains("exclusive_categories", own) || contains("joint_categories", own);
            prop_assert!(categories.iter().all(may_join), "a common one beside an exclusive one");
        }
        Ok(())
    });
}

#[test]
fn requested_order_is_kept() {
    holds(CASES, project_case(), |ProjectCase { mut given, request }| {
        given["stacking_rules"]["redeemables_sorting_rule"] = json!("REQUESTED_ORDER");
        given["stacking_rules"]["exclusive_categories"] = json!([]);
        let requested_codes = requested_codes(&request);
        let positions: Vec<usize> = applied(&validate(&given, &request))
            .iter()
            .map(|code| requested_codes.iter().position(|other| other == code).unwrap())
            .collect();
        prop_assert!(positions.is_sorted());
        Ok(())
    });
}

#[test]
fn all_or_nothing_is_all_or_nothing() {
    holds(CASES, project_case(), |ProjectCase { mut given, request }| {
        given["stacking_rules"]["redeemables_application_mode"] = json!("ALL");
        let answer = validate(&given, &request);
        let fails = statuses(&answer).values().any(|status| status == "INAPPLICABLE");
        prop_assert_eq!(answer["valid"] == false, fails);
        if fails {
            prop_assert!(answer["order"].is_null());
        }
        Ok(())
    });
}

#[test]
fn the_applied_part_of_a_partial_request_gives_the_same_order() {
    holds(CASES, project_case(), |ProjectCase { mut given, mut request }| {
        given["stacking_rules"]["redeemables_application_mode"] = json!("PARTIAL");
        let answer = validate(&given, &request);
        let codes = applied(&answer);
        if codes.is_empty() {
            return Ok(());
        }
        let chosen: Vec<Value> = codes
            .iter()
            .map(|code| list(&request, "redeemables").iter().find(|entry| entry["id"] == *code).unwrap().clone())
            .collect();
        request["redeemables"] = json!(chosen);
        let again = validate(&given, &request);
        prop_assert_eq!(applied(&again), codes);
        prop_assert_eq!(&again["order"], &answer["order"]);
        Ok(())
    });
}

#[test]
fn missing_redeemables_change_nothing_in_partial_mode() {
    holds(CASES, (project_case(), 0..7_usize), |(ProjectCase { mut given, mut request }, position)| {
        given["stacking_rules"]["redeemables_application_mode"] = json!("PARTIAL");
        request["redeemables"].as_array_mut().unwrap().retain(|entry| entry["id"] != "NOPE");
        if list(&request, "redeemables").is_empty() {
            return Ok(());
        }
        let before = validate(&given, &request);
        let requested_codes = request["redeemables"].as_array_mut().unwrap();
        requested_codes.insert(position.min(requested_codes.len()), json!({ "object": "voucher", "id": "NOPE" }));
        let after = validate(&given, &request);
        prop_assert_eq!(&after["order"], &before["order"]);
        prop_assert_eq!(applied(&after), applied(&before));
        Ok(())
    });
}

#[test]
fn a_higher_limit_applies_no_fewer() {
    holds(CASES, (project_case(), 1..5_u64), |(ProjectCase { mut given, request }, limit)| {
        given["stacking_rules"]["applicable_redeemables_limit"] = json!(limit);
        let few = applied(&validate(&given, &request));
        given["stacking_rules"]["applicable_redeemables_limit"] = json!(limit + 1);
        let more = applied(&validate(&given, &request));
        prop_assert!(more.len() >= few.len());
        prop_assert_eq!(&more[..few.len()], &few[..]);
        Ok(())
    });
}

#[test]
fn once_discounts_a_line_once() {
    holds(CASES, project_case(), |ProjectCase { mut given, request }| {
        given["stacking_rules"]["redeemables_products_application_mode"] = json!("ONCE");
        let answer = validate(&given, &request);
        let lines = list(&request["order"], "items").len();
        for line in 0..lines {
            let touched = list(&answer, "redeemables").iter().filter(|entry| {
                entry["status"] == "APPLICABLE" && amount(&entry["order"]["items"][line], "applied_discount_amount") > 0
            });
            prop_assert!(touched.count() <= 1, "line {line} was discounted twice");
        }
        Ok(())
    });
}

/// Percentages of the initial amount commute while an amount is left to pay.
#[test]
fn initial_amounts_do_not_depend_on_the_order_of_percentages() {
    let percents = prop::collection::vec(1..34_u64, 1..4);
    holds(CASES, (percents, 0..100_000_u64), |(percents, total)| {
        prop_assume!(percents.iter().sum::<u64>() <= 99);
        let vouchers: Vec<Value> = percents
            .iter()
            .enumerate()
            .map(|(position, percent)| {
                json!({ "id": format!("v_{position}"), "code": format!("P{position}"), "type": "DISCOUNT_VOUCHER",
                        "discount": { "type": "PERCENT", "percent_off": percent, "effect": "APPLY_TO_ORDER" } })
            })
            .collect();
        let given = json!({ "complete": true, "vouchers": vouchers,
                            "stacking_rules": { "discount_calculation_mode": "INITIAL_AMOUNT" } });
        let mut codes: Vec<Value> =
            vouchers.iter().map(|voucher| json!({ "object": "voucher", "id": voucher["code"] })).collect();
        let forth = validate(&given, &json!({ "redeemables": codes, "order": { "amount": total } }));
        codes.reverse();
        let back = validate(&given, &json!({ "redeemables": codes, "order": { "amount": total } }));
        let exhausted = amount(&forth["order"], "total_amount") == 0;
        prop_assert!(exhausted || forth["order"]["total_amount"] == back["order"]["total_amount"]);
        Ok(())
    });
}
