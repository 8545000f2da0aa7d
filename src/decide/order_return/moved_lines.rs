//! Decides which lines of a changed order have the units of the stored one, and puts the remaining discounts onto them.

use crate::count::Countable;
use crate::decide::order_return::share::{free_discount, free_units, paid_units};
use crate::decide::order_return::units::is_same;
use crate::model::order::{Item, Order};
use crate::money::Money;
use crate::pricing::spread::{SpreadShare, spread};

/// Units of a stored line that are on a line of the changed order.
struct LineUnits {
    from: usize,
    to: usize,
    units: u64,
}

/// The location of the units of a stored order in the changed one.
pub struct LineMoves {
    /// The line of the changed order for each stored line.
    positions: Vec<Option<usize>>,
    units: Vec<LineUnits>,
}

impl LineMoves {
    /// Finds the line for each stored one by id. Otherwise it is the first free line with the same goods, price and
    /// quantity, or else with the same goods. Further units of a line are those that another line of the same goods
    /// lost, with the same price first.
    pub fn find(stored: &Order, order: &Order) -> LineMoves {
        let positions = same_lines(stored, order);
        let mut spare: Vec<u64> = order.items.iter().map(|item| item.quantity).collect();
        let mut missing: Vec<u64> = stored.items.iter().map(|item| item.quantity).collect();
        let mut units = Vec::new();
        let mut apply_to = |from: usize, to: usize| {
            let (Some(missing), Some(spare)) = (missing.get_mut(from), spare.get_mut(to)) else { return };
            let count = (*missing).min(*spare);
            if count > 0 {
                (*missing, *spare) = (missing.remaining_after(count), spare.remaining_after(count));
                units.push(LineUnits { from, to, units: count });
            }
        };
        for (from, to) in positions.iter().enumerate() {
            to.iter().for_each(|to| apply_to(from, *to));
        }
        for is_price_free in [false, true] {
            for (from, known) in stored.items.iter().enumerate() {
                for (to, item) in order.items.iter().enumerate() {
                    if (is_price_free || is_same_price(known, item)) && is_same(known, item) {
                        apply_to(from, to);
                    }
                }
            }
        }
        LineMoves { positions, units }
    }

    /// Returns the units that each stored line keeps.
    pub fn remaining_units(&self) -> Vec<u64> {
        // The units that move from a line are at most those that it has.
        let remaining_units = |from: usize| self.of(from).map(|one| one.units).sum();
        (0..self.positions.len()).map(remaining_units).collect()
    }

    fn of(&self, from: usize) -> impl Iterator<Item = &LineUnits> {
        self.units.iter().filter(move |one| one.from == from)
    }

    /// Removes from a changed order with returned units the amounts that are still those of all units.
    pub fn remove_stale_amounts(&self, stored: &Order, order: &mut Order) {
        let remove_if_unchanged =
            |amount: &mut Option<Money>, known: Option<Money>| *amount = amount.filter(|_| *amount != known);
        remove_if_unchanged(&mut order.amount, stored.amount);
        remove_if_unchanged(&mut order.initial_amount, stored.initial_amount);
        for (known, position) in stored.items.iter().zip(&self.positions) {
            let line = position.and_then(|position| order.items.get_mut(position));
            let Some(line) = line.filter(|line| line.quantity != known.quantity) else { continue };
            remove_if_unchanged(&mut line.amount, known.amount);
            remove_if_unchanged(&mut line.initial_amount, known.initial_amount);
            line.initial_quantity = line.initial_quantity.filter(|units| Some(*units) != known.initial_quantity);
        }
    }

    /// Puts the remaining values of the stored lines onto the lines of the changed order that set none; returns the
    /// values of each line, or `None` if one leaves its bounds.
    pub fn move_values(&self, stored: &Order, remaining: &Order, order: &mut Order) -> Option<Vec<LineDiscounts>> {
        let known = |item: &Item| remaining.line(item.id.as_deref()?);
        let is_rest = self.is_rest(stored, remaining, order);
        if is_rest {
            order.initial_amount = order.initial_amount.or(remaining.initial_amount);
        }
        for (from, item) in stored.items.iter().enumerate() {
            let position = self.positions.get(from).copied().flatten();
            let Some(line) = position.and_then(|position| order.items.get_mut(position)) else { continue };
            line.discount_amount = line.discount_amount.filter(|off| Some(*off) != item.discount_amount);
            line.discount_quantity = line.discount_quantity.filter(|free| Some(*free) != item.discount_quantity);
            let Some(known) = known(item) else { continue };
            line.id.clone_from(&known.id);
            let added = line.quantity.remaining_after(known.quantity);
            // Units that a redemption took away are there again on a line that is sent with more than it had left.
            let is_restored = added > 0 && known.initial_quantity.is_some_and(|units| units > known.quantity);
            let initial = known.initial_quantity.filter(|_| !is_restored && added_units(known) == 0);
            if let Some(units) = initial {
                let initial = units.checked_add(added)?;
                line.initial_quantity = line.initial_quantity.or(Some(initial));
            }
            if line.quantity != item.quantity && line.price.or(known.price).is_none() && line.quantity == known.quantity
            {
                line.amount = line.amount.or(known.amount);
            }
            if is_rest {
                line.initial_amount = line.initial_amount.or(known.initial_amount);
            }
        }
        self.move_discounts(stored, &known, order)
    }

