//! Writes the best stack of a qualification.

use crate::decide::best::BestStack;
use crate::decide::validate::Evaluation;
use crate::model::order::Order;
use crate::money::Money;
use crate::wire::order::view::{AppliedScope, OrderView};
use crate::wire::writer::Writer;

/// Writes the best stack with the order after it.
pub(super) fn write_best(out: &mut Writer, best: &BestStack<'_>) {
    let stack = &best.evaluated;
    out.object(|out| {
        out.member("redeemables").list(|out| {
            for redeemable in stack.redeemables.iter() {
                out.item().object(|out| {
                    out.write_constant("object", redeemable.object.name());
                    out.write_text("id", &redeemable.id);
                });
            }
        });
        if let Some(order) = &stack.visible_order() {
            write_stack_order(out.member("order"), order, stack);
        }
        out.write_number("saved_amount", best.saved.minor());
        out.write_flag("proven", best.unproven.is_some_and(Money::is_zero));
        out.money_if("unproven_amount", best.unproven.filter(|amount| !amount.is_zero()));
    });
}

/// Writes an order with all that a stack gives.
pub(super) fn write_stack_order(out: &mut Writer, order: &Order, stack: &Evaluation<'_>) {
    let view = OrderView::new(order, &stack.priced, &stack.walk.cart, AppliedScope::Everything);
    OrderView { parties: stack.parties(), public: stack.public_goods(), ..view }.write(out);
}
