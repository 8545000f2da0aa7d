//! Models the order before any discount: sections 2.2 and 2.3, and the state of a walk.

use super::fraction::Fraction;
use super::line_identity::{self, ResolvedGoods};
use crate::shops::shop::Book;
use serde_json::Value as Json;

#[derive(Debug, Clone)]
pub struct Line {
    pub found: ResolvedGoods,
    pub metadata: Json,
    pub quantity: i128,
    pub initial: i128,
    /// Number of units in the request.
    pub sent: i128,
    /// Units that are free.
    pub free: i128,
    pub price: Option<i128>,
    pub amount: Option<i128>,
    /// The amount at the request: the base of `INITIAL_AMOUNT`.
    pub first: i128,
    /// The part of the first amount whose units became free in this request.
    pub given: i128,
    pub discount: i128,
    /// A unit effect changed it.
    pub changed: bool,
    /// An earlier redeemable of this request gave it money.
    pub touched: bool,
}

#[derive(Debug, Clone)]
pub struct Order {
    pub lines: Vec<Line>,
    pub amount: i128,
    pub first: i128,
    /// True if the request contains the amount.
    pub first_known: bool,
    pub discount: i128,
    pub changed: bool,
    /// True if the amount is known from any source.
    pub known: bool,
    pub metadata: Json,
}

fn int(value: &Json) -> Option<i128> {
    match value {
        Json::String(text) => text.parse().ok(),
        _ => value.as_i64().map(i128::from),
    }
}

pub fn read(book: &Book, sent: &Json) -> Order {
    let lines: Vec<Line> = sent["items"].as_array().into_iter().flatten().map(|item| line(book, item)).collect();
    let sum = lines.iter().filter_map(|line| line.amount).sum();
    let known = int(&sent["amount"]).is_some() || lines.iter().any(|line| line.amount.is_some());
    let amount = int(&sent["amount"]).unwrap_or(sum);
    let discount = int(&sent["discount_amount"]).unwrap_or(0);
    Order {
        lines,
        amount,
        first: amount,
        first_known: known,
        discount,
        changed: false,
        known,
        metadata: sent["metadata"].clone(),
    }
}

fn line(book: &Book, item: &Json) -> Line {
    let found = line_identity::find(book, item);
    let price = int(&item["price"])
        .or_else(|| int(&item["sku"]["price"]))
        .or_else(|| int(&item["product"]["price"]))
        .or_else(|| line_identity::price(&found));
    let quantity = int(&item["quantity"]).unwrap_or(1);
    let amount = int(&item["amount"]).or(price.map(|price| price * quantity));
    let free = int(&item["discount_quantity"]).unwrap_or(0);
    Line {
        found,
        metadata: item["metadata"].clone(),
        quantity,
        initial: int(&item["initial_quantity"]).unwrap_or(quantity),
        sent: quantity,
        free,
        price,
        amount,
        first: amount.unwrap_or(0),
        given: 0,
        discount: int(&item["discount_amount"]).unwrap_or(0),
        changed: false,
        touched: false,
    }
}

impl Line {
    pub fn subtotal(&self) -> i128 {
        (self.amount.unwrap_or(0) - self.discount).max(0)
    }

    /// Units that may be discounted: D3.
    pub fn eligible(&self) -> i128 {
        (self.quantity - self.free).max(0)
    }

    /// Returns the base of this many eligible units (D4, D5).
    pub fn base(&self, units: i128, initial: bool) -> Fraction {
        if initial {
            return Fraction::whole(if self.sent == 0 { 0 } else { self.first }).times(units, self.sent.max(1));
        }
        self.part(self.subtotal(), units)
    }

    fn part(&self, whole: i128, units: i128) -> Fraction {
        if self.eligible() == 0 { Fraction::whole(0) } else { Fraction::whole(whole).times(units, self.eligible()) }
    }

    /// Returns the discountable amount of this many units: never more than remains.
    pub fn room(&self, units: i128) -> i128 {
        self.part(self.subtotal(), units).rounded().min(self.subtotal())
    }
}

impl Order {
    pub fn items_discount(&self) -> i128 {
        self.lines.iter().map(|line| line.discount).sum()
    }

    /// Returns the order without its free units, as every redeemable sees it except the one that made them free: D19.
    pub fn paid(&self) -> Order {
        let mut order = self.clone();
        order.first = (order.first - self.lines.iter().map(|line| line.given).sum::<i128>()).max(0);
        for line in &mut order.lines {
            let value =
                line.price.map_or(0, |price| price * line.free).min(line.discount).min(line.amount.unwrap_or(0));
            order.amount -= value;
            line.amount = line.amount.map(|amount| amount - value);
            line.discount -= value;
            line.quantity = line.eligible();
        }
        order.lines.retain(|line| line.free == 0 || line.quantity > 0);
        order
    }

    pub fn total(&self) -> i128 {
        (self.amount - self.items_discount() - self.discount).max(0)
    }
}
