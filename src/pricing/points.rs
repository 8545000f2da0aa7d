//! Decides what points of a loyalty card pay of an order, and how many that takes. It must not know cards or rewards.
//!
//! calculation.md section 10.3.

use crate::model::reward::Coin;
use crate::money::Money;
use crate::pricing::{Cart, Gain};

/// Points that were spent, and what they gave.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PointsPaid {
    /// How many.
    pub points: u64,
    /// What they took off.
    pub gain: Gain,
}

/// Pays with `wanted` points, parts of a block included; or, when the request does not say how many, with as many whole
/// blocks as the order takes and the balance allows. An order with nothing left to pay takes none (calculation.md section
/// 19, D15).
pub fn pay_with_points(coin: &Coin, wanted: Option<u64>, balance: u64, cart: &Cart) -> PointsPaid {
    let total = cart.total().unwrap_or_default();
    let wanted = if total.is_zero() { Some(0) } else { wanted };
    let points = wanted.unwrap_or_else(|| {
        let needed = total.minor().div_ceil(coin.value.minor().max(1));
        let blocks = needed.min(balance.checked_div(coin.points).unwrap_or(0));
        blocks.saturating_mul(coin.points)
    });
    let worth = u128::from(points).saturating_mul(u128::from(coin.value.minor()));
    let twice = worth.saturating_mul(2).saturating_add(u128::from(coin.points));
    let worth = twice.checked_div(u128::from(coin.points).saturating_mul(2)).unwrap_or(0);
    let paid = Money::from_wide(worth).map_or(total, |worth| worth.min(total));
    PointsPaid { points, gain: Gain::of_order(Some(paid)) }
}
