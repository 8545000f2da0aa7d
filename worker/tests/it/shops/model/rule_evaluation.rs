//! Evaluates validation rules and their refusals (docs/spec/validation-rules.md 1 to 4 and 8).

use super::filter;
use super::items;
use super::order::{Line, Order};
use crate::shops::shop::Book;
use serde_json::Value as Json;

/// The customer, the order and the redeemable of an evaluation.
pub struct Case<'a> {
    pub book: &'a Book,
    /// The merged profile; none without a named customer.
    pub customer: Option<Json>,
    pub metadata: &'a Json,
    pub order: &'a Order,
    /// The code of the redeemable.
    pub code: &'a str,
    /// The total of the order after the effect, once it is known.
    pub total_behind: Option<i128>,
}

/// Returns the customer of a request: the stored data, replaced by the sent data.
pub fn customer(book: &Book, request: &Json) -> Option<Json> {
    let sent = request["customer"].as_object()?;
    let known =
        ["id", "source_id"].iter().find_map(|field| Book::of(&book.customers, field, sent.get(*field)?.as_str()?));
    let mut whole = known.cloned().unwrap_or_else(|| serde_json::json!({ "metadata": {} }));
    for (field, value) in sent {
        match value.as_object() {
            Some(inner) => whole[field].as_object_mut().unwrap().extend(inner.clone()),
            None => whole[field] = value.clone(),
        }
    }
    Some(whole)
}

/// Returns the first failure of some rules, all of which must pass. Without a customer, every test of a customer fails with the missing
/// customer; without an amount, tests of it fail with the missing amount.
pub fn check(rules: &[&Json], case: &Case<'_>) -> Result<(), String> {
    for rule in rules {
        let leaves = leaves(rule);
        // A rule about the amount after the effect is evaluated then, as a whole (11.2, 7.6).
        if leaves.iter().any(|(_, leaf)| leaf["name"] == "order.total_amount") != case.total_behind.is_some() {
            continue;
        }
        let held: Vec<(&str, bool)> = leaves.iter().map(|(key, leaf)| (*key, holds(leaf, case))).collect();
        if logic(rule, &held) {
            continue;
        }
        let failing: Vec<&Json> =
            leaves.iter().zip(&held).filter(|(_, (_, held))| !held).map(|((_, leaf), _)| *leaf).collect();
        if case.customer.is_none() && leaves.iter().any(|(_, leaf)| asks_who(leaf)) {
            return Err("missing_customer".into());
        }
        let amounts = ["order.amount", "order.initial_amount", "order.total_amount"];
        let of_amount = |leaf: &Json| leaf["name"].as_str().is_some_and(|name| amounts.contains(&name));
        if !case.order.known && of_amount(failing[0]) {
            return Err("missing_amount".into());
        }
        let of_items = ["order.items", "product.", "sku."]
            .iter()
            .any(|name| failing[0]["name"].as_str().is_some_and(|known| known.starts_with(name)));
        if case.order.lines.is_empty() && of_items {
            return Err("missing_order_items".into());
        }
        return Err(format!("{}_rules_violated", group(failing[0])));
    }
    Ok(())
}

/// Returns the conditions of a rule that its logic references, in the order of their keys.
fn leaves(rule: &Json) -> Vec<(&str, &Json)> {
    let logic = rule["rules"]["logic"].as_str();
    let named = |key: &str| logic.is_none_or(|logic| words(logic).contains(&key.to_owned()));
    let all = rule["rules"].as_object().into_iter().flatten();
    all.filter(|(key, _)| *key != "logic" && named(key)).map(|(key, leaf)| (key.as_str(), leaf)).collect()
}

fn words(logic: &str) -> Vec<String> {
    logic
        .split(|character: char| !character.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty())
        .collect()
}

/// The shops write only one operator between two keys.
fn logic(rule: &Json, held: &[(&str, bool)]) -> bool {
    let text = rule["rules"]["logic"].as_str().unwrap_or_default();
    if words(text).contains(&"or".to_owned()) {
        held.iter().any(|(_, held)| *held)
    } else {
        held.iter().all(|(_, held)| *held)
    }
}

fn asks_who(leaf: &Json) -> bool {
    leaf["name"].as_str().is_some_and(|name| name.starts_with("customer.") || name.ends_with(".per_customer"))
}

/// Returns true if a rule reads the customer.
pub fn looks_at_customer(rule: &Json) -> bool {
    leaves(rule).iter().any(|(_, leaf)| asks_who(leaf))
}

/// Returns true if a rule counts redemptions of a customer, which a qualification leaves out.
pub fn counts(rule: &Json) -> bool {
    leaves(rule).iter().any(|(_, leaf)| leaf["name"] == "redemption.count.per_customer")
}

fn group(leaf: &Json) -> &'static str {
    match leaf["name"].as_str().unwrap().split('.').next().unwrap() {
        "customer" => "customer",
        "order" | "product" | "sku" => "order",
        _ => "redemption",
    }
}

fn holds(leaf: &Json, case: &Case<'_>) -> bool {
    let (order, conditions) = (case.order, &leaf["conditions"]);
    let property = leaf["property"].as_str().unwrap_or_default();
    let metadata = |of: &Json| filter::all(conditions, &of[property]);
    let price = |line: &Line| line.price.is_some_and(|price| filter::number(conditions, price));
    let data = |line: &Line| metadata(&line.metadata);
    match leaf["name"].as_str().unwrap() {
        "order.amount" => order.known && filter::number(conditions, order.total()),
        "order.initial_amount" => order.first_known && filter::number(conditions, order.first),
        "order.total_amount" => order.known && filter::number(conditions, case.total_behind.unwrap()),
        "order.items.count" => filter::number(conditions, order.lines.iter().map(|line| line.quantity).sum()),
        "order.items.price_any" => order.lines.iter().any(price),
        "order.items.price_each" => items::each(order, price),
        "order.items.metadata_any" => order.lines.iter().any(data),
        "order.items.metadata_each" => items::each(order, data),
        "order.metadata" => metadata(&order.metadata),
        "redemption.metadata" => metadata(case.metadata),
        "customer.metadata" => case.customer.as_ref().is_some_and(|customer| metadata(&customer["metadata"])),
        "customer.segment" => segment(conditions, case),
        "product.metadata" => items::data(leaf, case),
        "redemption.count.per_customer" => per_customer(conditions, case),
        "product.id" | "sku.id" => items::contains(leaf, case),
        _ => items::holds(leaf, case),
    }
}

fn segment(conditions: &Json, case: &Case<'_>) -> bool {
    let Some(customer) = &case.customer else { return false };
    let within = |id: &Json| {
        let segment = Book::of(&case.book.segments, "id", id.as_str().unwrap()).unwrap();
        match segment["customers"].as_array() {
            Some(listed) => customer["id"].is_string() && listed.contains(&customer["id"]),
            None => filter::holds(&segment["filter"], customer),
        }
    };
    conditions.as_object().unwrap().iter().all(|(operator, ids)| {
        let some = ids.as_array().unwrap().iter().any(within);
        if operator == "$is" { some } else { !some }
    })
}

/// Checks how often this customer redeemed the code, with this redemption.
fn per_customer(conditions: &Json, case: &Case<'_>) -> bool {
    let Some(customer) = &case.customer else { return false };
    let by = |who: &str| customer["source_id"] == who;
    let before = case.book.redeemed.iter().filter(|(code, who, _)| code == case.code && by(who)).count();
    filter::number(conditions, before as i128 + 1)
}
