//! Decides which units a discount adds, makes free or replaces, and what that does to amounts. It must not know where
//! prices of a catalogue are found.
//!
//! calculation.md sections 5.9 and 19, D6 and D8. Units of an unknown price come without any money.

use crate::model::discount::UnitEffect;
use crate::model::order::Item;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::money::Money;
use crate::pricing::cart::{Cart, Line};
use crate::pricing::gain::{Gain, Replacement, UnitChange, UnitGain};
use crate::pricing::select::CoveredUnits;
use crate::rules::Basket;

/// Free units of one product or SKU, with everything known of it.
#[derive(Debug, Clone)]
pub struct FreeGoods {
    /// How they come into the order.
    pub effect: UnitEffect,
    /// How many; of `REPLACE_ITEMS`, for each unit that is taken away.
    pub units: u64,
    /// The goods; of `ADD_SAME_ITEMS` they name every line that is to get units.
    pub goods: GoodsRef,
    /// What the catalogue says that a unit costs.
    pub price: Option<Money>,
    /// The line that they are added as, if the order has none of them.
    pub item: Item,
}

/// What free units do to a cart, one kind of goods after the other; `None` when an amount or a quantity would grow
/// beyond every bound. `reach` says which units `REPLACE_ITEMS` takes away and which lines `ADD_SAME_ITEMS` may look
/// at. With `once`, lines that were given money in this request get nothing.
pub fn add_units(
    all: &[FreeGoods],
    cart: &Cart,
    items: Basket<'_>,
    covered: &[CoveredUnits],
    once: bool,
) -> Option<Gain> {
    let gain = Gain::of_lines(cart.lines.len());
    let mut work = Work { cart: cart.clone(), items, once, gain, units: UnitGain::default() };
    for goods in all.iter().filter(|goods| goods.units > 0) {
        match goods.effect {
            UnitEffect::AddNewItems => {
                let line = work.line_of(&goods.goods);
                work.add(goods, line, goods.units)?;
            }
            UnitEffect::AddMissingItems => {
                let line = work.line_of(&goods.goods);
                let there = line.and_then(|place| work.cart.lines.get(place)).map_or(0, Line::paid_units);
                work.add(goods, line, goods.units.saturating_sub(there))?;
            }
            UnitEffect::AddSameItems => {
                for place in work.lines_alike(&goods.goods, covered) {
                    work.add(goods, Some(place), goods.units)?;
                }
            }
            UnitEffect::ReplaceItems => {
                for source in covered.iter().filter(|covered| !covered.excluded && covered.units > 0) {
                    work.replace(goods, source)?;
                }
            }
        }
    }
    let mut gain = work.gain;
    gain.units = (!work.units.changes.is_empty()).then(|| Box::new(work.units));
    Some(gain)
}

struct Work<'a> {
    cart: Cart,
    items: Basket<'a>,
    once: bool,
    gain: Gain,
    units: UnitGain,
}

