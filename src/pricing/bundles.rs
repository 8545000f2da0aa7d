//! Decides how many complete product bundles a cart contains, and which units belong to them.
//!
//! docs/spec/calculation.md#8. A unit serves one entry of one bundle. Entries for SKUs take units first, then those for
//! products, then those for collections. Of one kind the narrower comes first, so that a subset of another is served.
//! Each takes units from the lines in order. An entry that then misses units gets those of another that can take others
//! instead. So no complete bundle is overlooked. Units that are free already do not count.

use crate::budget::StepCost;
use crate::count::Countable;
use crate::model::scope::{BundleEntry, BundleRules, GoodsObject, GoodsRef};
use crate::pricing::cart::Cart;
use crate::pricing::unit_flow::UnitFlow;
use crate::rules::{OrderLines, ResolvedLine};

/// The bundles of a cart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bundles {
    /// The number of complete bundles, at most the limit.
    pub quantity: u64,
    /// The maximum number that counts.
    pub limit: u64,
    /// Units of the bundles or, if there is none, of an incomplete one: the line and the number.
    pub identified: Vec<(usize, u64)>,
    /// The missing parts of one bundle, if there is none: the goods and the number of units.
    pub missing: Vec<(GoodsRef, u64)>,
}

/// Returns the steps to count the bundles: each round of the binary search checks every line for every entry, and some
/// rounds move units between entries.
pub fn steps(rules: &BundleRules, items: OrderLines<'_>) -> usize {
    /// Rounds of the binary search, and those that find the width of entries.
    const ROUNDS: usize = 16;
    /// Checks of a line for an entry while units are moved.
    const MOVES: usize = 2;
    // A cost saturates: one that is larger than the budget is as good as the largest.
    let goods: usize = rules.entries.iter().map(|entry| entry.goods.len()).sum();
    let moves = rules.entries.len().times_steps(MOVES);
    goods.add_steps(moves).times_steps(items.len()).times_steps(ROUNDS)
}

/// Counts the bundles of a cart.
pub fn count_bundles(rules: &BundleRules, items: OrderLines<'_>, cart: &Cart) -> Bundles {
    // More bundles need more units, so a binary search finds the largest complete number.
    let (mut quantity, mut most) = (0, rules.limit);
    while quantity < most {
        let middle = most.remaining_after(most.remaining_after(quantity) >> 1);
        match distribute_units(rules, items, cart, middle).is_some_and(|served| served.missing.is_empty()) {
            true => quantity = middle,
            false => most = middle.remaining_after(1),
        }
    }
    Bundles { quantity, ..distribute_units(rules, items, cart, quantity.max(1)).unwrap_or_default() }
}

/// Returns the units of a number of bundles, and the missing ones.
fn distribute_units(rules: &BundleRules, items: OrderLines<'_>, cart: &Cart, bundles: u64) -> Option<Bundles> {
    let needed = rules.entries.iter().map(|entry| entry.quantity.checked_mul(bundles));
    let is_of = |entry: &BundleEntry, item: &ResolvedLine<'_>| entry.goods.iter().any(|goods| item.is(goods));
    let lines = |entry: &BundleEntry| {
        let own = items.iter().enumerate().filter(|(_, item)| is_of(entry, item));
        own.map(|(position, _)| position).collect()
    };
    let mut flow = UnitFlow::new(
        cart.lines.iter().map(|line| line.paid_units()).collect(),
        rules.entries.iter().map(lines).collect(),
        needed.collect::<Option<_>>()?,
    );
    let mut narrowest_first: Vec<(usize, &BundleEntry)> = rules.entries.iter().enumerate().collect();
    narrowest_first.sort_by_cached_key(|(_, entry)| width(entry, items, cart));
    for (entry, _) in &narrowest_first {
        flow.take_in_order(*entry);
    }
    for (entry, _) in narrowest_first {
        flow.complete(entry);
    }
    let missing = rules.entries.iter().zip(flow.needed).filter(|(_, needed)| *needed > 0);
    let missing = missing.filter_map(|(entry, needed)| Some((entry.goods.first()?.clone(), needed))).collect();
    let taken = cart.lines.iter().zip(&flow.left).map(|(line, left)| line.paid_units().remaining_after(*left));
    let identified = taken.enumerate().filter(|(_, units)| *units > 0).collect();
    Some(Bundles { quantity: bundles, limit: rules.limit, identified, missing })
}

/// Returns the sort key of an entry: SKUs before products, before collections, and of one kind those with fewer units.
fn width(entry: &BundleEntry, items: OrderLines<'_>, cart: &Cart) -> (u8, u128) {
    let kind = match entry.goods.iter().map(|goods| goods.object).max() {
        Some(GoodsObject::Sku) => 0,
        Some(GoodsObject::Product) => 1,
        _ => 2,
    };
    let serves = |item: &ResolvedLine<'_>| entry.goods.iter().any(|goods| item.is(goods));
    let lines = cart.lines.iter().zip(items.iter()).filter(|(_, item)| serves(item));
    // 128 bits hold the sum of numbers of 64.
    (kind, lines.map(|(line, _)| u128::from(line.paid_units())).sum())
}
