//! Defines the gain of one redeemable, which can be added to a cart repeatedly.
//!
//! A gain of the order only allocates nothing: most vouchers take a percentage or an amount off the order.

use crate::count::Countable;
use crate::model::order::Item;
use crate::money::Money;

/// Selected units of one line: the first, counted from 1, then every `step`-th, `units` in total. The units that are
/// not free come first on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoveredUnits {
    /// The line.
    pub position: usize,
    /// The entry of the scope that covers it; `None` if the scope covers all lines.
    pub entry: Option<usize>,
    /// `true` if the entry excludes the line; then the units are all of the line that are not free.
    pub excluded: bool,
    /// The number of the first unit.
    pub first: u64,
    /// The distance from one unit to the next.
    pub step: u64,
    /// The number of units; 0 for a line in scope whose units are all free already.
    pub units: u64,
}

/// The gain of one redeemable, applied or tried: on the order, on lines, and in units.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gain {
    /// The discount of the order.
    pub order: Option<Money>,
    /// The discount of each line; `None` for an unaffected line. Empty without affected lines.
    pub(super) lines: Vec<Option<Money>>,
    /// The changes of units.
    pub units: Option<Box<UnitGain>>,
    /// The units in scope, for answers and caps; empty if its scope names no goods.
    pub covered: Vec<CoveredUnits>,
}

/// Changes of units.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnitGain {
    /// The changes, one by one.
    pub changes: Vec<UnitChange>,
    /// The replacements.
    pub replaced: Vec<Replacement>,
}

/// A change of the units of one line.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitChange {
    /// The line; for an added one, the next free position.
    pub position: usize,
    /// Added units; negative for removed ones.
    pub units: i64,
    /// Their amount in minor units; `None` if their price is unknown.
    pub amount: Option<i64>,
    /// Units that become free.
    pub free: u64,
    /// The added line.
    pub added: Option<Box<Item>>,
}

impl UnitChange {
    /// Returns how many of the units that become free were in the order before.
    pub fn claimed_units(&self) -> u64 {
        // Removed units, whose number is negative, were in the order.
        self.free.remaining_after(u64::try_from(self.units).unwrap_or(0))
    }
}

/// Units that replace others (docs/spec/calculation.md#5.9). The source lost the units and their amount; the target
/// gained its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacement {
    /// The line whose units were removed.
    pub source: usize,
    /// The number of units.
    pub source_units: u64,
    /// Their amount.
    pub source_amount: Money,
    /// The line that received units.
    pub target: usize,
    /// The number of units.
    pub target_units: u64,
    /// Their amount.
    pub target_amount: Money,
    /// The free part of the amount.
    pub target_discount: Money,
}

impl Gain {
    /// Returns an empty gain for a number of lines.
    pub(super) fn of_lines(count: usize) -> Gain {
        Gain { lines: vec![None; count], ..Gain::default() }
    }

    /// Returns a gain of the order only.
    pub fn of_order(order: Option<Money>) -> Gain {
        Gain { order, ..Gain::default() }
    }

    /// Returns the gain with a maximum discount of the order.
    #[must_use]
    pub fn capped_at(mut self: Box<Gain>, most: Option<Money>) -> Box<Gain> {
        if let Some(most) = most {
            self.order = self.order.map(|order| order.min(most));
        }
        self
    }

    /// Returns the total; `None` if it exceeds the largest amount.
    pub fn total(&self) -> Option<Money> {
        Money::sum(self.order.into_iter().chain(self.lines.iter().copied().flatten()))
    }

    /// Returns the discounts of lines; `None` without affected lines.
    pub fn on_lines(&self) -> Option<Money> {
        self.line_discounts().next()?;
        Money::sum(self.line_discounts().map(|(_, off)| off))
    }

    /// Returns the discount of a line; `None` for an unaffected one.
    pub fn line_discount(&self, position: usize) -> Option<Money> {
        *self.lines.get(position)?
    }

    /// Returns the affected lines, in order, with their discounts.
    pub fn line_discounts(&self) -> impl Iterator<Item = (usize, Money)> {
        self.lines.iter().enumerate().filter_map(|(position, off)| Some((position, (*off)?)))
    }

    /// Returns whether it has no effect: neither money nor units.
    pub fn is_nothing(&self) -> bool {
        self.units.is_none() && self.total().is_none_or(Money::is_zero)
    }

    /// Returns the changes of a line's units: number, amount in minor units, and free units.
    #[expect(clippy::arithmetic_side_effects, reason = "with each change the units of a line are within bounds")]
    pub fn units_at(&self, position: usize) -> Option<(i64, Option<i64>, u64)> {
        let changes = self.units.iter().flat_map(|units| &units.changes);
        let those = changes.filter(|change| change.position == position);
        those
            .map(|change| (change.units, change.amount, change.free))
            .reduce(|one, other| (one.0 + other.0, sum_optional(one.1, other.1), one.2 + other.2))
    }

    /// Sets the discount of a line.
    pub(super) fn set(&mut self, position: usize, off: Money) {
        if let Some(line) = self.lines.get_mut(position) {
            *line = Some(off);
        }
    }
}

/// Returns the sum of two optional amounts.
pub(super) fn sum_optional(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    match (one, other) {
        (Some(one), Some(other)) => one.checked_add(other),
        (one, other) => one.or(other),
    }
}
