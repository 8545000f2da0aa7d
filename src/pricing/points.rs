//! Computes how much of an order points of a loyalty card pay, and how many points that takes.
//!
//! docs/spec/calculation.md#10.3.

use crate::count::product;
use crate::model::reward::PointsRate;
use crate::money::{Money, round_half_up};
use crate::pricing::{Cart, Gain};

/// The spent points and their gain.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PointsPaid {
    /// The number of points.
    pub points: u64,
    /// The money off the order.
    pub gain: Gain,
}

/// Pays with `requested` points, including parts of a block, but at most the whole blocks that the remaining amount needs
/// (docs/spec/calculation.md#19, D20). Without a number it takes as many of these blocks as the balance allows. An
/// order with nothing left to pay takes none (D15).
pub fn pay_with_points(coin: &PointsRate, requested: Option<u64>, balance: u64, cart: &Cart) -> PointsPaid {
    // An order without an amount has nothing to pay.
    let total = cart.total().unwrap_or_default();
    let needed = total.minor().div_ceil(coin.value.minor().max(1));
    // Nothing is taken beyond what was named, or what the card has.
    let points_of = |blocks: u64, most: u64| blocks.checked_mul(coin.points).map_or(most, |points| points.min(most));
    let points = match requested {
        Some(requested) => points_of(needed, requested),
        // A rate without points takes none.
        None => points_of(needed.min(balance.checked_div(coin.points).unwrap_or(0)), balance),
    };
    // A rate without points takes none (`needed` blocks of no point), and pays nothing.
    let worth = round_half_up(product(points, coin.value.minor()), coin.points.into()).unwrap_or(0);
    // More than the total is cut to it.
    let paid = Money::from_wide(worth).map_or(total, |worth| worth.min(total));
    PointsPaid { points, gain: Gain::of_order(Some(paid)) }
}
