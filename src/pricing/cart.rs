//! Decides the running amounts of an order while discounts are applied to it. It must not know what a discount is.
//!
//! calculation.md section 3: `A`, `D` and, per line, `a` and `d`.

use crate::model::order::{Item, Order};
use crate::money::Money;
use crate::pricing::gain::{Gain, Replacement, UnitChange, both};

/// The running state of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Line {
    /// Units, free ones included.
    pub quantity: u64,
    /// Units that are free.
    pub free: u64,
    /// Unit price.
    pub price: Option<Money>,
    /// Gross amount.
    pub amount: Option<Money>,
    /// Item-level discount so far; `None` while there never was one.
    pub discount: Option<Money>,
    /// Item-level discount of this request; `None` while nothing was evaluated on the line.
    pub applied: Option<Money>,
}

impl Line {
    /// What is still to be paid, item-level discounts off.
    pub fn subtotal(&self) -> Money {
        self.amount.unwrap_or_default().saturating_sub(self.discount.unwrap_or_default())
    }

    /// Units that are not free (calculation.md section 19, D3).
    pub fn paid_units(&self) -> u64 {
        self.quantity.saturating_sub(self.free)
    }
}

/// What unit effects have done to a line in this request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changed {
    /// The line.
    pub place: usize,
    /// Units before; none of a line that was added.
    pub initial_quantity: u64,
    /// Gross amount before.
    pub initial_amount: Option<Money>,
    /// Units more, or fewer.
    pub units: i64,
    /// Their money in minor units; `None` when their price is not known.
    pub amount: Option<i64>,
    /// Units that became free.
    pub free: u64,
}

impl Changed {
    /// What the line amounted to before: its units at their price and, where nobody knows that, the amount that it had
    /// (calculation.md section 19, D17). `initial_quantity` is how many units the request says that there were.
    pub fn initial_value(&self, price: Option<Money>, initial_quantity: Option<u64>) -> Option<Money> {
        let units = initial_quantity.unwrap_or(self.initial_quantity);
        price.and_then(|price| price.checked_mul(units)).or(self.initial_amount)
    }
}

/// The running state of an order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cart {
    /// Gross amount; `None` when nothing says it.
    pub amount: Option<Money>,
    /// Gross amount before free units.
    pub initial_amount: Option<Money>,
    /// Order-level discount so far; `None` while there never was one.
    pub discount: Option<Money>,
    /// Order-level discount of this request.
    pub applied: Option<Money>,
    /// The lines: those of the order, and then those that unit effects added.
    pub lines: Vec<Line>,
    /// What unit effects did to them; nearly always nothing.
    pub moved: Option<Box<Moved>>,
}

/// What unit effects have done to an order in this request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moved {
    /// The lines that they added.
    pub added: Vec<Item>,
    /// The lines that they changed, each once.
    pub changed: Vec<Changed>,
    /// What was given in place of what.
    pub replaced: Vec<Replacement>,
}

