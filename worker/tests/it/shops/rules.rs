//! Generates validation rules about the customer, the amount and the goods, and the scope of their discount.

use crate::shops::goods;
use crate::shops::random::{Random, text};
use crate::shops::scopes;
use crate::shops::service_calls::ServiceCalls;
use crate::shops::shop::Book;
use serde_json::{Value as Json, json};

pub fn make(random: &mut Random, desk: &mut ServiceCalls, book: &mut Book) {
    for number in 0..random.between(4, 7) {
        let mut body = json!({ "name": format!("Rule {number}") });
        if number < 2 || random.once_in(2) {
            body["applicable_to"] = scopes::make(random, book);
        }
        if number >= 2 && (body["applicable_to"].is_null() || random.once_in(2)) {
            body["rules"] = conditions(random, book);
        }
        let made = desk.make("POST /v1/validation-rules", &body);
        body["id"] = made["id"].clone();
        book.rules.push(body);
    }
}

fn conditions(random: &mut Random, book: &Book) -> Json {
    match random.below(4) {
        3 => {
            json!({ "1": { "name": "order.total_amount", "conditions": bound(random, 15_000) }, "2": leaf(random, book), "logic": "1 and 2" })
        }
        0 => {
            json!({ "1": leaf(random, book), "2": leaf(random, book), "logic": random.pick(&["1 and 2", "1 or 2", "1 AND (2)", "2"]) })
        }
        1 => json!({ "1": leaf(random, book), "logic": "1" }),
        _ => json!({ "1": leaf(random, book) }),
    }
}

fn bound(random: &mut Random, most: i64) -> Json {
    let operator = *random.pick(&["$more_than", "$less_than", "$more_than_or_equal", "$less_than_or_equal"]);
    json!({ operator: [random.between(0, most)] })
}

fn leaf(random: &mut Random, book: &Book) -> Json {
    match random.below(14) {
        12 => {
            let kind = *random.pick(&["product.metadata", "product.metadata", "product.metadata.match_all"]);
            let mut rule =
                json!({ "name": "product.metadata", "property": "brand", "conditions": words(random, goods::BRANDS) });
            if kind.ends_with("match_all") {
                rule["rules"] = json!({ "1": { "name": kind, "conditions": { "$is": [true] } }, "logic": "1" });
            }
            rule
        }
        13 => {
            json!({ "name": "redemption.count.per_customer", "conditions": { "$less_than_or_equal": [random.between(1, 2)] } })
        }
        0 | 1 => {
            json!({ "name": random.pick(&["order.amount", "order.initial_amount"]), "conditions": bound(random, 20_000) })
        }
        2 => json!({ "name": "order.items.count", "conditions": bound(random, 8) }),
        3 => {
            json!({ "name": random.pick(&["order.items.price_any", "order.items.price_each"]), "conditions": bound(random, 6_000) })
        }
        4 => {
            let kind = *random.pick(&["order.metadata", "redemption.metadata"]);
            json!({ "name": kind, "property": "lane", "conditions": words(random, &["fast", "slow"]) })
        }
        5 => {
            let kind = *random.pick(&["order.items.metadata_any", "order.items.metadata_each"]);
            json!({ "name": kind, "property": "wrap", "conditions": words(random, &["red", "blue"]) })
        }
        6 if random.once_in(2) => {
            let id = text(random.pick(&book.segments), "id");
            json!({ "name": "customer.segment", "conditions": { *random.pick(&["$is", "$is", "$is_not"]): [id] } })
        }
        6 => {
            json!({ "name": "customer.metadata", "property": "tier", "conditions": words(random, &["gold", "silver", "new"]) })
        }
        7 => {
            let object = if book.skus.is_empty() || random.once_in(2) { "product" } else { "sku" };
            let list = if object == "sku" { &book.skus } else { &book.products };
            let named: Vec<Json> = random
                .some(list, 2)
                .iter()
                .map(|one| json!({ "id": one["id"], "source_id": one["source_id"] }))
                .collect();
            let operator = *random.pick(&["$is", "$in", "$is_not", "$not_in"]);
            json!({ "name": format!("{object}.id"), "conditions": { operator: named } })
        }
        _ => items(random, book),
    }
}

fn words(random: &mut Random, list: &[&str]) -> Json {
    match random.below(4) {
        0 | 1 => json!({ "$is": [random.pick(list)] }),
        2 => json!({ "$in": random.some(list, 2) }),
        _ => json!({ "$is_not": [random.pick(list)] }),
    }
}

/// A rule about the lines that match some goods.
fn items(random: &mut Random, book: &Book) -> Json {
    let kind = *random.pick(&["any", "any", "any", "every", "none", "cheapest", "most_expensive"]);
    let named: Vec<Json> = (0..random.between(1, 2))
        .map(|_| {
            let mut named = Json::Object(scopes::goods(random, book));
            named["type"] =
                if named["object"] == "products_collection" { "products_collection" } else { "product_or_sku" }.into();
            named
        })
        .collect();
    let mut rule = json!({ "name": format!("order.items.{kind}"), "conditions": { "$is": named } });
    if random.once_in(6) && matches!(kind, "any" | "cheapest" | "most_expensive") {
        let collection = json!({ "id": random.pick(&book.collections)["id"], "object": "products_collection", "type": "products_collection" });
        rule["conditions"]["$from"] = json!([collection]);
    }
    if kind != "none" && random.once_in(3) {
        let (name, most) = *random.pick(&[
            ("aggregated_amount", 9_000),
            ("aggregated_quantity", 5),
            ("price", 5_000),
            ("quantity", 4),
        ]);
        let sub = json!({ "name": format!("order.items.{name}"), "conditions": bound(random, most) });
        rule["rules"] = json!({ "1": sub, "logic": "1" });
    }
    rule
}
