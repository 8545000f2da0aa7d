//! Decides the running amounts of an order while discounts are applied to it. It must not know what a discount is.
//!
//! calculation.md section 3: `A`, `D` and, per line, `a` and `d`.

use crate::money::Money;

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
        self.amount.unwrap_or_default().less(self.discount.unwrap_or_default())
    }
}

/// The running state of an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cart {
    /// Gross amount; `None` when nothing says it.
    pub amount: Option<Money>,
    /// Gross amount before free units.
    pub initial_amount: Option<Money>,
    /// Order-level discount so far; `None` while there never was one.
    pub discount: Option<Money>,
    /// Order-level discount of this request.
    pub applied: Option<Money>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// What one redeemable gave, or tried to: order level, and line by line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gain {
    /// Off the order.
    pub order: Option<Money>,
    /// Off each line; `None` where the line was not touched. Empty when no line was.
    pub lines: Vec<Option<Money>>,
}

impl Gain {
    /// Everything it gave.
    pub fn total(&self) -> Option<Money> {
        let lines = self.lines.iter().flatten().copied();
        Money::sum(lines.chain(self.order))
    }

    /// What it gave on lines; `None` when it touched none.
    pub fn on_lines(&self) -> Option<Money> {
        self.lines.iter().any(Option::is_some).then(|| Money::sum(self.lines.iter().flatten().copied())).flatten()
    }

    /// Whether it gave anything.
    pub fn is_nothing(&self) -> bool {
        self.total().is_none_or(Money::is_zero)
    }
}

impl Cart {
    /// Item-level discounts so far; `None` while there never was one.
    pub fn items_discount(&self) -> Option<Money> {
        sum_seen(self.lines.iter().map(|line| line.discount))
    }

    /// Item-level discounts of this request.
    pub fn items_applied(&self) -> Option<Money> {
        sum_seen(self.lines.iter().map(|line| line.applied))
    }

    /// All discounts so far, not cut at the amount.
    pub fn total_discount(&self) -> Option<Money> {
        sum_seen([self.discount, self.items_discount()])
    }

    /// What is still to be paid, never below nothing.
    pub fn total(&self) -> Option<Money> {
        let discount = self.total_discount().unwrap_or_default();
        self.amount.map(|amount| amount.less(discount))
    }

    /// Adds what a redeemable gave, or nothing and `None` when an amount would grow beyond every bound.
    pub fn add(&mut self, gain: &Gain) -> Option<()> {
        self.total_discount().unwrap_or_default().plus(gain.total()?)?;
        let more = |so_far: &mut Option<Money>, off: Money| {
            *so_far = so_far.unwrap_or_default().plus(off);
        };
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

    /// Whether all discounts together stay within bounds; the sums of this type rely on it.
    pub fn fits(&self) -> bool {
        let lines = self.lines.iter().filter_map(|line| line.discount);
        Money::sum(lines.chain(self.discount)).is_some()
    }
}

/// The sum of those that are there; `None` when none is.
fn sum_seen(amounts: impl IntoIterator<Item = Option<Money>>) -> Option<Money> {
    amounts.into_iter().flatten().reduce(|sum, amount| sum.plus(amount).unwrap_or(sum))
}
