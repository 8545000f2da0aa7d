//! Tests partial returns of orders against a second model that distributes amounts by comparing remainders. For every sequence of returns,
//! all refunds together equal the paid amount, and every account has the state before the redemption.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use scrip::bundle::PreparedRules;
use scrip::decide::order_return::units::RequestedUnits;
use scrip::decide::{self, ReturnAnswer, ReturnRequest};
use scrip::ledger::Entry;
use scrip::wire::redemptions::order_return::order_record;
use scrip::wire::redemptions::redemption::write_redemption;
use scrip::wire::request::read_redeemables;
use serde_json::{Value, json};

use crate::properties::fixtures::{ProjectCase, amount, context, list, project_case, text};
use crate::properties::holds;
use crate::support::service_facts;

const ORDERS: u32 = 20_000;

/// Generates a paid order: lines with units, some of them free, discounts of lines and of the order, and an amount that may differ from the
/// sum of the lines. Lines may have an amount only, or neither a price nor an amount.
fn order() -> impl Strategy<Value = Value> {
    let line = (1..5_u64, 0..3_u64, 0..700_u64, 0..400_u64, any::<bool>());
    let rest = prop_oneof![6 => Just(0_i64), 1 => -300..300_i64];
    let omitted = prop::collection::vec(prop_oneof![4 => Just(0_u8), 1 => 1..3_u8], 5);
    (prop::collection::vec(line, 1..5), 0..1_500_u64, rest, omitted).prop_map(|(lines, discount, rest, omitted)| {
        let mut amount = rest;
        let items: Vec<Value> = lines
            .into_iter()
            .enumerate()
            .map(|(position, (paid, free, price, off, is_free))| {
                let free = if is_free { free } else { 0 };
                let gross = price * (paid + free);
                amount += gross as i64;
                let discount = (price * free + off).min(gross);
                let mut item =
                    json!({ "id": format!("ordli_{position}"), "quantity": paid + free, "price": price, "amount": gross });
                if discount > 0 {
                    item["discount_amount"] = json!(discount);
                }
                if free > 0 {
                    item["discount_quantity"] = json!(free);
                }
                let unsaid = ["price", "amount"].into_iter().take(omitted[position].into());
                unsaid.for_each(|name| drop(item.as_object_mut().unwrap().remove(name)));
                item
            })
            .collect();
        json!({ "id": "ord_1", "status": "PAID", "amount": amount.max(0), "discount_amount": discount, "items": items })
    })
}

/// Generates the returned units of each step: a number from which the remaining units derive a line and a count.
fn steps() -> impl Strategy<Value = Vec<(usize, u64)>> {
    prop::collection::vec((0..8_usize, 0..4_u64), 40..41)
}

fn total(order: &Value) -> i64 {
    let lines: i64 = list(order, "items").iter().map(|item| amount(item, "discount_amount")).sum();
    (amount(order, "amount") - amount(order, "discount_amount") - lines).max(0)
}

fn paid(item: &Value) -> u64 {
    item["quantity"].as_u64().unwrap() - item["discount_quantity"].as_u64().unwrap_or(0)
}

/// Amounts in proportion to weights: the whole part first, then one each to the largest remainders.
fn shared(amount: i64, weights: &[i64]) -> Vec<i64> {
    let all: i128 = weights.iter().map(|weight| i128::from(*weight)).sum();
    if all == 0 {
        return vec![0; weights.len()];
    }
    let exact: Vec<i128> = weights.iter().map(|weight| i128::from(amount) * i128::from(*weight)).collect();
    let mut parts: Vec<i64> = exact.iter().map(|exact| (exact / all) as i64).collect();
    let mut positions: Vec<usize> = (0..weights.len()).collect();
    positions.sort_by_key(|position| std::cmp::Reverse(exact[*position] % all));
    for position in positions.into_iter().take((amount - parts.iter().sum::<i64>()) as usize) {
        parts[position] += 1;
    }
    parts
}

