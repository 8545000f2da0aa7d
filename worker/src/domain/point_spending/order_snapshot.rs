//! Stored snapshot of the goods of an order, for later refunds.

use crate::store::records::OrderSnapshotRecord;
use crate::store::sql::Fault;
use scrip::decide::returns::OrderSnapshot;
use serde_json::{Value as Json, json};

/// Converts a snapshot to the JSON of a row.
pub fn snapshot_json(snapshot: &OrderSnapshot) -> Json {
    let goods = snapshot.goods.iter().map(|goods| json!([goods.name.as_str(), goods.quantity, goods.amount]));
    let goods: Vec<Json> = goods.collect();
    json!({ "amount": snapshot.amount, "goods": goods })
}

/// Reads the snapshot of a row. Fails if a part of it is unreadable.
pub fn read_snapshot(stored: &Json) -> Result<OrderSnapshot, Fault> {
    let stored = OrderSnapshotRecord::of_value(stored);
    Ok(OrderSnapshot { amount: stored.amount()?, goods: stored.goods()? })
}
