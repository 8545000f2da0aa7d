//! Decides how much of an order has come back since it was paid: by its amount, or by its goods. It must not know cards, nor why an
//! order changes.
//!
//! Nobody publishes what the modes of loyalty-v2.md section 3, `refunds.spent_points`, mean for a part of an order: `REFUND_ALL` is all or
//! nothing, `REFUND_ITEM` goes by the goods that are gone, and `REFUND_AMOUNT` by the amount. What was earned goes by the amount. What
//! is before any discount counts, because a discount that comes later is no return.

use crate::model::order::{Item, Order, OrderStatus, RelatedObject};
use crate::points::SpentBack;
use crate::text::Text;

/// What was bought with an order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bought {
    /// What it comes to in minor units, before discounts and without what came free.
    pub amount: u64,
    /// The goods, each once.
    pub goods: Vec<BoughtGoods>,
}

/// Goods of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoughtGoods {
    /// What they are called; nothing for all that have no name.
    pub name: Text,
    /// How many.
    pub quantity: u64,
    /// What they come to.
    pub amount: u64,
}

/// The part of something that has come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    back: u64,
    whole: u64,
}

impl Share {
    /// All of it.
    pub const WHOLE: Share = Share { back: 1, whole: 1 };
    /// Nothing.
    pub const NONE: Share = Share { back: 0, whole: 1 };

    /// Whether it is nothing.
    pub fn is_none(self) -> bool {
        self.back == 0
    }

    /// So many of so many points, rounded down.
    ///
    /// ```
    /// use scrip::decide::returned::{Bought, Share};
    /// let third = Bought { amount: 900, goods: Vec::new() }.amount_back(&Bought { amount: 600, goods: Vec::new() });
    /// assert_eq!([third.of(10), Share::WHOLE.of(10), Share::NONE.of(10)], [3, 10, 0]);
    /// ```
    pub fn of(self, points: u64) -> u64 {
        if self.back >= self.whole && self.back > 0 {
            return points;
        }
        let share = u128::from(points).saturating_mul(self.back.into()).checked_div(self.whole.into()).unwrap_or(0);
        u64::try_from(share).unwrap_or(points).min(points)
    }
}

impl Bought {
    /// What was bought with an order as it stands.
    pub fn of(order: &Order) -> Bought {
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min().unwrap_or(0);
        let minor = |amount: Option<crate::money::Money>| amount.map(crate::money::Money::minor);
        let mut bought = Bought { amount: least(minor(order.amount), minor(order.initial_amount)), goods: Vec::new() };
        for item in &order.items {
            let quantity = least(Some(item.quantity), item.initial_quantity);
            let amount = least(minor(item.amount), minor(item.initial_amount));
            bought.add(name(item), quantity, amount);
        }
        bought
    }

    fn add(&mut self, name: Text, quantity: u64, amount: u64) {
        match self.goods.iter_mut().find(|known| known.name == name) {
            Some(known) => {
                known.quantity = known.quantity.saturating_add(quantity);
                known.amount = known.amount.saturating_add(amount);
            }
            None => self.goods.push(BoughtGoods { name, quantity, amount }),
        }
    }

    /// How much of the amount is gone.
    pub fn amount_back(&self, now: &Bought) -> Share {
        Share { back: self.amount.saturating_sub(now.amount), whole: self.amount }
    }

    /// How much of the goods is gone, each counted with what it came to; by the amount where there were none.
    pub fn goods_back(&self, now: &Bought) -> Share {
        let whole = self.goods.iter().fold(0, |sum: u64, goods| sum.saturating_add(goods.amount));
        if whole == 0 {
            return self.amount_back(now);
        }
        let back = self.goods.iter().fold(0, |sum: u64, goods| {
            let left = now.goods.iter().find(|left| left.name == goods.name).map_or(0, |left| left.quantity);
            let gone = Share { back: goods.quantity.saturating_sub(left), whole: goods.quantity };
            sum.saturating_add(gone.of(goods.amount))
        });
        Share { back, whole }
    }

    /// How much of the points comes back that something was paid with, now that so much is left of it; nothing is of an order that is
    /// called off.
    pub fn spent_back(&self, mode: SpentBack, left: Option<&Bought>) -> Share {
        let Some(left) = left else { return Share::WHOLE };
        match mode {
            SpentBack::All if left.amount == 0 && self.amount > 0 => Share::WHOLE,
            SpentBack::All => Share::NONE,
            SpentBack::Item => self.goods_back(left),
            SpentBack::Amount => self.amount_back(left),
        }
    }
}

/// Whether something of an order that is in a status may come back: before it is paid, it is still being put together.
pub fn may_come_back(status: OrderStatus) -> bool {
    match status {
        OrderStatus::Paid | OrderStatus::Fulfilled => true,
        OrderStatus::Created | OrderStatus::Canceled => false,
    }
}

/// What the goods of a line are called, whichever line they are in.
fn name(item: &Item) -> Text {
    let name = item.names(RelatedObject::Sku).chain(item.names(RelatedObject::Product)).next();
    name.or(item.source_id.as_ref()).cloned().unwrap_or_else(|| "".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bought(amount: u64, goods: &[(&str, u64, u64)]) -> Bought {
        let goods = goods.iter().map(|(name, quantity, amount)| BoughtGoods {
            name: (*name).into(),
            quantity: *quantity,
            amount: *amount,
        });
        Bought { amount, goods: goods.collect() }
    }

    #[test]
    fn each_mode_goes_by_its_own() {
        let was = bought(1_000, &[("mug", 4, 400), ("tea", 1, 600)]);
        let back = |mode, left: &Bought| was.spent_back(mode, Some(left)).of(100);
        // Two mugs are gone.
        let fewer = bought(800, &[("mug", 2, 200), ("tea", 1, 600)]);
        let modes = [SpentBack::All, SpentBack::Item, SpentBack::Amount];
        assert_eq!(modes.map(|mode| back(mode, &fewer)), [0, 20, 20]);
        // The tea is cheaper now: no goods came back.
        let cheaper = bought(700, &[("mug", 4, 400), ("tea", 1, 300)]);
        assert_eq!(modes.map(|mode| back(mode, &cheaper)), [0, 0, 30]);
        // The tea is gone, and something else came.
        let other = bought(1_000, &[("mug", 4, 400), ("cup", 1, 600)]);
        assert_eq!(modes.map(|mode| back(mode, &other)), [0, 60, 0]);
        assert_eq!(modes.map(|mode| back(mode, &bought(0, &[]))), [100; 3]);
        assert_eq!(modes.map(|mode| was.spent_back(mode, None).of(100)), [100; 3]);
        assert_eq!(modes.map(|mode| back(mode, &bought(2_000, &[("mug", 8, 800), ("tea", 2, 1_200)]))), [0; 3]);
    }

    #[test]
    fn nothing_comes_back_of_what_cost_nothing_until_it_is_called_off() {
        let (free, dear) = (bought(0, &[]), bought(500, &[]));
        for mode in [SpentBack::All, SpentBack::Item, SpentBack::Amount] {
            assert_eq!(free.spent_back(mode, Some(&dear)), free.spent_back(mode, Some(&free)));
            assert_eq!(free.spent_back(mode, Some(&free)).of(9), 0);
            assert_eq!(free.spent_back(mode, None).of(9), 9);
        }
    }
}