/// Returns the expected refund for units of one line, where no unit is free and the order equals the sum of its lines.
fn expected(order: &Value, position: usize, units: u64) -> Option<i64> {
    let items = list(order, "items");
    let known: i64 = items.iter().map(|item| amount(item, "amount")).sum();
    let is_unsaid = |item: &Value| item["amount"].is_null();
    let unsaid: Vec<i64> = items.iter().map(|item| if is_unsaid(item) { paid(item) as i64 } else { 0 }).collect();
    let rest = shared((amount(order, "amount") - known).max(0), &unsaid);
    let values: Vec<i64> = items.iter().zip(rest).map(|(item, rest)| amount(item, "amount") + rest).collect();
    if values.iter().sum::<i64>() != amount(order, "amount")
        || items.iter().any(|item| !item["discount_quantity"].is_null())
    {
        return None;
    }
    let mut weights = Vec::new();
    let (mut gross, mut off) = (0, 0);
    for (at, item) in items.iter().enumerate() {
        let back = if at == position { units as i64 } else { 0 };
        let kept = paid(item) as i64 - back;
        let [value, discount] = [values[at], amount(item, "discount_amount")].map(|whole| shared(whole, &[back, kept]));
        (gross, off) = (gross + value[0], off + discount[0]);
        weights.extend([value[0] - discount[0], value[1] - discount[1]]);
    }
    let discount = amount(order, "discount_amount");
    // A discount above the price of the lines is cut; then the paid amount is 0.
    let given = shared(discount, &weights);
    if given.iter().zip(&weights).any(|(given, weight)| given > weight) {
        return None;
    }
    let of_order: i64 = given.iter().step_by(2).sum();
    Some(gross - off - of_order)
}

/// Returns units of a line; each return of an order has its own number.
fn returned(given: &Value, number: usize, position: &str, units: u64) -> (ReturnAnswer, Vec<Entry>) {
    let prepared = PreparedRules::new(service_facts::world(&given.to_string()).as_bytes()).unwrap();
    let items = vec![RequestedUnits { line_id: Some(position.into()), quantity: units, ..RequestedUnits::default() }];
    let request = ReturnRequest { order_key: "ord_1".into(), items, ..ReturnRequest::default() };
    let mut context = context();
    context.seed[1] = number as u8;
    let decision = decide::return_items(prepared.facts(), &request, &context);
    let outcome = decision.unwrap_or_else(|refusal| panic!("{refusal:?} of {given}"));
    (outcome.returned, outcome.entries)
}

fn kept(returned: &ReturnAnswer) -> Value {
    serde_json::from_str(&order_record(returned).unwrap().text).unwrap()
}

/// The line and the number of units that a step returns.
fn choice(order: &Value, line: usize, units: u64) -> (usize, u64) {
    let lines: Vec<usize> = list(order, "items")
        .iter()
        .enumerate()
        .filter(|(_, item)| paid(item) > 0)
        .map(|(position, _)| position)
        .collect();
    let position = lines[line % lines.len()];
    (position, (units + 1).min(paid(&list(order, "items")[position])))
}

#[test]
fn all_refunds_equal_the_paid_amount() {
    holds(ORDERS, (order(), steps()), |(mut order, steps)| {
        let was_paid = total(&order);
        let mut refunded = 0;
        for (number, step) in steps.into_iter().enumerate() {
            if list(&order, "items").is_empty() {
                break;
            }
            let (position, units) = choice(&order, step.0, step.1);
            let id = text(&list(&order, "items")[position], "id");
            let (answer, _) = returned(&json!({ "complete": true, "orders": [order] }), number, &id, units);
            let refund = answer.refund.minor() as i64;
            let is_last = list(&order, "items").iter().map(paid).sum::<u64>() == units;
            let owed = list(&order, "returns").last().map_or(0, |last| amount(last, "uncovered_amount"));
            if let (Some(expected), false, 0) = (expected(&order, position, units), is_last, owed) {
                prop_assert_eq!(refund, expected, "of {}", order);
            }
            refunded += refund;
            prop_assert!(refunded <= was_paid, "{refunded} of {was_paid}");
            order = kept(&answer);
        }
        prop_assert!(list(&order, "items").is_empty(), "{}", order);
        prop_assert_eq!(refunded, was_paid);
        prop_assert_eq!(total(&order), 0);
        Ok(())
    });
}

