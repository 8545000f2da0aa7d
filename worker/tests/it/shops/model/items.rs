//! Evaluates rules about the lines that match some goods (docs/spec/validation-rules.md 4.3 and 4.4).

use super::filter;
use super::line_identity;
use super::order::{Line, Order};
use super::rule_evaluation::Case;
use serde_json::Value as Json;

fn matching(line: &Line, list: &Json, case: &Case<'_>) -> bool {
    list.as_array().unwrap().iter().any(|entry| line_identity::matches(case.book, &line.found, entry).is_some())
}

/// `product.id`, `sku.id`: the cart contains one of them, or none.
pub fn contains(leaf: &Json, case: &Case<'_>) -> bool {
    let object = leaf["name"].as_str().unwrap().trim_end_matches(".id");
    leaf["conditions"].as_object().unwrap().iter().all(|(operator, list)| {
        let some = list.as_array().unwrap().iter().any(|entry| {
            let mut entry = entry.clone();
            entry["object"] = object.into();
            case.order.lines.iter().any(|line| line_identity::matches(case.book, &line.found, &entry).is_some())
        });
        if matches!(operator.as_str(), "$is" | "$in") { some } else { !some }
    })
}

pub fn holds(leaf: &Json, case: &Case<'_>) -> bool {
    let lines: Vec<&Line> = case.order.lines.iter().collect();
    let conditions = &leaf["conditions"];
    let from = |line: &Line| conditions["$from"].is_null() || matching(line, &conditions["$from"], case);
    let is = |line: &Line| matching(line, &conditions["$is"], case);
    let matched: Vec<&Line> = lines.iter().copied().filter(|line| is(line) && from(line)).collect();
    match leaf["name"].as_str().unwrap() {
        "order.items.any" => !matched.is_empty() && below(leaf, &matched, false),
        "order.items.every" => !lines.is_empty() && matched.len() == lines.len() && below(leaf, &matched, true),
        "order.items.none" => matched.is_empty(),
        name => {
            let within = lines.iter().copied().filter(|line| from(line) && line.price.is_some());
            let cheap = name == "order.items.cheapest";
            let rank = |line: &Line| line.price.map(|price| if cheap { price } else { -price });
            let within: Vec<&Line> = within.collect();
            let least = within.iter().filter_map(|line| rank(line)).min();
            let extreme: Vec<&Line> = within.into_iter().filter(|line| rank(line) == least).collect();
            // Of several lines with the same price, the matching ones.
            let matched: Vec<&Line> = extreme.into_iter().filter(|line| is(line)).collect();
            !matched.is_empty() && below(leaf, &matched, true)
        }
    }
}

/// Evaluates the further conditions on the matching lines: on one of them, or on each.
fn below(leaf: &Json, lines: &[&Line], each: bool) -> bool {
    let Some(rule) = leaf["rules"].get("1") else { return true };
    let conditions = &rule["conditions"];
    let sum = |value: &dyn Fn(&Line) -> i128| filter::number(conditions, lines.iter().map(|line| value(line)).sum());
    let of = |value: &dyn Fn(&Line) -> Option<i128>| {
        let mut matches = lines.iter().map(|line| value(line).is_some_and(|value| filter::number(conditions, value)));
        if each { matches.all(|held| held) } else { matches.any(|held| held) }
    };
    match rule["name"].as_str().unwrap() {
        "order.items.aggregated_amount" => sum(&Line::subtotal),
        "order.items.aggregated_quantity" => sum(&|line| line.quantity),
        "order.items.price" => of(&|line| line.price),
        _ => of(&|line| Some(line.quantity)),
    }
}

/// Returns true if there are lines and every line passes.
pub fn each(order: &Order, holds: impl Fn(&Line) -> bool) -> bool {
    !order.lines.is_empty() && order.lines.iter().all(holds)
}

/// `product.metadata`: the goods of one line, or with `match_all` of every line, have it.
pub fn data(leaf: &Json, case: &Case<'_>) -> bool {
    let property = leaf["property"].as_str().unwrap();
    let has = |line: &Line| {
        let goods = [&line.found.sku_known, &line.found.product_known];
        let value =
            goods.into_iter().flatten().map(|known| &known["metadata"][property]).find(|value| !value.is_null());
        filter::all(&leaf["conditions"], value.unwrap_or(&Json::Null))
    };
    if leaf["rules"]["1"].is_null() { case.order.lines.iter().any(has) } else { each(case.order, has) }
}
