//! Decides what a request is about where something is stored under what it sent: the customer and the order. It must not
//! know redeemables.

use std::sync::Arc;

use crate::decide::case::Buyer;
use crate::facts::{Facts, Held, Known};
use crate::model::order::Order;
use crate::model::request::Redeemables;
use crate::text::joined;

/// The stored customer under what the request sent; what is sent wins for this evaluation (endpoints.md, S1).
pub(super) fn find_buyer<'a>(facts: &dyn Facts, request: &'a Redeemables) -> Buyer<'a> {
    let sent = request.customer.as_ref();
    let named = sent.and_then(|customer| customer.id.as_deref().or(customer.source_id.as_deref()));
    let key = named.or(request.tracking_id.as_deref());
    let found = key.map_or(Known::Absent, |key| facts.customer(key));
    let unknown = match (&found, key) {
        (Known::Unknown, Some(key)) => Some(joined(&["customer/", key])),
        _ => None,
    };
    let Some(stored) = found.is() else {
        return Buyer { customer: sent.map(Held::Lent), stored: false, unknown };
    };
    let mut customer = stored.into_owned();
    if let Some(sent) = sent {
        let overlaid = |name: &str| name != "id" && name != "metadata";
        let document = sent.document.iter().filter(|(name, value)| overlaid(name) && !value.is_null());
        customer.document.overlay(document);
        customer.metadata.overlay(sent.metadata.iter());
    }
    Buyer { customer: Some(Held::Own(Arc::new(customer))), stored: true, unknown }
}

/// A stored order under what was sent. The amounts that it was stored with are for nobody's page to change (calculation.md
/// section 19, D13).
pub(super) fn overlaid(stored: Order, sent: &Order, client: bool) -> Order {
    if sent.id.is_none() {
        return Order { status: sent.status.or(stored.status), ..stored };
    }
    let mut order = stored;
    let has_lines = !sent.items.is_empty();
    let keeps = client && !has_lines && order.amount.is_some();
    if !keeps && (has_lines || sent.amount.is_some()) {
        order.amount = sent.amount;
        order.initial_amount = sent.initial_amount;
    }
    if has_lines {
        order.items = sent.items.clone();
    }
    if !keeps {
        order.discount_amount = sent.discount_amount.or(order.discount_amount);
    }
    order.status = sent.status.or(order.status);
    order.metadata.overlay(sent.metadata.iter());
    order
}
