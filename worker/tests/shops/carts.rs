//! Carts: what is bought, and how each line is named. The same cart may be written down in several ways.

use crate::shops::chance::{Chance, text};
use crate::shops::shop::{self, Book};
use serde_json::{Map, Value as Json, json};

/// What a line is about.
#[derive(Clone)]
enum Good {
    Product(Json),
    Sku(Json),
    /// In no catalogue.
    Stray(String),
}

/// A line without its name.
#[derive(Clone)]
struct Line {
    good: Good,
    /// Everything but what names the goods.
    fields: Map<String, Json>,
    /// A price inside of the goods.
    inline: Option<i64>,
}

pub struct Cart {
    lines: Vec<Line>,
    order: Map<String, Json>,
    rest: Map<String, Json>,
}

/// A cart of a shop and what is asked for it.
pub fn make(chance: &mut Chance, book: &Book, number: u64) -> Cart {
    let mut lines: Vec<Line> = Vec::new();
    let bare = chance.once_in(25);
    for _ in 0..if bare { 0 } else { chance.between(1, 4) } {
        let line = line(chance, book);
        lines.push(line);
    }
    let mut order = Map::new();
    if bare || chance.once_in(5) {
        order.insert("amount".into(), chance.between(100, 30_000).into());
    }
    if chance.once_in(12) {
        order.insert("discount_amount".into(), chance.between(0, 500).into());
    }
    if chance.once_in(2) {
        order.insert("metadata".into(), json!({ "lane": chance.pick(&["fast", "slow"]) }));
    }
    let mut rest = Map::new();
    rest.insert("redeemables".into(), redeemables(chance, book));
    if chance.once_in(3) {
        rest.insert("metadata".into(), json!({ "lane": chance.pick(&["fast", "slow"]) }));
    }
    match chance.below(7) {
        6 => {
            // What is said of somebody known goes over what is stored.
            let said =
                json!({ "source_id": chance.pick(&book.customers)["source_id"], "metadata": shop::profile(chance) });
            rest.insert("customer".into(), said);
        }
        0 => {}
        1 => {
            let guest = json!({ "source_id": format!("guest-{number}"), "metadata": shop::profile(chance) });
            rest.insert("customer".into(), guest);
        }
        2 => drop(rest.insert("customer".into(), json!({ "id": chance.pick(&book.customers)["id"] }))),
        _ => drop(rest.insert("customer".into(), json!({ "source_id": chance.pick(&book.customers)["source_id"] }))),
    }
    Cart { lines, order, rest }
}

fn redeemables(chance: &mut Chance, book: &Book) -> Json {
    if chance.once_in(12) {
        return json!([{ "object": "promotion_stack", "id": book.stacks[0]["id"] }]);
    }
    let vouchers = book.vouchers.iter().map(|voucher| {
        let mut one = json!({ "object": "voucher", "id": voucher["code"] });
        if !voucher["gift"].is_null() && chance.once_in(2) {
            let amount = voucher["gift"]["amount"].as_i64().unwrap();
            let credits = if chance.once_in(8) { amount + 1 } else { chance.between(1, amount) };
            one["gift"] = json!({ "credits": credits });
        }
        one
    });
    let mut all: Vec<Json> = vouchers.collect();
    all.extend(book.tiers.iter().map(|tier| json!({ "object": "promotion_tier", "id": tier["id"] })));
    if chance.once_in(6) {
        all.push(json!({ "object": "voucher", "id": "NOBODYS" }));
    }
    let count = *chance.pick(&[1, 1, 2, 2, 3, 4]);
    chance.some(&all, count).into()
}

