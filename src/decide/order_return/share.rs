//! Decides the gross amount of returned units and their shares of the discounts.
//!
//! docs/spec/calculation.md#19, D24: the discounts of a line by units, the discount of the order by largest remainder.
//! All shares are of the present order, so that any sequence of returns adds up to the whole.

use crate::count::{self, Countable};
use crate::model::order::{Item, Order};
use crate::model::order_return::RemainingDiscount;
use crate::money::Money;
use crate::pricing::spread::{SpreadShare, spread};

/// The returned part of a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineShare {
    /// The position of the line in the order.
    pub position: usize,
    /// Returned units that were paid.
    pub paid: u64,
    /// Returned units that were free.
    pub free: u64,
    /// The gross amount of the paid ones.
    pub paid_gross: Money,
    /// The gross amount of the free ones.
    pub free_gross: Money,
    /// The discount of the free ones.
    pub free_discount: Money,
    /// The share of the other discounts of the line.
    pub paid_discount: Money,
    /// The share of the discount of the order.
    pub order_discount: Money,
}

impl LineShare {
    /// Returns the share of all discounts of the line.
    pub fn line_discount(&self) -> Money {
        sum([self.free_discount, self.paid_discount])
    }
}

/// The returned part of an order.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderShare {
    /// The lines with returned units.
    pub lines: Vec<LineShare>,
    /// The share of the discount of the order, over all lines.
    pub order_discount: Money,
    /// `true` if no unit is left.
    pub is_full: bool,
}

impl OrderShare {
    /// Returns the gross amount of the returned units that were paid.
    pub fn paid_gross(&self) -> Money {
        sum(self.lines.iter().map(|line| line.paid_gross))
    }

    /// Returns the gross amount of all returned units.
    pub fn gross(&self) -> Money {
        sum(self.lines.iter().flat_map(|line| [line.paid_gross, line.free_gross]))
    }

    /// Returns all discounts that are given up.
    pub fn discount(&self) -> Money {
        sum(self.lines.iter().map(LineShare::line_discount).chain([self.order_discount]))
    }

    /// Returns the returned units of a line.
    pub fn at(&self, position: usize) -> Option<&LineShare> {
        self.lines.iter().find(|line| line.position == position)
    }
}

/// Returns the units of a line that are not free.
pub fn paid_units(item: &Item) -> u64 {
    item.quantity.remaining_after(free_units(item))
}

/// Returns the units of a line that are free.
pub fn free_units(item: &Item) -> u64 {
    // A line that states no free units has none.
    item.discount_quantity.unwrap_or(0).min(item.quantity)
}

/// Returns the shares of returned units; `back` has the number of paid units of each line. Free units are returned with
/// the goods for which they were free.
pub fn share(order: &Order, back: &[u64]) -> OrderShare {
    share_units(order, back, &freed(order, back, &values(order)))
}

/// Returns the shares of exactly these units of each line.
#[expect(clippy::arithmetic_side_effects, reason = "counts of a line stay far within 64 bits")]
pub fn share_units(order: &Order, paid: &[u64], free: &[u64]) -> OrderShare {
    let values = values(order);
    let mut lines: Vec<LineShare> = Vec::new();
    let mut is_full = order.items.iter().any(|item| item.quantity > 0);
    for (position, item) in order.items.iter().enumerate() {
        // Lines beyond the ends of these lists return nothing.
        let paid = paid.get(position).copied().unwrap_or(0).min(paid_units(item));
        // As with paid units.
        let free = free.get(position).copied().unwrap_or(0).min(free_units(item));
        is_full &= paid + free == item.quantity;
        let value = values.get(position).copied().unwrap_or_default();
        lines.push(line_share(position, item, value, [paid, free]));
    }
    let discount = order.discount_amount.unwrap_or_default();
    let given = if is_full { discount } else { share_order_discount(order, discount, &values, &mut lines) };
    if is_full {
        share_order_discount(order, discount, &values, &mut lines);
    }
    lines.retain(|line| line.paid > 0 || line.free > 0);
    OrderShare { lines, order_discount: given, is_full }
}

