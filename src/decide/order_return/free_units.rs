//! Decides which redemptions own the free units of a line, and which part of its discount belongs to them.
//!
//! A redemption that makes units of a line free has no other discount on it: its whole discount there belongs to its
//! free units.

use crate::count::{Countable, total};
use crate::decide::order_return::line_goods::OrderGoods;
use crate::decide::order_return::share::{LineShare, free_discount, split};
use crate::model::order::{Item, Order};
use crate::model::order_return::{RemainingDiscount, RemainingLineDiscount};
use crate::money::Money;
use crate::pricing::spread::{SpreadShare, spread};
use crate::text::Text;

/// Returns the discount of the redemptions that make units of a line free.
pub fn free_units_discount_on(remaining_discounts: &[RemainingDiscount], line_id: &str) -> Money {
    let lines =
        remaining_discounts.iter().filter_map(|remaining| remaining.line(line_id)).filter(|line| line.free_units > 0);
    Money::capped_sum(lines.map(|line| line.discount))
}

/// Takes the returned free units of a line from the redemptions, with their discount. `left` is the number of units
/// that the line keeps.
pub fn remove_free_units(back: &LineShare, left: u64, line_id: &str, remaining_discounts: &mut [RemainingDiscount]) {
    let mut free = back.free;
    let mut lines: Vec<&mut RemainingLineDiscount> =
        remaining_discounts.iter_mut().filter_map(|remaining| remaining.line_mut(line_id)).collect();
    let mut shares = Vec::new();
    for (position, line) in lines.iter_mut().enumerate() {
        let before = count(line.free_units);
        let taken = lower_units(line, free, left);
        free = free.remaining_after(taken);
        let off = split(line.discount, [taken, before.remaining_after(taken)]);
        shares.push(SpreadShare::new(position, if before > 0 { off.minor() } else { 0 }, line.discount));
    }
    spread(back.free_discount, &mut shares);
    for (line, share) in lines.into_iter().zip(shares) {
        line.discount = line.discount.remaining_after(share.given);
    }
}

/// Moves free units of a line to the present lines of an order, with the units that were added for them and their
/// discount. Units that no line has are removed. `None` if a number leaves its bounds.
pub fn move_free_units(
    order: &Order,
    goods: &OrderGoods<'_>,
    line_id: &Text,
    remaining_discounts: &mut [RemainingDiscount],
) -> Option<()> {
    let own = order.line(line_id);
    // A line that the order does not have any more has no free units.
    let mut excess = units_on(remaining_discounts, line_id)?.remaining_after(own.map_or(0, free_of));
    for item in order.items.iter().filter(|item| goods.may_move(line_id, item)) {
        let Some(to) = &item.id else { continue };
        let mut capacity = free_of(item).remaining_after(units_on(remaining_discounts, to)?).min(excess);
        for remaining in remaining_discounts.iter_mut() {
            let moved = move_units(remaining, line_id, Some(to), capacity)?;
            capacity = capacity.remaining_after(moved);
            excess = excess.remaining_after(moved);
        }
    }
    for remaining in remaining_discounts.iter_mut() {
        excess = excess.remaining_after(move_units(remaining, line_id, None, excess)?);
    }
    Some(())
}

/// Sets the discount of free units to their present price on their line, without the part that earlier discounts had
/// taken of it.
pub fn fit_free_discounts(order: &Order, goods: &OrderGoods<'_>, remaining_discounts: &mut [RemainingDiscount]) {
    for item in &order.items {
        let Some(id) = item.id.as_ref().filter(|_| item.price.is_some() || item.amount.is_some()) else { continue };
        if goods.is_fixed(id) {
            continue;
        }
        // A line without an amount does not limit its discount.
        let off = free_discount(item, item.amount.unwrap_or(Money::MAX));
        let mut lines: Vec<&mut RemainingLineDiscount> =
            remaining_discounts.iter_mut().filter_map(|remaining| remaining.line_mut(id)).collect();
        let mut shares = Vec::new();
        for (position, line) in lines.iter().enumerate() {
            let units = count(line.free_units);
            let worth = item.price.map(|price| price.capped_mul(units).remaining_after(line.earlier));
            shares.push(match worth {
                Some(worth) => SpreadShare::new(position, worth.minor(), worth),
                None => SpreadShare::new(position, units, Money::MAX),
            });
        }
        spread(off, &mut shares);
        for (line, share) in lines.iter_mut().zip(shares).filter(|(line, _)| line.free_units > 0) {
            line.discount = share.given;
        }
    }
}

