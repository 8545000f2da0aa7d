//! Computes the money that one discount or gift card takes off a cart.
//!
//! docs/spec/calculation.md sections 5.1 to 5.8 and 9. An order-level gain never exceeds the amount still to pay,
//! regardless of the base, and an item-level gain never exceeds the line's subtotal. Of several limits the smallest
//! counts (7.4).

use crate::model::discount::{AmountEffect, Discount, GiftEffect};
use crate::model::scope::{Scope, ScopeEntry};
use crate::money::Money;
use crate::pricing::cart::{Cart, Line};
use crate::pricing::gain::{CoveredUnits, Gain};
use crate::pricing::numbers::NumberResolver;
use crate::pricing::spread::{SpreadShare, spread};

/// The base of a discount (docs/spec/calculation.md#5).
#[derive(Debug, Clone, Copy)]
pub enum DiscountBase<'a> {
    /// The amount after earlier discounts.
    Discounted,
    /// The order before all discounts.
    Initial(&'a Cart),
}

/// The error of a gift card for items without an eligible line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoLines;

/// The input of item-level discounts: the cart, the base, the lines in scope and the scope.
#[derive(Clone, Copy)]
pub struct LinesInScope<'a> {
    /// The present order.
    pub cart: &'a Cart,
    /// The base of the discount.
    pub base: DiscountBase<'a>,
    /// The scope.
    pub scope: &'a Scope,
    /// The units in scope, as [`crate::pricing::select::select`] found them.
    pub covered: &'a [CoveredUnits],
}

/// A line in scope: its position, the base of the discount, and the maximum discount.
struct DiscountTarget<'a> {
    position: usize,
    units: u64,
    /// The amount of which the base is a share, the units of the share and those of the whole.
    part_of_line: PartOfLine,
    cap: Money,
    /// The entry that covers it, and its position in the scope.
    entry: Option<(usize, &'a ScopeEntry)>,
}

impl DiscountTarget<'_> {
    fn base(&self) -> Money {
        self.part_of_line.worth()
    }
}

/// Returns the gain of an order-level discount; `None` on overflow.
pub fn discount_order(discount: &Discount, numbers: &NumberResolver<'_>, base: DiscountBase<'_>) -> Option<Gain> {
    let Some(open) = numbers.cart.total() else { return Some(Gain::default()) };
    let base = match base {
        DiscountBase::Discounted => open,
        // The initial amount of this order excludes the units that became free.
        DiscountBase::Initial(_) => match numbers.cart.initial_amount {
            Some(amount) => amount,
            None => return Some(Gain::default()),
        },
    };
    let off = match discount {
        Discount::Percent { percent_off, amount_limit, .. } => {
            let off = numbers.percent(percent_off, None).checked_mul(numbers.times()).of(base)?;
            off.min(amount_limit.unwrap_or(off))
        }
        Discount::Amount { amount_off, .. } => multiplied(numbers.money(amount_off, None), numbers.times()),
        Discount::Fixed { fixed_amount, .. } => {
            // Without a fixed price nothing is taken off.
            numbers.price(fixed_amount, None).map_or(Money::ZERO, |price| base.remaining_after(price))
        }
        Discount::Unit(_) | Discount::Units(_) => Money::ZERO,
    };
    Some(Gain::of_order(Some(off.min(open))))
}

