//! Points that changed on cards because an order changed, as its returns contain them.

use scrip::model::order::Order;
use serde_json::Value as Json;

/// Points of one order, by card.
#[derive(Debug, Default)]
pub struct MovedPoints {
    /// Earned points that were revoked.
    pub earned: Vec<Json>,
    /// Spent points that were refunded.
    pub spent: Vec<Json>,
}

impl MovedPoints {
    /// Adds points of another change.
    pub fn add(&mut self, mut others: MovedPoints) {
        self.earned.append(&mut others.earned);
        self.spent.append(&mut others.spent);
    }
}

/// State of an order that earned points.
#[derive(Debug)]
pub enum OrderAfterChange {
    /// It is paid.
    Paid(Box<Order>),
    /// It is unpaid now, and may be paid again.
    Unpaid,
    /// It is canceled for good.
    Canceled,
}

impl OrderAfterChange {
    /// Returns the order if it can earn.
    pub fn earning(&self) -> Option<&Order> {
        match self {
            OrderAfterChange::Paid(order) => Some(order),
            OrderAfterChange::Unpaid | OrderAfterChange::Canceled => None,
        }
    }

    /// Tests if the order can never earn again.
    pub fn is_canceled(&self) -> bool {
        matches!(self, OrderAfterChange::Canceled)
    }
}

/// Order that earned points and has changed.
#[derive(Debug)]
pub struct ChangedOrder {
    /// Id of the order.
    pub id: String,
    /// Its state after the change.
    pub now: OrderAfterChange,
}
