//! Takes the effects of redemptions that are rolled back off their order.
//!
//! docs/spec/calculation.md#15.

use crate::count::Countable;
use crate::model::order::{Item, Order, OrderStatus};
use crate::model::order_return::RedemptionRest;
use crate::model::redemption::{PastLine, PastOrder};
use crate::money::Money;

/// Returns the order without the effects `off`. The effects of the `others` that remain on it are kept.
pub fn undo(order: Order, off: Option<&PastOrder>, others: &[&RedemptionRest], status: OrderStatus) -> Order {
    let mut order = order;
    order.discount_amount = rest(order.discount_amount, off.map(|off| off.discount).unwrap_or_default());
    let mut is_kept = Vec::with_capacity(order.items.len());
    let mut has_lost = false;
    for (place, item) in order.items.iter_mut().enumerate() {
        let line = off.and_then(|off| off.lines.get(place)).copied().unwrap_or_default();
        let units_of_others = units_on(others, item);
        let before = (item.quantity, item.amount);
        let lost = undo_line(item, line, units_of_others);
        // A redemption that has taken units off a line, or added some, may give them back or take them.
        let is_owed = units_of_others != 0 || (before.0 == 0 && item.initial_quantity != Some(0));
        is_kept.push(item.quantity > 0 || is_owed);
        has_lost |= lost > 0;
        order.amount = order.amount.map(|amount| less(amount, lost));
    }
    let mut is_kept = is_kept.into_iter();
    order.items.retain(|_| is_kept.next().unwrap_or(true));
    // An order that had no amount has one only by the units that were added to it.
    let is_unpriced = order.initial_amount.is_none() && order.items.iter().all(|item| item.amount.is_none());
    order.amount = order.amount.filter(|amount| !(has_lost && is_unpriced && amount.is_zero()));
    order.status = Some(status);
    order
}

/// Takes an effect off a line; returns by how much its amount has decreased, in minor units.
fn undo_line(item: &mut Item, line: PastLine, units_of_others: i64) -> i64 {
    let (quantity, amount) = (item.quantity, item.amount);
    let excess = excess(item);
    item.discount_amount = rest(item.discount_amount, line.discount);
    // A line that was sent again since has no initial quantity: it does not contain the added or removed units any
    // more.
    let line = if item.initial_quantity.is_some() { line } else { PastLine::default() };
    item.quantity = units_without(item, line.units, units_of_others);
    let free = item.discount_quantity.map(|free| without(free, line.free_units).min(item.quantity));
    item.discount_quantity = free.filter(|free| *free > 0);
    let lost = worth_of(item, line, change(quantity, item.quantity));
    item.amount = amount.map(|amount| less(amount, lost));
    if quantity != item.quantity {
        // Removed units took with them the discounts of other redemptions on them.
        let most = item.amount.map_or(Money::MAX, |amount| amount.checked_add(excess).unwrap_or(Money::MAX));
        item.discount_amount = item.discount_amount.map(|off| off.min(most)).filter(|off| !off.is_zero());
    }
    amount.zip(item.amount).map_or(lost, |(before, after)| before.difference_from(after))
}

/// Returns the units of a line without these added or removed ones: its initial units with those of the other
/// redemptions. They count only as far as they explain the present number. Units that one redemption added and another
/// replaced since are on the line no more.
fn units_without(item: &Item, units: i64, units_of_others: i64) -> u64 {
    let with = |units: i64| item.initial_quantity.map(|initial| initial.checked_add_signed(units).unwrap_or(0));
    let all = units.checked_add(units_of_others).and_then(with);
    with(units_of_others).filter(|_| all == Some(item.quantity)).unwrap_or(without(item.quantity, units))
}

/// Returns the units that redemptions added to a line, less those that they removed.
fn units_on(rests: &[&RedemptionRest], item: &Item) -> i64 {
    let lines = rests.iter().filter_map(|rest| rest.line(item.id.as_deref()?));
    lines.map(|line| line.units).sum()
}

/// Returns the part of the discount of a line that exceeds its amount.
fn excess(item: &Item) -> Money {
    let Some(amount) = item.amount else { return Money::ZERO };
    item.discount_amount.unwrap_or_default().remaining_after(amount)
}

/// Returns what is left of a discount; `None` for nothing.
fn rest(now: Option<Money>, off: Money) -> Option<Money> {
    now.map(|now| now.remaining_after(off)).filter(|left| !left.is_zero())
}

/// Returns a count before units were added to it, or taken from it if `change` is negative.
fn without(count: u64, change: i64) -> u64 {
    count.checked_sub_signed(change).unwrap_or(0)
}

/// Returns by how many units a count has decreased.
fn change(before: u64, after: u64) -> i64 {
    let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    match before > after {
        true => signed(before.remaining_after(after)),
        false => signed(after.remaining_after(before)).wrapping_neg(),
    }
}

/// Returns the value of removed units at the present price of their line; of a line without a price, their part of the
/// amount of the added or removed units. It is negative for added ones.
fn worth_of(item: &Item, line: PastLine, removed: i64) -> i64 {
    let of_price = |price: Money| {
        let worth = price.checked_mul(removed.unsigned_abs())?;
        i64::try_from(worth.minor()).ok()?.checked_mul(removed.signum())
    };
    let of_line = || line.worth.checked_mul(removed)?.checked_div(line.units);
    item.price.and_then(of_price).or_else(of_line).unwrap_or(0)
}

fn less(amount: Money, change: i64) -> Money {
    Money::from_wide(u128::from(without(amount.minor(), change))).unwrap_or(amount)
}