    /// Moves the discount of a stored line with its units, unless a line sets another. Its free units move while
    /// lines have capacity, with their part of the discount. Units that were added for them move before others.
    fn move_discounts<'a>(
        &self,
        stored: &Order,
        known: &dyn Fn(&Item) -> Option<&'a Item>,
        order: &mut Order,
    ) -> Option<Vec<LineDiscounts>> {
        let mut line_discounts: Vec<LineDiscounts> = order.items.iter().map(LineDiscounts::of).collect();
        for (from, item) in stored.items.iter().enumerate() {
            let Some(known) = known(item) else { continue };
            let [mut paid, mut free] = [Vec::new(), Vec::new()];
            let (mut missing, mut added) = (free_units(known), added_units(known));
            let has_added = added > 0;
            for one in self.of(from) {
                let (Some(line), Some(line_discounts)) = (order.items.get(one.to), line_discounts.get_mut(one.to))
                else {
                    continue;
                };
                let more = missing.min(line.quantity.remaining_after(line_discounts.free_units)).min(one.units);
                let added_here = more.min(added);
                (missing, added) = (missing.remaining_after(more), added.remaining_after(added_here));
                line_discounts.free_units = line_discounts.free_units.checked_add(more)?;
                line_discounts.added_units = line_discounts.added_units.checked_add(added_here)?;
                line_discounts.has_added |= has_added;
                paid.push(SpreadShare::new(one.to, one.units.remaining_after(more), Money::MAX));
                free.push(SpreadShare::new(one.to, more, Money::MAX));
            }
            let off = known.discount_amount.unwrap_or_default();
            let of_free = free_discount(known, known.amount.unwrap_or_default());
            // A line whose units are all free has no others that could have the rest.
            let of_free = if paid_units(known) == 0 { off } else { of_free };
            spread(of_free, &mut free);
            spread(off.remaining_after(of_free), &mut paid);
            for (share, is_free) in
                paid.iter().map(|share| (share, false)).chain(free.iter().map(|share| (share, true)))
            {
                let line = line_discounts.get_mut(share.position);
                line.map_or(Some(()), |line| line.add(share.given, is_free))?;
            }
        }
        order.items.iter_mut().zip(&line_discounts).for_each(|(line, line_discounts)| line_discounts.apply_to(line));
        Some(line_discounts)
    }

    /// Returns whether a changed order is exactly the rest of the stored one. Then the amounts before free units are
    /// known.
    fn is_rest(&self, stored: &Order, remaining: &Order, order: &Order) -> bool {
        let left = |item: &Item| {
            let known = item.id.as_deref().and_then(|id| remaining.line(id));
            // A line that is gone has no units left.
            known.map_or(0, |known| known.quantity)
        };
        let units = |position: &Option<usize>| {
            // A line that the changed order does not have has no units.
            position.and_then(|position| order.items.get(position)).map_or(0, |line| line.quantity)
        };
        self.positions.iter().flatten().count() == order.items.len()
            && stored.items.iter().zip(&self.positions).all(|(item, position)| left(item) == units(position))
    }
}

/// The discounts of the stored order on a line of the changed one.
#[derive(Debug, Clone, Default)]
pub struct LineDiscounts {
    /// `true` if the line sets its discount itself.
    pub is_stated: bool,
    /// The units that are free.
    pub free_units: u64,
    /// The discount of the free units.
    pub free_discount: Money,
    states_free: bool,
    discount: Money,
    added_units: u64,
    has_added: bool,
}

impl LineDiscounts {
    fn of(line: &Item) -> LineDiscounts {
        let (is_stated, states_free) = (line.discount_amount.is_some(), line.discount_quantity.is_some());
        LineDiscounts { is_stated, states_free, ..LineDiscounts::default() }
    }

    /// Adds a share of the discount of a stored line. `None` if the discount leaves its bounds.
    fn add(&mut self, discount: Money, is_free: bool) -> Option<()> {
        self.discount = self.discount.checked_add(discount)?;
        if is_free {
            self.free_discount = self.free_discount.checked_add(discount)?;
        }
        Some(())
    }

    /// Writes the discounts onto the line, unless the line sets them.
    fn apply_to(&self, line: &mut Item) {
        if !self.is_stated && !self.discount.is_zero() {
            line.discount_amount = Some(self.discount);
        }
        if !self.states_free && self.free_units > 0 {
            line.discount_quantity = Some(self.free_units);
        }
        if self.has_added {
            line.initial_quantity = line.initial_quantity.or(Some(line.quantity.remaining_after(self.added_units)));
        }
    }
}

/// Returns the units of a line that were added as free ones.
fn added_units(item: &Item) -> u64 {
    // A line without an initial quantity has no added units.
    item.initial_quantity.map_or(0, |initial| item.quantity.remaining_after(initial))
}

/// Returns whether lines that have a unit price have the same.
fn is_same_price(known: &Item, item: &Item) -> bool {
    known.price.zip(item.price).is_none_or(|(known, sent)| known == sent)
}

/// Returns whether a line of a changed order is that of a stored one.
type LineTest = fn(&Item, &Item) -> bool;

/// Returns the line of a changed order for each line of the stored one.
fn same_lines(stored: &Order, order: &Order) -> Vec<Option<usize>> {
    let mut taken = vec![false; order.items.len()];
    let mut positions: Vec<Option<usize>> = vec![None; stored.items.len()];
    let passes: [LineTest; 4] = [
        |known, item| item.id.is_some() && item.id == known.id,
        |known, item| known.quantity == item.quantity && is_same_price(known, item) && is_same(known, item),
        |known, item| is_same_price(known, item) && is_same(known, item),
        is_same,
    ];
    for is_it in passes {
        for (position, known) in positions.iter_mut().zip(&stored.items).filter(|(position, _)| position.is_none()) {
            let found = order.items.iter().zip(&taken).position(|(item, taken)| !taken && is_it(known, item));
            let Some(found) = found else { continue };
            taken.get_mut(found).into_iter().for_each(|taken| *taken = true);
            *position = Some(found);
        }
    }
    positions
}
