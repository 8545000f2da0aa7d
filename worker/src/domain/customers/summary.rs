//! Counts of a customer's redemptions and orders, stored in the customer document.
//!
//! docs/spec/objects.md#4.

use crate::store::Store;
use crate::store::amount::CheckedAmount;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::decide::{OrderCount, SummaryDelta};
use scrip::time::Instant;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Amounts are in minor units. Remaining balances (`_to_go`) are zero here: they are computed when a customer is returned.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct CustomerSummary {
    redemptions: RedemptionTotals,
    orders: OrderTotals,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct RedemptionTotals {
    total_redeemed: i64,
    total_failed: i64,
    total_succeeded: i64,
    total_rolled_back: i64,
    total_rollback_failed: i64,
    total_rollback_succeeded: i64,
    gift: GiftTotals,
    loyalty_card: LoyaltyCardTotals,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct GiftTotals {
    redeemed_amount: i64,
    amount_to_go: i64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct LoyaltyCardTotals {
    redeemed_points: i64,
    points_to_go: i64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct OrderTotals {
    total_amount: i64,
    total_count: i64,
    average_amount: i64,
    last_order_amount: i64,
    last_order_date: Option<String>,
}

/// Returns the summary of a customer without redemptions and orders.
pub fn empty() -> Json {
    serde_json::to_value(CustomerSummary::default()).unwrap_or(Json::Null)
}

/// Adds redemptions, and those of the orders that belong to the customer, to the stored summary.
pub fn add_counts(
    document: &mut Document,
    delta: &SummaryDelta,
    orders: &[OrderCount],
    now_ms: i64,
) -> Result<(), Fault> {
    let id = document.id.clone();
    let mut own_orders = orders.iter().filter(|order| order.customer_id == id.as_str());
    change(document, "summary", |summary: &mut CustomerSummary| {
        summary.redemptions.add(delta)?;
        own_orders.try_for_each(|order| summary.orders.add(order, now_ms))
    })
}

/// Looks up the latest paid order of customers after the orders are written. An order created by this call is the latest and
/// needs no query.
pub fn find_last_orders(store: &mut Store<'_>, orders: &[OrderCount], now_ms: i64) {
    for order in orders.iter().filter(|order| order.count <= 0 || order.made_at.is_none_or(|at| at.millis() < now_ms)) {
        store.update_last_order(order.customer_id.as_str());
    }
}

/// Changes counts in a member of a stored customer; a missing member starts from the default.
pub fn change<T: DeserializeOwned + Serialize + Default>(
    customer: &mut Document,
    name: &str,
    change: impl FnOnce(&mut T) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let unreadable = |error| Fault::new(format!("the stored {name} of a customer cannot be read: {error}"));
    let stored = customer.body.remove(name).filter(|stored| !stored.is_null());
    let mut counts: T = stored.map(serde_json::from_value).transpose().map_err(unreadable)?.unwrap_or_default();
    change(&mut counts)?;
    customer.body.insert(name.into(), serde_json::to_value(&counts).map_err(unreadable)?);
    Ok(())
}

fn add(sum: &mut i64, amount: i64) -> Result<(), Fault> {
    *sum = sum.plus(amount)?;
    Ok(())
}

impl RedemptionTotals {
    fn add(&mut self, delta: &SummaryDelta) -> Result<(), Fault> {
        add(&mut self.total_redeemed, delta.succeeded.minus(delta.rolled_back)?)?;
        add(&mut self.total_succeeded, delta.succeeded)?;
        add(&mut self.total_failed, delta.failed)?;
        add(&mut self.total_rolled_back, delta.rolled_back)?;
        add(&mut self.total_rollback_succeeded, delta.rolled_back)?;
        add(&mut self.total_rollback_failed, delta.rollback_failed)?;
        add(&mut self.gift.redeemed_amount, delta.credits)?;
        add(&mut self.loyalty_card.redeemed_points, delta.points)
    }
}

impl OrderTotals {
    fn add(&mut self, order: &OrderCount, now_ms: i64) -> Result<(), Fault> {
        add(&mut self.total_amount, order.total)?;
        add(&mut self.total_count, order.count)?;
        // Rounds half up, like every amount; zero without orders.
        let halves = self.total_amount.plus(self.total_amount)?.plus(self.total_count)?;
        self.average_amount = halves.checked_div(self.total_count.plus(self.total_count)?).unwrap_or(0);
        // The last order is the one created last, regardless of its payment time. When it is removed,
        // [`find_last_orders`] looks up its successor.
        let made_at = crate::timestamp::text(order.made_at.map_or(now_ms, Instant::millis));
        if order.count > 0 && self.last_order_date.as_ref().is_none_or(|last| *last <= made_at) {
            self.last_order_amount = order.total;
            self.last_order_date = Some(made_at);
        }
        Ok(())
    }
}