impl Cart {
    /// A cart of these lines as it is before a request, which amounts to what they do together and has this discount of
    /// the order; or the property of the order that is larger than there can be.
    #[inline]
    pub fn new(lines: Vec<Line>, discount: Option<Money>) -> Result<Cart, &'static str> {
        let is_known = lines.iter().any(|line| line.amount.is_some());
        let sum = Money::sum(lines.iter().filter_map(|line| line.amount)).ok_or("order.amount")?;
        let amount = is_known.then_some(sum);
        let cart = Cart { amount, initial_amount: amount, discount, applied: None, lines, moved: None };
        cart.all_discounts().ok_or("order.discount_amount")?;
        Ok(cart)
    }

    /// The amounts of a stored order.
    pub fn stored(order: &Order) -> Cart {
        let line = |item: &Item| Line {
            quantity: item.quantity,
            free: item.discount_quantity.unwrap_or(0),
            price: item.price,
            amount: item.amount,
            discount: item.discount_amount,
            applied: None,
        };
        // What is stored was within bounds.
        let mut cart = Cart::new(order.items.iter().map(line).collect(), order.discount_amount).unwrap_or_default();
        (cart.amount, cart.initial_amount) = (order.amount, order.initial_amount);
        cart
    }

    /// All discounts so far, of the order and of its lines, not cut at the amount; `None` beyond the largest amount.
    fn all_discounts(&self) -> Option<Money> {
        Money::sum(self.discount.into_iter().chain(self.lines.iter().filter_map(|line| line.discount)))
    }

    /// Item-level discounts so far; `None` while there never was one.
    #[inline(never)]
    pub fn items_discount(&self) -> Option<Money> {
        sum_seen(self.lines.iter().map(|line| line.discount))
    }

    /// Item-level discounts of this request.
    #[inline(never)]
    pub fn items_applied(&self) -> Option<Money> {
        sum_seen(self.lines.iter().map(|line| line.applied))
    }

    /// All discounts so far, not cut at the amount.
    pub fn total_discount(&self) -> Option<Money> {
        sum_seen([self.discount, self.items_discount()])
    }

    /// What is still to be paid, never below nothing.
    pub fn total(&self) -> Option<Money> {
        Some(self.amount?.saturating_sub(self.all_discounts().unwrap_or(Money::MAX)))
    }

    /// Adds what a redeemable gave, or nothing and `None` when an amount would grow beyond every bound. What is added
    /// in the same order to the same cart leads to the same cart.
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
        // All together fit, so that each of them does.
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

    /// Changes the units of a line, or adds it. `None`, and a cart that is not to be used any more, when something would
    /// grow beyond every bound or fall below nothing.
    pub(super) fn change(&mut self, change: &UnitChange) -> Option<()> {
        if let Some(item) = &change.added {
            if change.place != self.lines.len() {
                return None;
            }
            self.lines.push(Line { price: item.price, ..Line::default() });
            self.moved.get_or_insert_default().added.push(Item::clone(item));
        }
        let line = self.lines.get_mut(change.place)?;
        let before = *line;
        line.quantity = shifted(line.quantity, change.units)?;
        line.free = shifted(line.free, i64::try_from(change.free).ok()?)?;
        if let Some(amount) = change.amount {
            line.amount = Some(moved(line.amount, amount)?);
            self.amount = Some(moved(self.amount, amount)?);
        }
        let changed = &mut self.moved.get_or_insert_default().changed;
        let known = changed.iter_mut().find(|known| known.place == change.place);
        let Some(known) = known else {
            let is_new = change.added.is_some();
            let initial = if is_new { change.amount.map(|_| Money::ZERO) } else { before.amount };
            changed.push(Changed {
                place: change.place,
                initial_quantity: before.quantity,
                initial_amount: initial,
                units: change.units,
                amount: change.amount,
                free: change.free,
            });
            return Some(());
        };
        known.units = known.units.checked_add(change.units)?;
        known.amount = both(known.amount, change.amount);
        known.free = known.free.checked_add(change.free)?;
        Some(())
    }

    /// The lines that unit effects added.
    pub fn added(&self) -> &[Item] {
        self.moved.as_ref().map_or(&[], |moved| &moved.added)
    }

    /// The lines that unit effects changed.
    pub fn changed(&self) -> &[Changed] {
        self.moved.as_ref().map_or(&[], |moved| &moved.changed)
    }

    /// What was given in place of what.
    pub fn replaced(&self) -> &[Replacement] {
        self.moved.as_ref().map_or(&[], |moved| &moved.replaced)
    }

    /// What unit effects have done to the line at this place.
    #[inline(never)]
    pub fn changed_at(&self, place: usize) -> Option<&Changed> {
        self.changed().iter().find(|changed| changed.place == place)
    }
}

/// A count moved up or down, within its bounds.
fn shifted(count: u64, by: i64) -> Option<u64> {
    let moved = i64::try_from(count).ok()?.checked_add(by)?;
    Money::new(moved).map(Money::minor)
}

/// An amount moved up or down, within its bounds.
fn moved(amount: Option<Money>, by: i64) -> Option<Money> {
    let minor = i64::try_from(amount.unwrap_or_default().minor()).ok()?;
    Money::new(minor.checked_add(by)?)
}

/// The sum of those that are there; `None` when none is.
pub(crate) fn sum_seen(amounts: impl IntoIterator<Item = Option<Money>>) -> Option<Money> {
    amounts.into_iter().flatten().reduce(|sum, amount| sum.checked_add(amount).unwrap_or(sum))
}
