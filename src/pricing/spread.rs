//! Decides how one amount is shared among lines so that the shares add up to it exactly. It must not know what the
//! lines are.
//!
//! calculation.md section 1.5: largest remainder, ties to the lower line; 5.7: what a line cannot take goes to the
//! others in order.

use crate::money::Money;

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
    let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    if total == 0 {
        return vec![Money::ZERO; caps.len()];
    }
    let mut parts: Vec<(usize, u128)> = Vec::with_capacity(weights.len());
    let mut shares: Vec<u128> = Vec::with_capacity(weights.len());
    for (place, weight) in weights.iter().enumerate() {
        let product = u128::from(amount.minor()).saturating_mul(u128::from(*weight));
        shares.push(product.checked_div(total).unwrap_or(0));
        parts.push((place, product.checked_rem(total).unwrap_or(0)));
    }
    let floored: u128 = shares.iter().sum();
    let missing = u128::from(amount.minor()).saturating_sub(floored);
    // A stable sort keeps the lower line first among equal remainders.
    parts.sort_by_key(|(_, remainder)| std::cmp::Reverse(*remainder));
    for (place, _) in parts.iter().take(usize::try_from(missing).unwrap_or(usize::MAX)) {
        if let Some(share) = shares.get_mut(*place) {
            *share = share.saturating_add(1);
        }
    }
    cut_to_caps(shares, weights, caps)
}

/// Cuts shares at their caps and hands what was cut to the lines after and before, in order, while they have room.
fn cut_to_caps(shares: Vec<u128>, weights: &[u64], caps: &[Money]) -> Vec<Money> {
    let mut cut: u128 = 0;
    let mut fitting: Vec<u128> = Vec::with_capacity(shares.len());
    for (share, cap) in shares.into_iter().zip(caps) {
        let cap = u128::from(cap.minor());
        cut = cut.saturating_add(share.saturating_sub(cap));
        fitting.push(share.min(cap));
    }
    for ((share, cap), weight) in fitting.iter_mut().zip(caps).zip(weights) {
        let room = u128::from(cap.minor()).saturating_sub(*share);
        let more = if *weight == 0 { 0 } else { room.min(cut) };
        *share = share.saturating_add(more);
        cut = cut.saturating_sub(more);
    }
    let as_money = |share: u128| Money::from_wide(share).unwrap_or(Money::ZERO);
    fitting.into_iter().map(as_money).collect()
}
