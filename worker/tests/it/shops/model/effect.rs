//! Computes the effect of a discount: sections 5.1 to 5.8.

use super::fraction::Fraction;
use super::order::Order;
use super::scope::{self, Part, Scope};
use super::unit_discounts;
use crate::shops::shop::Book;
use serde_json::Value as Json;

/// The mode in which a redeemable is computed.
pub struct EffectMode {
    pub initial: bool,
    pub once: bool,
}

/// Returns the effect of a discount: its own, or the default of section 4.
pub fn effect(discount: &Json, scope: &Scope) -> String {
    match discount["effect"].as_str() {
        Some(effect) => effect.to_owned(),
        None if discount["type"] == "UNIT" => "ADD_NEW_ITEMS".into(),
        None if scope.names_goods() => "APPLY_TO_ITEMS".into(),
        None => "APPLY_TO_ORDER".into(),
    }
}

/// Returns true for a percentage of the order or of all lines after earlier discounts (5.9, and examples 21 and 22 of section 17). The
/// base includes units that other discounts make free later.
pub fn is_of_running_order(discount: &Json, scope: &Scope, way: &EffectMode) -> bool {
    let selects = scope.names_goods() && effect(discount, scope) != "APPLY_TO_ORDER";
    discount["type"] == "PERCENT" && !way.initial && !selects
}

/// Applies a discount; returns true if it had an effect.
pub fn apply(book: &Book, discount: &Json, scope: &Scope, order: &mut Order, way: &EffectMode) -> bool {
    let effect = effect(discount, scope);
    if discount["type"] == "UNIT" {
        return unit_discounts::apply(book, discount, &effect, order, way.once);
    }
    if effect == "APPLY_TO_ORDER" {
        let off = of_order(discount, order, way).min(order.total());
        order.discount += off;
        return off > 0;
    }
    let parts = scope::parts(book, scope, order, way.once);
    let mut off = of_parts(discount, &effect, scope, &parts, order, way);
    scope::capped(scope, &parts, &mut off, int(&discount["aggregated_amount_limit"]));
    let mut some = false;
    for (part, off) in parts.iter().zip(off) {
        order.lines[part.line].discount += off;
        some |= off > 0;
    }
    some
}

fn int(value: &Json) -> Option<i128> {
    value.as_i64().map(i128::from)
}

fn percent(discount: &Json) -> Fraction {
    Fraction::read(&discount["percent_off"].to_string()).unwrap().times(1, 100)
}

fn of_order(discount: &Json, order: &Order, way: &EffectMode) -> i128 {
    let base = if way.initial { order.paid().first } else { order.total() };
    match discount["type"].as_str() {
        Some("PERCENT") => {
            let off = Fraction::whole(base).by(percent(discount)).rounded();
            int(&discount["amount_limit"]).map_or(off, |most| off.min(most))
        }
        Some("AMOUNT") => int(&discount["amount_off"]).unwrap(),
        _ => (base - int(&discount["fixed_amount"]).unwrap()).max(0),
    }
}

fn of_parts(
    discount: &Json,
    effect: &str,
    scope: &Scope,
    parts: &[Part],
    order: &Order,
    way: &EffectMode,
) -> Vec<i128> {
    let off = int(&discount["amount_off"]).unwrap_or(0);
    // A limit over all lines is one of the pot.
    let pot = int(&discount["aggregated_amount_limit"]).map_or(off, |most| off.min(most));
    let base = |part: &Part| order.lines[part.line].base(part.units, way.initial);
    let room = |part: &Part| order.lines[part.line].room(part.units);
    let each = |value: &dyn Fn(&Part) -> i128| parts.iter().map(|part| value(part).max(0).min(room(part))).collect();
    match (discount["type"].as_str(), effect) {
        (Some("PERCENT"), _) => each(&|part| {
            let off = base(part).by(percent(discount)).rounded();
            int(&discount["amount_limit"]).map_or(off, |most| off.min(most))
        }),
        (Some("FIXED"), _) => each(&|part| {
            let price = scope::price(scope, part).or(int(&discount["fixed_amount"]));
            price.map_or(0, |price| base(part).minus(Fraction::whole(price * part.units)).rounded())
        }),
        (_, "APPLY_TO_ITEMS") => each(&|_| off),
        (_, "APPLY_TO_ITEMS_BY_QUANTITY") => each(&|part| off * part.units),
        (_, "APPLY_TO_ITEMS_PROPORTIONALLY") => spread(pot, parts, order, &|part| base(part), way),
        _ => spread(pot, parts, order, &|part| Fraction::whole(part.units), way),
    }
}

/// Spreads one amount over all lines (5.6, 5.7). The largest remainders take the rest of the rounding. An amount that does not fit on a
/// line moves to the others in order.
fn spread(off: i128, parts: &[Part], order: &Order, weight: &dyn Fn(&Part) -> Fraction, way: &EffectMode) -> Vec<i128> {
    let priced = |part: &Part| order.lines[part.line].amount.is_some();
    let weights: Vec<Fraction> =
        parts.iter().map(|part| if priced(part) { weight(part) } else { Fraction::whole(0) }).collect();
    let sum = weights.iter().fold(Fraction::whole(0), |sum, weight| sum.plus(*weight));
    if !sum.is_positive() {
        return vec![0; parts.len()];
    }
    let bases = parts.iter().map(|part| order.lines[part.line].base(part.units, way.initial));
    let pot = off.min(bases.fold(Fraction::whole(0), Fraction::plus).rounded());
    let exact: Vec<Fraction> = weights.iter().map(|weight| Fraction::whole(pot).by(*weight).divided(sum)).collect();
    let mut shares: Vec<i128> = exact.iter().map(|share| share.floor()).collect();
    let mut places: Vec<usize> = (0..parts.len()).collect();
    places.sort_by_key(|at| (std::cmp::Reverse(exact[*at].minus(Fraction::whole(shares[*at]))), parts[*at].line));
    let missing = usize::try_from(pot - shares.iter().sum::<i128>()).unwrap();
    for at in places.iter().take(missing) {
        shares[*at] += 1;
    }
    let mut over = 0;
    for (share, part) in shares.iter_mut().zip(parts) {
        let room = order.lines[part.line].room(part.units);
        over += (*share - room).max(0);
        *share = (*share).min(room);
    }
    for (share, part) in shares.iter_mut().zip(parts) {
        let more = over.min(order.lines[part.line].room(part.units) - *share);
        *share += more;
        over -= more;
    }
    shares
}
