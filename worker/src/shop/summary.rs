//! What a customer redeemed and paid, as counts that decisions add to. It must not know what was decided.
//!
//! objects.md section 4.

use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::decide::{OrderCount, Tally};
use scrip::time::Instant;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// Amounts are minor units. What is left on cards (`_to_go`) is nothing here: it is told when a customer is shown.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Summary {
    redemptions: Redemptions,
    orders: Orders,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Redemptions {
    total_redeemed: i64,
    total_failed: i64,
    total_succeeded: i64,
    total_rolled_back: i64,
    total_rollback_failed: i64,
    total_rollback_succeeded: i64,
    gift: Gift,
    loyalty_card: LoyaltyCard,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Gift {
    redeemed_amount: i64,
    amount_to_go: i64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct LoyaltyCard {
    redeemed_points: i64,
    points_to_go: i64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Orders {
    total_amount: i64,
    total_count: i64,
    average_amount: i64,
    last_order_amount: i64,
    last_order_date: Option<String>,
}

/// Of somebody who has done nothing.
pub fn empty() -> Json {
    serde_json::to_value(Summary::default()).unwrap_or(Json::Null)
}

/// Adds what happened to the summary in a stored customer, of orders what is theirs.
pub fn count(document: &mut Document, tally: &Tally, orders: &[OrderCount], now_ms: i64) -> Result<(), Fault> {
    let own = orders.iter().filter(|order| order.customer_id == document.id.as_str());
    change(&mut document.body, "summary", |summary: &mut Summary| {
        summary.redemptions.add(tally);
        own.for_each(|order| summary.orders.add(order, now_ms));
    })
}

/// Looks up once the orders are written which one of theirs was made last, for everybody of whose orders another may be that now: one
/// that is made by this call is the last anyway.
pub fn find_last_orders(store: &mut Store<'_>, orders: &[OrderCount], now_ms: i64) {
    for order in orders.iter().filter(|order| order.count <= 0 || order.made_at.is_none_or(|at| at.millis() < now_ms)) {
        let last = |what: &str| {
            format!(
                "(SELECT json_extract(body, '$.{what}') FROM document INDEXED BY order_counted WHERE kind = 'order' AND holder = +?1
                   AND json_extract(body, '$.status') IN ('PAID', 'FULFILLED') ORDER BY created_at DESC, seq DESC LIMIT 1)"
            )
        };
        let statement = format!(
            "UPDATE document SET body = json_set(body, '$.summary.orders.last_order_amount', COALESCE({}, 0),
               '$.summary.orders.last_order_date', {}) WHERE kind = 'customer' AND id = +?1",
            last("total_amount"),
            last("created_at")
        );
        let id = order.customer_id.as_str();
        store.write_to(("customer", id), statement, vec![id.into()]);
    }
}

/// Changes counts that are a member of a stored customer; one who has none begins with none.
pub fn change<T: DeserializeOwned + Serialize + Default>(
    customer: &mut Map<String, Json>,
    name: &str,
    change: impl FnOnce(&mut T),
) -> Result<(), Fault> {
    let unread = |error| Fault::new(format!("the stored {name} of a customer does not read: {error}"));
    let stored = customer.remove(name).filter(|stored| !stored.is_null());
    let mut counts: T = stored.map(serde_json::from_value).transpose().map_err(unread)?.unwrap_or_default();
    change(&mut counts);
    customer.insert(name.into(), serde_json::to_value(&counts).map_err(unread)?);
    Ok(())
}

fn add(sum: &mut i64, amount: i64) {
    *sum = sum.saturating_add(amount);
}

impl Redemptions {
    fn add(&mut self, tally: &Tally) {
        add(&mut self.total_redeemed, tally.succeeded.saturating_sub(tally.rolled_back));
        add(&mut self.total_succeeded, tally.succeeded);
        add(&mut self.total_failed, tally.failed);
        add(&mut self.total_rolled_back, tally.rolled_back);
        add(&mut self.total_rollback_succeeded, tally.rolled_back);
        add(&mut self.total_rollback_failed, tally.rollback_failed);
        add(&mut self.gift.redeemed_amount, tally.credits);
        add(&mut self.loyalty_card.redeemed_points, tally.points);
    }
}

impl Orders {
    fn add(&mut self, order: &OrderCount, now_ms: i64) {
        add(&mut self.total_amount, order.total);
        add(&mut self.total_count, order.count);
        // Half up, as every amount; nothing of nothing.
        let halves = self.total_amount.saturating_mul(2).saturating_add(self.total_count);
        self.average_amount = halves.checked_div(self.total_count.saturating_mul(2)).unwrap_or(0);
        // The last one is the one that was made last, whenever it was paid; what comes to be that by another that is gone is looked up.
        let made_at = crate::moment::text(order.made_at.map_or(now_ms, Instant::millis));
        if order.count > 0 && self.last_order_date.as_ref().is_none_or(|last| *last <= made_at) {
            self.last_order_amount = order.total;
            self.last_order_date = Some(made_at);
        }
    }
}
