//! Generates the scope of a rule: included and excluded goods, the selection among them, and limits.

use crate::shops::random::Random;
use crate::shops::shop::Book;
use serde_json::{Map, Value as Json, json};

/// Generates a scope for a discount; an entry may have a new price, which a FIXED discount uses.
pub fn make(random: &mut Random, book: &Book) -> Json {
    let mut scope = json!({});
    match random.below(8) {
        0 => scope["included_all"] = true.into(),
        1 => {}
        _ => {
            let count = if random.once_in(2) { 1 } else { 2 };
            let shared = settings(random);
            let entries = (0..count).map(|_| {
                let mut entry = goods(random, book);
                let own = if random.once_in(4) { settings(random) } else { shared.clone() };
                entry.extend(own);
                if random.once_in(4) {
                    entry.insert("price".into(), random.between(0, 2_000).into());
                }
                Json::Object(entry)
            });
            scope["included"] = entries.collect();
        }
    }
    if random.once_in(3) || scope == json!({}) {
        scope["excluded"] = json!([goods(random, book)]);
    }
    scope
}

/// Returns one product, SKU or collection as a rule names it.
pub fn goods(random: &mut Random, book: &Book) -> Map<String, Json> {
    let named = match random.below(6) {
        0 | 1 if !book.skus.is_empty() => {
            let sku = random.pick(&book.skus);
            json!({ "object": "sku", "id": sku["id"], "product_id": sku["product_id"], "source_id": sku["source_id"] })
        }
        2 => json!({ "object": "products_collection", "id": random.pick(&book.collections)["id"] }),
        3 if random.once_in(2) => json!({ "object": "product", "id": "stray-1", "source_id": "stray-1" }),
        3 if random.once_in(3) => json!({ "object": "products_collection", "id": "pc_a11pr0dUc75" }),
        _ => {
            let product = random.pick(&book.products);
            let mut named = json!({ "object": "product", "id": product["id"] });
            if random.once_in(2) {
                named["source_id"] = product["source_id"].clone();
            }
            named
        }
    };
    named.as_object().cloned().unwrap()
}

fn settings(random: &mut Random) -> Map<String, Json> {
    let mut entry = Map::new();
    let mut set = |field: &str, value: Json| entry.insert(field.into(), value);
    let effect = *random.pick(&[
        "APPLY_TO_EVERY",
        "APPLY_TO_EVERY",
        "APPLY_TO_CHEAPEST",
        "APPLY_FROM_CHEAPEST",
        "APPLY_TO_MOST_EXPENSIVE",
        "APPLY_FROM_MOST_EXPENSIVE",
    ]);
    set("effect", effect.into());
    if !effect.starts_with("APPLY_TO_C") && !effect.starts_with("APPLY_TO_M") && random.once_in(3) {
        set("skip_initially", random.between(0, 2).into());
        set("repeat", random.between(1, 3).into());
    }
    if random.once_in(3) {
        set("target", (*random.pick(&["ITEM", "UNIT"])).into());
    }
    for (times, field, least, most) in [
        (5, "quantity_limit", 1, 3),
        (5, "aggregated_quantity_limit", 1, 4),
        (6, "amount_limit", 50, 2_000),
        (6, "aggregated_amount_limit", 100, 3_000),
    ] {
        if random.once_in(times) {
            set(field, random.between(least, most).into());
        }
    }
    entry
}
