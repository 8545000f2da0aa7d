//! Stores the running amounts of an order while discounts are applied.
//!
//! docs/spec/calculation.md#3: `A`, `D` and, per line, `a` and `d`.

use crate::count::Countable;
use crate::model::order::{Item, Order};
use crate::money::Money;
use crate::pricing::gain::{Gain, Replacement, UnitChange, sum_optional};

/// The running state of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Line {
    /// Units, including free ones.
    pub quantity: u64,
    /// Units that are free.
    pub free: u64,
    /// Unit price.
    pub price: Option<Money>,
    /// Gross amount.
    pub amount: Option<Money>,
    /// Item-level discount so far; `None` if there never was one.
    pub discount: Option<Money>,
    /// Item-level discount of this request; `None` if the line was not evaluated.
    pub applied: Option<Money>,
}

impl Line {
    /// Returns the amount still to pay, less item-level discounts.
    pub fn subtotal(&self) -> Money {
        // A line without an amount costs nothing, and one without a discount has none.
        self.amount.unwrap_or_default().remaining_after(self.discount.unwrap_or_default())
    }

    /// Returns the units that are not free (docs/spec/calculation.md#19, D3).
    pub fn paid_units(&self) -> u64 {
        self.quantity.remaining_after(self.free)
    }

    /// Returns whether all units of the line are free.
    pub fn is_free(&self) -> bool {
        self.free > 0 && self.paid_units() == 0
    }

    /// Returns the part of the line's amount and discount that belongs to its free units.
    fn free_value(&self) -> Money {
        // Units without a price are worth nothing.
        let value = self.price.map_or(Money::ZERO, |price| price.capped_mul(self.free));
        value.min(self.discount.unwrap_or_default()).min(self.amount.unwrap_or_default())
    }

    /// Returns the line without its free units; a line without other units keeps only their number.
    fn without_free(self) -> Line {
        if self.is_free() {
            return Line { free: self.free, ..Line::default() };
        }
        let value = self.free_value();
        Line {
            quantity: self.paid_units(),
            free: 0,
            amount: self.amount.map(|amount| amount.remaining_after(value)),
            discount: self.discount.map(|discount| discount.remaining_after(value)),
            ..self
        }
    }
}

/// The changes of unit effects to a line in this request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineUnitChange {
    /// The line.
    pub position: usize,
    /// Units before; 0 for an added line.
    pub initial_quantity: u64,
    /// Gross amount before.
    pub initial_amount: Option<Money>,
    /// Added units; negative for removed ones.
    pub units: i64,
    /// Their amount in minor units; `None` if their price is unknown.
    pub amount: Option<i64>,
    /// Units that became free.
    pub free: u64,
    /// Free units that were in the order before.
    pub claimed: u64,
}

impl LineUnitChange {
    /// Returns the amount of the line before: its units at their price and, without a price, the amount that it had
    /// (docs/spec/calculation.md#19, D17). `initial_quantity` is the earlier number of units by the request.
    pub fn initial_value(&self, price: Option<Money>, initial_quantity: Option<u64>) -> Option<Money> {
        let units = initial_quantity.unwrap_or(self.initial_quantity);
        price.and_then(|price| price.checked_mul(units)).or(self.initial_amount)
    }
}

/// The running state of an order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cart {
    /// Gross amount; `None` if it is unknown.
    pub amount: Option<Money>,
    /// Gross amount before free units.
    pub initial_amount: Option<Money>,
    /// Order-level discount so far; `None` if there never was one.
    pub discount: Option<Money>,
    /// Order-level discount of this request.
    pub applied: Option<Money>,
    /// The lines: those of the order, and then those that unit effects added.
    pub lines: Vec<Line>,
    /// The changes of unit effects; nearly always none.
    pub moved: Option<Box<UnitChanges>>,
}

/// The changes of unit effects to an order in this request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnitChanges {
    /// The added lines.
    pub added: Vec<Item>,
    /// The changed lines, each once.
    pub changed: Vec<LineUnitChange>,
    /// The replacements.
    pub replaced: Vec<Replacement>,
}

