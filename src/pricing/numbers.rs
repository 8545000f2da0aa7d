//! Decides the numbers of a discount on one order: what its formulas come to, and what complete bundles multiply. It
//! must not know what is done with them, nor where a customer or a voucher is found.
//!
//! calculation.md sections 6 and 8.

use crate::formula::{self, Formula, Lookup, Name, Operand, Value, Which};
use crate::model::discount::Dynamic;
use crate::money::{Money, Percent};
use crate::pricing::cart::Cart;
use crate::time::TimeZone;

/// Knows what formulas may read besides the amounts of the order.
pub trait FormulaInputs {
    /// The value of an operand; `place` is the line that it is about, if it is about one.
    fn find(&self, operand: &Operand, place: Option<usize>) -> Option<Value>;
    /// The project's time zone.
    fn zone(&self) -> &TimeZone;
    /// Whether so many steps may be taken.
    fn takes(&self, steps: usize) -> bool;
}

/// Resolves numbers on a cart.
#[derive(Clone, Copy)]
pub struct Numbers<'a> {
    /// The order as it is before this discount.
    pub cart: &'a Cart,
    /// What else formulas read.
    pub inputs: &'a dyn FormulaInputs,
    /// Complete bundles; `None` without bundle rules.
    pub bundles: Option<u64>,
}

impl Numbers<'_> {
    /// The percentage, on a line or on the order.
    pub fn percent(&self, number: &Dynamic<Percent>, place: Option<usize>) -> Percent {
        self.resolve(number.formula.as_deref(), place, formula::percent).unwrap_or(number.plain)
    }

    /// The amount, on a line or on the order.
    pub fn money(&self, number: &Dynamic<Money>, place: Option<usize>) -> Money {
        self.resolve(number.formula.as_deref(), place, formula::money).unwrap_or(number.plain)
    }

    /// The price, if there is one.
    pub fn price(&self, number: &Dynamic<Option<Money>>, place: Option<usize>) -> Option<Money> {
        self.resolve(number.formula.as_deref(), place, formula::money).or(number.plain)
    }

    /// The count of units.
    pub fn units(&self, number: &Dynamic<u64>) -> u64 {
        self.resolve(number.formula.as_deref(), None, formula::units).unwrap_or(number.plain)
    }

    /// The most units of a cap, if it holds.
    pub fn most(&self, number: &Dynamic<Option<u64>>, place: Option<usize>) -> Option<u64> {
        self.resolve(number.formula.as_deref(), place, formula::units).or(number.plain)
    }

    /// How often the value counts: once for each complete bundle.
    pub fn times(&self) -> u64 {
        self.bundles.unwrap_or(1)
    }

    fn resolve<T>(
        &self,
        formula: Option<&Formula>,
        place: Option<usize>,
        read: fn(&Formula, &dyn Lookup) -> Option<T>,
    ) -> Option<T> {
        let formula = formula.filter(|formula| self.inputs.takes(formula.size()))?;
        read(formula, &Here { numbers: self, place })
    }
}

/// A formula's view from one line, or from the order as a whole.
struct Here<'a> {
    numbers: &'a Numbers<'a>,
    place: Option<usize>,
}

impl Here<'_> {
    /// How many lines there are, when all of them may be gone through.
    fn all(&self) -> Option<usize> {
        let count = self.numbers.cart.lines.len();
        self.numbers.inputs.takes(count).then_some(count)
    }

    /// The line that an operand is about.
    fn line_of(&self, which: Which) -> Option<usize> {
        let lines = || self.numbers.cart.lines.iter().map(|line| (line.price, line.subtotal()));
        match which {
            Which::Current => self.place,
            extreme => {
                let all = self.all()?;
                formula::extreme(extreme, &lines().take(all).collect::<Vec<_>>())
            }
        }
    }
}

impl Lookup for Here<'_> {
    fn find(&self, operand: &Operand) -> Option<Value> {
        let cart = self.numbers.cart;
        let line = || cart.lines.get(self.line_of(operand.which)?);
        Some(match operand.name {
            Name::ItemPrice => Value::of_money(line()?.price?),
            Name::ItemAmount => Value::of_money(line()?.amount?),
            Name::ItemSubtotal => {
                let line = line()?;
                Value::of_money(line.amount.map(|_| line.subtotal())?)
            }
            Name::ItemUnitsQuantity => Value::of_count(line()?.quantity),
            Name::ItemMetadata | Name::ItemProductMetadata => {
                let place = self.line_of(operand.which)?;
                return self.numbers.inputs.find(operand, Some(place));
            }
            Name::OrderAmount => Value::of_money(cart.amount?),
            Name::OrderItemsQuantity => Value::of_count(u64::try_from(cart.lines.len()).ok()?),
            Name::OrderUnitsQuantity => {
                let units = cart.lines.iter().take(self.all()?).map(|line| line.quantity);
                Value::of_count(units.fold(0, u64::saturating_add))
            }
            Name::BundleQuantity => Value::of_count(self.numbers.bundles?),
            _ => return self.numbers.inputs.find(operand, None),
        })
    }

    fn zone(&self) -> &TimeZone {
        self.numbers.inputs.zone()
    }
}
