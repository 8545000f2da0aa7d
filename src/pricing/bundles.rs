//! Decides how many complete bundles a cart holds and which units serve them. It must not know what they are worth.
//!
//! calculation.md section 8. A unit serves one entry of one bundle: entries for SKUs take theirs first, then those for
//! products, then those for collections, of one kind the narrower first, so that a set within another is served; each
//! from the lines in order. Units that are free already do not count.

use crate::model::scope::{BundleEntry, BundleRules, GoodsObject, GoodsRef};
use crate::pricing::cart::Cart;
use crate::rules::{Basket, ResolvedLine};

/// More units than 500 lines can hold.
const MOST_UNITS: u64 = 1 << 62;

/// What bundles a cart holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bundles {
    /// Complete ones, at most the limit.
    pub quantity: u64,
    /// How many count.
    pub limit: u64,
    /// Units that serve them or, when there is none, one that is not complete: the line and how many.
    pub identified: Vec<(usize, u64)>,
    /// What one bundle lacks, when there is none: the goods and how many units.
    pub missing: Vec<(GoodsRef, u64)>,
}

/// How many steps it takes to count them: each round of halving asks every line for every entry.
pub fn steps(rules: &BundleRules, items: Basket<'_>) -> usize {
    /// Rounds of halving, with those that find out how narrow an entry is.
    const ROUNDS: usize = 16;
    let goods = rules.entries.iter().map(|entry| entry.goods.len()).fold(0, usize::saturating_add);
    goods.saturating_mul(items.len()).saturating_mul(ROUNDS)
}

/// Counts the bundles of a cart.
pub fn count_bundles(rules: &BundleRules, items: Basket<'_>, cart: &Cart) -> Bundles {
    // The more bundles, the more units they take: the largest number that is complete is found by halving.
    let (mut quantity, mut too_many): (u64, u64) = (0, rules.limit.saturating_add(1));
    loop {
        let middle = quantity.saturating_add(too_many.saturating_sub(quantity) >> 1);
        if middle == quantity {
            break;
        }
        match serve(rules, items, cart, middle).missing.is_empty() {
            true => quantity = middle,
            false => too_many = middle,
        }
    }
    Bundles { quantity, ..serve(rules, items, cart, quantity.max(1)) }
}

/// The units that serve so many bundles, and what is missing of them.
fn serve(rules: &BundleRules, items: Basket<'_>, cart: &Cart, bundles: u64) -> Bundles {
    let mut free: Vec<u64> = cart.lines.iter().map(|line| line.paid_units()).collect();
    let mut wanting: Vec<u64> = rules.entries.iter().map(|entry| entry.quantity.saturating_mul(bundles)).collect();
    let mut narrowest_first: Vec<(&BundleEntry, &mut u64)> = rules.entries.iter().zip(&mut wanting).collect();
    narrowest_first.sort_by_cached_key(|(entry, _)| width(entry, items, cart));
    for (entry, wanted) in narrowest_first {
        for (units, item) in free.iter_mut().zip(items.iter()) {
            if *wanted > 0 && entry.goods.iter().any(|goods| item.is(goods)) {
                let taken = *units.min(wanted);
                *units = units.saturating_sub(taken);
                *wanted = wanted.saturating_sub(taken);
            }
        }
    }
    let missing = rules.entries.iter().zip(wanting).filter(|(_, wanted)| *wanted > 0);
    let missing = missing.filter_map(|(entry, wanted)| Some((entry.goods.first()?.clone(), wanted))).collect();
    let taken = cart.lines.iter().zip(&free).map(|(line, left)| line.paid_units().saturating_sub(*left));
    let identified = taken.enumerate().filter(|(_, units)| *units > 0).collect();
    Bundles { quantity: bundles, limit: rules.limit, identified, missing }
}

/// How much an entry can be served with: those for SKUs come before those for products, these before those for
/// collections, and of one kind those that fewer units can serve.
fn width(entry: &BundleEntry, items: Basket<'_>, cart: &Cart) -> u64 {
    let kind = match entry.goods.iter().map(|goods| goods.object).max() {
        Some(GoodsObject::Sku) => 0,
        Some(GoodsObject::Product) => 1,
        _ => 2,
    };
    let serves = |item: &ResolvedLine<'_>| entry.goods.iter().any(|goods| item.is(goods));
    let lines = cart.lines.iter().zip(items.iter()).filter(|(_, item)| serves(item));
    let units = lines.fold(0, |sum: u64, (line, _)| sum.saturating_add(line.paid_units()));
    units.min(MOST_UNITS).saturating_add(MOST_UNITS.saturating_mul(kind))
}