/// Returns the amounts of the lines. The amount of the order beyond its lines is divided by units among the lines
/// without an amount.
fn values(order: &Order) -> Vec<Money> {
    let known = sum(order.items.iter().filter_map(|item| item.amount));
    let weight = |position: usize, item: &Item| {
        SpreadShare::new(position, if item.amount.is_none() { item.quantity } else { 0 }, Money::MAX)
    };
    let mut shares: Vec<SpreadShare> =
        order.items.iter().enumerate().map(|(position, item)| weight(position, item)).collect();
    spread(order.amount.unwrap_or_default().remaining_after(known), &mut shares);
    order.items.iter().zip(shares).map(|(item, share)| item.amount.unwrap_or(share.given)).collect()
}

/// Returns the free units to return with the goods for which they were free. A line with paid units returns them with
/// those, other lines with all that was paid. Only whole units are returned; the last paid unit takes the rest with it.
#[expect(clippy::arithmetic_side_effects, reason = "units and amounts of an order stay within 64 bits")]
fn freed(order: &Order, back: &[u64], values: &[Money]) -> Vec<u64> {
    // Lines beyond the end of the list return nothing.
    let paid_back = |position: usize, item: &Item| back.get(position).copied().unwrap_or(0).min(paid_units(item));
    let paid = || order.items.iter().enumerate().filter(|(_, item)| paid_units(item) > 0);
    let units = paid().map(|(position, item)| [paid_back(position, item), paid_units(item)]);
    let worth = paid().map(|(position, item)| {
        let value = values.get(position).copied().unwrap_or_default().minor();
        [part_of(value, paid_back(position, item), paid_units(item)), value]
    });
    let add = |[one, all]: [u64; 2], [more, of]: [u64; 2]| [one + more, all + of];
    let (units, worth) = (units.fold([0, 0], add), worth.fold([0, 0], add));
    let [all_back, all] = if units[0] == units[1] || worth[1] == 0 { units } else { worth };
    let freed = |position: usize, item: &Item| match paid_units(item) {
        0 if all == 0 => free_units(item),
        0 => part_of(free_units(item), all_back, all),
        paid => part_of(free_units(item), paid_back(position, item), paid),
    };
    order.items.iter().enumerate().map(|(position, item)| freed(position, item)).collect()
}

/// Returns `count * part / total`, rounded down.
fn part_of(count: u64, part: u64, total: u64) -> u64 {
    count::share(count, part, total).map_or(count, |share| share.min(count))
}

/// Returns the part of the amount of a line that belongs to its free units.
pub fn free_value(item: &Item, value: Money) -> Money {
    match (free_units(item), item.price) {
        (0, _) => Money::ZERO,
        (free, Some(price)) => price.capped_mul(free).min(value),
        (free, None) => split(value, [free, paid_units(item)]),
    }
}

/// Returns the part of the discount of a line that belongs to its free units.
pub fn free_discount(item: &Item, value: Money) -> Money {
    item.discount_amount.unwrap_or_default().min(free_value(item, value))
}

fn line_share(position: usize, item: &Item, value: Money, [paid, free]: [u64; 2]) -> LineShare {
    let (all_paid, all_free) = (paid_units(item), free_units(item));
    let free_value = free_value(item, value);
    let paid_value = value.remaining_after(free_value);
    let discount = item.discount_amount.unwrap_or_default();
    // The discount of free units belongs only to them.
    let free_discount = free_discount(item, value);
    let paid_discount = discount.remaining_after(free_discount);
    let paid_part = [paid, all_paid.remaining_after(paid)];
    let free_part = [free, all_free.remaining_after(free)];
    let of_free = split(free_discount, free_part);
    let of_paid = match all_paid {
        0 => split(paid_discount, free_part),
        _ => split(paid_discount, paid_part),
    };
    let (paid_gross, free_gross) = match all_paid {
        0 => (Money::ZERO, split(value, free_part)),
        _ => (split(paid_value, paid_part), split(free_value, free_part)),
    };
    LineShare {
        position,
        paid,
        free,
        paid_gross,
        free_gross,
        free_discount: of_free,
        paid_discount: of_paid,
        order_discount: Money::ZERO,
    }
}

