//! Finds the lines of an order as they were sent, and what each of its redemptions has on them.
//!
//! The record of a redemption has each line after it, with its own part. So the records of all redemptions of an order,
//! also of those that were rolled back, contain each line as it was sent. They are used where they explain the
//! present line exactly; a line that was changed or returned since has its own amounts less those of its redemptions.

use crate::decide::order_return::composed_line::{amounts_of, compose, decompose, line_before_redemption, on_present};
use crate::decide::order_return::remaining_discounts::as_line_effect;
use crate::facts::Facts;
use crate::model::order::{Item, Order};
use crate::model::order_return::RemainingDiscount;
use crate::model::redemption::{LineEffect, LineTotals, OrderEffect, StoredRedemption};
use crate::text::Text;

/// Returns the order after each redemption of an order, in their sequence. The parts of a stack are one redemption.
pub fn records(facts: &dyn Facts, order: &Order) -> Vec<OrderEffect> {
    let known = |id: &str| facts.redemption(id).found();
    let mut found: Vec<StoredRedemption> =
        order.redemptions.iter().filter_map(|(id, _)| known(id)).map(|redemption| redemption.into_owned()).collect();
    found.sort_by_key(|redemption| redemption.date);
    let own =
        |redemption: &StoredRedemption| redemption.order.clone().filter(|own| own.id.is_some() && own.id == order.id);
    let of_instant = |group: &[StoredRedemption]| in_sequence(group.iter().filter_map(own).collect());
    found.chunk_by(|one, next| one.date == next.date).flat_map(of_instant).collect()
}

/// Returns the records of one instant in the sequence in which each begins with the order that the one before has left.
fn in_sequence(records: Vec<OrderEffect>) -> Vec<OrderEffect> {
    let mut left = records;
    let mut sorted = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let follows = |record: &OrderEffect| left.iter().any(|other| other != record && is_next(other, record));
        // Records that follow each other in a circle keep the sequence in which they are stored.
        let first = left.iter().position(|record| !follows(record)).unwrap_or(0);
        sorted.push(left.remove(first));
    }
    sorted
}

/// Returns whether a record begins with the lines that another one has left, and that one has changed them.
fn is_next(record: &OrderEffect, next: &OrderEffect) -> bool {
    let has_effect = record.lines.iter().any(|line| *line != LineEffect::default());
    let mut lines = record.line_ids.iter().zip(&record.after);
    has_effect && lines.all(|(id, after)| line_before(next, id).as_ref() == Some(after))
}

/// Returns the effects of redemptions on a line of the present order.
pub fn effects_on(item: &Item, recorded: &[RemainingDiscount]) -> Vec<LineEffect> {
    let effect = |remaining: &RemainingDiscount| {
        let line = item.id.as_ref().and_then(|id| remaining.line(id));
        on_present(item, line.map(as_line_effect).unwrap_or_default())
    };
    recorded.iter().map(effect).collect()
}

/// Returns the line as it was sent, if a record explains the present one.
pub fn sent_line(item: &Item, records: &[OrderEffect], recorded: &[RemainingDiscount]) -> Option<LineTotals> {
    let id = item.id.as_ref()?;
    let effects = effects_on(item, recorded);
    let explains = |sent: &LineTotals| {
        compose(*sent, item.price, &effects).is_some_and(|composed| composed.line == amounts_of(item))
    };
    records.iter().filter_map(|record| line_before(record, id)).find(explains)
}

fn line_before(record: &OrderEffect, line_id: &Text) -> Option<LineTotals> {
    let position = record.line_ids.iter().position(|id| id == line_id)?;
    Some(line_before_redemption(*record.after.get(position)?, record.lines.get(position)?))
}

/// Returns for each line what was sent, and sets each effect to the part that is on its line. `explained` has the sent
/// lines that are known from records. The effects on the other lines become what is on these.
pub fn fit(
    order: &Order,
    explained: &[Option<LineTotals>],
    recorded: &mut [RemainingDiscount],
    remaining_discounts: &mut [RemainingDiscount],
) -> Vec<LineTotals> {
    let mut lines = Vec::with_capacity(order.items.len());
    for (item, known) in order.items.iter().zip(explained) {
        let effects = effects_on(item, recorded);
        let composed = known.and_then(|sent| Some((sent, compose(sent, item.price, &effects)?.shares)));
        let (sent, shares) = match composed {
            Some(composed) => composed,
            None => {
                let found = decompose(item, &effects);
                (found.line, found.shares)
            }
        };
        lines.push(sent);
        let Some(id) = &item.id else { continue };
        set(remaining_discounts, id, &shares);
        if known.is_none() {
            set(recorded, id, &shares);
        }
    }
    lines
}

fn set(remaining_discounts: &mut [RemainingDiscount], line_id: &Text, shares: &[LineEffect]) {
    for (remaining, share) in remaining_discounts.iter_mut().zip(shares) {
        if let Some(line) = remaining.line_mut(line_id) {
            (line.discount, line.free_units) = (share.discount, share.free_units);
        }
    }
}
