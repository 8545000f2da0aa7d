//! Decides which share of an order was returned since it was paid: by its amount, or by its goods.
//!
//! The meaning of the modes of docs/spec/loyalty.md#3, `refunds.spent_points`, for a part of an order is not published.
//! Here `REFUND_ALL` is all or nothing, `REFUND_ITEM` uses the returned goods, and `REFUND_AMOUNT` the amount. A fixed
//! number of earned points uses the amount; points that depend on the order are computed again
//! (`decide/earn/order_points`). Amounts before discounts count, because a later discount is no return.

use crate::count::{self, Countable, share};
use crate::model::order::{Item, Order, OrderStatus, RelatedObject};
use crate::points::RefundExpiry;
use crate::text::Text;

/// The goods and the amount of an order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OrderSnapshot {
    /// The amount in minor units, before discounts and without free units.
    pub amount: u64,
    /// The goods, each once.
    pub goods: Vec<BoughtGoods>,
}

/// Goods of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoughtGoods {
    /// Name of the goods; empty for all without a name.
    pub name: Text,
    /// The number of units.
    pub quantity: u64,
    /// The amount in minor units.
    pub amount: u64,
}

/// The returned share of a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReturnedShare {
    back: u64,
    total: u64,
}

impl ReturnedShare {
    /// The whole.
    pub const ALL: ReturnedShare = ReturnedShare { back: 1, total: 1 };
    /// No share.
    pub const NONE: ReturnedShare = ReturnedShare { back: 0, total: 1 };

    /// Returns whether it is zero.
    pub fn is_none(self) -> bool {
        self.back == 0
    }

    /// Returns whether it is the whole.
    pub fn is_full(self) -> bool {
        self.back >= self.total && self.back > 0
    }

    /// Returns this share of a number of points, rounded down.
    ///
    /// ```
    /// use scrip::decide::returns::{OrderSnapshot, ReturnedShare};
    /// let third = OrderSnapshot { amount: 900, goods: Vec::new() }.returned_amount_share(&OrderSnapshot { amount: 600, goods: Vec::new() });
    /// assert_eq!([third.of(10), ReturnedShare::ALL.of(10), ReturnedShare::NONE.of(10)], [3, 10, 0]);
    /// ```
    pub fn of(self, points: u64) -> u64 {
        if self.is_full() {
            return points;
        }
        share(points, self.back, self.total).map_or(points, |share| share.min(points))
    }
}

impl OrderSnapshot {
    /// Returns the snapshot of an order in its present state.
    pub fn of(order: &Order) -> OrderSnapshot {
        // An order or a line without an amount has none to return.
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min().unwrap_or(0);
        let minor = |amount: Option<crate::money::Money>| amount.map(crate::money::Money::minor);
        let mut bought =
            OrderSnapshot { amount: least(minor(order.amount), minor(order.initial_amount)), goods: Vec::new() };
        for item in &order.items {
            let quantity = least(Some(item.quantity), item.initial_quantity);
            let amount = least(minor(item.amount), minor(item.initial_amount));
            bought.add(name(item), quantity, amount);
        }
        bought
    }

    #[expect(clippy::arithmetic_side_effects, reason = "units and amounts of an order stay within 64 bits")]
    fn add(&mut self, name: Text, quantity: u64, amount: u64) {
        match self.goods.iter_mut().find(|known| known.name == name) {
            Some(known) => {
                known.quantity += quantity;
                known.amount += amount;
            }
            None => self.goods.push(BoughtGoods { name, quantity, amount }),
        }
    }

    /// Returns the returned share of the amount.
    pub fn returned_amount_share(&self, now: &OrderSnapshot) -> ReturnedShare {
        ReturnedShare { back: self.amount.remaining_after(now.amount), total: self.amount }
    }

    /// Returns the returned share of the goods, each weighted by its amount; the share of the amount if the order had
    /// none. `None` if these amounts add up beyond 64 bits.
    pub fn returned_goods_share(&self, now: &OrderSnapshot) -> Option<ReturnedShare> {
        let total = count::total(self.goods.iter().map(|goods| goods.amount))?;
        if total == 0 {
            return Some(self.returned_amount_share(now));
        }
        let back = self.goods.iter().map(|goods| {
            // Goods that the order does not have any more were returned.
            let left = now.goods.iter().find(|left| left.name == goods.name).map_or(0, |left| left.quantity);
            let gone = ReturnedShare { back: goods.quantity.remaining_after(left), total: goods.quantity };
            gone.of(goods.amount)
        });
        Some(ReturnedShare { back: count::total(back)?, total })
    }

