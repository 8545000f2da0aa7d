//! Selects the units in a scope. It counts lines and not single units, so that a quantity of 2^53 takes as many steps
//! as 1.
//!
//! docs/spec/calculation.md sections 7.2 to 7.4 and 19, D1 to D3.

use crate::budget::StepCost;
use crate::count::Countable;
use crate::model::scope::{Scope, ScopeEntry, TargetKind, UnitOrder};
use crate::money::Money;
use crate::pricing::cart::{Cart, Line};
use crate::pricing::gain::CoveredUnits;
use crate::rules::OrderLines;

/// The remaining units that may be discounted in the lifetime of a campaign or tier (docs/spec/calculation.md#7.1).
pub trait CapLookup {
    /// Returns how many more units of this line may be discounted under this entry.
    fn left(&self, entry: &ScopeEntry, position: usize) -> u64;
    /// Takes units from the rest, for the lines after this one.
    fn take(&mut self, entry: &ScopeEntry, position: usize, units: u64);
}

/// A lookup without caps.
pub struct NoCaps;

impl CapLookup for NoCaps {
    fn left(&self, _entry: &ScopeEntry, _position: usize) -> u64 {
        u64::MAX
    }

    fn take(&mut self, _entry: &ScopeEntry, _position: usize, _units: u64) {}
}

/// The cover of a line by a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// Covered by this entry, the most specific one.
    Entry(usize),
    /// Covered because the scope covers all lines.
    Everything,
    /// Not covered, or excluded by this entry.
    Not(Option<usize>),
}

/// Returns the cover of each line (docs/spec/calculation.md#7.2): exclusion wins, then the most specific entry. Each
/// entry is visited once, regardless of the lines.
#[inline(never)]
pub fn covers(scope: &Scope, items: OrderLines<'_>) -> Vec<Cover> {
    let open = if scope.included_all || scope.included.is_empty() { Cover::Everything } else { Cover::Not(None) };
    let mut covers = vec![open; items.len()];
    let object = |position: usize| scope.included.get(position).map(|entry| entry.goods.object);
    for (position, entry) in scope.included.iter().enumerate() {
        items.each_position(&entry.goods, &mut |line| {
            if let Some(cover) = covers.get_mut(line) {
                let is_more = match cover {
                    Cover::Entry(known) => Some(entry.goods.object) > object(*known),
                    Cover::Everything | Cover::Not(_) => true,
                };
                if is_more {
                    *cover = Cover::Entry(position);
                }
            }
        });
    }
    for (position, entry) in scope.excluded.iter().enumerate() {
        items.each_position(&entry.goods, &mut |line| {
            if let Some(cover) = covers.get_mut(line).filter(|cover| !matches!(cover, Cover::Not(Some(_)))) {
                *cover = Cover::Not(Some(position));
            }
        });
    }
    covers
}

/// Returns the steps to select by a scope.
pub fn steps(scope: &Scope, items: OrderLines<'_>) -> usize {
    // A cost saturates: one that is larger than the budget is as good as the largest.
    let entries = scope.included.len().saturating_add(scope.excluded.len());
    let groups = match scope.selective {
        true => scope.included.iter().enumerate().filter(|(position, entry)| entry.group == *position).count(),
        false => 1,
    };
    let of_lines = items.len().times_steps(groups.max(1));
    entries.times_steps(items.lookup_steps()).add_steps(of_lines)
}

/// Appends the units that the scope is about to `found`: by entries with equal terms, each in the order in which its
/// targets are taken. With `once`, lines that were given money in this request are out of reach (D8). `None` when the units in reach leave
/// 64 bits.
pub fn select(
    scope: &Scope,
    items: OrderLines<'_>,
    cart: &Cart,
    once: bool,
    allowance: &mut dyn CapLookup,
    found: &mut Vec<CoveredUnits>,
) -> Option<()> {
    if found.capacity() == 0 {
        *found = Vec::with_capacity(items.len());
    }
    // Nearly every scope covers all lines, or has one entry.
    let plain = match (scope.included.as_slice(), scope.excluded.as_slice()) {
        ([], []) => Some(None),
        ([only], []) if !scope.included_all => Some(Some(&only.goods)),
        _ => None,
    };
    match plain {
        Some(None) => {
            let all = cart.lines.iter().take(items.len()).enumerate();
            found.extend(all.filter_map(|(position, line)| cover_line(position, line, None, once)));
        }
        Some(Some(goods)) => {
            let covered =
                |position: usize| cart.lines.get(position).and_then(|line| cover_line(position, line, Some(0), once));
            items.each_position(goods, &mut |position| found.extend(covered(position)));
        }
        None => {
            for (position, (cover, line)) in covers(scope, items).into_iter().zip(&cart.lines).enumerate() {
                let out = |entry| {
                    Some(CoveredUnits { position, entry, excluded: true, first: 1, step: 1, units: line.paid_units() })
                };
                found.extend(match cover {
                    Cover::Not(None) => None,
                    Cover::Not(entry) => out(entry),
                    Cover::Everything => cover_line(position, line, None, once),
                    Cover::Entry(entry) => cover_line(position, line, Some(entry), once),
                });
            }
        }
    }
    if scope.selective {
        let covered = std::mem::take(found);
        select_targets(scope, cart, covered, allowance, found)?;
    }
    Some(())
}

