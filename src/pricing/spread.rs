//! Decides how one amount is shared among lines so that the shares add up to it exactly. It must not know what the
//! lines are.
//!
//! calculation.md section 1.5: largest remainder, ties to the lower line; 5.7: what a line cannot take goes to the
//! others in order.

use crate::money::Money;

/// What a line gets of an amount that is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The line.
    pub place: usize,
    /// What it gets.
    pub given: Money,
    weight: u64,
    cap: Money,
    /// How far its remainder is below the whole.
    below: u64,
}

impl Share {
    /// The share of a line of this weight, at most `cap`; nothing as yet.
    pub fn new(place: usize, weight: u64, cap: Money) -> Share {
        Share { place, given: Money::ZERO, weight, cap, below: 0 }
    }
}

/// Shares `amount` by weight; no share exceeds its cap, and the shares add up to the amount or to all caps.
/// Without any weight there is nothing to share by, and every share is nothing.
///
/// ```
/// use scrip::{money::Money, pricing::spread::{Share, spread}};
/// let money = |minor| Money::new(minor).unwrap();
/// // calculation.md section 17, example 43.
/// let mut shares = [0, 1, 2].map(|place| Share::new(place, 3333, money(3333)));
/// spread(money(1000), &mut shares);
/// assert_eq!(shares.map(|share| share.given), [money(334), money(333), money(333)]);
/// ```
pub fn spread(amount: Money, shares: &mut [Share]) {
    // At most 500 weights of at most 2^53 each stay far below 2^64.
    let total = shares.iter().fold(0, |total: u64, share| total.saturating_add(share.weight));
    if total == 0 {
        return;
    }
    let mut missing = amount;
    for share in shares.iter_mut() {
        let (floor, remainder) = divide(amount.minor(), share.weight, total);
        share.given = Money::from_wide(u128::from(floor)).unwrap_or_default();
        share.below = total.saturating_sub(remainder);
        missing = missing.saturating_sub(share.given);
    }
    if !missing.is_zero() {
        // The largest remainder is the one that is least below the whole.
        let mut order: Vec<&mut Share> = shares.iter_mut().collect();
        order.sort_by_cached_key(|share| share.below);
        for share in order.into_iter().take(usize::try_from(missing.minor()).unwrap_or(usize::MAX)) {
            share.given = share.given.checked_add(Money::UNIT).unwrap_or(share.given);
        }
    }
    cut_to_caps(shares);
}

/// `amount * weight / total` and its remainder; in 64 bits where they are enough, which is nearly always.
fn divide(amount: u64, weight: u64, total: u64) -> (u64, u64) {
    if let Some(product) = amount.checked_mul(weight) {
        return (product.checked_div(total).unwrap_or(0), product.checked_rem(total).unwrap_or(0));
    }
    let product = u128::from(amount).saturating_mul(u128::from(weight));
    let narrow = |number: Option<u128>| number.and_then(|number| u64::try_from(number).ok()).unwrap_or(0);
    (narrow(product.checked_div(u128::from(total))), narrow(product.checked_rem(u128::from(total))))
}

/// Cuts shares at their caps and hands what was cut to the other lines, in order, while they have room.
fn cut_to_caps(shares: &mut [Share]) {
    let mut cut: u64 = 0;
    for share in shares.iter_mut() {
        cut = cut.saturating_add(share.given.saturating_sub(share.cap).minor());
        share.given = share.given.min(share.cap);
    }
    if cut == 0 {
        return;
    }
    let mut cut = Money::from_wide(u128::from(cut)).unwrap_or(Money::MAX);
    for share in shares.iter_mut().filter(|share| share.weight > 0) {
        let more = share.cap.saturating_sub(share.given).min(cut);
        share.given = share.given.checked_add(more).unwrap_or(share.given);
        cut = cut.saturating_sub(more);
    }
}
