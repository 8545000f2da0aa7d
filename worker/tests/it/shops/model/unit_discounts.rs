//! Computes free units: section 5.9.

use super::line_identity;
use super::order::{Line, Order};
use crate::shops::shop::Book;
use serde_json::{Value as Json, json};

pub fn apply(book: &Book, discount: &Json, effect: &str, order: &mut Order, once: bool) -> bool {
    if effect != "ADD_MANY_ITEMS" {
        return add(book, discount, effect, order, once);
    }
    let mut some = false;
    for unit in discount["units"].as_array().unwrap() {
        some |= add(book, unit, unit["effect"].as_str().unwrap(), order, once);
    }
    some
}

/// The line of the goods, or a new one.
fn line(book: &Book, name: &str, order: &mut Order) -> usize {
    let found = line_identity::of_unit(book, name);
    let same = |line: &Line| match &found.sku {
        Some(sku) => line.found.sku.as_ref() == Some(sku),
        None => line.found.product == found.product,
    };
    order.lines.iter().position(same).unwrap_or_else(|| {
        let price = line_identity::price(&found);
        let amount = price.map(|_| 0);
        order.lines.push(Line {
            found,
            metadata: json!({}),
            quantity: 0,
            initial: 0,
            sent: 0,
            free: 0,
            price,
            amount,
            first: 0,
            given: 0,
            discount: 0,
            changed: true,
            touched: false,
        });
        order.lines.len() - 1
    })
}

fn add(book: &Book, unit: &Json, effect: &str, order: &mut Order, once: bool) -> bool {
    let wanted = i128::from(unit["unit_off"].as_i64().unwrap());
    let at = line(book, unit["unit_type"].as_str().unwrap(), order);
    let line = &mut order.lines[at];
    // An item that an earlier redeemable discounted gets no further discount (11.2, 7.4).
    if once && line.touched {
        return false;
    }
    let available = (line.quantity - line.free).max(0);
    let missing = if effect == "ADD_NEW_ITEMS" { wanted } else { (wanted - available).max(0) };
    line.quantity += missing;
    line.free += wanted;
    line.changed = true;
    order.changed = true;
    if let (Some(price), Some(amount)) = (line.price, line.amount) {
        line.amount = Some(amount + missing * price);
        line.given += (wanted - missing) * price;
        line.discount += wanted * price;
        if effect == "ADD_MISSING_ITEMS" {
            line.discount = line.discount.min(amount + missing * price);
        }
        order.amount += missing * price;
        order.known = true;
    }
    wanted > 0
}
