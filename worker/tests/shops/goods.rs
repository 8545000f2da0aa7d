//! What a shop sells: products, SKUs, collections, and goods that are in no catalogue.

use crate::shops::chance::{Chance, text};
use crate::shops::desk::Desk;
use crate::shops::shop::Book;
use serde_json::{Value as Json, json};

pub const BRANDS: &[&str] = &["Loom", "Oak", "Reef"];

pub fn make(chance: &mut Chance, desk: &mut Desk, book: &mut Book) {
    for number in 0..chance.between(2, 5) {
        product(chance, desk, book, number);
    }
    for number in 0..chance.between(1, 3) {
        collection(chance, desk, book, number);
    }
}

fn metadata(chance: &mut Chance) -> Json {
    let mut metadata = json!({});
    if !chance.once_in(3) {
        metadata["brand"] = (*chance.pick(BRANDS)).into();
    }
    if chance.once_in(2) {
        metadata["size"] = chance.between(1, 5).into();
    }
    metadata
}

fn product(chance: &mut Chance, desk: &mut Desk, book: &mut Book, number: i64) {
    let mut body = json!({ "name": format!("Product {number}"), "source_id": format!("sh-{number}") });
    if !chance.once_in(6) {
        body["price"] = chance.price().into();
    }
    body["metadata"] = metadata(chance);
    let made = desk.make("POST /v1/products", &body);
    let id = text(&made, "id");
    body["id"] = id.clone().into();
    book.products.push(body);
    if chance.once_in(2) {
        for variant in 0..chance.between(1, 2) {
            let source = format!("sku-{number}-{variant}");
            let mut body = json!({ "sku": format!("Variant {variant}"), "source_id": source });
            if !chance.once_in(3) {
                body["price"] = chance.price().into();
            }
            body["metadata"] = metadata(chance);
            let made = desk.make(&format!("POST /v1/products/{id}/skus"), &body);
            body["id"] = made["id"].clone();
            body["product_id"] = id.clone().into();
            book.skus.push(body);
        }
    }
}

fn collection(chance: &mut Chance, desk: &mut Desk, book: &mut Book, number: i64) {
    let name = format!("Collection {number}");
    let mut body = if chance.once_in(2) {
        let mut listed: Vec<Json> = chance
            .some(&book.products, 2)
            .iter()
            .map(|product| json!({ "id": product["id"], "object": "product" }))
            .collect();
        if !book.skus.is_empty() && chance.once_in(2) {
            let sku = chance.pick(&book.skus);
            listed[0] = json!({ "id": sku["id"], "product_id": sku["product_id"], "object": "sku" });
        }
        json!({ "type": "STATIC", "name": name, "products": listed })
    } else {
        let mut filter = json!({ "junction": chance.pick(&["and", "or"]) });
        if chance.once_in(2) {
            let bound = chance.price();
            filter["price"] = json!({ "conditions": { *chance.pick(&["$more_than", "$less_than"]): [bound] } });
        }
        if filter["price"].is_null() || chance.once_in(2) {
            let brands = chance.some(BRANDS, 2);
            filter["metadata.brand"] = if chance.once_in(2) {
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
