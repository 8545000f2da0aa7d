//! Decides how an order is written that stands for itself: its amounts, and no request's discounts. It must not know
//! who keeps it.
//!
//! calculation.md sections 2 and 3.

use serde_json::{Map, Value};

use crate::model::order::Order;
use crate::pricing::lines::Priced;
use crate::wire::order_view::{Applied, OrderView};
use crate::wire::redemption::{fields, written};

/// An order as it is stored and shown, with the amounts that its lines come to.
pub fn show_order(order: &Order, priced: &Priced<'_>) -> Map<String, Value> {
    fields(written(|out| OrderView::new(order, priced, &priced.cart, Applied::Nothing).put(out)))
}
