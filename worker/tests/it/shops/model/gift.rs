//! Computes gift cards: section 9 and D7.

use super::effect::EffectMode;
use super::order::Order;
use super::scope::{self, Scope};
use crate::shops::shop::Book;
use serde_json::Value as Json;

/// Returns the requested credits if the balance has them, or the key of the refusal.
pub fn credits(gift: &Json, asked: Option<i128>, used: i64) -> Result<i128, &'static str> {
    let balance = i128::from(gift["amount"].as_i64().unwrap() - used);
    match asked {
        None if balance == 0 => Err("gift_amount_exceeded"),
        Some(credits) if credits > balance => Err("gift_amount_exceeded"),
        Some(credits) => Ok(credits),
        None => Ok(balance),
    }
}

pub fn apply(
    book: &Book,
    gift: &Json,
    credits: i128,
    scope: &Scope,
    order: &mut Order,
    way: &EffectMode,
) -> Result<bool, &'static str> {
    let credits = credits.min(order.total());
    if gift["effect"] != "APPLY_TO_ITEMS" {
        if !order.known {
            return Err("missing_amount");
        }
        order.discount += credits;
        return Ok(credits > 0);
    }
    if !scope::has_amount(book, scope, order, way.once) {
        return Err("missing_order_items_amount");
    }
    let parts = scope::parts(book, scope, order, way.once);
    let mut off: Vec<i128> = parts.iter().map(|part| order.lines[part.line].room(part.units)).collect();
    scope::capped(scope, &parts, &mut off, Some(credits));
    let mut some = false;
    for (part, off) in parts.iter().zip(off) {
        order.lines[part.line].discount += off;
        some |= off > 0;
    }
    Ok(some)
}
