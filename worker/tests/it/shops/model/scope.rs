//! Selects the units of lines that a discount applies to: section 7 with D1, D2 and D3.

use super::line_identity;
use super::order::Order;
use crate::shops::shop::Book;
use serde_json::{Value as Json, json};

/// Some units of a line, in the order in which they are discounted.
#[derive(Debug, Clone)]
pub struct Part {
    pub line: usize,
    pub units: i128,
    /// The entry of the scope that selects it.
    pub entry: Option<usize>,
}

/// The goods of a rule: its lists, or empty ones.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    pub included: Vec<Json>,
    pub excluded: Vec<Json>,
    pub all: bool,
}

impl Scope {
    pub fn read(rules: &[&Json]) -> Scope {
        let mut scope = Scope::default();
        for rule in rules {
            let lists = &rule["applicable_to"];
            scope.included.extend(lists["included"].as_array().cloned().unwrap_or_default());
            scope.excluded.extend(lists["excluded"].as_array().cloned().unwrap_or_default());
            scope.all |= lists["included_all"] == true;
        }
        scope
    }

    /// Returns true if the scope names goods: then a discount without an effect applies to lines (section 4).
    pub fn names_goods(&self) -> bool {
        !self.included.is_empty() || !self.excluded.is_empty()
    }

    fn entry(&self, number: Option<usize>) -> Json {
        number.map_or_else(|| json!({}), |number| self.included[number].clone())
    }
}

const SETTINGS: &[&str] = &[
    "effect",
    "skip_initially",
    "repeat",
    "target",
    "quantity_limit",
    "aggregated_quantity_limit",
    "amount_limit",
    "aggregated_amount_limit",
];

/// Returns the settings of an entry, with the defaults of the specification.
fn settings(entry: &Json) -> Vec<Json> {
    let usual = |name: &str| match name {
        "effect" => json!("APPLY_TO_EVERY"),
        "skip_initially" => json!(0),
        "repeat" => json!(1),
        "target" => json!("ITEM"),
        _ => Json::Null,
    };
    SETTINGS.iter().map(|name| if entry[name].is_null() { usual(name) } else { entry[name].clone() }).collect()
}

/// Returns the matching lines, each with the entry that selects it.
fn candidates(book: &Book, scope: &Scope, order: &Order) -> Vec<(usize, Option<usize>)> {
    let mut found = Vec::new();
    for (at, line) in order.lines.iter().enumerate() {
        if scope.excluded.iter().any(|entry| line_identity::matches(book, &line.found, entry).is_some()) {
            continue;
        }
        let closeness = |number: usize| line_identity::matches(book, &line.found, &scope.included[number]);
        let entry = (0..scope.included.len())
            .filter(|number| closeness(*number).is_some())
            .min_by_key(|number| closeness(*number));
        if entry.is_some() || scope.all || scope.included.is_empty() {
            found.push((at, entry));
        }
    }
    found
}

/// Returns true if there is a line with an amount for credits (D7); a free line still counts.
pub fn has_amount(book: &Book, scope: &Scope, order: &Order, once: bool) -> bool {
    let priced = |at: usize| order.lines[at].amount.is_some();
    let free = |at: usize| order.lines[at].eligible() == 0 && !(once && order.lines[at].touched);
    parts(book, scope, order, once).iter().any(|part| priced(part.line))
        || candidates(book, scope, order).iter().any(|(at, _)| priced(*at) && free(*at))
}

/// Returns the discounted units. `once` excludes items that an earlier redeemable discounted (11.2, 7.4).
pub fn parts(book: &Book, scope: &Scope, order: &Order, once: bool) -> Vec<Part> {
    let lines: Vec<(usize, Option<usize>)> = candidates(book, scope, order)
        .into_iter()
        .filter(|(at, _)| order.lines[*at].eligible() > 0 && !(once && order.lines[*at].touched))
        .collect();
    let mut kinds: Vec<Vec<Json>> = Vec::new();
    let numbers = (0..scope.included.len()).map(Some).chain([None]);
    for number in numbers {
        let kind = settings(&scope.entry(number));
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let mut parts = Vec::new();
    for kind in &kinds {
        let list: Vec<_> = lines.iter().copied().filter(|(_, entry)| settings(&scope.entry(*entry)) == *kind).collect();
        parts.extend(limited(scope, selected(order, list, kind)));
    }
    parts
}

/// Section 7.3: orders and selects the targets.
fn selected(order: &Order, mut list: Vec<(usize, Option<usize>)>, kind: &[Json]) -> Vec<Part> {
    let price = |at: usize| order.lines[at].price;
    let effect = kind[0].as_str().unwrap();
    let cheap = effect.ends_with("_CHEAPEST");
    let rank = |at: usize| price(at).map_or(i128::MAX, |price| if cheap { price } else { -price });
    match effect {
        "APPLY_TO_EVERY" => {}
        "APPLY_FROM_CHEAPEST" | "APPLY_FROM_MOST_EXPENSIVE" => list.sort_by_key(|(at, _)| rank(*at)),
        _ => {
            let extreme = list.iter().filter(|(at, _)| price(*at).is_some()).map(|(at, _)| rank(*at)).min();
            list.retain(|(at, _)| Some(rank(*at)) == extreme);
        }
    }
    let (skip, repeat) = (kind[1].as_i64().unwrap(), kind[2].as_i64().unwrap().max(1));
    let kept = |place: i64| place >= skip && (place - skip) % repeat == 0;
    let mut place = -1;
    let mut parts = Vec::new();
    for (line, entry) in list {
        let eligible = order.lines[line].eligible();
        let mut units = 0;
        if kind[3] == "UNIT" {
            for _ in 0..eligible {
                place += 1;
                units += i128::from(kept(place));
            }
        } else {
            place += 1;
            units = if kept(place) { eligible } else { 0 };
        }
        parts.push(Part { line, units, entry });
    }
    parts.retain(|part| part.units > 0);
    parts
}

/// Section 7.4: units per line, and per entry over all of its lines.
fn limited(scope: &Scope, mut parts: Vec<Part>) -> Vec<Part> {
    let mut used = vec![0_i128; scope.included.len()];
    for part in &mut parts {
        let entry = scope.entry(part.entry);
        let limit = |name: &str| entry[name].as_i64().map(i128::from);
        part.units = part.units.min(limit("quantity_limit").unwrap_or(i128::MAX));
        if let Some(number) = part.entry {
            let left = limit("aggregated_quantity_limit").map_or(i128::MAX, |most| most - used[number]);
            part.units = part.units.min(left);
            used[number] += part.units;
        }
    }
    parts.retain(|part| part.units > 0);
    parts
}

/// Caps each part: per line and per entry (7.4), then over the whole discount.
pub fn capped(scope: &Scope, parts: &[Part], got: &mut [i128], whole: Option<i128>) {
    let mut used = vec![0_i128; scope.included.len()];
    let mut left = whole.unwrap_or(i128::MAX);
    for (part, got) in parts.iter().zip(got) {
        let entry = scope.entry(part.entry);
        let limit = |name: &str| entry[name].as_i64().map(i128::from);
        *got = (*got).min(limit("amount_limit").unwrap_or(i128::MAX));
        if let Some(number) = part.entry {
            *got = (*got).min(limit("aggregated_amount_limit").map_or(i128::MAX, |most| most - used[number]));
            used[number] += *got;
        }
        *got = (*got).min(left);
        left -= *got;
    }
}

/// The new price of a part: its entry's, or that of the discount (5.8).
pub fn price(scope: &Scope, part: &Part) -> Option<i128> {
    scope.entry(part.entry)["price"].as_i64().map(i128::from)
}
