//! Defines discounts and gift cards: the amount, the effect, the limits.
//!
//! docs/spec/calculation.md sections 4 and 9.

use std::sync::Arc;

use crate::formula::Formula;
use crate::model::order::Goods;
use crate::money::{Money, Percent};
use crate::text::Text;

/// A number that a formula may compute for every order, and its fallback (docs/spec/calculation.md section 6).
#[derive(Debug, Clone, PartialEq)]
pub struct Dynamic<T> {
    /// The value without a formula, or if it cannot be evaluated.
    pub plain: T,
    /// The formula.
    pub formula: Option<Arc<Formula>>,
}

impl<T> Dynamic<T> {
    /// Returns a number without a formula.
    pub fn fixed(plain: T) -> Dynamic<T> {
        Dynamic { plain, formula: None }
    }
}

/// The discount of a discount coupon or promotion tier.
#[derive(Debug, Clone, PartialEq)]
pub enum Discount {
    /// A share of the base.
    Percent {
        /// The share.
        percent_off: Dynamic<Percent>,
        /// The maximum discount: of the order, or of each line.
        amount_limit: Option<Money>,
        /// The maximum discount of all lines together.
        aggregated_amount_limit: Option<Money>,
        /// The effect; `None` lets the scope decide (docs/spec/calculation.md#4).
        effect: Option<PercentEffect>,
    },
    /// An amount.
    Amount {
        /// The amount.
        amount_off: Dynamic<Money>,
        /// The maximum discount of all lines together.
        aggregated_amount_limit: Option<Money>,
        /// The effect; `None` lets the scope decide.
        effect: Option<AmountEffect>,
    },
    /// A new price of the order or of each unit in scope.
    Fixed {
        /// The price; `None` if every entry of the scope has its own.
        fixed_amount: Dynamic<Option<Money>>,
        /// The effect; `None` lets the scope decide.
        effect: Option<PercentEffect>,
    },
    /// Free units of one product or SKU.
    Unit(Box<UnitOff>),
    /// Free units of several goods, one after the other: `ADD_MANY_ITEMS`.
    Units(Vec<UnitOff>),
}

impl Discount {
    /// Returns whether it applies to lines or units, which needs the scope. `scoped` is `true` if the scope names any
    /// goods, which decides for a discount without an effect (docs/spec/calculation.md#4).
    pub fn acts_on_lines(&self, scoped: bool) -> bool {
        match self {
            Discount::Percent { effect, .. } | Discount::Fixed { effect, .. } => {
                effect.map_or(scoped, |effect| effect == PercentEffect::ApplyToItems)
            }
            Discount::Amount { effect, .. } => match effect {
                None => scoped,
                Some(AmountEffect::ApplyToOrder) => false,
                Some(
                    AmountEffect::ApplyToItems
                    | AmountEffect::ApplyToItemsProportionally
                    | AmountEffect::ApplyToItemsProportionallyByQuantity
                    | AmountEffect::ApplyToItemsByQuantity,
                ) => true,
            },
            Discount::Unit(_) | Discount::Units(_) => true,
        }
    }

    /// Returns its free units; empty for a money discount.
    pub fn units(&self) -> &[UnitOff] {
        match self {
            Discount::Unit(unit) => std::slice::from_ref(unit),
            Discount::Units(units) => units,
            Discount::Percent { .. } | Discount::Amount { .. } | Discount::Fixed { .. } => &[],
        }
    }

    /// Returns whether it has a formula.
    pub fn is_dynamic(&self) -> bool {
        match self {
            Discount::Percent { percent_off, .. } => percent_off.formula.is_some(),
            Discount::Amount { amount_off, .. } => amount_off.formula.is_some(),
            Discount::Fixed { fixed_amount, .. } => fixed_amount.formula.is_some(),
            Discount::Unit(unit) => unit.unit_off.formula.is_some(),
            Discount::Units(units) => units.iter().any(|unit| unit.unit_off.formula.is_some()),
        }
    }
}

/// The target of a percentage or a new price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PercentEffect {
    /// The running total.
    #[default]
    ApplyToOrder,
    /// Each line in scope.
    ApplyToItems,
}

/// The target of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AmountEffect {
    /// The running total.
    #[default]
    ApplyToOrder,
    /// Once per line in scope.
    ApplyToItems,
    /// One amount, divided by line subtotal.
    ApplyToItemsProportionally,
    /// One amount, divided by quantity.
    ApplyToItemsProportionallyByQuantity,
    /// Once per unit in scope.
    ApplyToItemsByQuantity,
}

/// Free units of one product or SKU (docs/spec/calculation.md#5.9).
#[derive(Debug, Clone, PartialEq)]
pub struct UnitOff {
    /// The effect on the order.
    pub effect: UnitEffect,
    /// The number of units, at least 1.
    pub unit_off: Dynamic<u64>,
    /// The product, SKU or, for `ADD_SAME_ITEMS`, collection, by id.
    pub unit_type: Text,
    /// The product as the discount contains it.
    pub product: Option<Goods>,
    /// The SKU as the discount contains it.
    pub sku: Option<Goods>,
}

/// The effect of free units on an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnitEffect {
    /// They are always added.
    #[default]
    AddNewItems,
    /// Units that are in the order become free first; only those missing are added.
    AddMissingItems,
    /// Every product of a collection that is in the order gets units.
    AddSameItems,
    /// Units in scope are removed, and each is replaced by this number.
    ReplaceItems,
}

/// The product that represents shipping (docs/spec/calculation.md#4).
pub const SHIPPING: &str = "prod_5h1pp1ng";

impl UnitEffect {
    /// Returns the effect of a unit discount without one. It adds new units, but shipping that is in the order becomes
    /// free instead (docs/spec/calculation.md#4, inferred).
    pub fn default_of(unit_type: &str) -> UnitEffect {
        if unit_type == SHIPPING { UnitEffect::AddMissingItems } else { UnitEffect::AddNewItems }
    }
}

/// The money of a gift card.
#[derive(Debug, Clone, PartialEq)]
pub struct GiftCard {
    /// All money ever credited.
    pub amount: Money,
    /// Money subtracted manually.
    pub subtracted_amount: Money,
    /// The target of credits: the order or its lines.
    pub effect: GiftEffect,
}

impl GiftCard {
    /// Returns the money that may be spent in the card's lifetime.
    pub fn credited_total(&self) -> Money {
        self.amount.remaining_after(self.subtracted_amount)
    }
}

/// The target of gift credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GiftEffect {
    /// The running total.
    #[default]
    ApplyToOrder,
    /// The lines in scope.
    ApplyToItems,
}