/// Returns the gain of an item-level discount; `None` on overflow.
pub fn discount_lines(discount: &Discount, numbers: &NumberResolver<'_>, in_scope: LinesInScope<'_>) -> Option<Gain> {
    match discount {
        Discount::Percent { percent_off, amount_limit, aggregated_amount_limit, .. } => {
            per_line(&in_scope, *aggregated_amount_limit, &|target| {
                let percent = numbers.percent(percent_off, Some(target.position)).checked_mul(numbers.times());
                let PartOfLine { amount, units, of } = target.part_of_line;
                let off = if of == 0 { Money::ZERO } else { percent.of_share(amount, units, of)? };
                Some(off.min(amount_limit.unwrap_or(off)))
            })
        }
        Discount::Fixed { fixed_amount, .. } => per_line(&in_scope, None, &|target| {
            let own = target.entry.and_then(|(_, entry)| numbers.price(&entry.price, Some(target.position)));
            let price = own.or_else(|| numbers.price(fixed_amount, Some(target.position)));
            // Without a fixed price nothing is taken off.
            Some(price.map_or(Money::ZERO, |price| target.base().remaining_after(multiplied(price, target.units))))
        }),
        Discount::Amount { amount_off, aggregated_amount_limit, effect } => {
            let limit = *aggregated_amount_limit;
            let value = |target: &DiscountTarget<'_>| numbers.money(amount_off, Some(target.position));
            match effect {
                Some(AmountEffect::ApplyToItemsByQuantity) => {
                    per_line(&in_scope, limit, &|target| Some(multiplied(value(target), target.units)))
                }
                Some(AmountEffect::ApplyToItemsProportionally | AmountEffect::ApplyToItemsProportionallyByQuantity) => {
                    let total_discount = multiplied(numbers.money(amount_off, None), numbers.times());
                    let by_quantity = *effect == Some(AmountEffect::ApplyToItemsProportionallyByQuantity);
                    proportionally(
                        &in_scope,
                        limit.map_or(total_discount, |limit| limit.min(total_discount)),
                        by_quantity,
                    )
                }
                None | Some(AmountEffect::ApplyToOrder | AmountEffect::ApplyToItems) => {
                    per_line(&in_scope, limit, &|target| Some(multiplied(value(target), numbers.times())))
                }
            }
        }
        Discount::Unit(_) | Discount::Units(_) => Some(Gain::default()),
    }
}

/// Returns the gain of gift credits: the requested credits, up to the amount still to pay.
pub fn apply_gift(effect: GiftEffect, credits: Money, in_scope: LinesInScope<'_>) -> Result<Gain, NoLines> {
    // An order without an amount has nothing left to pay.
    let credits = credits.min(in_scope.cart.total().unwrap_or_default());
    if effect == GiftEffect::ApplyToOrder {
        return Ok(Gain::of_order(in_scope.cart.amount.map(|_| credits)));
    }
    // Only a line stops the iteration.
    if each_target(&in_scope, &mut |_| None).is_some() {
        return Err(NoLines);
    }
    // The cap of a line is its maximum; the credits are the limit of all lines.
    Ok(per_line(&in_scope, Some(credits), &|target| Some(target.cap)).unwrap_or_default())
}

/// Returns `amount` multiplied, at most the largest amount: a discount is limited by the amount later.
fn multiplied(amount: Money, times: u64) -> Money {
    amount.capped_mul(times)
}

