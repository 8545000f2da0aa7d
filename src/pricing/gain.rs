//! Decides what one redeemable gives, as something that can be added to a cart again and again. It must not know how it
//! was computed.
//!
//! A gain of the order alone allocates nothing: most vouchers take a percentage or an amount off the order.

use crate::model::order::Item;
use crate::money::Money;

/// Units of one line: the first of them, counted from 1, then every `step`-th, `units` in all. The units that are not
/// free come first on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoveredUnits {
    /// The line.
    pub place: usize,
    /// The entry of the scope that covers it; `None` when the scope covers everything.
    pub entry: Option<usize>,
    /// Whether the entry is one of those excluded; then the units are all of the line.
    pub excluded: bool,
    /// The number of the first unit.
    pub first: u64,
    /// From one unit to the next.
    pub step: u64,
    /// How many. None, of a line in scope whose units are all free already.
    pub units: u64,
}

/// What one redeemable gave, or tried to: order level, line by line, and in units.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gain {
    /// Off the order.
    pub order: Option<Money>,
    /// Off each line; `None` where the line was not touched. Empty when no line was.
    pub(super) lines: Vec<Option<Money>>,
    /// Units that came or went.
    pub units: Option<Box<UnitGain>>,
    /// The units that it was about, for answers and caps; empty when its scope names no goods.
    pub covered: Vec<CoveredUnits>,
}

/// Units that came or went.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnitGain {
    /// One by one.
    pub changes: Vec<UnitChange>,
    /// What came in place of what.
    pub replaced: Vec<Replacement>,
}

/// Units of one line that came or went.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitChange {
    /// The line; of an added one, the next place there is.
    pub place: usize,
    /// Units more, or fewer.
    pub units: i64,
    /// Their money in minor units; `None` when their price is not known.
    pub amount: Option<i64>,
    /// Units that become free.
    pub free: u64,
    /// The line that is added.
    pub added: Option<Box<Item>>,
}

/// Units that were given in place of others (calculation.md section 5.9). The source lost the units and the money of
/// them; the target won those.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacement {
    /// The line whose units were taken away.
    pub source: usize,
    /// How many.
    pub source_units: u64,
    /// Their money.
    pub source_amount: Money,
    /// The line that was given.
    pub target: usize,
    /// How many units.
    pub target_units: u64,
    /// Their money.
    pub target_amount: Money,
    /// What of it is free.
    pub target_discount: Money,
}

impl Gain {
    /// A gain that has not given anything yet, of so many lines.
    pub(super) fn of_lines(count: usize) -> Gain {
        Gain { lines: vec![None; count], ..Gain::default() }
    }

    /// A gain of the order alone.
    pub fn of_order(order: Option<Money>) -> Gain {
        Gain { order, ..Gain::default() }
    }

    /// Everything it gave; nothing when that is more than the largest amount.
    pub fn total(&self) -> Option<Money> {
        Money::sum(self.order.into_iter().chain(self.lines.iter().copied().flatten()))
    }

    /// What it gave on lines; `None` when it touched none.
    pub fn on_lines(&self) -> Option<Money> {
        self.each_off().next()?;
        Money::sum(self.each_off().map(|(_, off)| off))
    }

    /// What it gave on a line; `None` when it did not touch it.
    pub fn off(&self, place: usize) -> Option<Money> {
        *self.lines.get(place)?
    }

    /// The lines that it touched, in order, with what it gave on each.
    pub fn each_off(&self) -> impl Iterator<Item = (usize, Money)> {
        self.lines.iter().enumerate().filter_map(|(place, off)| Some((place, (*off)?)))
    }

    /// Whether it gave anything: money, or units.
    pub fn is_nothing(&self) -> bool {
        self.units.is_none() && self.total().is_none_or(Money::is_zero)
    }

    /// What it did to the units of a line: units, their money, and how many became free.
    pub fn units_at(&self, place: usize) -> Option<(i64, Option<i64>, u64)> {
        let changes = self.units.iter().flat_map(|units| &units.changes);
        let those = changes.filter(|change| change.place == place);
        those
            .map(|change| (change.units, change.amount, change.free))
            .reduce(|one, other| (one.0.saturating_add(other.0), both(one.1, other.1), one.2.saturating_add(other.2)))
    }

    /// Says what is taken off a line, in place of what was said before.
    pub(super) fn set(&mut self, place: usize, off: Money) {
        if let Some(line) = self.lines.get_mut(place) {
            *line = Some(off);
        }
    }
}

/// The sum of two that may be missing.
pub(super) fn both(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    match (one, other) {
        (Some(one), Some(other)) => one.checked_add(other),
        (one, other) => one.or(other),
    }
}
