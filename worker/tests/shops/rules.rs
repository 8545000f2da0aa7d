//! Validation rules: who, how much, which goods; and the scope of the discount beside them.

use crate::shops::chance::{Chance, text};
use crate::shops::desk::Desk;
use crate::shops::goods;
use crate::shops::scopes;
use crate::shops::shop::Book;
use serde_json::{Value as Json, json};

pub fn make(chance: &mut Chance, desk: &mut Desk, book: &mut Book) {
    for number in 0..chance.between(4, 7) {
        let mut body = json!({ "name": format!("Rule {number}") });
        if number < 2 || chance.once_in(2) {
            body["applicable_to"] = scopes::make(chance, book);
        }
        if number >= 2 && (body["applicable_to"].is_null() || chance.once_in(2)) {
            body["rules"] = conditions(chance, book);
        }
        let made = desk.make("POST /v1/validation-rules", &body);
        body["id"] = made["id"].clone();
        book.rules.push(body);
    }
}

fn conditions(chance: &mut Chance, book: &Book) -> Json {
    match chance.below(4) {
        3 => {
            json!({ "1": { "name": "order.total_amount", "conditions": bound(chance, 15_000) }, "2": leaf(chance, book), "logic": "1 and 2" })
        }
        0 => {
            json!({ "1": leaf(chance, book), "2": leaf(chance, book), "logic": chance.pick(&["1 and 2", "1 or 2", "1 AND (2)", "2"]) })
        }
        1 => json!({ "1": leaf(chance, book), "logic": "1" }),
        _ => json!({ "1": leaf(chance, book) }),
    }
}

fn bound(chance: &mut Chance, most: i64) -> Json {
    let operator = *chance.pick(&["$more_than", "$less_than", "$more_than_or_equal", "$less_than_or_equal"]);
    json!({ operator: [chance.between(0, most)] })
}

fn leaf(chance: &mut Chance, book: &Book) -> Json {
    match chance.below(14) {
        12 => {
            let kind = *chance.pick(&["product.metadata", "product.metadata", "product.metadata.match_all"]);
            let mut rule =
                json!({ "name": "product.metadata", "property": "brand", "conditions": words(chance, goods::BRANDS) });
            if kind.ends_with("match_all") {
                rule["rules"] = json!({ "1": { "name": kind, "conditions": { "$is": [true] } }, "logic": "1" });
            }
            rule
        }
        13 => {
            json!({ "name": "redemption.count.per_customer", "conditions": { "$less_than_or_equal": [chance.between(1, 2)] } })
        }
        0 | 1 => {
            json!({ "name": chance.pick(&["order.amount", "order.initial_amount"]), "conditions": bound(chance, 20_000) })
        }
        2 => json!({ "name": "order.items.count", "conditions": bound(chance, 8) }),
        3 => {
            json!({ "name": chance.pick(&["order.items.price_any", "order.items.price_each"]), "conditions": bound(chance, 6_000) })
        }
        4 => {
            let kind = *chance.pick(&["order.metadata", "redemption.metadata"]);
            json!({ "name": kind, "property": "lane", "conditions": words(chance, &["fast", "slow"]) })
        }
        5 => {
            let kind = *chance.pick(&["order.items.metadata_any", "order.items.metadata_each"]);
            json!({ "name": kind, "property": "wrap", "conditions": words(chance, &["red", "blue"]) })
        }
        6 if chance.once_in(2) => {
            let id = text(chance.pick(&book.segments), "id");
            json!({ "name": "customer.segment", "conditions": { *chance.pick(&["$is", "$is", "$is_not"]): [id] } })
        }
        6 => {
            json!({ "name": "customer.metadata", "property": "tier", "conditions": words(chance, &["gold", "silver", "new"]) })
        }
        7 => {
            let object = if book.skus.is_empty() || chance.once_in(2) { "product" } else { "sku" };
            let list = if object == "sku" { &book.skus } else { &book.products };
            let named: Vec<Json> = chance
                .some(list, 2)
                .iter()
                .map(|one| json!({ "id": one["id"], "source_id": one["source_id"] }))
                .collect();
            let operator = *chance.pick(&["$is", "$in", "$is_not", "$not_in"]);
            json!({ "name": format!("{object}.id"), "conditions": { operator: named } })
        }
        _ => items(chance, book),
    }
}

fn words(chance: &mut Chance, list: &[&str]) -> Json {
    match chance.below(4) {
        0 | 1 => json!({ "$is": [chance.pick(list)] }),
        2 => json!({ "$in": chance.some(list, 2) }),
        _ => json!({ "$is_not": [chance.pick(list)] }),
    }
}

/// A rule about the lines that match some goods.
fn items(chance: &mut Chance, book: &Book) -> Json {
    let kind = *chance.pick(&["any", "any", "any", "every", "none", "cheapest", "most_expensive"]);
    let named: Vec<Json> = (0..chance.between(1, 2))
        .map(|_| {
            let mut named = Json::Object(scopes::goods(chance, book));
            named["type"] =
                if named["object"] == "products_collection" { "products_collection" } else { "product_or_sku" }.into();
            named
        })
        .collect();
    let mut rule = json!({ "name": format!("order.items.{kind}"), "conditions": { "$is": named } });
    if chance.once_in(6) && matches!(kind, "any" | "cheapest" | "most_expensive") {
        let collection = json!({ "id": chance.pick(&book.collections)["id"], "object": "products_collection", "type": "products_collection" });
        rule["conditions"]["$from"] = json!([collection]);
    }
    if kind != "none" && chance.once_in(3) {
        let (name, most) = *chance.pick(&[
            ("aggregated_amount", 9_000),
            ("aggregated_quantity", 5),
            ("price", 5_000),
            ("quantity", 4),
        ]);
        let sub = json!({ "name": format!("order.items.{name}"), "conditions": bound(chance, most) });
        rule["rules"] = json!({ "1": sub, "logic": "1" });
    }
    rule
}
