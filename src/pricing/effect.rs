//! Decides what one discount or gift takes off a cart, in money. It must not know whether it may
//! be applied at all, nor units that come or go.
//!
//! calculation.md sections 5.1 to 5.8 and 9. Whatever the base, an order-level gain never exceeds what is still
//! to be paid, and an item-level gain never exceeds the line's subtotal. Of several limits the smallest counts (7.4).

use crate::model::discount::{AmountEffect, Discount, GiftEffect};
use crate::model::scope::{Entry, Scope};
use crate::money::Money;
use crate::pricing::cart::{Cart, Line};
use crate::pricing::gain::{CoveredUnits, Gain};
use crate::pricing::numbers::Numbers;
use crate::pricing::spread::{Share, spread};

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

/// Where money discounts look: the cart, the base, the lines in reach and the scope that they are in.
#[derive(Clone, Copy)]
pub struct LinesInScope<'a> {
    /// The order as it is.
    pub cart: &'a Cart,
    /// What discounts are computed on.
    pub base: Base<'a>,
    /// The scope.
    pub scope: &'a Scope,
    /// The units that it is about, as [`crate::pricing::select::select`] found them.
    pub covered: &'a [CoveredUnits],
}

/// A line in reach: its place, the base of the discount, and the most it can give.
struct Target<'a> {
    place: usize,
    units: u64,
    /// What the base is a share of, and the units of that share and of the whole.
    whole: (Money, u64, u64),
    cap: Money,
    /// The entry that covers it, and its place in the scope.
    entry: Option<(usize, &'a Entry)>,
}

impl Target<'_> {
    fn base(&self) -> Money {
        share(self.whole)
    }
}

/// What a discount of the whole order takes off; `None` when an amount would grow beyond every bound.
pub fn off_order(discount: &Discount, numbers: &Numbers<'_>, base: Base<'_>) -> Option<Gain> {
    let Some(open) = numbers.cart.total() else { return Some(Gain::default()) };
    let base = match base {
        Base::Discounted => open,
        Base::Initial(initial) => match initial.initial_amount {
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
            numbers.price(fixed_amount, None).map_or(Money::ZERO, |price| base.saturating_sub(price))
        }
        Discount::Unit(_) | Discount::Units(_) => Money::ZERO,
    };
    Some(Gain::of_order(Some(off.min(open))))
}

/// What a discount of lines takes off them; `None` when an amount would grow beyond every bound.
pub fn off_lines(discount: &Discount, numbers: &Numbers<'_>, in_scope: LinesInScope<'_>) -> Option<Gain> {
    match discount {
        Discount::Percent { percent_off, amount_limit, aggregated_amount_limit, .. } => {
            per_line(&in_scope, *aggregated_amount_limit, &|target| {
                let percent = numbers.percent(percent_off, Some(target.place)).checked_mul(numbers.times());
                let (whole, units, of) = target.whole;
                let off = if of == 0 { Money::ZERO } else { percent.of_share(whole, units, of)? };
                Some(off.min(amount_limit.unwrap_or(off)))
            })
        }
        Discount::Fixed { fixed_amount, .. } => per_line(&in_scope, None, &|target| {
            let own = target.entry.and_then(|(_, entry)| numbers.price(&entry.price, Some(target.place)));
            let price = own.or_else(|| numbers.price(fixed_amount, Some(target.place)));
            Some(price.map_or(Money::ZERO, |price| target.base().saturating_sub(multiplied(price, target.units))))
        }),
        Discount::Amount { amount_off, aggregated_amount_limit, effect } => {
            let limit = *aggregated_amount_limit;
            let value = |target: &Target<'_>| numbers.money(amount_off, Some(target.place));
            match effect {
                Some(AmountEffect::ApplyToItemsByQuantity) => {
                    per_line(&in_scope, limit, &|target| Some(multiplied(value(target), target.units)))
                }
                Some(AmountEffect::ApplyToItemsProportionally | AmountEffect::ApplyToItemsProportionallyByQuantity) => {
                    let pot = multiplied(numbers.money(amount_off, None), numbers.times());
                    let by_quantity = *effect == Some(AmountEffect::ApplyToItemsProportionallyByQuantity);
                    proportionally(&in_scope, limit.map_or(pot, |limit| limit.min(pot)), by_quantity)
                }
                None | Some(AmountEffect::ApplyToOrder | AmountEffect::ApplyToItems) => {
                    per_line(&in_scope, limit, &|target| Some(multiplied(value(target), numbers.times())))
                }
            }
        }
        Discount::Unit(_) | Discount::Units(_) => Some(Gain::default()),
    }
}

/// What gift credits cover: as much as is asked and is still to be paid.
pub fn apply_gift(effect: GiftEffect, credits: Money, in_scope: LinesInScope<'_>) -> Result<Gain, NoLines> {
    let credits = credits.min(in_scope.cart.total().unwrap_or_default());
    if effect == GiftEffect::ApplyToOrder {
        return Ok(Gain::of_order(in_scope.cart.amount.map(|_| credits)));
    }
    // Nothing stops it but a line.
    if each_target(&in_scope, &mut |_| None).is_some() {
        return Err(NoLines);
    }
    // The cap of a line is what it can give; the credits are the limit of all.
    Ok(per_line(&in_scope, Some(credits), &|target| Some(target.cap)).unwrap_or_default())
}

