//! Decides what a discount or a gift card can say: how much, where it acts, its limits. It must not know orders.
//!
//! calculation.md sections 4 and 9.

use std::sync::Arc;

use crate::formula::Formula;
use crate::model::order::Goods;
use crate::money::{Money, Percent};
use crate::text::Text;

/// A number that a formula may say anew for every order, and the one that holds when it cannot (calculation.md
/// section 6).
#[derive(Debug, Clone, PartialEq)]
pub struct Dynamic<T> {
    /// What holds without a formula, or when it cannot be evaluated.
    pub plain: T,
    /// The formula.
    pub formula: Option<Arc<Formula>>,
}

impl<T> Dynamic<T> {
    /// A number without a formula.
    pub fn fixed(plain: T) -> Dynamic<T> {
        Dynamic { plain, formula: None }
    }
}

/// What a discount voucher takes off.
#[derive(Debug, Clone, PartialEq)]
pub enum Discount {
    /// A share of the base.
    Percent {
        /// The share.
        percent_off: Dynamic<Percent>,
        /// The most it may take off: of the order, or of each line.
        amount_limit: Option<Money>,
        /// The most it may take off all lines together.
        aggregated_amount_limit: Option<Money>,
        /// Where it acts; `None` lets the scope decide (calculation.md section 4).
        effect: Option<PercentEffect>,
    },
    /// An amount.
    Amount {
        /// How much.
        amount_off: Dynamic<Money>,
        /// The most it may take off all lines together.
        aggregated_amount_limit: Option<Money>,
        /// Where it acts; `None` lets the scope decide.
        effect: Option<AmountEffect>,
    },
    /// A new price of the order or of each unit in scope.
    Fixed {
        /// The price; `None` when every entry of the scope has its own.
        fixed_amount: Dynamic<Option<Money>>,
        /// Where it acts; `None` lets the scope decide.
        effect: Option<PercentEffect>,
    },
    /// Free units of one product or SKU.
    Unit(Box<UnitOff>),
    /// Free units of several, one after the other: `ADD_MANY_ITEMS`.
    Units(Vec<UnitOff>),
}

impl Discount {
    /// Whether it acts on lines or units, for which the scope has to be looked at. `scoped` says whether the scope names
    /// any goods, which decides where a discount without an effect acts (calculation.md section 4).
    pub fn acts_on_lines(&self, scoped: bool) -> bool {
        match self {
            Discount::Percent { effect, .. } | Discount::Fixed { effect, .. } => {
                effect.map_or(scoped, |effect| effect == PercentEffect::ApplyToItems)
            }
            Discount::Amount { effect, .. } => effect.map_or(scoped, |effect| effect != AmountEffect::ApplyToOrder),
            Discount::Unit(_) | Discount::Units(_) => true,
        }
    }

    /// Whether a formula has a say in it.
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

/// Where a percentage or a new price acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PercentEffect {
    /// On the running total.
    #[default]
    ApplyToOrder,
    /// On each line in scope.
    ApplyToItems,
}

/// Where an amount acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AmountEffect {
    /// On the running total.
    #[default]
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

/// Free units of one product or SKU (calculation.md section 5.9).
#[derive(Debug, Clone, PartialEq)]
pub struct UnitOff {
    /// How they come into the order.
    pub effect: UnitEffect,
    /// How many, at least 1.
    pub unit_off: Dynamic<u64>,
    /// The product, SKU or, for `ADD_SAME_ITEMS`, collection, by id.
    pub unit_type: Text,
    /// The product as the discount describes it.
    pub product: Option<Goods>,
    /// The SKU as the discount describes it.
    pub sku: Option<Goods>,
}

/// How free units come into an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnitEffect {
    /// They are always added.
    #[default]
    AddNewItems,
    /// Units that are in the order become free first; only those missing are added.
    AddMissingItems,
    /// Every product of a collection that is in the order gets them.
    AddSameItems,
    /// Units in scope are taken away, and for each this many come in their place.
    ReplaceItems,
}

/// The product that stands for shipping (calculation.md section 4).
pub const SHIPPING: &str = "prod_5h1pp1ng";

impl UnitEffect {
    /// The effect of a unit discount that does not say one: new units, but shipping that is in the order becomes free
    /// instead of being added once more (calculation.md section 4, inferred).
    pub fn default_of(unit_type: &str) -> UnitEffect {
        if unit_type == SHIPPING { UnitEffect::AddMissingItems } else { UnitEffect::AddNewItems }
    }
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
        self.amount.saturating_sub(self.subtracted_amount)
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
