//! Decides which units a discount adds, makes free or replaces, and the effect on amounts.
//!
//! docs/spec/calculation.md sections 5.9 and 19, D6 and D8. Units of an unknown price have no amount.

use crate::count::Countable;
use crate::model::discount::UnitEffect;
use crate::model::order::Item;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::money::Money;
use crate::pricing::cart::{Cart, Line};
use crate::pricing::gain::{CoveredUnits, Gain, Replacement, UnitChange, UnitGain};
use crate::rules::OrderLines;

/// Free units of one product or SKU, with all known data.
#[derive(Debug, Clone)]
pub struct FreeGoods {
    /// The effect on the order.
    pub effect: UnitEffect,
    /// The number of units; for `REPLACE_ITEMS`, per replaced unit.
    pub units: u64,
    /// The goods; for `ADD_SAME_ITEMS` they name every line that gets units.
    pub goods: GoodsRef,
    /// The unit price of the catalogue.
    pub price: Option<Money>,
    /// The line to add if the order has none of them.
    pub item: Item,
}

/// Returns the gain of free units on a cart, one kind of goods after the other; `None` on overflow. `covered` has the
/// units that `REPLACE_ITEMS` removes and the lines that `ADD_SAME_ITEMS` may use. With `once`, lines with a discount
/// of this request get none.
pub fn add_units(
    all: &[FreeGoods],
    cart: &Cart,
    items: OrderLines<'_>,
    covered: &[CoveredUnits],
    once: bool,
) -> Option<Gain> {
    let gain = Gain::of_lines(cart.lines.len());
    let mut task = UnitTask { cart: cart.clone(), items, once, gain, units: UnitGain::default() };
    for goods in all.iter().filter(|goods| goods.units > 0) {
        match goods.effect {
            UnitEffect::AddNewItems => {
                let line = task.line_of(&goods.goods);
                task.add(goods, line, goods.units)?;
            }
            UnitEffect::AddMissingItems => {
                let line = task.line_of(&goods.goods);
                // Goods without a line have no units in the order.
                let there = line.and_then(|position| task.cart.lines.get(position)).map_or(0, Line::paid_units);
                task.add(goods, line, goods.units.remaining_after(there))?;
            }
            UnitEffect::AddSameItems => {
                for position in task.lines_alike(&goods.goods, covered) {
                    task.add(goods, Some(position), goods.units)?;
                }
            }
            UnitEffect::ReplaceItems => {
                for source in covered.iter().filter(|covered| !covered.excluded && covered.units > 0) {
                    task.replace(goods, source)?;
                }
            }
        }
    }
    let mut gain = task.gain;
    gain.units = (!task.units.changes.is_empty()).then(|| Box::new(task.units));
    Some(gain)
}

struct UnitTask<'a> {
    cart: Cart,
    items: OrderLines<'a>,
    once: bool,
    gain: Gain,
    units: UnitGain,
}

