//! Stored snapshot of the goods of an order, for later refunds.

use crate::store::records::OrderSnapshotRecord;
use scrip::decide::returns::{BoughtGoods, OrderSnapshot};
use scrip::text::Text;
use serde_json::{Value as Json, json};

/// Converts a snapshot to the JSON of a row.
pub fn snapshot_json(snapshot: &OrderSnapshot) -> Json {
    let goods = snapshot.goods.iter().map(|goods| json!([goods.name.as_str(), goods.quantity, goods.amount]));
    let goods: Vec<Json> = goods.collect();
    json!({ "amount": snapshot.amount, "goods": goods })
}

/// Reads the snapshot of a row; `None` for rows older than snapshots.
pub fn read_snapshot(stored: &Json) -> Option<OrderSnapshot> {
    let stored = OrderSnapshotRecord::of_value(stored);
    let amount = stored.amount()?;
    let goods = stored.goods().iter().filter_map(|goods| {
        let [name, quantity, amount] = goods.as_array()?.as_slice() else { return None };
        Some(BoughtGoods { name: Text::from(name.as_str()?), quantity: quantity.as_u64()?, amount: amount.as_u64()? })
    });
    Some(OrderSnapshot { amount, goods: goods.collect() })
}
