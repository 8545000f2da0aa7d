//! Takes the effects of redemptions that are rolled back off their order.
//!
//! docs/spec/calculation.md#15. Each line is composed again, as it was sent, with the effects of the redemptions that
//! remain.

use crate::budget::StepBudget;
use crate::decide::order_return::composed_line::{compose, decompose, on_present};
use crate::decide::order_return::remaining_discounts;
use crate::decide::order_return::settled::Redemptions;
use crate::model::order::{Item, Order, OrderStatus};
use crate::model::order_return::RemainingDiscount;
use crate::model::redemption::{LineEffect, LineTotals, StoredRedemption};
use crate::money::Money;
use crate::text::Text;

/// The remaining effect of a redemption on an order.
struct RemainingEffect {
    discount: Money,
    /// The effects on its lines, in their order.
    lines: Vec<LineEffect>,
    /// `true` if it is taken off.
    is_undone: bool,
    /// `true` if the record of the redemption has no ids of lines: nothing else is known of them.
    is_by_position: bool,
}

/// Returns the order without the effects of the redemptions `undone`. The effects of the others remain. A line whose
/// amount leaves its bounds ends the decision.
pub fn undo(
    order: Order,
    redemptions: &Redemptions,
    undone: &[&StoredRedemption],
    status: OrderStatus,
    work: &StepBudget,
) -> Order {
    let effects = effects(&order, redemptions, undone);
    let mut order = order;
    let off = Money::capped_sum(effects.iter().filter(|effect| effect.is_undone).map(|effect| effect.discount));
    order.discount_amount = non_zero(order.discount_amount.unwrap_or_default().remaining_after(off));
    let mut is_kept = Vec::with_capacity(order.items.len());
    let mut has_lost = false;
    for (position, item) in order.items.iter_mut().enumerate() {
        let line = LineEffects::at(position, item, &effects);
        let was_empty = item.quantity == 0;
        let lost = line.undo(item, redemptions.sent.get(position), work);
        // A redemption that has taken units off a line, or added some, may give them back or take them.
        let is_owed =
            line.others.iter().any(|other| other.units != 0) || (was_empty && item.initial_quantity != Some(0));
        is_kept.push(item.quantity > 0 || is_owed);
        has_lost |= lost > 0;
        order.amount = order.amount.map(|amount| work.checked(reduced_by(amount, lost)));
    }
    let mut is_kept = is_kept.into_iter();
    order.items.retain(|_| is_kept.next().unwrap_or(true));
    // An order that had no amount has one only by the units that were added to it.
    let is_unpriced = order.initial_amount.is_none() && order.items.iter().all(|item| item.amount.is_none());
    order.amount = order.amount.filter(|amount| !(has_lost && is_unpriced && amount.is_zero()));
    order.status = Some(status);
    order
}

/// Returns the effects of the redemptions of an order, in their order.
fn effects(order: &Order, redemptions: &Redemptions, undone: &[&StoredRedemption]) -> Vec<RemainingEffect> {
    let is_by_position = |redemption: &StoredRedemption| order.returns.is_empty() && !knows_lines(redemption);
    let is_undone = |id: &Text| undone.iter().any(|redemption| redemption.id == *id);
    let by_position = |redemption: &StoredRedemption| {
        let own = redemption.order.as_ref();
        RemainingEffect {
            discount: own.map(|own| own.discount).unwrap_or_default(),
            lines: own.map(|own| own.lines.clone()).unwrap_or_default(),
            is_undone: true,
            is_by_position: true,
        }
    };
    let by_id = |remaining: &RemainingDiscount| {
        let line = |item: &Item| {
            item.id
                .as_ref()
                .and_then(|id| remaining.line(id))
                .map(remaining_discounts::as_line_effect)
                .unwrap_or_default()
        };
        let lines = order.items.iter().map(line).collect();
        RemainingEffect {
            discount: remaining.discount,
            lines,
            is_undone: is_undone(&remaining.id),
            is_by_position: false,
        }
    };
    let known = redemptions.parts.iter().zip(&redemptions.recorded).map(|(part, remaining)| {
        if is_undone(&part.id) && is_by_position(part) { by_position(part) } else { by_id(remaining) }
    });
    let is_known = |redemption: &StoredRedemption| redemptions.parts.iter().any(|part| part.id == redemption.id);
    let unknown = undone.iter().filter(|redemption| !is_known(redemption)).map(|redemption| by_position(redemption));
    known.chain(unknown).collect()
}

/// Returns whether a redemption has the id of each line that it has an effect on.
fn knows_lines(redemption: &StoredRedemption) -> bool {
    let Some(own) = &redemption.order else { return true };
    let ids = own.line_ids.iter().map(|id| !id.is_empty()).chain(std::iter::repeat(false));
    own.lines.iter().zip(ids).all(|(line, has_id)| has_id || *line == LineEffect::default())
}

/// The effects of redemptions on a line, in their order.
struct LineEffects {
    all: Vec<LineEffect>,
    others: Vec<LineEffect>,
    undone: Vec<LineEffect>,
    is_by_position: bool,
}

impl LineEffects {
    fn at(position: usize, item: &Item, effects: &[RemainingEffect]) -> LineEffects {
        let of = |effect: &RemainingEffect| on_present(item, effect.lines.get(position).copied().unwrap_or_default());
        let with =
            |is_undone: bool| effects.iter().filter(move |effect| effect.is_undone == is_undone).map(of).collect();
        let is_by_position = effects.iter().any(|effect| effect.is_by_position && of(effect) != LineEffect::default());
        LineEffects { all: effects.iter().map(of).collect(), others: with(false), undone: with(true), is_by_position }
    }

    /// Takes the undone effects off a line; returns by how much its amount has decreased, in minor units.
    fn undo(&self, item: &mut Item, sent: Option<&LineTotals>, work: &StepBudget) -> i64 {
        let known = sent.copied().filter(|_| !self.is_by_position);
        let sent = known.unwrap_or_else(|| decompose(item, &self.all).line);
        let line = work.checked(compose(sent, item.price, &self.others)).line;
        let (quantity, amount) = (item.quantity, item.amount);
        item.quantity = line.quantity;
        item.discount_quantity = Some(line.free_units).filter(|free| *free > 0);
        item.amount = line.amount;
        item.discount_amount = non_zero(line.discount);
        let lost = || self.worth_of(item, work.checked(quantity.checked_signed_diff(line.quantity)));
        amount.zip(line.amount).map_or_else(lost, |(before, after)| before.difference_from(after))
    }

    /// Returns the value of removed units of a line without an amount: at its price or, without one, their part of the
    /// amount of the added or removed units. It is negative for added ones.
    fn worth_of(&self, item: &Item, removed: i64) -> i64 {
        let of_price = |price: Money| {
            let worth = price.checked_mul(removed.unsigned_abs())?;
            worth.signed().checked_mul(removed.signum())
        };
        let of_line = || {
            let line = self.undone.iter().find(|line| line.units != 0)?;
            line.worth.checked_mul(removed)?.checked_div(line.units)
        };
        // Without a price and without changed units no amount was lost.
        item.price.and_then(of_price).or_else(of_line).unwrap_or(0)
    }
}

fn non_zero(amount: Money) -> Option<Money> {
    Some(amount).filter(|amount| !amount.is_zero())
}

/// Returns an amount less a change, and at least 0. `None` if it grows out of bounds.
fn reduced_by(amount: Money, change: i64) -> Option<Money> {
    // Only a result below zero leaves 64 bits: both numbers are at most 2^53.
    Money::of(amount.minor().checked_sub_signed(change).unwrap_or(0))
}
