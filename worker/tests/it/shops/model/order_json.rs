//! Compares the numbers of an order as answers contain it: section 3.

use super::order::{Line, Order};
use super::{Amounts, Numbers};

/// Compares an order after an effect with the order before it.
pub fn show(before: &Order, after: &Order) -> Amounts {
    let lines: Vec<Numbers> =
        after.lines.iter().enumerate().map(|(at, line)| self::line(before.lines.get(at), line)).collect();
    let items = after.items_discount();
    let items_applied = items - before.items_discount();
    let applied = after.discount - before.discount;
    let mut order = Numbers::new();
    if after.known {
        order.extend([("amount", after.amount), ("total_amount", after.total())]);
    }
    for (name, value) in [
        ("discount_amount", after.discount),
        ("items_discount_amount", items),
        ("total_discount_amount", after.discount + items),
        ("applied_discount_amount", applied),
        ("items_applied_discount_amount", items_applied),
        ("total_applied_discount_amount", applied + items_applied),
    ] {
        if value != 0 {
            order.insert(name, value);
        }
    }
    if after.changed && after.first_known {
        order.insert("initial_amount", after.first);
    }
    Amounts { order, lines }
}

fn line(before: Option<&Line>, line: &Line) -> Numbers {
    let was = |value: &dyn Fn(&Line) -> i128| before.map_or(0, value);
    let mut shown = Numbers::from([("quantity", line.quantity)]);
    if let Some(price) = line.price {
        shown.insert("price", price);
    }
    if let Some(amount) = line.amount {
        shown.insert("amount", amount);
        shown.insert("subtotal_amount", amount - line.discount);
    }
    for (name, value) in [
        ("discount_quantity", line.free),
        ("applied_discount_quantity", line.free - was(&|line| line.free)),
        ("applied_quantity", line.quantity - was(&|line| line.quantity)),
        ("discount_amount", line.discount),
        ("applied_discount_amount", line.discount - was(&|line| line.discount)),
    ] {
        if value != 0 {
            shown.insert(name, value);
        }
    }
    if line.changed {
        shown.insert("initial_quantity", line.initial);
        if let (Some(price), Some(_)) = (line.price, line.amount) {
            shown.insert("initial_amount", price * line.initial);
        }
    }
    shown
}
