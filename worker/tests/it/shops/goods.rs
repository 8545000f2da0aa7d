//! Generates the goods of a shop: products, SKUs, collections, and goods that are in no catalogue.

use crate::shops::random::{Random, text};
use crate::shops::service_calls::ServiceCalls;
use crate::shops::shop::Book;
use serde_json::{Value as Json, json};

pub const BRANDS: &[&str] = &["Loom", "Oak", "Reef"];

pub fn make(random: &mut Random, desk: &mut ServiceCalls, book: &mut Book) {
    for number in 0..random.between(2, 5) {
        product(random, desk, book, number);
    }
    for number in 0..random.between(1, 3) {
        collection(random, desk, book, number);
    }
}

fn metadata(random: &mut Random) -> Json {
    let mut metadata = json!({});
    if !random.once_in(3) {
        metadata["brand"] = (*random.pick(BRANDS)).into();
    }
    if random.once_in(2) {
        metadata["size"] = random.between(1, 5).into();
    }
    metadata
}

fn product(random: &mut Random, desk: &mut ServiceCalls, book: &mut Book, number: i64) {
    let mut body = json!({ "name": format!("Product {number}"), "source_id": format!("sh-{number}") });
    if !random.once_in(6) {
        body["price"] = random.price().into();
    }
    body["metadata"] = metadata(random);
    let made = desk.make("POST /v1/products", &body);
    let id = text(&made, "id");
    body["id"] = id.clone().into();
    book.products.push(body);
    if random.once_in(2) {
        for variant in 0..random.between(1, 2) {
            let source = format!("sku-{number}-{variant}");
            let mut body = json!({ "sku": format!("Variant {variant}"), "source_id": source });
            if !random.once_in(3) {
                body["price"] = random.price().into();
            }
            body["metadata"] = metadata(random);
            let made = desk.make(&format!("POST /v1/products/{id}/skus"), &body);
            body["id"] = made["id"].clone();
            body["product_id"] = id.clone().into();
            book.skus.push(body);
        }
    }
}

fn collection(random: &mut Random, desk: &mut ServiceCalls, book: &mut Book, number: i64) {
    let name = format!("Collection {number}");
    let mut body = if random.once_in(2) {
        let mut listed: Vec<Json> = random
            .some(&book.products, 2)
            .iter()
            .map(|product| json!({ "id": product["id"], "object": "product" }))
            .collect();
        if !book.skus.is_empty() && random.once_in(2) {
            let sku = random.pick(&book.skus);
            listed[0] = json!({ "id": sku["id"], "product_id": sku["product_id"], "object": "sku" });
        }
        json!({ "type": "STATIC", "name": name, "products": listed })
    } else {
        let mut filter = json!({ "junction": random.pick(&["and", "or"]) });
        if random.once_in(2) {
            let bound = random.price();
            filter["price"] = json!({ "conditions": { *random.pick(&["$more_than", "$less_than"]): [bound] } });
        }
        if filter["price"].is_null() || random.once_in(2) {
            let brands = random.some(BRANDS, 2);
            filter["metadata.brand"] = if random.once_in(2) {
                json!({ "conditions": { "$is": [brands[0]] } })
            } else {
                json!({ "conditions": { "$in": brands } })
            };
        }
        json!({ "type": "AUTO_UPDATE", "name": name, "filter": filter })
    };
    let made = desk.make("POST /v1/product-collections", &body);
    body["id"] = made["id"].clone();
    book.collections.push(body);
}
