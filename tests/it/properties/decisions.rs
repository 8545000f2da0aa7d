//! Tests invariants 22 to 25: decisions are repeatable, unknown facts never change a final verdict, and a redemption is a validation with a
//! commit that a rollback reverses.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::properties::fixtures::{
    ProjectCase, amount, applied, list, project_case, redeem, requested_codes, rollback, text, validate,
    validation_bytes, voucher_of,
};
use crate::properties::holds;
use crate::properties::stacking::amounts_agree;

const CASES: u32 = 600;

#[test]
fn the_same_facts_in_any_order_give_the_same_bytes() {
    holds(CASES, (project_case(), any::<u64>()), |(ProjectCase { mut given, request }, turn)| {
        let first = validation_bytes(&given, &request);
        prop_assert_eq!(&first, &validation_bytes(&given, &request));
        for name in ["vouchers", "categories", "validation_rules", "validation_rules_assignments"] {
            let facts = given[name].as_array_mut().unwrap();
            if !facts.is_empty() {
                let turn = usize::try_from(turn % facts.len() as u64).unwrap();
                facts.rotate_left(turn);
                facts.reverse();
            }
        }
        prop_assert_eq!(&first, &validation_bytes(&given, &request));
        Ok(())
    });
}

#[test]
fn unrequested_facts_change_nothing() {
    holds(CASES, project_case(), |ProjectCase { mut given, request }| {
        let complete = validation_bytes(&given, &request);
        let requested_codes = requested_codes(&request);
        given["vouchers"].as_array_mut().unwrap().retain(|voucher| requested_codes.contains(&text(voucher, "code")));
        prop_assert_eq!(complete, validation_bytes(&given, &request));
        Ok(())
    });
}

/// Removes facts: some vouchers are known to the server only, or nothing has been counted.
#[test]
fn more_facts_do_not_change_a_final_verdict() {
    let missing = prop::sample::subsequence(crate::properties::fixtures::CODES.to_vec(), 0..3);
    holds(CASES, (project_case(), missing, any::<bool>()), |(ProjectCase { mut given, request }, missing, counted)| {
        let complete = validate(&given, &request);
        given["complete"] = json!(false);
        given["counted"] = json!(counted);
        given["vouchers"].as_array_mut().unwrap().retain(|voucher| !missing.contains(&text(voucher, "code").as_str()));
        let mut partial = validate(&given, &request);
        if partial["missing"].is_null() {
            // Complete facts make no tracking id that could be left out.
            let omitted = partial.as_object_mut().and_then(|members| members.remove("omitted"));
            prop_assert!(omitted.is_none_or(|omitted| omitted == json!(["tracking_id"])));
            prop_assert_eq!(partial, complete);
        } else {
            let missing = partial["missing"].take();
            prop_assert!(!missing.as_array().unwrap().is_empty());
        }
        Ok(())
    });
}

/// Returns the amounts of an order, which are the same in the answer of every call.
fn money(order: &Value) -> Value {
    let names = [
        "amount",
        "discount_amount",
        "items_discount_amount",
        "total_discount_amount",
        "total_amount",
        "applied_discount_amount",
        "items_applied_discount_amount",
        "total_applied_discount_amount",
    ];
    let lines: Vec<Value> = list(order, "items")
        .iter()
        .map(|item| json!([item["amount"], item["discount_amount"], item["applied_discount_amount"]]))
        .collect();
    let totals: Vec<&Value> = names.iter().map(|name| &order[*name]).collect();
    json!({ "totals": totals, "lines": lines })
}

#[test]
fn validation_and_redemption_agree() {
    holds(CASES, project_case(), |ProjectCase { given, request }| {
        let validated = validate(&given, &request);
        let done = redeem(&given, &request);
        let redeemable = validated["valid"] == true && !applied(&validated).is_empty();
        prop_assert_eq!(done["code"].is_null(), redeemable, "{}\n{}", validated, done);
        if !redeemable {
            return Ok(());
        }
        prop_assert_eq!(money(&done["order"]), money(&validated["order"]));
        amounts_agree(&done["order"])?;
        let redemptions = list(&done, "redemptions");
        let codes: Vec<String> = redemptions.iter().map(|one| text(&one["voucher"], "code")).collect();
        prop_assert_eq!(codes, applied(&validated));
        prop_assert!(redemptions.iter().all(|one| one["result"] == "SUCCESS"));
        prop_assert_eq!(done["parent_redemption"].is_null(), redemptions.len() == 1);
        Ok(())
    });
}

/// Invariant 21: no code is redeemed more often, and no card spends more, than it allows.
#[test]
fn no_limit_is_oversold() {
    holds(CASES, project_case(), |ProjectCase { given, request }| {
        let done = redeem(&given, &request);
        for one in list(&done, "redemptions") {
            let voucher = voucher_of(&given, &text(&one["voucher"], "code")).unwrap();
            let used = voucher["redemption"]["redeemed_quantity"].as_u64().unwrap();
            if let Some(quantity) = voucher["redemption"]["quantity"].as_u64() {
                prop_assert!(used < quantity, "{}", voucher);
            }
            if let Some(balance) = voucher["gift"]["balance"].as_i64() {
                let spent = amount(one, "amount");
                prop_assert!((0..=balance).contains(&spent), "{spent} of {balance}");
                prop_assert_eq!(spent, amount(&one["order"], "total_applied_discount_amount"));
            }
        }
        Ok(())
    });
}

/// Invariant 25: the project after a redemption, and its order after a rollback.
#[test]
fn a_rollback_restores_the_order() {
    holds(CASES, (project_case(), any::<bool>()), |(ProjectCase { mut given, request }, with_order)| {
        given["stacking_rules"]["redeemables_application_mode"] = json!("PARTIAL");
        let done = redeem(&given, &request);
        if !done["code"].is_null() {
            return Ok(());
        }
        let mode = if with_order { "WITH_ORDER" } else { "WITHOUT_ORDER" };
        given["stacking_rules"]["redeemables_rollback_order_mode"] = json!(mode);
        given["orders"] = json!([done["order"]]);
        let mut redemptions: Vec<Value> = list(&done, "redemptions").to_vec();
        redemptions.extend((!done["parent_redemption"].is_null()).then(|| done["parent_redemption"].clone()));
        given["redemptions"] = json!(redemptions);
        let parent = redemptions.last().unwrap();
        let undone = rollback(&given, &text(parent, "id"));
        prop_assert!(undone["code"].is_null(), "{}", undone);
        let order = &undone["order"];
        if with_order {
            let before = |item: &Value| item["discount_amount"].as_i64().unwrap_or(0);
            let sent: Vec<i64> = list(&request["order"], "items").iter().map(before).collect();
            let left: Vec<i64> = list(order, "items").iter().map(before).collect();
            prop_assert_eq!(left, sent);
            prop_assert_eq!(amount(order, "discount_amount"), amount(&request["order"], "discount_amount"));
            prop_assert_eq!(text(order, "status"), "CANCELED");
        } else {
            prop_assert_eq!(amount(order, "total_discount_amount"), amount(&done["order"], "total_discount_amount"));
            prop_assert_eq!(&order["status"], &done["order"]["status"]);
        }
        Ok(())
    });
}
