//! Decides what one discount or gift takes off a cart. It must not know whether it may be applied at all.
//!
//! calculation.md sections 5 and 9. Whatever the base, an order-level gain never exceeds what is still to be paid,
//! and an item-level gain never exceeds the line's subtotal.

use crate::model::discount::{AmountEffect, Discount, GiftEffect, PercentEffect};
use crate::money::{Money, Percent};
use crate::pricing::cart::{Cart, Gain, Line};
use crate::pricing::spread::spread;

/// What discounts are computed on (calculation.md section 5).
#[derive(Debug, Clone, Copy)]
pub enum Base<'a> {
    /// What earlier discounts left.
    Discounted,
    /// The order as it was before all discounts.
    Initial(&'a Cart),
}

/// A gift card for lines found no line with an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoLines;

/// A line in scope: its place, the base of the discount, and the most it can give.
struct Target {
    place: usize,
    units: u64,
    base: Money,
    cap: Money,
}

/// What the discount takes off. `eligible` holds the units of each line that are in scope; `scoped` says whether the
/// scope names any goods, which decides where a discount without an effect acts.
pub fn apply_discount(
    discount: &Discount,
    cart: &Cart,
    base: Base<'_>,
    eligible: &[u64],
    scoped: bool,
) -> Option<Gain> {
    match discount {
        Discount::Percent { percent_off, amount_limit, aggregated_amount_limit, effect } => {
            let to_items = effect.map_or(scoped, |effect| effect == PercentEffect::ApplyToItems);
            if to_items {
                let targets = targets(cart, base, eligible);
                let off = |target: &Target| capped(percent_off.of(target.base), *amount_limit);
                per_line(cart, &targets, *aggregated_amount_limit, off)
            } else {
                percent_of_order(*percent_off, *amount_limit, cart, base)
            }
        }
        Discount::Amount { amount_off, aggregated_amount_limit, effect } => {
            let inherited = if scoped { AmountEffect::ApplyToItems } else { AmountEffect::ApplyToOrder };
            let limit = *aggregated_amount_limit;
            amount(*amount_off, effect.unwrap_or(inherited), limit, cart, base, eligible)
        }
    }
}

/// What gift credits cover: as much as is asked and is still to be paid.
pub fn apply_gift(effect: GiftEffect, credits: Money, cart: &Cart, eligible: &[u64]) -> Result<Gain, NoLines> {
    let open = cart.total().unwrap_or_default();
    let credits = credits.min(open);
    if effect == GiftEffect::ApplyToOrder {
        let order = cart.amount.map(|_| credits);
        return Ok(Gain { order, lines: Vec::new() });
    }
    let targets = targets(cart, Base::Discounted, eligible);
    if targets.is_empty() {
        return Err(NoLines);
    }
    let mut left = credits;
    let mut gain = empty_gain(cart);
    for target in &targets {
        let off = left.min(target.cap);
        left = left.less(off);
        set(&mut gain, target, off);
    }
    Ok(gain)
}

fn percent_of_order(percent: Percent, limit: Option<Money>, cart: &Cart, base: Base<'_>) -> Option<Gain> {
    let order = match (cart.total(), base) {
        (None, _) => None,
        (Some(open), Base::Discounted) => Some((open, open)),
        (Some(open), Base::Initial(initial)) => Some((open, initial.amount?)),
    };
    let order = match order {
        Some((open, base)) => Some(capped(percent.of(base), limit)?.min(open)),
        None => None,
    };
    Some(Gain { order, lines: Vec::new() })
}

fn amount(
    amount_off: Money,
    effect: AmountEffect,
    limit: Option<Money>,
    cart: &Cart,
    base: Base<'_>,
    eligible: &[u64],
) -> Option<Gain> {
    if effect == AmountEffect::ApplyToOrder {
        let order = cart.total().map(|open| amount_off.min(open));
        return Some(Gain { order, lines: Vec::new() });
    }
    let targets = targets(cart, base, eligible);
    let by_quantity = match effect {
        AmountEffect::ApplyToItemsByQuantity => {
            return per_line(cart, &targets, limit, |target| amount_off.times(target.units));
        }
        AmountEffect::ApplyToItemsProportionally => false,
        AmountEffect::ApplyToItemsProportionallyByQuantity => true,
        _ => return per_line(cart, &targets, limit, |_| Some(amount_off)),
    };
    let pot = Money::sum(targets.iter().map(|target| target.base))?.min(amount_off);
    let pot = capped(Some(pot), limit)?;
    let weight = |target: &Target| if by_quantity { target.units } else { target.base.minor() };
    let weights: Vec<u64> = targets.iter().map(weight).collect();
    let caps: Vec<Money> = targets.iter().map(|target| target.cap).collect();
    let mut gain = empty_gain(cart);
    for (target, share) in targets.iter().zip(spread(pot, &weights, &caps)) {
        set(&mut gain, target, share);
    }
    Some(gain)
}

/// Takes `off` from each target, cut at its cap, until the limit over all lines is used up.
fn per_line(
    cart: &Cart,
    targets: &[Target],
    limit: Option<Money>,
    off: impl Fn(&Target) -> Option<Money>,
) -> Option<Gain> {
    let mut gain = empty_gain(cart);
    let mut left = limit;
    for target in targets {
        let wanted = off(target)?.min(target.cap);
        let given = left.map_or(wanted, |left| wanted.min(left));
        left = left.map(|left| left.less(given));
        set(&mut gain, target, given);
    }
    Some(gain)
}

/// The lines with units in scope and an amount, in the order of the request. Of a line that is only partly in scope,
/// base and cap are its share (calculation.md section 19, D4); free units are never in scope (D3).
fn targets(cart: &Cart, base: Base<'_>, eligible: &[u64]) -> Vec<Target> {
    let mut targets = Vec::new();
    for (place, (line, units)) in cart.lines.iter().zip(eligible).enumerate() {
        if *units == 0 || line.amount.is_none() {
            continue;
        }
        let initial = match base {
            Base::Discounted => None,
            Base::Initial(initial) => initial.lines.get(place).and_then(|line| line.amount),
        };
        let paid = line.quantity.saturating_sub(line.free);
        let cap = part(line, line.subtotal(), *units, paid);
        let base = initial.map_or(cap, |amount| part(line, amount, *units, line.quantity));
        targets.push(Target { place, units: *units, base, cap });
    }
    targets
}

fn part(line: &Line, whole: Money, units: u64, of: u64) -> Money {
    if units >= of || line.quantity == 0 {
        return whole;
    }
    whole.portion(units, of).unwrap_or(whole)
}

fn capped(amount: Option<Money>, limit: Option<Money>) -> Option<Money> {
    let amount = amount?;
    Some(limit.map_or(amount, |limit| limit.min(amount)))
}

fn empty_gain(cart: &Cart) -> Gain {
    Gain { order: None, lines: vec![None; cart.lines.len()] }
}

fn set(gain: &mut Gain, target: &Target, off: Money) {
    if let Some(line) = gain.lines.get_mut(target.place) {
        *line = Some(off);
    }
}