#[test]
fn lines_without_prices_share_the_amount() {
    let refund = |amounts: Value, items: Value| {
        let mut order = json!({ "id": "ord_1", "status": "PAID", "items": items });
        order.as_object_mut().unwrap().extend(amounts.as_object().unwrap().clone());
        let (answer, _) = returned(&json!({ "complete": true, "orders": [order] }), 0, "ordli_0", 2);
        (answer.refund.minor(), amount(&kept(&answer), "amount"))
    };
    let line = |more: Value| {
        let mut line = json!({ "id": "ordli_0", "quantity": 3 });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    let (amount_alone, neither) = (line(json!({ "amount": 900 })), line(json!({})));
    let pen = json!({ "id": "ordli_1", "quantity": 1, "price": 100, "amount": 100 });
    assert_eq!(refund(json!({ "amount": 900 }), json!([amount_alone])), (600, 300));
    assert_eq!(refund(json!({ "amount": 900, "discount_amount": 90 }), json!([amount_alone])), (540, 300));
    assert_eq!(refund(json!({ "amount": 900 }), json!([neither])), (600, 300));
    assert_eq!(refund(json!({ "amount": 1_000 }), json!([neither, pen])), (600, 400));
}

/// Adds entries of the ledger to balances.
fn book(balances: &mut BTreeMap<String, i64>, entries: &[Entry]) -> Vec<Value> {
    let posts = entries.iter().filter_map(|entry| match entry {
        Entry::Post(transfer) => Some(transfer),
        Entry::Hold(_) | Entry::Release(_) => None,
    });
    let mut written = Vec::new();
    for post in posts {
        *balances.entry(post.debit.to_string()).or_default() -= post.amount as i64;
        *balances.entry(post.credit.to_string()).or_default() += post.amount as i64;
        written.push(json!({
            "id": post.id.as_str(), "chain": post.chain.as_str(), "debit": post.debit.as_str(),
            "credit": post.credit.as_str(), "amount": post.amount, "at": post.at.to_string(),
            "reverses": post.reverses.as_deref(), "part_of": post.part_of.as_deref(),
        }));
    }
    written
}

fn returned_in_full(ProjectCase { mut given, mut request }: ProjectCase, steps: Vec<(usize, u64)>) -> TestCaseResult {
    given["stacking_rules"]["redeemables_application_mode"] = json!("PARTIAL");
    request["order"]["id"] = json!("ord_1");
    request["customer"] = json!({ "source_id": "ann" });
    let prepared = PreparedRules::new(service_facts::world(&given.to_string()).as_bytes()).unwrap();
    let Ok(read) = read_redeemables(request.to_string().as_bytes()) else { return Ok(()) };
    let context = context();
    let Ok(done) = decide::redeem(prepared.facts(), &read, &context) else { return Ok(()) };
    if done.answer.failure.is_some() {
        return Ok(());
    }
    let mut balances = BTreeMap::new();
    let mut transfers = book(&mut balances, &done.changes.as_ref().unwrap().entries);
    let records = write_redemption(&done.answer, &context).records;
    let of_kind = |kind: &str| {
        let texts = records.iter().filter(|record| record.kind == kind);
        texts.map(|record| serde_json::from_str(&record.text).unwrap()).collect::<Vec<Value>>()
    };
    given["redemptions"] = json!(of_kind("redemption"));
    let mut order = of_kind("order").remove(0);
    if list(&order, "items").is_empty() {
        return Ok(());
    }
    let (was_paid, mut refunded) = (total(&order), 0);
    for (number, step) in steps.into_iter().enumerate() {
        if list(&order, "items").iter().all(|item| paid(item) == 0) {
            break;
        }
        let (position, units) = choice(&order, step.0, step.1);
        let id = text(&list(&order, "items")[position], "id");
        (given["orders"], given["transfers"]) = (json!([order]), json!(transfers));
        let (answer, entries) = returned(&given, number, &id, units);
        refunded += answer.refund.minor() as i64;
        transfers.extend(book(&mut balances, &entries));
        order = kept(&answer);
    }
    prop_assert_eq!(refunded, was_paid, "{}", order);
    prop_assert!(balances.values().all(|balance| *balance == 0), "{balances:?} of {transfers:?}");
    Ok(())
}

#[test]
fn a_full_return_restores_every_account() {
    holds(ORDERS, (project_case(), steps()), |(project_case, steps)| returned_in_full(project_case, steps));
}
