//! Decides what a decision adds to the counts in a customer's summary. It must not know how a summary is kept.
//!
//! objects.md section 4.

use crate::model::order::{Order, OrderStatus};
use crate::money::Money;
use crate::pricing::Cart;

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
    /// The order that was paid, or is not any more.
    pub order: Option<OrderCount>,
}

/// An order that counts for its customer, or does not count any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderCount {
    /// What it comes to, in minor units; below zero when it is taken back.
    pub total: i64,
    /// 1, or -1 when it is taken back.
    pub count: i64,
}

impl OrderCount {
    /// An order counts each time that it becomes paid, and no more when it is canceled then. `paid` is what it came to before, if it
    /// was paid; `total` is what it comes to now.
    pub fn of(paid: Option<Money>, status: Option<OrderStatus>, total: Option<Money>) -> Option<OrderCount> {
        let signed = |total: Money| i64::try_from(total.minor()).unwrap_or(i64::MAX);
        match (status?, paid) {
            (OrderStatus::Paid, None) => Some(OrderCount { total: signed(total.unwrap_or_default()), count: 1 }),
            (OrderStatus::Canceled, Some(paid)) => Some(OrderCount { total: signed(paid).saturating_neg(), count: -1 }),
            (OrderStatus::Paid, Some(_)) | (OrderStatus::Canceled, None) => None,
            (OrderStatus::Created | OrderStatus::Fulfilled, _) => None,
        }
    }
}

/// What a stored order came to, if it was paid.
pub fn paid_total(stored: &Order) -> Option<Money> {
    let is_paid = stored.status == Some(OrderStatus::Paid);
    is_paid.then(|| Cart::stored(stored).total().unwrap_or_default())
}

/// The sum of what parts of a request took.
pub(super) fn sum(parts: impl Iterator<Item = u64>) -> i64 {
    i64::try_from(parts.fold(0, u64::saturating_add)).unwrap_or(i64::MAX)
}
