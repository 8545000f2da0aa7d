//! Generates carts: the goods, and the naming of each line. One cart may be written in several forms.

use crate::shops::random::{Random, text};
use crate::shops::shop::{self, Book};
use serde_json::{Map, Value as Json, json};

/// The goods of a line.
#[derive(Clone)]
enum LineGoods {
    Product(Json),
    Sku(Json),
    /// In no catalogue.
    Stray(String),
}

/// A line without its name.
#[derive(Clone)]
struct Line {
    good: LineGoods,
    /// All fields except those that name the goods.
    fields: Map<String, Json>,
    /// A price inside the goods.
    inline: Option<i64>,
}

pub struct Cart {
    lines: Vec<Line>,
    order: Map<String, Json>,
    rest: Map<String, Json>,
}

/// Generates a cart of a shop and its request.
pub fn make(random: &mut Random, book: &Book, number: u64) -> Cart {
    let mut lines: Vec<Line> = Vec::new();
    let bare = random.once_in(25);
    for _ in 0..if bare { 0 } else { random.between(1, 4) } {
        let line = line(random, book);
        lines.push(line);
    }
    let mut order = Map::new();
    if bare || random.once_in(5) {
        order.insert("amount".into(), random.between(100, 30_000).into());
    }
    if random.once_in(12) {
        order.insert("discount_amount".into(), random.between(0, 500).into());
    }
    if random.once_in(2) {
        order.insert("metadata".into(), json!({ "lane": random.pick(&["fast", "slow"]) }));
    }
    let mut rest = Map::new();
    rest.insert("redeemables".into(), redeemables(random, book));
    if random.once_in(3) {
        rest.insert("metadata".into(), json!({ "lane": random.pick(&["fast", "slow"]) }));
    }
    match random.below(7) {
        6 => {
            // Sent data of a known customer replaces the stored data.
            let said =
                json!({ "source_id": random.pick(&book.customers)["source_id"], "metadata": shop::profile(random) });
            rest.insert("customer".into(), said);
        }
        0 => {}
        1 => {
            let guest = json!({ "source_id": format!("guest-{number}"), "metadata": shop::profile(random) });
            rest.insert("customer".into(), guest);
        }
        2 => drop(rest.insert("customer".into(), json!({ "id": random.pick(&book.customers)["id"] }))),
        _ => drop(rest.insert("customer".into(), json!({ "source_id": random.pick(&book.customers)["source_id"] }))),
    }
    Cart { lines, order, rest }
}

fn redeemables(random: &mut Random, book: &Book) -> Json {
    if random.once_in(12) {
        return json!([{ "object": "promotion_stack", "id": book.stacks[0]["id"] }]);
    }
    let vouchers = book.vouchers.iter().map(|voucher| {
        let mut one = json!({ "object": "voucher", "id": voucher["code"] });
        if !voucher["gift"].is_null() && random.once_in(2) {
            let amount = voucher["gift"]["amount"].as_i64().unwrap();
            let credits = if random.once_in(8) { amount + 1 } else { random.between(1, amount) };
            one["gift"] = json!({ "credits": credits });
        }
        one
    });
    let mut all: Vec<Json> = vouchers.collect();
    all.extend(book.tiers.iter().map(|tier| json!({ "object": "promotion_tier", "id": tier["id"] })));
    if random.once_in(6) {
        all.push(json!({ "object": "voucher", "id": "NOBODYS" }));
    }
    let count = *random.pick(&[1, 1, 2, 2, 3, 4]);
    random.some(&all, count).into()
}

