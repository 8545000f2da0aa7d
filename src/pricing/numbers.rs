//! Computes the numbers of a discount on one order: the values of its formulas, and the multiplication by complete
//! product bundles.
//!
//! docs/spec/calculation.md sections 6 and 8.

use crate::count::total;
use crate::formula::{self, Formula, FormulaName, FormulaOperand, FormulaValue, Lookup, OperandLine};
use crate::model::discount::Dynamic;
use crate::money::{Money, Percent};
use crate::pricing::cart::Cart;
use crate::time::TimeZone;

/// The inputs of formulas other than the amounts of the order.
pub trait FormulaInputs {
    /// Returns the value of an operand; `position` is the position of its line, if it has one.
    fn find(&self, operand: &FormulaOperand, position: Option<usize>) -> Option<FormulaValue>;
    /// Returns the project's time zone.
    fn zone(&self) -> &TimeZone;
    /// Takes steps from the budget. Returns whether it allows them.
    fn spend(&self, steps: usize) -> bool;
}

/// Resolves numbers on a cart.
#[derive(Clone, Copy)]
pub struct NumberResolver<'a> {
    /// The order before this discount, without free units.
    pub cart: &'a Cart,
    /// The other inputs of formulas.
    pub inputs: &'a dyn FormulaInputs,
    /// The number of complete bundles; `None` without bundle rules.
    pub bundles: Option<u64>,
}

impl NumberResolver<'_> {
    /// Returns the percentage, on a line or on the order.
    pub fn percent(&self, number: &Dynamic<Percent>, position: Option<usize>) -> Percent {
        self.resolve(number.formula.as_deref(), position, formula::percent).unwrap_or(number.plain)
    }

    /// Returns the amount, on a line or on the order.
    pub fn money(&self, number: &Dynamic<Money>, position: Option<usize>) -> Money {
        self.resolve(number.formula.as_deref(), position, formula::money).unwrap_or(number.plain)
    }

    /// Returns the price, if there is one.
    pub fn price(&self, number: &Dynamic<Option<Money>>, position: Option<usize>) -> Option<Money> {
        self.resolve(number.formula.as_deref(), position, formula::money).or(number.plain)
    }

    /// Returns the number of units.
    pub fn units(&self, number: &Dynamic<u64>) -> u64 {
        self.resolve(number.formula.as_deref(), None, formula::units).unwrap_or(number.plain)
    }

    /// Returns the maximum units of a cap, if there is one.
    pub fn max_units(&self, number: &Dynamic<Option<u64>>, position: Option<usize>) -> Option<u64> {
        self.resolve(number.formula.as_deref(), position, formula::units).or(number.plain)
    }

    /// Returns the multiplier: the number of complete bundles, or 1.
    pub fn times(&self) -> u64 {
        self.bundles.unwrap_or(1)
    }

    fn resolve<T>(
        &self,
        formula: Option<&Formula>,
        position: Option<usize>,
        read: fn(&Formula, &dyn Lookup) -> Option<T>,
    ) -> Option<T> {
        let formula = formula.filter(|formula| self.inputs.spend(formula.size()))?;
        read(formula, &FormulaView { numbers: self, position })
    }
}

/// The inputs of a formula for one line, or for the whole order.
struct FormulaView<'a> {
    numbers: &'a NumberResolver<'a>,
    position: Option<usize>,
}

impl FormulaView<'_> {
    /// Returns the number of lines, if the budget allows to scan all of them.
    fn all(&self) -> Option<usize> {
        let count = self.numbers.cart.lines.len();
        self.numbers.inputs.spend(count).then_some(count)
    }

    /// Returns the line of an operand.
    fn line_of(&self, which: OperandLine) -> Option<usize> {
        let lines = || self.numbers.cart.lines.iter().map(|line| (line.price, line.subtotal()));
        match which {
            OperandLine::Current => self.position,
            extreme => {
                let all = self.all()?;
                formula::extreme(extreme, &lines().take(all).collect::<Vec<_>>())
            }
        }
    }
}

impl Lookup for FormulaView<'_> {
    fn find(&self, operand: &FormulaOperand) -> Option<FormulaValue> {
        let cart = self.numbers.cart;
        let line = || cart.lines.get(self.line_of(operand.which)?);
        Some(match operand.name {
            FormulaName::ItemPrice => FormulaValue::of_money(line()?.price?),
            FormulaName::ItemAmount => FormulaValue::of_money(line()?.amount?),
            FormulaName::ItemSubtotal => {
                let line = line()?;
                FormulaValue::of_money(line.amount.map(|_| line.subtotal())?)
            }
            FormulaName::ItemUnitsQuantity => FormulaValue::of_count(line()?.quantity),
            FormulaName::ItemMetadata | FormulaName::ItemProductMetadata => {
                let position = self.line_of(operand.which)?;
                return self.numbers.inputs.find(operand, Some(position));
            }
            FormulaName::OrderAmount => FormulaValue::of_money(cart.amount?),
            FormulaName::OrderItemsQuantity => {
                let lines = cart.lines.iter().take(self.all()?).filter(|line| !line.is_free());
                FormulaValue::of_count(u64::try_from(lines.count()).ok()?)
            }
            FormulaName::OrderUnitsQuantity => {
                let units = cart.lines.iter().take(self.all()?).map(|line| line.quantity);
                FormulaValue::of_count(total(units)?)
            }
            FormulaName::BundleQuantity => FormulaValue::of_count(self.numbers.bundles?),
            _ => return self.numbers.inputs.find(operand, None),
        })
    }

    fn zone(&self) -> &TimeZone {
        self.numbers.inputs.zone()
    }
}
