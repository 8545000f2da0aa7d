//! Converts an answer into the terms of the model.

use crate::shops::model::{Amounts, Numbers, Outcome, Status, Verdict};
use serde_json::Value as Json;

/// Numbers of an order that have no meaning when they are 0.
const OF_ORDER: &[&str] = &[
    "discount_amount",
    "items_discount_amount",
    "total_discount_amount",
    "applied_discount_amount",
    "items_applied_discount_amount",
    "total_applied_discount_amount",
];
const OF_LINE: &[&str] = &[
    "discount_quantity",
    "applied_discount_quantity",
    "applied_quantity",
    "discount_amount",
    "applied_discount_amount",
];

fn numbers(json: &Json, always: &[&'static str], unless_nothing: &[&'static str]) -> Numbers {
    let value = |name: &&'static str| json[*name].as_i64().map(|value| (*name, i128::from(value)));
    let mut found: Numbers = unless_nothing.iter().filter_map(value).filter(|(_, value)| *value != 0).collect();
    found.extend(always.iter().filter_map(value));
    found
}

pub fn amounts(order: &Json) -> Amounts {
    let line = |item: &Json| {
        numbers(
            item,
            &["quantity", "price", "amount", "subtotal_amount", "initial_quantity", "initial_amount"],
            OF_LINE,
        )
    };
    Amounts {
        order: numbers(order, &["amount", "total_amount", "initial_amount"], OF_ORDER),
        lines: order["items"].as_array().into_iter().flatten().map(line).collect(),
    }
}

fn verdict(json: &Json) -> Verdict {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let status = match json["status"].as_str() {
        Some("APPLICABLE") => Status::Applicable,
        Some("SKIPPED") => Status::Skipped(text(&json["result"]["details"]["key"])),
        _ => Status::Inapplicable(text(&json["result"]["error"]["key"])),
    };
    let order = (status == Status::Applicable).then(|| amounts(&json["order"]));
    Verdict { id: text(&json["id"]), status, order }
}

/// Converts the answer of a validation; every redeemable once, even if several lists contain it.
pub fn outcome(json: &Json) -> Outcome {
    let mut verdicts: Vec<Verdict> = Vec::new();
    for list in ["redeemables", "inapplicable_redeemables", "skipped_redeemables"] {
        for one in json[list].as_array().into_iter().flatten().map(verdict) {
            if !verdicts.iter().any(|known| known.id == one.id) {
                verdicts.push(one);
            }
        }
    }
    let order = json["order"].is_object().then(|| amounts(&json["order"]));
    Outcome { valid: json["valid"] == true, verdicts, order }
}

/// Returns the difference between two outcomes as text; nothing when they are equal.
pub fn difference(wanted: &Outcome, got: &Outcome) -> Option<String> {
    if wanted.valid != got.valid {
        return Some(format!(
            "valid: wanted {}, got {}\n  wanted {:?}\n  got {:?}",
            wanted.valid,
            got.valid,
            statuses_of(wanted),
            statuses_of(got)
        ));
    }
    if statuses_of(wanted) != statuses_of(got) {
        return Some(format!("verdicts:\n  wanted {:?}\n  got    {:?}", statuses_of(wanted), statuses_of(got)));
    }
    for one in &wanted.verdicts {
        let other = got.verdicts.iter().find(|other| other.id == one.id).unwrap();
        if let Some(difference) = order_difference(one.order.as_ref(), other.order.as_ref()) {
            return Some(format!("the order of {}: {difference}", one.id));
        }
    }
    order_difference(wanted.order.as_ref(), got.order.as_ref()).map(|difference| format!("the order: {difference}"))
}

/// Verdicts by id, and the applied ones in their order.
fn statuses_of(outcome: &Outcome) -> (Vec<(&str, &Status)>, Vec<&str>) {
    let mut all: Vec<_> = outcome.verdicts.iter().map(|one| (one.id.as_str(), &one.status)).collect();
    all.sort_by_key(|(id, _)| *id);
    let applied = outcome.verdicts.iter().filter(|one| one.status == Status::Applicable).map(|one| one.id.as_str());
    (all, applied.collect())
}

pub fn order_difference(wanted: Option<&Amounts>, got: Option<&Amounts>) -> Option<String> {
    let (wanted, got) = match (wanted, got) {
        (None, None) => return None,
        (Some(wanted), Some(got)) => (wanted, got),
        _ => return Some(format!("wanted {wanted:?}, got {got:?}")),
    };
    if let Some(difference) = numbers_difference(&wanted.order, &got.order) {
        return Some(difference);
    }
    if wanted.lines.len() != got.lines.len() {
        return Some(format!("wanted {} lines, got {}", wanted.lines.len(), got.lines.len()));
    }
    let mut lines = wanted.lines.iter().zip(&got.lines).enumerate();
    lines.find_map(|(at, (wanted, got))| {
        numbers_difference(wanted, got).map(|difference| format!("line {at}: {difference}"))
    })
}

/// Compares the previous number of a unit effect only where there was one.
fn numbers_difference(wanted: &Numbers, got: &Numbers) -> Option<String> {
    let mut got = got.clone();
    got.retain(|name, _| !name.starts_with("initial_") || wanted.contains_key(name));
    (*wanted != got).then(|| format!("\n  wanted {wanted:?}\n  got    {got:?}"))
}