/// Divides the discount of the order between returned and kept units, and returns the returned part.
#[expect(clippy::arithmetic_side_effects, reason = "amounts of an order stay within 64 bits")]
fn share_order_discount(order: &Order, discount: Money, values: &[Money], lines: &mut [LineShare]) -> Money {
    let mut shares: Vec<SpreadShare> = Vec::new();
    let mut gross: u64 = 0;
    for line in lines.iter() {
        let value = values.get(line.position).copied().unwrap_or_default();
        gross += value.minor();
        let off = order.items.get(line.position).and_then(|item| item.discount_amount).unwrap_or_default();
        let back = sum([line.paid_gross, line.free_gross]).remaining_after(line.line_discount());
        let all = value.remaining_after(off);
        for part in [back.min(all), all.remaining_after(back)] {
            shares.push(SpreadShare::new(line.position, part.minor(), part));
        }
    }
    // The amount of the order beyond its lines is not returned with any. Lines beyond the bounds leave no such amount.
    let remaining = order.amount.unwrap_or_default().remaining_after(Money::of(gross).unwrap_or(Money::MAX));
    shares.push(SpreadShare::new(lines.len(), remaining.minor(), remaining));
    spread(discount, &mut shares);
    for (line, share) in lines.iter_mut().zip(shares.chunks(2)) {
        line.order_discount = share.first().map(|share| share.given).unwrap_or_default();
    }
    // The shares of `spread` add up to at most the discount.
    sum(lines.iter().map(|line| line.order_discount))
}

/// Returns the first of two parts of an amount, by largest remainder.
pub fn split(amount: Money, [part, remaining]: [u64; 2]) -> Money {
    let mut shares = [SpreadShare::new(0, part, Money::MAX), SpreadShare::new(1, remaining, Money::MAX)];
    spread(amount, &mut shares);
    let [first, _] = shares;
    first.given
}

/// Returns the order without the returned units. Lines without units are removed, except those that have units which a
/// redemption replaced: its rollback gives them back. `remaining_discounts` has the remaining effects of the redemptions.
pub fn without(order: &Order, back: &OrderShare, remaining_discounts: &[RemainingDiscount]) -> Order {
    let nothing = |amount: Money| (!amount.is_zero()).then_some(amount);
    let mut left = order.clone();
    for line in &back.lines {
        let Some(item) = left.items.get_mut(line.position) else { continue };
        let gross = sum([line.paid_gross, line.free_gross]);
        item.quantity = item.quantity.remaining_after(line.paid).remaining_after(line.free);
        item.discount_quantity =
            item.discount_quantity.map(|free| free.remaining_after(line.free)).filter(|free| *free > 0);
        // Returned units are first those that a redemption added.
        let units: Vec<i64> =
            remaining_discounts.iter().filter_map(|remaining| Some(remaining.line(item.id.as_ref()?)?.units)).collect();
        let sent = units.iter().try_fold(item.quantity, |left, added| left.checked_sub_signed(*added));
        let is_changed = units.iter().any(|units| *units != 0);
        item.initial_quantity = item
            .initial_quantity
            .map(|units| sent.filter(|_| is_changed).unwrap_or_else(|| units.remaining_after(line.paid)));
        item.amount = item.amount.map(|amount| amount.remaining_after(gross));
        item.initial_amount = item.initial_amount.map(|amount| amount.remaining_after(line.paid_gross));
        item.discount_amount = item.discount_amount.and_then(|off| nothing(off.remaining_after(line.line_discount())));
    }
    let is_owed = |item: &Item| {
        let mut lines = remaining_discounts.iter().filter_map(|remaining| remaining.line(item.id.as_ref()?));
        lines.any(|line| line.units < 0)
    };
    let is_left = |position: usize| {
        let Some((line, item)) = back.at(position).zip(order.items.get(position)) else { return !back.is_full };
        item.quantity.remaining_after(line.paid) > line.free || is_owed(item)
    };
    let mut position = 0_usize;
    left.items.retain(|_| {
        let keeps = is_left(position);
        position = position.plus_one();
        keeps
    });
    let less = |amount: Option<Money>, by: Money| {
        amount.map(|amount| if back.is_full { Money::ZERO } else { amount.remaining_after(by) })
    };
    left.amount = less(order.amount, back.gross());
    left.initial_amount = less(order.initial_amount, back.paid_gross());
    left.discount_amount = order.discount_amount.and_then(|off| nothing(off.remaining_after(back.order_discount)));
    left
}

/// Returns the sum of parts of one order, whose amounts and discounts a cart keeps within bounds.
fn sum(amounts: impl IntoIterator<Item = Money>) -> Money {
    Money::capped_sum(amounts)
}