impl UnitTask<'_> {
    /// Returns the first line of these goods.
    fn line_of(&self, goods: &GoodsRef) -> Option<usize> {
        let known = self.items.first(goods);
        // Lines that this discount itself has added are named by id.
        let own = |item: &Item| match goods.object {
            GoodsObject::Sku => item.sku_id.as_ref() == Some(&goods.id),
            _ => item.product_id.as_ref() == Some(&goods.id),
        };
        let before = self.cart.lines.len().remaining_after(self.cart.added().len());
        known.or_else(|| self.cart.added().iter().position(own)?.checked_add(before))
    }

    /// Returns the lines of these goods with units that are not free: the first of each product or SKU.
    fn lines_alike(&self, goods: &GoodsRef, covered: &[CoveredUnits]) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for covered in covered.iter().filter(|covered| !covered.excluded && covered.units > 0) {
            let Some(item) = self.items.get(covered.position).filter(|item| item.is(goods)) else { continue };
            let known = |position: &usize| self.items.get(*position).is_some_and(|other| item.names() == other.names());
            if !found.iter().any(known) {
                found.push(covered.position);
            }
        }
        found
    }

    /// Makes units free, and adds `missing` of them first.
    fn add(&mut self, goods: &FreeGoods, position: Option<usize>, missing: u64) -> Option<()> {
        let line = position.and_then(|position| self.cart.lines.get(position)).copied();
        let spent = line.and_then(|line| line.applied).is_some_and(|applied| !applied.is_zero());
        if self.once && spent {
            return Some(());
        }
        let price = unit_price(line.as_ref(), goods);
        let worth = price.map(|price| price.checked_mul(missing)).map_or(Some(None), |worth| worth.map(Some))?;
        let position = self.change(position, missing, worth, goods.units, goods)?;
        let Some(price) = price else { return Some(()) };
        let line = self.cart.lines.get(position)?;
        // A unit that was discounted before only adds the rest, and a line never costs less than 0.
        let off = price.capped_mul(goods.units).min(line.subtotal());
        self.give(position, off)
    }

    /// Replaces units of a line by others. The total never grows: the difference to more expensive units is free.
    fn replace(&mut self, goods: &FreeGoods, source: &CoveredUnits) -> Option<()> {
        let target = self.line_of(&goods.goods);
        let Some(line) = self.cart.lines.get(source.position).copied() else { return Some(()) };
        let known = target.and_then(|position| self.cart.lines.get(position)).copied();
        let (Some(old), Some(new)) = (line.price, unit_price(known.as_ref(), goods)) else { return Some(()) };
        // Units cannot give back amounts that were discounted already, nor more than the amount of the order.
        let worth = line.subtotal().min(self.cart.amount.unwrap_or_default());
        // A price of zero limits no units.
        let affordable = worth.minor().checked_div(old.minor()).unwrap_or(source.units);
        let units = source.units.min(line.paid_units()).min(affordable);
        if units == 0 || target == Some(source.position) || line.amount.is_none() {
            return Some(());
        }
        let (removed, count) = (old.checked_mul(units)?, units.checked_mul(goods.units)?);
        let added = new.checked_mul(count)?;
        let less = |count: u64| i64::try_from(count).ok()?.checked_neg();
        let amount = Some(less(removed.minor())?);
        self.push(UnitChange { position: source.position, units: less(units)?, amount, free: 0, added: None })?;
        let target = self.change(target, count, Some(added), 0, goods)?;
        let off = added.remaining_after(removed);
        self.units.replaced.push(Replacement {
            source: source.position,
            source_units: units,
            source_amount: removed,
            target,
            target_units: count,
            target_amount: added,
            target_discount: off,
        });
        self.give(target, off)
    }

    /// Adds units to a line, or a new line.
    fn change(
        &mut self,
        position: Option<usize>,
        units: u64,
        worth: Option<Money>,
        free: u64,
        goods: &FreeGoods,
    ) -> Option<usize> {
        let added = match position {
            Some(_) => None,
            None => Some(Box::new(Item { price: goods.price, ..goods.item.clone() })),
        };
        let position = position.unwrap_or(self.cart.lines.len());
        let amount = worth.map(|worth| i64::try_from(worth.minor())).transpose().ok()?;
        self.push(UnitChange { position, units: i64::try_from(units).ok()?, amount, free, added })?;
        Some(position)
    }

    fn push(&mut self, change: UnitChange) -> Option<()> {
        self.cart.change(&change)?;
        self.gain.lines.resize(self.cart.lines.len(), None);
        self.units.changes.push(change);
        Some(())
    }

    /// Takes money off a line.
    fn give(&mut self, position: usize, off: Money) -> Option<()> {
        let line = self.cart.lines.get_mut(position)?;
        line.discount = Some(line.discount.unwrap_or_default().checked_add(off)?);
        let given = self.gain.lines.get(position)?.unwrap_or_default().checked_add(off)?;
        self.gain.set(position, given);
        Some(())
    }
}

/// Returns the unit price: of the line, else of the catalogue. Units of a line without an amount have none either.
fn unit_price(line: Option<&Line>, goods: &FreeGoods) -> Option<Money> {
    match line {
        None => goods.price,
        Some(line) => line.amount.and(line.price.or(goods.price)),
    }
}