impl Work<'_> {
    /// The first line of these goods.
    fn line_of(&self, goods: &GoodsRef) -> Option<usize> {
        let known = self.items.first(goods);
        // Lines that this discount itself has added are named by id.
        let own = |item: &Item| match goods.object {
            GoodsObject::Sku => item.sku_id.as_ref() == Some(&goods.id),
            _ => item.product_id.as_ref() == Some(&goods.id),
        };
        let before = self.cart.lines.len().saturating_sub(self.cart.added().len());
        known.or_else(|| self.cart.added().iter().position(own)?.checked_add(before))
    }

    /// The lines of these goods with units that are not free: of each product or SKU the first.
    fn lines_alike(&self, goods: &GoodsRef, covered: &[CoveredUnits]) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for covered in covered.iter().filter(|covered| !covered.excluded && covered.units > 0) {
            let Some(item) = self.items.get(covered.place).filter(|item| item.is(goods)) else { continue };
            let known = |place: &usize| self.items.get(*place).is_some_and(|other| item.names() == other.names());
            if !found.iter().any(known) {
                found.push(covered.place);
            }
        }
        found
    }

    /// Makes units free, `missing` of which have to come first.
    fn add(&mut self, goods: &FreeGoods, place: Option<usize>, missing: u64) -> Option<()> {
        let line = place.and_then(|place| self.cart.lines.get(place)).copied();
        let spent = line.and_then(|line| line.applied).is_some_and(|applied| !applied.is_zero());
        if self.once && spent {
            return Some(());
        }
        let price = unit_price(line.as_ref(), goods);
        let worth = price.map(|price| price.checked_mul(missing)).map_or(Some(None), |worth| worth.map(Some))?;
        let place = self.change(place, missing, worth, goods.units, goods)?;
        let Some(price) = price else { return Some(()) };
        let line = self.cart.lines.get(place)?;
        // A unit that was discounted before only adds the rest, and nothing makes a line cheaper than free.
        let off = price.checked_mul(goods.units).unwrap_or(Money::MAX).min(line.subtotal());
        self.give(place, off)
    }

    /// Takes units of a line away and puts others in their place. The total never grows: what the new ones cost more
    /// is free.
    fn replace(&mut self, goods: &FreeGoods, source: &CoveredUnits) -> Option<()> {
        let target = self.line_of(&goods.goods);
        let Some(line) = self.cart.lines.get(source.place).copied() else { return Some(()) };
        let known = target.and_then(|place| self.cart.lines.get(place)).copied();
        let (Some(old), Some(new)) = (line.price, unit_price(known.as_ref(), goods)) else { return Some(()) };
        // Units that have been discounted away cannot be given back, nor more than the order is said to amount to.
        let worth = line.subtotal().min(self.cart.amount.unwrap_or_default());
        let whole = worth.minor().checked_div(old.minor()).unwrap_or(source.units);
        let units = source.units.min(line.paid_units()).min(whole);
        if units == 0 || target == Some(source.place) || line.amount.is_none() {
            return Some(());
        }
        let (removed, count) = (old.checked_mul(units)?, units.checked_mul(goods.units)?);
        let added = new.checked_mul(count)?;
        let less = |count: u64| i64::try_from(count).ok()?.checked_neg();
        let amount = Some(less(removed.minor())?);
        self.push(UnitChange { place: source.place, units: less(units)?, amount, free: 0, added: None })?;
        let target = self.change(target, count, Some(added), 0, goods)?;
        let off = added.saturating_sub(removed);
        self.units.replaced.push(Replacement {
            source: source.place,
            source_units: units,
            source_amount: removed,
            target,
            target_units: count,
            target_amount: added,
            target_discount: off,
        });
        self.give(target, off)
    }

    /// Adds units to a line, or the line.
    fn change(
        &mut self,
        place: Option<usize>,
        units: u64,
        worth: Option<Money>,
        free: u64,
        goods: &FreeGoods,
    ) -> Option<usize> {
        let added = match place {
            Some(_) => None,
            None => Some(Box::new(Item { price: goods.price, ..goods.item.clone() })),
        };
        let place = place.unwrap_or(self.cart.lines.len());
        let amount = worth.map(|worth| i64::try_from(worth.minor())).transpose().ok()?;
        self.push(UnitChange { place, units: i64::try_from(units).ok()?, amount, free, added })?;
        Some(place)
    }

    fn push(&mut self, change: UnitChange) -> Option<()> {
        self.cart.change(&change)?;
        self.gain.lines.resize(self.cart.lines.len(), None);
        self.units.changes.push(change);
        Some(())
    }

    /// Takes money off a line.
    fn give(&mut self, place: usize, off: Money) -> Option<()> {
        let line = self.cart.lines.get_mut(place)?;
        line.discount = Some(line.discount.unwrap_or_default().checked_add(off)?);
        let given = self.gain.lines.get(place)?.unwrap_or_default().checked_add(off)?;
        self.gain.set(place, given);
        Some(())
    }
}

/// What a unit costs: on the line, else in the catalogue. Units of a line that has no amount have no money either.
fn unit_price(line: Option<&Line>, goods: &FreeGoods) -> Option<Money> {
    match line {
        None => goods.price,
        Some(line) => line.amount.and(line.price.or(goods.price)),
    }
}