    /// Returns the share of spent points to refund, for the remaining order; `left` is `None` for a canceled order. `None` if
    /// the amounts of the goods add up beyond 64 bits.
    pub fn refunded_share(&self, mode: RefundExpiry, left: Option<&OrderSnapshot>) -> Option<ReturnedShare> {
        let Some(left) = left else { return Some(ReturnedShare::ALL) };
        Some(match mode {
            RefundExpiry::All if left.amount == 0 && self.amount > 0 => ReturnedShare::ALL,
            RefundExpiry::All => ReturnedShare::NONE,
            RefundExpiry::Item => self.returned_goods_share(left)?,
            RefundExpiry::Amount => self.returned_amount_share(left),
        })
    }
}

/// Returns whether units of an order in a status can be returned: before payment the order can still be changed.
pub fn is_returnable(status: OrderStatus) -> bool {
    match status {
        OrderStatus::Paid | OrderStatus::Fulfilled => true,
        OrderStatus::Created | OrderStatus::Canceled => false,
    }
}

/// Returns the name of the goods of a line, independent of the line.
fn name(item: &Item) -> Text {
    let name = item.names(RelatedObject::Sku).chain(item.names(RelatedObject::Product)).next();
    name.or(item.source_id.as_ref()).cloned().unwrap_or_else(|| "".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bought(amount: u64, goods: &[(&str, u64, u64)]) -> OrderSnapshot {
        let goods = goods.iter().map(|(name, quantity, amount)| BoughtGoods {
            name: (*name).into(),
            quantity: *quantity,
            amount: *amount,
        });
        OrderSnapshot { amount, goods: goods.collect() }
    }

    #[test]
    fn each_mode_uses_its_own_base() {
        let was = bought(1_000, &[("mug", 4, 400), ("tea", 1, 600)]);
        let back = |mode, left: &OrderSnapshot| was.refunded_share(mode, Some(left)).unwrap().of(100);
        // Two mugs were returned.
        let fewer = bought(800, &[("mug", 2, 200), ("tea", 1, 600)]);
        let modes = [RefundExpiry::All, RefundExpiry::Item, RefundExpiry::Amount];
        assert_eq!(modes.map(|mode| back(mode, &fewer)), [0, 20, 20]);
        // The tea is cheaper now: no goods were returned.
        let cheaper = bought(700, &[("mug", 4, 400), ("tea", 1, 300)]);
        assert_eq!(modes.map(|mode| back(mode, &cheaper)), [0, 0, 30]);
        // The tea was returned, and other goods were added.
        let other = bought(1_000, &[("mug", 4, 400), ("cup", 1, 600)]);
        assert_eq!(modes.map(|mode| back(mode, &other)), [0, 60, 0]);
        assert_eq!(modes.map(|mode| back(mode, &bought(0, &[]))), [100; 3]);
        assert_eq!(modes.map(|mode| was.refunded_share(mode, None).unwrap().of(100)), [100; 3]);
        assert_eq!(modes.map(|mode| back(mode, &bought(2_000, &[("mug", 8, 800), ("tea", 2, 1_200)]))), [0; 3]);
    }

    #[test]
    fn goods_whose_amounts_leave_their_bounds_have_no_share() {
        let was = bought(1_000, &[("mug", 1, u64::MAX), ("tea", 1, 1)]);
        assert_eq!(was.refunded_share(RefundExpiry::Item, Some(&bought(500, &[]))), None);
        assert_eq!(was.refunded_share(RefundExpiry::Amount, Some(&bought(500, &[]))).unwrap().of(10), 5);
    }

    #[test]
    fn free_orders_return_nothing_until_they_are_canceled() {
        let (free, paid) = (bought(0, &[]), bought(500, &[]));
        for mode in [RefundExpiry::All, RefundExpiry::Item, RefundExpiry::Amount] {
            assert_eq!(free.refunded_share(mode, Some(&paid)), free.refunded_share(mode, Some(&free)));
            assert_eq!(free.refunded_share(mode, Some(&free)).unwrap().of(9), 0);
            assert_eq!(free.refunded_share(mode, None).unwrap().of(9), 9);
        }
    }
}
