//! Decides what a discount or a gift card can say: how much, where it acts, its limits. It must not know orders.
//!
//! calculation.md sections 4 and 9.

use crate::money::{Money, Percent};

/// What a discount voucher takes off.
#[derive(Debug, Clone, PartialEq)]
pub enum Discount {
    /// A share of the base.
    Percent {
        /// The share.
        percent_off: Percent,
        /// The most it may take off: of the order, or of each line.
        amount_limit: Option<Money>,
        /// The most it may take off all lines together.
        aggregated_amount_limit: Option<Money>,
        /// Where it acts; `None` lets the scope decide (calculation.md section 4).
        effect: Option<PercentEffect>,
    },
    /// A fixed amount.
    Amount {
        /// How much.
        amount_off: Money,
        /// The most it may take off all lines together.
        aggregated_amount_limit: Option<Money>,
        /// Where it acts; `None` lets the scope decide.
        effect: Option<AmountEffect>,
    },
}

/// Where a percentage acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PercentEffect {
    /// On the running total.
    ApplyToOrder,
    /// On each line in scope.
    ApplyToItems,
}

/// Where an amount acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountEffect {
    /// On the running total.
    ApplyToOrder,
    /// Once per line in scope.
    ApplyToItems,
    /// One pot, shared by line subtotal.
    ApplyToItemsProportionally,
    /// One pot, shared by quantity.
    ApplyToItemsProportionallyByQuantity,
    /// Once per unit in scope.
    ApplyToItemsByQuantity,
}

/// A gift card's money.
#[derive(Debug, Clone, PartialEq)]
pub struct Gift {
    /// All that was ever loaded.
    pub amount: Money,
    /// What was taken off by hand.
    pub subtracted_amount: Money,
    /// Whether credits cover the order or its lines.
    pub effect: GiftEffect,
}

impl Gift {
    /// What may be spent in the card's whole life.
    pub fn allotment(&self) -> Money {
        self.amount.less(self.subtracted_amount)
    }
}

/// Where gift credits act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GiftEffect {
    /// On the running total.
    #[default]
    ApplyToOrder,
    /// On the lines in scope.
    ApplyToItems,
}
