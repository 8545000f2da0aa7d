//! Decides the return of part of an order: the returned amounts, discounts, card balances, counts and budgets, and the
//! remaining order.
//!
//! docs/spec/calculation.md#19, D24. The refund is the paid amount less the cost of the remaining order. So all refunds
//! together never exceed the payment, and the last return refunds the rest.

pub mod answer;
pub mod booking;
pub mod card_transfers;
pub mod changed_order;
pub mod composed_line;
pub mod free_units;
pub mod line_goods;
pub mod moved_lines;
pub mod remaining_discounts;
pub mod reward_return;
pub mod sent_lines;
pub mod settled;
pub mod share;
pub mod undone;
pub mod units;

use crate::decide::order_return::card_transfers::remaining_spent_units;
use crate::ledger::Transfer;
use crate::model::order::Order;
use crate::model::redemption::{SpentUnits, StoredRedemption};

/// Returns a redemption with its remaining spending, if part of its order was returned.
pub fn with_remaining_spending(redemption: StoredRedemption, order: &Order, chain: &[Transfer]) -> StoredRedemption {
    let mut redemption = redemption;
    if !order.returns.is_empty() {
        redemption.spent = redemption.spent.map(|spent| match (remaining_spent_units(chain, &redemption.id), spent) {
            (Some(remaining), _) => remaining,
            (None, SpentUnits::Credits(_)) => SpentUnits::Credits(0),
            (None, SpentUnits::Points(_)) => SpentUnits::Points(0),
        });
    }
    redemption
}
