//! What a rule says of the lines that are discounted: included and excluded goods, which of them, and how many.

use crate::shops::chance::Chance;
use crate::shops::shop::Book;
use serde_json::{Map, Value as Json, json};

/// A scope for a discount; an entry may say a new price, which matters to a FIXED one.
pub fn make(chance: &mut Chance, book: &Book) -> Json {
    let mut scope = json!({});
    match chance.below(8) {
        0 => scope["included_all"] = true.into(),
        1 => {}
        _ => {
            let count = if chance.once_in(2) { 1 } else { 2 };
            let shared = settings(chance);
            let entries = (0..count).map(|_| {
                let mut entry = goods(chance, book);
                let own = if chance.once_in(4) { settings(chance) } else { shared.clone() };
                entry.extend(own);
                if chance.once_in(4) {
                    entry.insert("price".into(), chance.between(0, 2_000).into());
                }
                Json::Object(entry)
            });
            scope["included"] = entries.collect();
        }
    }
    if chance.once_in(3) || scope == json!({}) {
        scope["excluded"] = json!([goods(chance, book)]);
    }
    scope
}

/// One product, SKU or collection as a rule names it.
pub fn goods(chance: &mut Chance, book: &Book) -> Map<String, Json> {
    let named = match chance.below(6) {
        0 | 1 if !book.skus.is_empty() => {
            let sku = chance.pick(&book.skus);
            json!({ "object": "sku", "id": sku["id"], "product_id": sku["product_id"], "source_id": sku["source_id"] })
        }
        2 => json!({ "object": "products_collection", "id": chance.pick(&book.collections)["id"] }),
        3 if chance.once_in(2) => json!({ "object": "product", "id": "stray-1", "source_id": "stray-1" }),
        3 if chance.once_in(3) => json!({ "object": "products_collection", "id": "pc_a11pr0dUc75" }),
        _ => {
            let product = chance.pick(&book.products);
            let mut named = json!({ "object": "product", "id": product["id"] });
            if chance.once_in(2) {
                named["source_id"] = product["source_id"].clone();
            }
            named
        }
    };
    named.as_object().cloned().unwrap()
}

fn settings(chance: &mut Chance) -> Map<String, Json> {
    let mut entry = Map::new();
    let mut set = |field: &str, value: Json| entry.insert(field.into(), value);
    let effect = *chance.pick(&[
        "APPLY_TO_EVERY",
        "APPLY_TO_EVERY",
        "APPLY_TO_CHEAPEST",
        "APPLY_FROM_CHEAPEST",
        "APPLY_TO_MOST_EXPENSIVE",
        "APPLY_FROM_MOST_EXPENSIVE",
    ]);
    set("effect", effect.into());
    if !effect.starts_with("APPLY_TO_C") && !effect.starts_with("APPLY_TO_M") && chance.once_in(3) {
        set("skip_initially", chance.between(0, 2).into());
        set("repeat", chance.between(1, 3).into());
    }
    if chance.once_in(3) {
        set("target", (*chance.pick(&["ITEM", "UNIT"])).into());
    }
    for (times, field, least, most) in [
        (5, "quantity_limit", 1, 3),
        (5, "aggregated_quantity_limit", 1, 4),
        (6, "amount_limit", 50, 2_000),
        (6, "aggregated_amount_limit", 100, 3_000),
    ] {
        if chance.once_in(times) {
            set(field, chance.between(least, most).into());
        }
    }
    entry
}
