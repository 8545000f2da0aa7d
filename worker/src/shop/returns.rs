//! What was bought when an order was paid with points or earned, as rows keep it. It must not know what becomes of it.

use scrip::decide::returned::{Bought, BoughtGoods};
use scrip::text::Text;
use serde_json::{Value as Json, json};

/// As a row keeps it.
pub fn write_bought(bought: &Bought) -> Json {
    let goods = bought.goods.iter().map(|goods| json!([goods.name.as_str(), goods.quantity, goods.amount]));
    let goods: Vec<Json> = goods.collect();
    json!({ "amount": bought.amount, "goods": goods })
}

/// The same read again; nothing where a row keeps nothing of the kind, as before parts of orders could come back.
pub fn read_bought(kept: &Json) -> Option<Bought> {
    let amount = kept.get("amount")?.as_u64()?;
    let goods = kept.get("goods").and_then(Json::as_array).into_iter().flatten().filter_map(|goods| {
        let [name, quantity, amount] = goods.as_array()?.as_slice() else { return None };
        Some(BoughtGoods { name: Text::from(name.as_str()?), quantity: quantity.as_u64()?, amount: amount.as_u64()? })
    });
    Some(Bought { amount, goods: goods.collect() })
}
