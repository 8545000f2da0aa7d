//! Divides one amount among lines so that the shares add up to it exactly.
//!
//! docs/spec/calculation.md#1.5: largest remainder, ties to the lower line; 5.7: a rest beyond the cap of a line goes
//! to the others in order.

use crate::count::{Countable, product};
use crate::money::Money;

/// The share of a line in a divided amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpreadShare {
    /// The line.
    pub position: usize,
    /// The amount of the share.
    pub given: Money,
    weight: u64,
    cap: Money,
    /// The distance of its remainder from the whole.
    below: u64,
}

impl SpreadShare {
    /// Returns an empty share of a line with this weight, at most `cap`.
    pub fn new(position: usize, weight: u64, cap: Money) -> SpreadShare {
        SpreadShare { position, given: Money::ZERO, weight, cap, below: 0 }
    }
}

/// Divides `amount` by weight; no share exceeds its cap, and the shares add up to the amount or to all caps. Without
/// any weight every share is 0.
///
/// ```
/// use scrip::{money::Money, pricing::spread::{SpreadShare, spread}};
/// let money = |minor| Money::new(minor).unwrap();
/// // docs/spec/calculation.md#17, example 43.
/// let mut shares = [0, 1, 2].map(|place| SpreadShare::new(place, 3333, money(3333)));
/// spread(money(1000), &mut shares);
/// assert_eq!(shares.map(|share| share.given), [money(334), money(333), money(333)]);
/// ```
pub fn spread(amount: Money, shares: &mut [SpreadShare]) {
    // At most 500 weights of at most 2^53 each stay far below 2^64.
    let total: u64 = shares.iter().map(|share| share.weight).sum();
    if total == 0 {
        return;
    }
    let mut missing = amount;
    for share in shares.iter_mut() {
        let (floor, remainder) = divide(amount.minor(), share.weight, total);
        // A part of the amount is never beyond the bounds of the amount.
        share.given = Money::from_wide(u128::from(floor)).unwrap_or_default();
        share.below = total.remaining_after(remainder);
        missing = missing.remaining_after(share.given);
    }
    if !missing.is_zero() {
        // The largest remainder has the smallest distance from the whole.
        let mut order: Vec<&mut SpreadShare> = shares.iter_mut().collect();
        order.sort_by_cached_key(|share| share.below);
        // Less is missing than there are shares, and no list is longer than memory.
        for share in order.into_iter().take(usize::try_from(missing.minor()).unwrap_or(usize::MAX)) {
            // A share is below the amount by its remainder, so one more unit fits.
            share.given = share.given.checked_add(Money::UNIT).unwrap_or(share.given);
        }
    }
    cut_to_caps(shares);
}

/// Returns `amount * weight / total` and its remainder; in 64 bits if they suffice, which is nearly always.
fn divide(amount: u64, weight: u64, total: u64) -> (u64, u64) {
    if let Some(product) = amount.checked_mul(weight) {
        // The total is not 0.
        return (product.checked_div(total).unwrap_or(0), product.checked_rem(total).unwrap_or(0));
    }
    let product = product(amount, weight);
    // No weight is above the total, so that the results are at most the amount and the total.
    let narrow = |number: Option<u128>| number.and_then(|number| u64::try_from(number).ok()).unwrap_or(0);
    (narrow(product.checked_div(u128::from(total))), narrow(product.checked_rem(u128::from(total))))
}

/// Limits shares to their caps, and gives the rest to the other lines, in order, up to their caps.
fn cut_to_caps(shares: &mut [SpreadShare]) {
    let Some(mut cut) = Money::sum(shares.iter().map(|share| share.given.remaining_after(share.cap))) else { return };
    for share in shares.iter_mut() {
        share.given = share.given.min(share.cap);
    }
    if cut.is_zero() {
        return;
    }
    for share in shares.iter_mut().filter(|share| share.weight > 0) {
        let more = share.cap.remaining_after(share.given).min(cut);
        // It grows at most to its cap.
        share.given = share.given.checked_add(more).unwrap_or(share.given);
        cut = cut.remaining_after(more);
    }
}
