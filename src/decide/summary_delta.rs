//! Defines the increments of a decision to the counts in a customer's summary.
//!
//! docs/spec/objects.md#4.

use crate::model::order::{Order, OrderStatus};
use crate::model::redemption::SpentUnits;
use crate::money::Money;
use crate::pricing::Cart;
use crate::text::Text;
use crate::time::Instant;

/// Increments of the redemption counts of a customer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SummaryDelta {
    /// Redemptions that succeeded.
    pub succeeded: i64,
    /// Redemptions that failed.
    pub failed: i64,
    /// Redemptions that were rolled back.
    pub rolled_back: i64,
    /// Rollbacks that failed.
    pub rollback_failed: i64,
    /// Gift credits spent, in minor units; negative when refunded.
    pub credits: i64,
    /// Points of loyalty cards spent; negative when refunded.
    pub points: i64,
}

impl SummaryDelta {
    /// Returns the increments when parts of a request spend with cards; `None` beyond 64 bits.
    pub fn spent(parts: impl Iterator<Item = SpentUnits>) -> Option<SummaryDelta> {
        parts.into_iter().try_fold(SummaryDelta::default(), |sum, part| sum.plus(part, 1))
    }

    /// Returns the increments when cards get back their spending; `None` beyond 64 bits.
    pub fn refunded(parts: impl Iterator<Item = SpentUnits>) -> Option<SummaryDelta> {
        parts.into_iter().try_fold(SummaryDelta::default(), |sum, part| sum.plus(part, -1))
    }

    fn plus(self, part: SpentUnits, sign: i64) -> Option<SummaryDelta> {
        let change = i64::try_from(part.amount()).ok()?.checked_mul(sign)?;
        Some(match part {
            SpentUnits::Credits(_) => SummaryDelta { credits: self.credits.checked_add(change)?, ..self },
            SpentUnits::Points(_) => SummaryDelta { points: self.points.checked_add(change)?, ..self },
        })
    }
}

/// The count of an order: a paid or fulfilled order counts for its customer, a canceled one for none. So all sums
/// follow from the present orders, regardless of their history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedAs {
    /// The customer of the order.
    pub customer_id: Text,
    /// The total.
    pub total: Money,
    /// The creation time of the order.
    pub made_at: Option<Instant>,
}

impl CountedAs {
    /// Returns the count of an order with this total.
    pub fn of(order: &Order, total: Option<Money>) -> Option<CountedAs> {
        match order.status? {
            OrderStatus::Paid | OrderStatus::Fulfilled => Some(CountedAs {
                customer_id: order.customer_id.clone()?,
                // An order without an amount adds nothing to the sum.
                total: total.unwrap_or_default(),
                made_at: order.created_at,
            }),
            OrderStatus::Created | OrderStatus::Canceled => None,
        }
    }

    /// Returns the count of a stored order.
    pub fn stored(order: &Order) -> Option<CountedAs> {
        CountedAs::of(order, Cart::stored(order).total())
    }
}

/// An increment of the order counts in a customer's summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderCount {
    /// The customer of the summary.
    pub customer_id: Text,
    /// Minor units; negative when taken back.
    pub total: i64,
    /// 1 for an order that counts now, -1 for one that does not count any more, 0 for one with another total.
    pub count: i64,
    /// The creation time of the order.
    pub made_at: Option<Instant>,
}

/// Returns the increments when the count of an order changes.
pub fn recount(before: Option<CountedAs>, after: Option<CountedAs>) -> Vec<OrderCount> {
    let add = |is: CountedAs| OrderCount {
        total: is.total.signed(),
        customer_id: is.customer_id,
        count: 1,
        made_at: is.made_at,
    };
    let take = |was: CountedAs| OrderCount {
        total: Money::ZERO.difference_from(was.total),
        customer_id: was.customer_id,
        count: -1,
        made_at: was.made_at,
    };
    match (before, after) {
        (Some(was), Some(is)) if was == is => Vec::new(),
        (Some(was), Some(is)) if was.customer_id == is.customer_id => {
            let total = is.total.difference_from(was.total);
            vec![OrderCount { customer_id: is.customer_id, total, count: 0, made_at: is.made_at }]
        }
        (was, is) => was.map(take).into_iter().chain(is.map(add)).collect(),
    }
}
