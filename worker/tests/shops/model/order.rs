//! The order before any discount: sections 2.2 and 2.3, and the state that a walk carries along.

use super::fraction::Fraction;
use super::identify::{self, Found};
use crate::shops::shop::Book;
use serde_json::Value as Json;

#[derive(Debug, Clone)]
pub struct Line {
    pub found: Found,
    pub metadata: Json,
    pub quantity: i128,
    pub initial: i128,
    /// Units that are free.
    pub free: i128,
    pub price: Option<i128>,
    pub amount: Option<i128>,
    /// What the amount was when the request came: the base of `INITIAL_AMOUNT`.
    pub first: i128,
    /// What units of the first amount became free in this request.
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
    /// Whether the request said what it comes to.
    pub first_known: bool,
    pub discount: i128,
    pub changed: bool,
    /// Whether anything says what the order comes to.
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
    let found = identify::find(book, item);
    let price = int(&item["price"])
        .or_else(|| int(&item["sku"]["price"]))
        .or_else(|| int(&item["product"]["price"]))
        .or_else(|| identify::price(&found));
    let quantity = int(&item["quantity"]).unwrap_or(1);
    let amount = int(&item["amount"]).or(price.map(|price| price * quantity));
    let free = int(&item["discount_quantity"]).unwrap_or(0);
    Line {
        found,
        metadata: item["metadata"].clone(),
        quantity,
        initial: int(&item["initial_quantity"]).unwrap_or(quantity),
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

    /// The base of so many of the eligible units (D4, D5).
    pub fn base(&self, units: i128, initial: bool) -> Fraction {
        let whole = if initial { (self.first - self.given).max(0) } else { self.subtotal() };
        self.part(whole, units)
    }

    fn part(&self, whole: i128, units: i128) -> Fraction {
        if self.eligible() == 0 { Fraction::whole(0) } else { Fraction::whole(whole).times(units, self.eligible()) }
    }

    /// What can be taken off of so many units: never more than is left.
    pub fn room(&self, units: i128) -> i128 {
        self.part(self.subtotal(), units).rounded().min(self.subtotal())
    }
}

impl Order {
    pub fn items_discount(&self) -> i128 {
        self.lines.iter().map(|line| line.discount).sum()
    }

    pub fn total(&self) -> i128 {
        (self.amount - self.items_discount() - self.discount).max(0)
    }
}
