//! Estimates the steps to write an answer before it is written. Every redeemable is answered with the order after it.

use crate::budget::{STEPS_MAX, StepCost};
use crate::decide::case::Case;
use crate::json::Node;
use crate::model::order::{Goods, Item, Metadata, Order, RelatedObject};
use crate::model::scope::Scope;
use crate::refusal::{Reason, Refusal};

/// Steps to write a value, and those to write a line without its metadata.
const VALUE: usize = 8;
const LINE: usize = 60;
/// Characters that are written in a step.
const BYTES_PER_STEP: usize = 16;
/// Steps to read and write an entry of a scope.
const ENTRY: usize = 40;

impl Case<'_> {
    /// Counts the steps to write the order once for each of the redeemables at these positions, and once for all.
    pub(in crate::decide) fn count_answers(&self, positions: impl Iterator<Item = usize>) {
        let order = self.order.as_deref().map_or(1, of_order);
        let entries = |scope: &Scope| scope.included.len().add_steps(scope.excluded.len());
        let (mut times, mut listed) = (1_usize, 0_usize);
        for position in positions {
            let scope = self.offer(position).and_then(|offer| offer.scope());
            (times, listed) = (times.add_steps(1), listed.add_steps(scope.map_or(0, entries)));
        }
        self.budget.spend(order.times_steps(times).add_steps(listed.times_steps(ENTRY)));
    }

    /// Counts the steps to try all redeemables once more. Returns whether the budget allows it.
    pub(in crate::decide) fn count_walk(&self) -> bool {
        let lines = self.order.as_deref().map_or(0, |order| order.items.len());
        self.budget.spend(lines.times_steps(self.resolved.len()).times_steps(VALUE))
    }

    /// Refuses a decision that exceeded its step budget: it is neither answered nor written.
    pub(in crate::decide) fn within_bounds(&self) -> Result<(), Refusal> {
        if !self.budget.is_over() {
            return Ok(());
        }
        if self.budget.has_overflow() {
            return Err(Refusal::out_of_bounds());
        }
        let lines = self.order.as_deref().map_or(0, |order| order.items.len());
        let details = format!(
            "Property .redeemables of `{}` with .order.items of `{lines}`, their metadata and the rules \
             must NOT take more than {STEPS_MAX} steps to decide",
            self.redeemables.len()
        );
        Err(Refusal::new(Reason::TooMuchWork, details))
    }
}

fn of_order(order: &Order) -> usize {
    let items = order.items.iter().map(of_item).fold(0, usize::add_steps);
    items.add_steps(of_data(&order.metadata)).add_steps(LINE)
}

fn of_item(item: &Item) -> usize {
    let inline = [RelatedObject::Product, RelatedObject::Sku].into_iter().filter_map(|kind| item.goods(kind));
    let of_goods = |goods: &Goods| of_data(&goods.metadata).add_steps(LINE);
    inline.map(of_goods).fold(of_data(&item.metadata), usize::add_steps).add_steps(LINE)
}

fn of_data(data: &Metadata) -> usize {
    data.iter().map(|(name, node)| of_text(name).add_steps(of_node(node))).fold(0, usize::add_steps)
}

fn of_node(node: &Node<'_>) -> usize {
    match node {
        Node::Text(text) => of_text(text),
        Node::List(items) => items.iter().map(of_node).fold(VALUE, usize::add_steps),
        Node::Object(members) => {
            let member = members.iter().map(|(name, node)| of_text(name).add_steps(of_node(node)));
            member.fold(VALUE, usize::add_steps)
        }
        Node::Null | Node::Flag(_) | Node::Integer(_) | Node::Fraction(_) => VALUE,
    }
}

fn of_text(text: &str) -> usize {
    // A constant divisor.
    text.len().checked_div(BYTES_PER_STEP).unwrap_or(0).add_steps(VALUE)
}
