//! Decides the return of part of an order: the returned amounts, discounts, card balances, counts and budgets, and the
//! remaining order.
//!
//! docs/spec/calculation.md#19, D24. The refund is the paid amount less the cost of the remaining order. So all refunds
//! together never exceed the payment, and the last return refunds the rest.

pub mod answer;
pub mod booking;
pub mod card_transfers;
pub mod changed_order;
pub mod free_units;
pub mod moved_lines;
pub mod rests;
pub mod reward_return;
pub mod settled;
pub mod share;
pub mod undone;
pub mod units;

use crate::decide::order_return::card_transfers::spent_rest;
use crate::decide::order_return::settled::Redemptions;
use crate::ledger::Transfer;
use crate::model::order::{Item, Order};
use crate::model::redemption::{PastLine, PastRedemption, SpentUnits};

/// Returns a redemption as a rollback sees it after its order was changed. It has its remaining spending and its
/// remaining effects by the present lines of the order. One without the ids of its lines is returned as it was made.
pub fn remaining(past: PastRedemption, order: &Order, redemptions: &Redemptions, chain: &[Transfer]) -> PastRedemption {
    let mut past = past;
    if !order.returns.is_empty() {
        past.spent = past.spent.map(|spent| match (spent_rest(chain, &past.id), spent) {
            (Some(rest), _) => rest,
            (None, SpentUnits::Credits(_)) => SpentUnits::Credits(0),
            (None, SpentUnits::Points(_)) => SpentUnits::Points(0),
        });
    }
    let rest = redemptions.rest_of(&past.id).filter(|_| !order.returns.is_empty() || knows_lines(&past));
    if let Some((own, rest)) = past.order.as_mut().zip(rest) {
        let line = |item: &Item| item.id.as_ref().and_then(|id| rest.line(id)).map(rests::as_past).unwrap_or_default();
        own.discount = rest.discount;
        own.lines = order.items.iter().map(line).collect();
        own.line_ids = order.items.iter().map(|item| item.id.clone().unwrap_or_default()).collect();
    }
    past
}

/// Returns whether a redemption has the id of each line that it has an effect on.
fn knows_lines(past: &PastRedemption) -> bool {
    let Some(own) = &past.order else { return true };
    let ids = own.line_ids.iter().map(|id| !id.is_empty()).chain(std::iter::repeat(false));
    own.lines.iter().zip(ids).all(|(line, has_id)| has_id || *line == PastLine::default())
}