/// `amount` so many times, or the largest amount that there is: what is taken off is cut at what is there.
fn multiplied(amount: Money, times: u64) -> Money {
    amount.checked_mul(times).unwrap_or(Money::MAX)
}

/// Takes `off` from each target, cut at its cap and its limits, until the limits over lines are used up: that of the
/// discount over all of them, that of an entry over those that it covers.
fn per_line(
    in_scope: &LinesInScope<'_>,
    limit: Option<Money>,
    off: &dyn Fn(&Target<'_>) -> Option<Money>,
) -> Option<Gain> {
    let mut gain = Gain::of_lines(in_scope.cart.lines.len());
    let mut left = limit;
    let mut purses = Purses::default();
    each_target(in_scope, &mut |target| {
        let mut given = off(target)?.min(target.cap);
        given = given.min(left.unwrap_or(given));
        if in_scope.scope.selective {
            given = purses.most(target, given);
            purses.take(target, given);
        }
        left = left.map(|left| left.saturating_sub(given));
        gain.set(target.place, given);
        Some(())
    })?;
    Some(gain)
}

/// What is left of the limits that entries have over all their lines: each has its own, also where they share a list of
/// targets (calculation.md section 19, D2).
#[derive(Default)]
struct Purses(Vec<(usize, Money)>);

impl Purses {
    /// How much of this a line may be given by the limits of its entry.
    fn most(&self, target: &Target<'_>, wanted: Money) -> Money {
        let Some((place, entry)) = target.entry else { return wanted };
        let of_line = entry.terms.amount_limit.unwrap_or(wanted);
        let of_all = entry.terms.aggregated_amount_limit.map_or(wanted, |limit| {
            limit.saturating_sub(
                self.0.iter().find(|(known, _)| *known == place).map_or(Money::ZERO, |(_, taken)| *taken),
            )
        });
        wanted.min(of_line).min(of_all)
    }

    /// Notes what a line was given.
    fn take(&mut self, target: &Target<'_>, given: Money) {
        let Some((place, _)) = target.entry else { return };
        match self.0.iter_mut().find(|(known, _)| *known == place) {
            Some((_, taken)) => *taken = taken.checked_add(given).unwrap_or(Money::MAX),
            None => self.0.push((place, given)),
        }
    }
}

/// Shares one pot by what the lines cost or by their units. What a line cannot take goes to the others; what the limits
/// of its entry cut off its share goes to nobody (calculation.md section 19, D16).
fn proportionally(in_scope: &LinesInScope<'_>, pot: Money, by_quantity: bool) -> Option<Gain> {
    let mut shares = Vec::with_capacity(in_scope.covered.len());
    let mut all = Money::ZERO;
    each_target(in_scope, &mut |target| {
        let base = target.base();
        all = all.checked_add(base)?;
        shares.push(Share::new(target.place, if by_quantity { target.units } else { base.minor() }, target.cap));
        Some(())
    })?;
    if in_scope.scope.selective {
        // Shares are rounded in the order of the lines, in whatever order they are in reach.
        shares.sort_by_cached_key(|share| u64::try_from(share.place).unwrap_or(u64::MAX));
    }
    spread(pot.min(all), &mut shares);
    let mut gain = Gain::of_lines(in_scope.cart.lines.len());
    for share in &shares {
        gain.set(share.place, share.given);
    }
    if in_scope.scope.selective {
        let mut purses = Purses::default();
        each_target(in_scope, &mut |target| {
            let share = gain.lines.get(target.place).copied().flatten().unwrap_or_default();
            let given = purses.most(target, share);
            purses.take(target, given);
            gain.set(target.place, given);
            Some(())
        })?;
    }
    Some(gain)
}

/// Shows the lines in reach that have an amount, in the order in which they are taken, until one stops it. Of a line that
/// is only partly in reach, base and cap are its share (calculation.md section 19, D4).
fn each_target(in_scope: &LinesInScope<'_>, see: &mut dyn FnMut(&Target<'_>) -> Option<()>) -> Option<()> {
    for covered in in_scope.covered.iter().filter(|covered| !covered.excluded) {
        let Some(line) = in_scope.cart.lines.get(covered.place).filter(|line| line.amount.is_some()) else { continue };
        let open = (line.subtotal(), covered.units, line.paid_units());
        let whole = match in_scope.base {
            Base::Discounted => open,
            Base::Initial(initial) => initial_base(initial.lines.get(covered.place), covered.units).unwrap_or(open),
        };
        let entry = covered.entry.and_then(|place| Some((place, in_scope.scope.included.get(place)?)));
        see(&Target { place: covered.place, units: covered.units, whole, cap: share(open), entry })?;
    }
    Some(())
}

/// What these units cost before all discounts; units that were free then are not among them (calculation.md section
/// 19, D5).
fn initial_base(line: Option<&Line>, units: u64) -> Option<(Money, u64, u64)> {
    let line = line?;
    Some((line.amount?, units.min(line.paid_units()), line.quantity))
}

/// The share that so many of a line's units have in an amount of it.
#[inline]
fn share((whole, units, of): (Money, u64, u64)) -> Money {
    if units >= of {
        // A line whose units are all free has nothing left to give.
        return if of == 0 { Money::ZERO } else { whole };
    }
    whole.portion(units, of).unwrap_or(whole)
}
