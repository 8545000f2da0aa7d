//! Defines the returns of a stored order.

use crate::json::JsonMembers;
use crate::money::Money;
use crate::text::Text;

/// The policy for discounts when part of an order is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReturnPolicy {
    /// Each returned unit gives up its share of the discounts.
    #[default]
    Share,
    /// The redeemables of the order are decided again on the remaining items.
    Recheck,
}

/// A return as a stored order contains it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OrderReturn {
    /// Its id.
    pub id: Text,
    /// The unpaid part of the cost of the remaining order. It is 0, unless a recheck made the rest more expensive or a
    /// rollback took a discount back.
    pub uncovered: Money,
    /// The remaining discounts of the redemptions of the order.
    pub remaining_discounts: Vec<RemainingDiscount>,
    /// The document, for answers.
    pub document: JsonMembers,
}

/// The part of a redemption's discounts that remains on an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemainingDiscount {
    /// The redemption.
    pub id: Text,
    /// Its discount on the whole order.
    pub discount: Money,
    /// Its effects on lines; lines without any are left out.
    pub lines: Vec<RemainingLineDiscount>,
}

/// The remaining effect of a redemption on a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RemainingLineDiscount {
    /// The line.
    pub line_id: Text,
    /// The discount.
    pub discount: Money,
    /// The added units; negative for removed ones.
    pub units: i64,
    /// The units made free.
    pub free_units: i64,
    /// The amount of the added or removed units, in minor units.
    pub worth: i64,
    /// The part of the price of its free units that earlier discounts had taken. The redemption has it, not the order.
    pub earlier: Money,
}

impl RemainingDiscount {
    /// Returns the sum of the redemption's discounts.
    pub fn total(&self) -> Money {
        let lines = self.lines.iter().map(|line| line.discount);
        // The cart of the order keeps the sum of its discounts within bounds.
        Money::capped_sum(lines.chain([self.discount]))
    }

    /// Returns the effect on a line.
    pub fn line(&self, line_id: &str) -> Option<&RemainingLineDiscount> {
        self.lines.iter().find(|line| line.line_id == line_id)
    }

    /// Changes the effect on a line; without one it starts empty. `None` if the change leaves the bounds of a number.
    pub fn change_line(
        &mut self,
        line_id: &Text,
        change: impl FnOnce(&mut RemainingLineDiscount) -> Option<()>,
    ) -> Option<()> {
        if let Some(line) = self.line_mut(line_id) {
            return change(line);
        }
        let mut line = RemainingLineDiscount { line_id: line_id.clone(), ..RemainingLineDiscount::default() };
        change(&mut line)?;
        self.lines.push(line);
        Some(())
    }

    /// Returns the effect on a line for changes.
    pub fn line_mut(&mut self, line_id: &str) -> Option<&mut RemainingLineDiscount> {
        self.lines.iter_mut().find(|line| line.line_id == line_id)
    }
}
