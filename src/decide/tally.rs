//! Decides what a decision adds to the counts in a customer's summary. It must not know how a summary is kept.
//!
//! objects.md section 4.

use crate::model::order::{Order, OrderStatus};
use crate::money::Money;
use crate::pricing::Cart;
use crate::text::Text;
use crate::time::Instant;

/// What happens to the counts of a customer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Redemptions that succeeded.
    pub succeeded: i64,
    /// Redemptions that failed.
    pub failed: i64,
    /// Redemptions that were undone.
    pub rolled_back: i64,
    /// Rollbacks that failed.
    pub rollback_failed: i64,
    /// Gift credits spent, in minor units; below zero when given back.
    pub credits: i64,
    /// Points of loyalty cards spent; below zero when given back.
    pub points: i64,
}

/// What an order counts for: a paid one, also when its goods are on their way, is its customer's. One that is canceled is nobody's any
/// more, so that all sums follow from the orders as they stand, whatever became of them before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// Whose it is.
    pub customer_id: Text,
    /// What it comes to.
    pub total: Money,
    /// When it was made.
    pub made_at: Option<Instant>,
}

impl Counted {
    /// What an order counts for that comes to this.
    pub fn of(order: &Order, total: Option<Money>) -> Option<Counted> {
        match order.status? {
            OrderStatus::Paid | OrderStatus::Fulfilled => Some(Counted {
                customer_id: order.customer_id.clone()?,
                total: total.unwrap_or_default(),
                made_at: order.created_at,
            }),
            OrderStatus::Created | OrderStatus::Canceled => None,
        }
    }

    /// What a stored order counts for.
    pub fn stored(order: &Order) -> Option<Counted> {
        Counted::of(order, Cart::stored(order).total())
    }
}

/// What is added to the counts of orders in a customer's summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderCount {
    /// Whose summary.
    pub customer_id: Text,
    /// Minor units; below zero when they are taken back.
    pub total: i64,
    /// 1 for an order that is theirs now, -1 for one that is not any more, 0 for one that comes to something else.
    pub count: i64,
    /// When the order was made.
    pub made_at: Option<Instant>,
}

/// What becomes of counts when an order that counted for something counts for something else.
pub fn recounted(before: Option<Counted>, after: Option<Counted>) -> Vec<OrderCount> {
    let minor = |total: Money| i64::try_from(total.minor()).unwrap_or(i64::MAX);
    let add =
        |is: Counted| OrderCount { total: minor(is.total), customer_id: is.customer_id, count: 1, made_at: is.made_at };
    let take = |was: Counted| OrderCount {
        total: minor(was.total).saturating_neg(),
        customer_id: was.customer_id,
        count: -1,
        made_at: was.made_at,
    };
    match (before, after) {
        (Some(was), Some(is)) if was == is => Vec::new(),
        (Some(was), Some(is)) if was.customer_id == is.customer_id => {
            let total = minor(is.total).saturating_sub(minor(was.total));
            vec![OrderCount { customer_id: is.customer_id, total, count: 0, made_at: is.made_at }]
        }
        (was, is) => was.map(take).into_iter().chain(is.map(add)).collect(),
    }
}

/// The sum of what parts of a request took.
pub(super) fn sum(parts: impl Iterator<Item = u64>) -> i64 {
    i64::try_from(parts.fold(0, u64::saturating_add)).unwrap_or(i64::MAX)
}
