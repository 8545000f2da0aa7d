//! Decides how many complete bundles a cart holds and which units serve them. It must not know what they are worth.
//!
//! calculation.md section 8. A unit serves one entry of one bundle: entries for SKUs take theirs first, then those for
//! products, then those for collections, each from the lines in order. Units that are free already do not count.

use crate::model::scope::{BundleRules, GoodsObject, GoodsRef};
use crate::pricing::cart::Cart;
use crate::rules::SceneItem;

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

/// Counts the bundles of a cart.
pub fn count_bundles(rules: &BundleRules, items: &[SceneItem<'_>], cart: &Cart) -> Bundles {
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
fn serve(rules: &BundleRules, items: &[SceneItem<'_>], cart: &Cart, bundles: u64) -> Bundles {
    let mut free: Vec<u64> = cart.lines.iter().map(|line| line.paid_units()).collect();
    let mut missing = Vec::new();
    for object in [GoodsObject::Sku, GoodsObject::Product, GoodsObject::Collection] {
        let named = |goods: &[GoodsRef]| goods.iter().map(|goods| goods.object).max() == Some(object);
        for entry in rules.entries.iter().filter(|entry| named(&entry.goods)) {
            let mut wanted = entry.quantity.saturating_mul(bundles);
            for (units, item) in free.iter_mut().zip(items) {
                if wanted > 0 && entry.goods.iter().any(|goods| item.is(goods)) {
                    let taken = wanted.min(*units);
                    *units = units.saturating_sub(taken);
                    wanted = wanted.saturating_sub(taken);
                }
            }
            if let Some(goods) = entry.goods.first().filter(|_| wanted > 0) {
                missing.push((goods.clone(), wanted));
            }
        }
    }
    let taken = cart.lines.iter().zip(&free).map(|(line, left)| line.paid_units().saturating_sub(*left));
    let identified = taken.enumerate().filter(|(_, units)| *units > 0).collect();
    Bundles { quantity: bundles, limit: rules.limit, identified, missing }
}