/// Returns all units of a line that are not free, unless the line is skipped.
#[inline]
fn cover_line(position: usize, line: &Line, entry: Option<usize>, once: bool) -> Option<CoveredUnits> {
    let spent = once && line.applied.is_some_and(|applied| !applied.is_zero());
    let units = line.paid_units();
    (!spent && line.quantity > 0).then_some(CoveredUnits { position, entry, excluded: false, first: 1, step: 1, units })
}

/// Selects from the groups of entries in order, each with its own terms.
fn select_targets(
    scope: &Scope,
    cart: &Cart,
    covered: Vec<CoveredUnits>,
    allowance: &mut dyn CapLookup,
    found: &mut Vec<CoveredUnits>,
) -> Option<()> {
    let group_of = |covered: &CoveredUnits| {
        let entry = covered.entry.filter(|_| !covered.excluded).and_then(|entry| scope.included.get(entry));
        entry.map(|entry| entry.group)
    };
    // Lines without selection: excluded, covered by a scope of all lines, or free already.
    let selected = |covered: &CoveredUnits| group_of(covered).is_some() && covered.units > 0;
    found.extend(covered.iter().filter(|covered| !selected(covered)));
    for (group, entry) in scope.included.iter().enumerate().filter(|(position, entry)| entry.group == *position) {
        let members = covered.iter().filter(|covered| selected(covered) && group_of(covered) == Some(group));
        let members: Vec<CoveredUnits> = members.copied().collect();
        select_group(scope, entry, cart, members, allowance, found)?;
    }
    Some(())
}

fn select_group(
    scope: &Scope,
    head: &ScopeEntry,
    cart: &Cart,
    members: Vec<CoveredUnits>,
    allowance: &mut dyn CapLookup,
    found: &mut Vec<CoveredUnits>,
) -> Option<()> {
    let terms = &head.terms;
    let mut counter: u64 = 0;
    // Entries share the list of targets and never a limit (D2).
    let mut left: Vec<(usize, u64)> = Vec::new();
    for mut covered in sorted(terms.pick, cart, members) {
        let before = counter;
        let chosen = match terms.target {
            TargetKind::Item => {
                counter = counter.plus_one();
                every_nth(before, 1, terms.skip_initially, terms.repeat).map(|_| (1, 1, covered.units))
            }
            TargetKind::Unit => {
                counter = counter.checked_add(covered.units)?;
                let nth = every_nth(before, covered.units, terms.skip_initially, terms.repeat);
                nth.map(|(first, units)| (first.plus_one(), terms.repeat, units))
            }
        };
        let Some((first, step, units)) = chosen else { continue };
        // Without a limit all units count.
        let mut units = units.min(terms.quantity_limit.unwrap_or(u64::MAX));
        let mut remaining = None;
        if let (Some(limit), Some(own)) = (terms.aggregated_quantity_limit, covered.entry) {
            let at = left.iter().position(|(entry, _)| *entry == own).unwrap_or_else(|| {
                left.push((own, limit));
                left.len().remaining_after(1)
            });
            remaining = left.get_mut(at).map(|(_, left)| left);
        }
        // Without a limit over all lines, all of them count.
        units = units.min(remaining.as_deref().copied().unwrap_or(u64::MAX));
        let entry = covered.entry.and_then(|entry| scope.included.get(entry));
        if let Some(entry) = entry.filter(|entry| !entry.terms.caps.is_empty()) {
            units = units.min(allowance.left(entry, covered.position));
            allowance.take(entry, covered.position, units);
        }
        if let Some(left) = remaining {
            *left = left.remaining_after(units);
        }
        if units > 0 {
            (covered.first, covered.step, covered.units) = (first, step, units);
            found.push(covered);
        }
    }
    Some(())
}

/// Returns the first kept target, from 0, and the number of kept ones, of `count` targets after `before` others. The
/// first `skip` of all targets are skipped, and of the others every `repeat`-th is kept, beginning with the first.
fn every_nth(before: u64, count: u64, skip: u64, repeat: u64) -> Option<(u64, u64)> {
    let first = match before.checked_sub(skip) {
        None => skip.remaining_after(before),
        Some(offset) => match offset.checked_rem(repeat)? {
            0 => 0,
            into => repeat.remaining_after(into),
        },
    };
    let after = count.checked_sub(1)?.checked_sub(first)?;
    Some((first, after.checked_div(repeat)?.plus_one()))
}

/// Returns the lines in the order of selection. A line without a unit price comes last and is never the cheapest nor
/// the most expensive (docs/spec/calculation.md#19, D6).
fn sorted(pick: UnitOrder, cart: &Cart, mut members: Vec<CoveredUnits>) -> Vec<CoveredUnits> {
    let price = |covered: &CoveredUnits| {
        cart.lines.get(covered.position).and_then(|line: &Line| line.price).map(|price| price.minor())
    };
    let rising = match pick {
        UnitOrder::Every => return members,
        UnitOrder::ToCheapest | UnitOrder::FromCheapest => true,
        UnitOrder::ToMostExpensive | UnitOrder::FromMostExpensive => false,
    };
    let key = |covered: &CoveredUnits| match price(covered) {
        None => u64::MAX,
        Some(price) if rising => price,
        Some(price) => Money::MAX.minor().remaining_after(price),
    };
    members.sort_by_cached_key(key);
    if matches!(pick, UnitOrder::ToCheapest | UnitOrder::ToMostExpensive) {
        let extreme = members.first().and_then(price);
        members.retain(|covered| extreme.is_some() && price(covered) == extreme);
    }
    members
}