impl Cart {
    /// Returns the cart of an order before a request, with the sum of these lines as amount. Fails with the name of the
    /// property of the order that exceeds the maximum.
    #[inline]
    pub fn new(lines: Vec<Line>, discount: Option<Money>) -> Result<Cart, &'static str> {
        let is_known = lines.iter().any(|line| line.amount.is_some());
        let sum = Money::sum(lines.iter().filter_map(|line| line.amount)).ok_or("order.amount")?;
        let amount = is_known.then_some(sum);
        let cart = Cart { amount, initial_amount: amount, discount, applied: None, lines, moved: None };
        cart.all_discounts().ok_or("order.discount_amount")?;
        Ok(cart)
    }

    /// Returns the amounts of a stored order.
    pub fn stored(order: &Order) -> Cart {
        let line = |item: &Item| Line {
            quantity: item.quantity,
            // A line that states no free units has none.
            free: item.discount_quantity.unwrap_or(0),
            price: item.price,
            amount: item.amount,
            discount: item.discount_amount,
            applied: None,
        };
        // Stored amounts are within bounds.
        let mut cart = Cart::new(order.items.iter().map(line).collect(), order.discount_amount).unwrap_or_default();
        (cart.amount, cart.initial_amount) = (order.amount, order.initial_amount);
        cart
    }

    /// Returns all discounts so far, of the order and of its lines, not limited by the amount; `None` beyond the
    /// largest amount.
    fn all_discounts(&self) -> Option<Money> {
        Money::sum(self.discount.into_iter().chain(self.lines.iter().filter_map(|line| line.discount)))
    }

    /// Returns the item-level discounts so far; `None` if there never was one.
    #[inline(never)]
    pub fn items_discount(&self) -> Option<Money> {
        sum_present(self.lines.iter().map(|line| line.discount))
    }

    /// Returns the item-level discounts of this request.
    #[inline(never)]
    pub fn items_applied(&self) -> Option<Money> {
        sum_present(self.lines.iter().map(|line| line.applied))
    }

    /// Returns all discounts so far, not limited by the amount.
    pub fn total_discount(&self) -> Option<Money> {
        sum_present([self.discount, self.items_discount()])
    }

    /// Returns the amount still to pay, at least 0.
    pub fn total(&self) -> Option<Money> {
        // Discounts beyond the bounds exceed any amount.
        Some(self.amount?.remaining_after(self.all_discounts().unwrap_or(Money::MAX)))
    }

    /// Returns whether any unit is free.
    pub fn has_free_units(&self) -> bool {
        self.lines.iter().any(|line| line.free > 0)
    }

    /// Returns the order without its free units, as every redeemable except their own sees it (docs/spec/calculation.md
    /// section 19, D19). Lines keep their positions.
    #[must_use]
    pub fn without_free_units(&self) -> Cart {
        let free = Money::capped_sum(self.lines.iter().map(Line::free_value));
        let claimed = self.claimed_value();
        Cart {
            amount: self.amount.map(|amount| amount.remaining_after(free)),
            initial_amount: self.initial_amount.map(|amount| amount.remaining_after(claimed)),
            lines: self.lines.iter().map(|line| line.without_free()).collect(),
            ..self.clone()
        }
    }

    /// Returns the order with more free units on these lines, up to their paid units, as if a redeemable had freed
    /// them. This does not mark a line as discounted in this request.
    #[must_use]
    pub fn with_free(&self, units: impl Iterator<Item = (usize, u64)>) -> Cart {
        let mut cart = self.clone();
        for (position, units) in units {
            let Some(line) = cart.lines.get_mut(position) else { continue };
            let free = units.min(line.paid_units());
            // Units without a price are worth nothing.
            let worth = line.price.map_or(Money::ZERO, |price| price.capped_mul(free));
            let worth = worth.min(line.subtotal());
            // It is at most the amount of the line.
            line.discount = line.discount.unwrap_or_default().checked_add(worth);
            // They are units of the line, so this fits.
            let _ = cart.change(&UnitChange { position, units: 0, amount: None, free, added: None });
        }
        cart
    }

    /// Returns the value of the units that the customer put into the order and that became free in this request.
    pub fn claimed_value(&self) -> Money {
        let value = |changed: &LineUnitChange| {
            let price = self.lines.get(changed.position)?.price?;
            price.checked_mul(changed.claimed.min(changed.initial_quantity))
        };
        // It is only subtracted from amounts, which are never larger.
        Money::capped_sum(self.changed().iter().filter_map(value))
    }

    /// Adds the gain of a redeemable. On overflow it changes nothing and returns `None`. Equal sequences of gains lead
    /// to equal carts.
    pub fn add(&mut self, gain: &Gain) -> Option<()> {
        self.all_discounts()?.checked_add(gain.total()?)?;
        if let Some(units) = &gain.units {
            let mut next = self.clone();
            for change in &units.changes {
                next.change(change)?;
            }
            next.moved.get_or_insert_default().replaced.extend(units.replaced.iter().copied());
            *self = next;
        }
        // The sum fits, so each of them does.
        let more = |so_far: &mut Option<Money>, off: Money| *so_far = so_far.unwrap_or_default().checked_add(off);
        if let Some(off) = gain.order {
            more(&mut self.discount, off);
            more(&mut self.applied, off);
        }
        for (line, off) in self.lines.iter_mut().zip(&gain.lines) {
            if let Some(off) = *off {
                more(&mut line.discount, off);
                more(&mut line.applied, off);
            }
        }
        Some(())
    }

    /// Returns the cart with the gain of a redeemable; `None` on overflow.
    pub fn after(&self, gain: &Gain) -> Option<Cart> {
        let mut after = self.clone();
        after.add(gain).map(|()| after)
    }

    /// Changes the units of a line, or adds it. On overflow or a negative result it returns `None`, and the cart must
    /// not be used any more.
    pub(super) fn change(&mut self, change: &UnitChange) -> Option<()> {
        if let Some(item) = &change.added {
            if change.position != self.lines.len() {
                return None;
            }
            self.lines.push(Line { price: item.price, ..Line::default() });
            self.moved.get_or_insert_default().added.push(Item::clone(item));
        }
        let line = self.lines.get_mut(change.position)?;
        let before = *line;
        line.quantity = shifted(line.quantity, change.units)?;
        line.free = shifted(line.free, i64::try_from(change.free).ok()?)?;
        if let Some(amount) = change.amount {
            line.amount = Some(moved(line.amount, amount)?);
            self.amount = Some(moved(self.amount, amount)?);
        }
        let changed = &mut self.moved.get_or_insert_default().changed;
        let known = changed.iter_mut().find(|known| known.position == change.position);
        let Some(known) = known else {
            let is_new = change.added.is_some();
            let initial = if is_new { change.amount.map(|_| Money::ZERO) } else { before.amount };
            changed.push(LineUnitChange {
                position: change.position,
                initial_quantity: before.quantity,
                initial_amount: initial,
                units: change.units,
                amount: change.amount,
                free: change.free,
                claimed: change.claimed_units(),
            });
            return Some(());
        };
        known.units = known.units.checked_add(change.units)?;
        known.amount = sum_optional(known.amount, change.amount);
        known.free = known.free.checked_add(change.free)?;
        known.claimed = known.claimed.checked_add(change.claimed_units())?;
        Some(())
    }

    /// Returns the lines that unit effects added.
    pub fn added(&self) -> &[Item] {
        self.moved.as_ref().map_or(&[], |moved| &moved.added)
    }

    /// Returns the lines that unit effects changed.
    pub fn changed(&self) -> &[LineUnitChange] {
        self.moved.as_ref().map_or(&[], |moved| &moved.changed)
    }

    /// Returns the replacements.
    pub fn replaced(&self) -> &[Replacement] {
        self.moved.as_ref().map_or(&[], |moved| &moved.replaced)
    }

    /// Returns the changes of unit effects to the line at this position.
    #[inline(never)]
    pub fn changed_at(&self, position: usize) -> Option<&LineUnitChange> {
        self.changed().iter().find(|changed| changed.position == position)
    }
}

/// Returns a count increased or decreased within its bounds.
fn shifted(count: u64, by: i64) -> Option<u64> {
    let moved = i64::try_from(count).ok()?.checked_add(by)?;
    Money::new(moved).map(Money::minor)
}

/// Returns an amount increased or decreased within its bounds.
fn moved(amount: Option<Money>, by: i64) -> Option<Money> {
    // A line without an amount begins at zero.
    Money::new(amount.unwrap_or_default().signed().checked_add(by)?)
}

/// Returns the sum of the known amounts; `None` if none is known.
pub(crate) fn sum_present(amounts: impl IntoIterator<Item = Option<Money>>) -> Option<Money> {
    // A cart accepts no discount with which their sum would leave its bounds.
    amounts.into_iter().flatten().reduce(|sum, amount| sum.checked_add(amount).unwrap_or(sum))
}
