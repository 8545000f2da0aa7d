//! Removes from an order of a client all that a client must not set: overrides of the catalogue, past redemptions, and
//! amounts and units that only the service computes.
//!
//! docs/spec/calculation.md#19, D13.

use crate::count::Countable;
use crate::decide::order_return::units::is_same;
use crate::model::order::{Item, Metadata, Order};

/// Removes these parts. A client often sends back the order of an answer. The units that discounts added to it are not
/// units of the customer, so a new order is taken as it was before them. `is_stored` is `true` if it may be a stored
/// order; this has its own units.
pub fn strip(order: &mut Order, is_stored: bool) {
    if !is_stored {
        restore_units(order);
    }
    (order.initial_amount, order.discount_amount, order.uncovered) = (None, None, None);
    order.returns.clear();
    order.redemptions = Metadata::default();
    order.customer_id = None;
    for item in &mut order.items {
        (item.discount_amount, item.discount_quantity) = (None, None);
        (item.initial_amount, item.initial_quantity) = (None, None);
        for goods in [&mut item.product, &mut item.sku].into_iter().flatten() {
            goods.overrides = None;
        }
    }
}

/// Puts what the service computed for stored lines on the lines that a client sends for them, if both have the same
/// units.
pub fn copy_computed_amounts(stored: &[Item], sent: &mut [Item]) {
    for item in sent.iter_mut().filter(|item| item.id.is_some()) {
        let is_it = |known: &&Item| known.id == item.id && known.quantity == item.quantity && is_same(known, item);
        if let Some(known) = stored.iter().find(is_it) {
            (item.discount_amount, item.discount_quantity) = (known.discount_amount, known.discount_quantity);
            (item.initial_amount, item.initial_quantity) = (known.initial_amount, known.initial_quantity);
        }
    }
}

/// Sets the lines to the units that the customer put into the cart.
fn restore_units(order: &mut Order) {
    let mut is_restored = false;
    for item in &mut order.items {
        let Some(initial) = initial_units(item) else { continue };
        item.quantity = initial;
        // The amount of these units follows from their price.
        item.amount = if item.price.is_some() { None } else { item.initial_amount };
        is_restored = true;
    }
    if is_restored {
        order.items.retain(|item| item.initial_quantity != Some(0) || item.quantity > 0);
        order.amount = order.initial_amount.filter(|_| order.amount.is_some());
    }
}

/// Returns the initial units of a line with units that discounts added or took away. The amount of such a line belongs
/// to all its units, so that a line whose number the client has changed since is another one.
fn initial_units(item: &Item) -> Option<u64> {
    let initial = item.initial_quantity.filter(|initial| *initial != item.quantity)?;
    let is_answered = match (item.price, item.amount) {
        (Some(price), Some(amount)) => price.checked_mul(item.quantity) == Some(amount),
        (None, None) => {
            // A line that states no free units has none.
            item.quantity > initial && item.quantity.remaining_after(initial) <= item.discount_quantity.unwrap_or(0)
        }
        (Some(_), None) | (None, Some(_)) => false,
    };
    is_answered.then_some(initial)
}
