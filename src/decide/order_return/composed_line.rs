//! Composes a line of an order: as it was sent, with the effects of the redemptions that remain, in their order.
//!
//! docs/spec/calculation.md#15. The same function explains the present line and decides the line after a rollback, so
//! that rollbacks in any order restore what was sent.

use crate::count::Countable;
use crate::decide::order_return::share::split;
use crate::model::order::Item;
use crate::model::redemption::{LineEffect, LineTotals};
use crate::money::Money;

/// A line with the effects of redemptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComposedLine {
    /// Its units and amounts.
    pub line: LineTotals,
    /// The part of each effect that fits the line.
    pub shares: Vec<LineEffect>,
}

/// Returns the units and amounts of a line.
pub fn amounts_of(item: &Item) -> LineTotals {
    LineTotals {
        quantity: item.quantity,
        // A line that states no free units or no discount has none.
        free_units: item.discount_quantity.unwrap_or(0),
        amount: item.amount,
        discount: item.discount_amount.unwrap_or_default(),
    }
}

/// Returns the effect of a redemption on a present line. A line that was sent again since has no initial quantity: it
/// does not contain the added or removed units any more.
pub fn on_present(item: &Item, effect: LineEffect) -> LineEffect {
    match item.initial_quantity {
        Some(_) => effect,
        None => LineEffect { discount: effect.discount, ..LineEffect::default() },
    }
}

/// Composes a line. Units that a redemption has removed are removed up to those that the line has, and no
/// redemption makes more units free, or grants more, than fits after the earlier ones. `None` if the amount
/// of the line is out of bounds, at a price that has risen since, or its discount.
pub fn compose(sent: LineTotals, price: Option<Money>, effects: &[LineEffect]) -> Option<ComposedLine> {
    let quantity = moved(sent.quantity, effects.iter().map(|effect| effect.units));
    let worth = || effects.iter().map(|effect| worth_of(effect, price));
    let amount = match sent.amount {
        Some(amount) => Some(Money::of(moved(amount.minor(), worth()))?),
        None => None,
    };
    let mut line = LineTotals { quantity, free_units: sent.free_units.min(quantity), amount, discount: sent.discount };
    let mut shares = Vec::with_capacity(effects.len());
    for effect in effects {
        let free = count(effect.free_units);
        let kept = free.min(line.quantity.remaining_after(line.free_units));
        // A line without an amount has room for any discount.
        let capacity = line.amount.map_or(Money::MAX, |amount| amount.remaining_after(line.discount));
        let discount = discount_of(effect, kept, price).min(capacity);
        line.free_units = line.free_units.checked_add(kept)?;
        line.discount = line.discount.checked_add(discount)?;
        shares.push(LineEffect { discount, free_units: kept.cast_signed(), ..*effect });
    }
    Some(ComposedLine { line, shares })
}

/// Takes all effects off a present line; returns the line without them, and the part of each that is on it.
pub fn decompose(item: &Item, effects: &[LineEffect]) -> ComposedLine {
    let present = amounts_of(item);
    let units = || effects.iter().map(|effect| effect.units);
    let initial = item.initial_quantity.filter(|initial| moved(*initial, units()) == present.quantity);
    let quantity = initial.unwrap_or_else(|| moved(present.quantity, units().map(negated)));
    // A line without all units of a redemption has no amount from which the sent one could be found.
    let is_short = sum(quantity, units()) < 0;
    let of_price = item.price.and_then(|price| price.checked_mul(quantity)).filter(|_| is_short);
    let amount = present.amount.map(|amount| {
        let worth = effects.iter().map(|effect| negated(worth_of(effect, item.price)));
        of_price.unwrap_or_else(|| money(moved(amount.minor(), worth)))
    });
    let mut sent = LineTotals { quantity, amount, ..present };
    let share = |effect: &LineEffect| {
        let free = count(effect.free_units).min(sent.free_units);
        let discount = discount_of(effect, free, item.price).min(sent.discount);
        sent.free_units = sent.free_units.remaining_after(free);
        sent.discount = sent.discount.remaining_after(discount);
        LineEffect { discount, free_units: free.cast_signed(), ..*effect }
    };
    let shares = effects.iter().map(share).collect();
    ComposedLine { line: sent, shares }
}