/// Takes `off` from each target within its cap and its limits. A limit of the discount applies to all lines, that of an
/// entry to the lines that it covers.
fn per_line(
    in_scope: &LinesInScope<'_>,
    limit: Option<Money>,
    off: &dyn Fn(&DiscountTarget<'_>) -> Option<Money>,
) -> Option<Gain> {
    let mut gain = Gain::of_lines(in_scope.cart.lines.len());
    let mut left = limit;
    let mut limits = RemainingLimits::default();
    each_target(in_scope, &mut |target| {
        let mut given = off(target)?.min(target.cap);
        given = given.min(left.unwrap_or(given));
        if in_scope.scope.selective {
            given = limits.allowed_part(target, given);
            limits.take(target, given);
        }
        left = left.map(|left| left.remaining_after(given));
        gain.set(target.position, given);
        Some(())
    })?;
    Some(gain)
}

/// The remaining limits of entries over all their lines: each entry has its own, also if they share a list of targets
/// (docs/spec/calculation.md#19, D2).
#[derive(Default)]
struct RemainingLimits(Vec<(usize, Money)>);

impl RemainingLimits {
    /// Returns the part of a discount that the limits of the line's entry allow.
    fn allowed_part(&self, target: &DiscountTarget<'_>, requested: Money) -> Money {
        let Some((position, entry)) = target.entry else { return requested };
        let of_line = entry.terms.amount_limit.unwrap_or(requested);
        let of_all = entry.terms.aggregated_amount_limit.map_or(requested, |limit| {
            limit.remaining_after(
                // An entry that no line has used yet has its whole limit.
                self.0.iter().find(|(known, _)| *known == position).map_or(Money::ZERO, |(_, taken)| *taken),
            )
        });
        requested.min(of_line).min(of_all)
    }

    /// Records the discount of a line.
    fn take(&mut self, target: &DiscountTarget<'_>, given: Money) {
        let Some((position, _)) = target.entry else { return };
        match self.0.iter_mut().find(|(known, _)| *known == position) {
            // It is subtracted from a limit, which is never larger.
            Some((_, taken)) => *taken = Money::capped_sum([*taken, given]),
            None => self.0.push((position, given)),
        }
    }
}

/// Spreads one amount by the prices of the lines or by their units. A rest beyond the subtotal of a line goes to the
/// others; a rest beyond the limits of its entry is lost (docs/spec/calculation.md#19, D16).
fn proportionally(in_scope: &LinesInScope<'_>, total_discount: Money, by_quantity: bool) -> Option<Gain> {
    let mut shares = Vec::with_capacity(in_scope.covered.len());
    let mut all = Money::ZERO;
    each_target(in_scope, &mut |target| {
        let base = target.base();
        all = all.checked_add(base)?;
        shares.push(SpreadShare::new(
            target.position,
            if by_quantity { target.units } else { base.minor() },
            target.cap,
        ));
        Some(())
    })?;
    if in_scope.scope.selective {
        // Shares are rounded in the order of the lines, regardless of the order of selection.
        shares.sort_by_cached_key(|share| u64::try_from(share.position).unwrap_or(u64::MAX));
    }
    spread(total_discount.min(all), &mut shares);
    let mut gain = Gain::of_lines(in_scope.cart.lines.len());
    for share in &shares {
        gain.set(share.position, share.given);
    }
    if in_scope.scope.selective {
        let mut limits = RemainingLimits::default();
        each_target(in_scope, &mut |target| {
            let share = gain.lines.get(target.position).copied().flatten().unwrap_or_default();
            let given = limits.allowed_part(target, share);
            limits.take(target, given);
            gain.set(target.position, given);
            Some(())
        })?;
    }
    Some(gain)
}

/// Calls `visit` with the lines in scope that have an amount, in the order of selection, until it returns `None`. For a
/// line partly in scope, base and cap are its share (docs/spec/calculation.md#19, D4).
fn each_target(in_scope: &LinesInScope<'_>, visit: &mut dyn FnMut(&DiscountTarget<'_>) -> Option<()>) -> Option<()> {
    for covered in in_scope.covered.iter().filter(|covered| !covered.excluded) {
        let Some(line) = in_scope.cart.lines.get(covered.position).filter(|line| line.amount.is_some()) else {
            continue;
        };
        let open = PartOfLine { amount: line.subtotal(), units: covered.units, of: line.paid_units() };
        let part_of_line = match in_scope.base {
            DiscountBase::Discounted => open,
            DiscountBase::Initial(initial) => {
                initial_base(initial.lines.get(covered.position), covered.units).unwrap_or(open)
            }
        };
        let entry = covered.entry.and_then(|position| Some((position, in_scope.scope.included.get(position)?)));
        visit(&DiscountTarget {
            position: covered.position,
            units: covered.units,
            part_of_line,
            cap: open.worth(),
            entry,
        })?;
    }
    Some(())
}

/// Returns the price of these units before all discounts; units that were free then are excluded
/// (docs/spec/calculation.md section 19, D5).
fn initial_base(line: Option<&Line>, units: u64) -> Option<PartOfLine> {
    let line = line?;
    Some(PartOfLine { amount: line.amount?, units: units.min(line.paid_units()), of: line.quantity })
}

/// Some of the units of a line.
#[derive(Clone, Copy)]
struct PartOfLine {
    /// An amount of all units.
    amount: Money,
    /// Units of the part.
    units: u64,
    /// Units of the line.
    of: u64,
}

impl PartOfLine {
    /// The share that the units have in the amount.
    #[inline]
    fn worth(self) -> Money {
        if self.units >= self.of {
            // A line whose units are all free has nothing left to give.
            return if self.of == 0 { Money::ZERO } else { self.amount };
        }
        self.amount.portion(self.units, self.of).unwrap_or(self.amount)
    }
}