fn line(chance: &mut Chance, book: &Book) -> Line {
    let good = match chance.below(8) {
        0 => Good::Stray(format!("stray-{}", chance.between(1, 2))),
        1..=3 if !book.skus.is_empty() => Good::Sku(chance.pick(&book.skus).clone()),
        _ => Good::Product(chance.pick(&book.products).clone()),
    };
    let mut fields = Map::new();
    let quantity = *chance.pick(&[1, 1, 2, 3, 5]);
    if quantity > 1 || !chance.once_in(6) {
        let written = if chance.once_in(10) { quantity.to_string().into() } else { quantity.into() };
        fields.insert("quantity".into(), written);
    }
    let known = matches!(good, Good::Product(_) | Good::Sku(_));
    let price = chance.price();
    let mut inline = None;
    let form = if known { chance.below(7) } else { chance.between(1, 5).unsigned_abs() };
    match form {
        1 => drop(fields.insert("price".into(), price.into())),
        2 => drop(fields.insert("amount".into(), (price * quantity).into())),
        3 => {
            fields.insert("price".into(), price.into());
            fields.insert("amount".into(), (price * quantity).into());
        }
        4 => {
            fields.insert("price".into(), price.into());
            fields.insert("amount".into(), (price * quantity + chance.between(-price.min(50), 50)).into());
        }
        5 => inline = Some(price),
        _ => {}
    }
    // What is taken off already is never more than the line.
    let worth = fields.get("amount").and_then(Json::as_i64).or(fields.get("price").map(|_| price * quantity));
    if let Some(worth) = worth.filter(|_| chance.once_in(6)) {
        fields.insert("discount_amount".into(), chance.between(0, worth).into());
    } else if let Some(price) = fields.get("price").and_then(Json::as_i64).filter(|_| form == 1 && chance.once_in(8)) {
        // Units that came for nothing before: the order is asked about again.
        let free = chance.between(1, quantity);
        fields.insert("discount_quantity".into(), free.into());
        fields.insert("initial_quantity".into(), (quantity - chance.between(0, free)).max(1).into());
        fields.insert("discount_amount".into(), (price * free).into());
    }
    if chance.once_in(3) {
        fields.insert("metadata".into(), json!({ "wrap": chance.pick(&["red", "blue"]) }));
    }
    Line { good, fields, inline }
}

impl Cart {
    /// The request, every line named in one of the ways that there are.
    pub fn written(&self, chance: &mut Chance) -> Json {
        let items: Vec<Json> = self.lines.iter().map(|line| named(chance, line)).collect();
        let mut order = self.order.clone();
        if !items.is_empty() {
            order.insert("items".into(), items.into());
        }
        let mut request = self.rest.clone();
        request.insert("order".into(), order.into());
        request.into()
    }
}

fn named(chance: &mut Chance, line: &Line) -> Json {
    let mut item = match &line.good {
        Good::Product(product) => product_named(chance, &text(product, "id"), &text(product, "source_id")),
        Good::Sku(sku) => sku_named(chance, sku),
        Good::Stray(name) => match chance.below(4) {
            0 => json!({ "product_id": name }),
            1 => json!({ "source_id": name, "related_object": "product" }),
            2 => json!({ "product": { "source_id": name } }),
            _ => json!({ "product": { "id": name } }),
        },
    };
    if let Some(price) = line.inline {
        let room = if matches!(line.good, Good::Sku(_)) { "sku" } else { "product" };
        if item[room].is_null() {
            item[room] = json!({});
        }
        item[room]["price"] = price.into();
    }
    item.as_object_mut().unwrap().extend(line.fields.clone());
    item
}

fn product_named(chance: &mut Chance, id: &str, source: &str) -> Json {
    match chance.below(7) {
        0 => json!({ "product_id": id }),
        1 => json!({ "product_id": source }),
        2 => json!({ "source_id": source, "related_object": "product" }),
        3 => json!({ "product": { "id": id } }),
        4 => json!({ "product": { "source_id": source } }),
        5 => json!({ "product": { "id": source } }),
        _ => json!({ "product_id": id, "product": { "name": "Named by the page" } }),
    }
}

fn sku_named(chance: &mut Chance, sku: &Json) -> Json {
    let (id, source, product) = (text(sku, "id"), text(sku, "source_id"), text(sku, "product_id"));
    match chance.below(10) {
        0 => json!({ "sku_id": id }),
        1 => json!({ "sku_id": source }),
        2 => json!({ "source_id": source, "related_object": "sku" }),
        3 => json!({ "sku": { "id": id } }),
        4 => json!({ "sku": { "source_id": source } }),
        5 => json!({ "product_id": product, "sku_id": id }),
        6 => json!({ "product": { "id": product }, "sku": { "id": id } }),
        7 => json!({ "product_id": product, "sku_id": source }),
        8 => json!({ "product_id": product, "sku": { "source_id": source } }),
        _ => json!({ "sku": { "id": source } }),
    }
}