fn free_of(item: &Item) -> u64 {
    // A line that states no free units has none.
    item.discount_quantity.unwrap_or(0)
}

/// Returns the units of a line that redemptions make free; `None` beyond 64 bits.
fn units_on(remaining_discounts: &[RemainingDiscount], line_id: &str) -> Option<u64> {
    let lines = remaining_discounts.iter().filter_map(|remaining| remaining.line(line_id));
    total(lines.map(|line| count(line.free_units)))
}

/// Moves at most `most` free units of a redemption from one line to another, or off the order; returns the number
/// moved, or `None` if a number of the other line leaves its bounds.
#[expect(clippy::arithmetic_side_effects, reason = "no more is taken from the line than it has")]
fn move_units(remaining: &mut RemainingDiscount, from: &Text, to: Option<&Text>, most: u64) -> Option<u64> {
    let Some(line) = remaining.line_mut(from) else { return Some(0) };
    let (free, added) = (count(line.free_units), count(line.units));
    let moved = free.min(most);
    if moved == 0 {
        return Some(0);
    }
    let kept = free.remaining_after(moved);
    let units = split_count(added, [moved, kept]);
    // Removed units, whose amount is negative, do not move.
    let worth = Money::new(line.worth.max(0)).unwrap_or_default();
    let worth = signed(split(worth, [units, added.remaining_after(units)]).minor());
    let [discount, earlier] = [line.discount, line.earlier].map(|amount| split(amount, [moved, kept]));
    line.free_units = signed(kept);
    line.units -= signed(units);
    line.worth -= worth;
    line.discount = line.discount.remaining_after(discount);
    line.earlier = line.earlier.remaining_after(earlier);
    let Some(to) = to else { return Some(moved) };
    remaining.change_line(to, |other| {
        other.free_units = other.free_units.checked_add(signed(moved))?;
        other.units = other.units.checked_add(signed(units))?;
        other.worth = other.worth.checked_add(worth)?;
        other.discount = other.discount.checked_add(discount)?;
        other.earlier = other.earlier.checked_add(earlier)?;
        Some(())
    })?;
    Some(moved)
}

/// Returns the first of two parts of a count, by largest remainder.
fn split_count(all: u64, parts: [u64; 2]) -> u64 {
    // A count of units fits an amount.
    Money::of(all).map_or(0, |all| split(all, parts).minor())
}

/// Takes at most `free` returned free units, and then added units that the line does not have any more. Returns the
/// number of free units taken.
#[expect(clippy::arithmetic_side_effects, reason = "counts of a line stay far within 64 bits")]
fn lower_units(remaining: &mut RemainingLineDiscount, free: u64, left: u64) -> u64 {
    if remaining.units < 0 {
        return 0;
    }
    let taken = signed(free).min(remaining.free_units.max(0));
    let added = remaining.units;
    remaining.free_units -= taken;
    remaining.units = (remaining.units - taken).clamp(0, signed(left));
    if added > 0 && remaining.units < added {
        // Added units have no negative amount, and there are some of them.
        let worth = Money::new(remaining.worth).unwrap_or_default();
        let kept = worth.portion(count(remaining.units), count(added)).unwrap_or_default();
        remaining.worth = signed(kept.minor());
    }
    count(taken)
}

fn count(units: i64) -> u64 {
    // Removed units, whose number is negative, are neither added nor free.
    u64::try_from(units).unwrap_or(0)
}

/// A count of units or minor units with a sign: none has 63 bits.
fn signed(count: u64) -> i64 {
    count.cast_signed()
}