fn line(random: &mut Random, book: &Book) -> Line {
    let good = match random.below(8) {
        0 => LineGoods::Stray(format!("stray-{}", random.between(1, 2))),
        1..=3 if !book.skus.is_empty() => LineGoods::Sku(random.pick(&book.skus).clone()),
        _ => LineGoods::Product(random.pick(&book.products).clone()),
    };
    let mut fields = Map::new();
    let quantity = *random.pick(&[1, 1, 2, 3, 5]);
    if quantity > 1 || !random.once_in(6) {
        let written = if random.once_in(10) { quantity.to_string().into() } else { quantity.into() };
        fields.insert("quantity".into(), written);
    }
    let known = matches!(good, LineGoods::Product(_) | LineGoods::Sku(_));
    let price = random.price();
    let mut inline = None;
    let form = if known { random.below(7) } else { random.between(1, 5).unsigned_abs() };
    match form {
        1 => drop(fields.insert("price".into(), price.into())),
        2 => drop(fields.insert("amount".into(), (price * quantity).into())),
        3 => {
            fields.insert("price".into(), price.into());
            fields.insert("amount".into(), (price * quantity).into());
        }
        4 => {
            fields.insert("price".into(), price.into());
            fields.insert("amount".into(), (price * quantity + random.between(-price.min(50), 50)).into());
        }
        5 => inline = Some(price),
        _ => {}
    }
    // An existing discount never exceeds the line.
    let worth = fields.get("amount").and_then(Json::as_i64).or(fields.get("price").map(|_| price * quantity));
    if let Some(worth) = worth.filter(|_| random.once_in(6)) {
        fields.insert("discount_amount".into(), random.between(0, worth).into());
    } else if let Some(price) = fields.get("price").and_then(Json::as_i64).filter(|_| form == 1 && random.once_in(8)) {
        // Units that were free before: the order is decided again.
        let free = random.between(1, quantity);
        fields.insert("discount_quantity".into(), free.into());
        fields.insert("initial_quantity".into(), (quantity - random.between(0, free)).max(1).into());
        fields.insert("discount_amount".into(), (price * free).into());
    }
    if random.once_in(3) {
        fields.insert("metadata".into(), json!({ "wrap": random.pick(&["red", "blue"]) }));
    }
    Line { good, fields, inline }
}

impl Cart {
    /// Returns the request, with every line named in one of the possible ways.
    pub fn written(&self, random: &mut Random) -> Json {
        let items: Vec<Json> = self.lines.iter().map(|line| named(random, line)).collect();
        let mut order = self.order.clone();
        if !items.is_empty() {
            order.insert("items".into(), items.into());
        }
        let mut request = self.rest.clone();
        request.insert("order".into(), order.into());
        request.into()
    }
}

fn named(random: &mut Random, line: &Line) -> Json {
    let mut item = match &line.good {
        LineGoods::Product(product) => product_named(random, &text(product, "id"), &text(product, "source_id")),
        LineGoods::Sku(sku) => sku_named(random, sku),
        LineGoods::Stray(name) => match random.below(4) {
            0 => json!({ "product_id": name }),
            1 => json!({ "source_id": name, "related_object": "product" }),
            2 => json!({ "product": { "source_id": name } }),
            _ => json!({ "product": { "id": name } }),
        },
    };
    if let Some(price) = line.inline {
        let room = if matches!(line.good, LineGoods::Sku(_)) { "sku" } else { "product" };
        if item[room].is_null() {
            item[room] = json!({});
        }
        item[room]["price"] = price.into();
    }
    item.as_object_mut().unwrap().extend(line.fields.clone());
    item
}

fn product_named(random: &mut Random, id: &str, source: &str) -> Json {
    match random.below(7) {
        0 => json!({ "product_id": id }),
        1 => json!({ "product_id": source }),
        2 => json!({ "source_id": source, "related_object": "product" }),
        3 => json!({ "product": { "id": id } }),
        4 => json!({ "product": { "source_id": source } }),
        5 => json!({ "product": { "id": source } }),
        _ => json!({ "product_id": id, "product": { "name": "Named by the page" } }),
    }
}

fn sku_named(random: &mut Random, sku: &Json) -> Json {
    let (id, source, product) = (text(sku, "id"), text(sku, "source_id"), text(sku, "product_id"));
    match random.below(10) {
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