/// Returns the line before a redemption, from the line after it.
pub fn line_before_redemption(after: LineTotals, effect: &LineEffect) -> LineTotals {
    let worth = negated(effect.worth);
    LineTotals {
        quantity: moved(after.quantity, [negated(effect.units)]),
        free_units: after.free_units.remaining_after(count(effect.free_units)),
        amount: after.amount.map(|amount| money(moved(amount.minor(), [worth]))),
        discount: after.discount.remaining_after(effect.discount),
    }
}

/// Returns the discount of a redemption of whose free units the line has `kept`.
fn discount_of(effect: &LineEffect, kept: u64, price: Option<Money>) -> Money {
    let free = count(effect.free_units);
    match (free > kept, price) {
        (false, _) => effect.discount,
        (true, Some(price)) => price.capped_mul(kept).min(effect.discount),
        (true, None) => split(effect.discount, [kept, free.remaining_after(kept)]),
    }
}

/// Returns the value of added units at the present price of their line, else at the price that they had; negative for
/// removed ones.
fn worth_of(effect: &LineEffect, price: Option<Money>) -> i64 {
    match price.and_then(|price| price.checked_mul(effect.units.unsigned_abs())) {
        Some(worth) if effect.units < 0 => Money::ZERO.difference_from(worth),
        Some(worth) => worth.signed(),
        None => effect.worth,
    }
}

/// Returns a count after these changes together, and at least 0.
fn moved(count: u64, changes: impl IntoIterator<Item: Into<i128>>) -> u64 {
    // Some thousand numbers of at most 2^53 stay within 64 bits.
    u64::try_from(sum(count, changes).max(0)).unwrap_or(u64::MAX)
}

/// Returns the opposite of a change.
#[expect(clippy::arithmetic_side_effects, reason = "128 bits hold the opposite of each number of 64")]
fn negated(change: i64) -> i128 {
    -i128::from(change)
}

#[expect(clippy::arithmetic_side_effects, reason = "128 bits hold the sum of a few numbers of 64")]
fn sum(count: u64, changes: impl IntoIterator<Item: Into<i128>>) -> i128 {
    changes.into_iter().fold(i128::from(count), |sum, change| sum + change.into())
}

/// Returns the amount of a line as it was sent. An amount out of bounds was never sent: its record does not explain the line.
fn money(minor: u64) -> Money {
    // The largest amount explains no line either.
    Money::of(minor).unwrap_or(Money::MAX)
}

fn count(units: i64) -> u64 {
    // Removed units, whose number is negative, are not free.
    u64::try_from(units).unwrap_or(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail loudly")]
mod tests {
    use super::*;

    #[test]
    fn a_line_whose_amount_leaves_its_bounds_is_not_composed() {
        let sent = |amount| LineTotals { quantity: 1, amount: Some(amount), ..LineTotals::default() };
        let change = |units: i64, worth: i64| LineEffect { units, worth, ..LineEffect::default() };
        assert_eq!(compose(sent(Money::MAX), None, &[change(1, 1)]), None);
        // At the price that the line has now: two units are more than the rest.
        assert_eq!(compose(sent(Money::MAX), Some(Money::UNIT), &[change(2, 0)]), None);
        // Only the sum counts: the unit that the second redemption has removed makes room for the first.
        let both = compose(sent(Money::MAX), None, &[change(1, 1), change(-1, -1)]).unwrap();
        assert_eq!((both.line.quantity, both.line.amount), (1, Some(Money::MAX)));
        let unpriced = LineTotals { quantity: 1, ..LineTotals::default() };
        assert_eq!(compose(unpriced, None, &[change(1, 1)]).unwrap().line.amount, None);
    }
}
