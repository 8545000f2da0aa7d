//! Decides how one amount is shared among lines so that the shares add up to it exactly. It must not know what the
//! lines are.
//!
//! calculation.md section 1.5: largest remainder, ties to the lower line; 5.7: what a line cannot take goes to the
//! others in order.

use crate::money::Money;
use crate::rank::ranked;

/// Shares `amount` by weight; no share exceeds its cap, and the shares add up to the amount or to all caps.
/// Without any weight there is nothing to share by, and every share is nothing.
///
/// ```
/// use scrip::{money::Money, pricing::spread::spread};
/// let money = |minor| Money::new(minor).unwrap();
/// // calculation.md section 17, example 43.
/// let shares = spread(money(1000), &[3333; 3], &[money(3333); 3]);
/// assert_eq!(shares, [money(334), money(333), money(333)]);
/// ```
pub fn spread(amount: Money, weights: &[u64], caps: &[Money]) -> Vec<Money> {
    // At most 500 weights of at most 2^53 each stay far below 2^64.
    let total = weights.iter().fold(0, |total: u64, weight| total.saturating_add(*weight));
    if total == 0 {
        return vec![Money::ZERO; caps.len()];
    }
    let mut below: Vec<u64> = Vec::with_capacity(weights.len());
    let mut shares: Vec<u64> = Vec::with_capacity(weights.len());
    let mut missing = amount.minor();
    for weight in weights {
        let (share, remainder) = divide(amount.minor(), *weight, total);
        missing = missing.saturating_sub(share);
        shares.push(share);
        // The largest remainder is the one furthest below the whole.
        below.push(total.saturating_sub(remainder));
    }
    if missing > 0 {
        for place in ranked(below).into_iter().take(usize::try_from(missing).unwrap_or(usize::MAX)) {
            if let Some(share) = shares.get_mut(place) {
                *share = share.saturating_add(1);
            }
        }
    }
    cut_to_caps(&mut shares, weights, caps);
    shares.into_iter().map(|share| Money::from_wide(u128::from(share)).unwrap_or_default()).collect()
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
fn cut_to_caps(shares: &mut [u64], weights: &[u64], caps: &[Money]) {
    let mut cut: u64 = 0;
    for (share, cap) in shares.iter_mut().zip(caps) {
        cut = cut.saturating_add(share.saturating_sub(cap.minor()));
        *share = cap.minor().min(*share);
    }
    if cut == 0 {
        return;
    }
    for ((share, cap), weight) in shares.iter_mut().zip(caps).zip(weights) {
        let room = cap.minor().saturating_sub(*share);
        let more = if *weight == 0 { 0 } else { room.min(cut) };
        *share = share.saturating_add(more);
        cut = cut.saturating_sub(more);
    }
}
