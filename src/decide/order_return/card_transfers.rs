//! Decides which card a transfer of a redemption takes from, and the amount.

use crate::facts::part_of;
use crate::ledger::Transfer;
use crate::model::redemption::SpentUnits;

/// Returns whether a transfer belongs to this redemption, and not to another one of the same stack.
pub fn is_of(transfer: &Transfer, redemption_id: &str) -> bool {
    transfer.id.strip_prefix(redemption_id).is_some_and(|rest| rest.starts_with('.'))
}

/// Returns the credits or points of a card that a transfer spends.
pub fn spent_units_of(transfer: &Transfer) -> Option<SpentUnits> {
    match part_of(transfer.debit.as_str())? {
        ("voucher", _, "credits") => Some(SpentUnits::Credits(transfer.amount)),
        ("voucher", _, "points") => Some(SpentUnits::Points(transfer.amount)),
        _ => None,
    }
}

/// Returns the credits or points that a transfer refunds to a card.
pub fn refunded_units_of(transfer: &Transfer) -> Option<SpentUnits> {
    let forth = Transfer { debit: transfer.credit.clone(), ..transfer.clone() };
    spent_units_of(&forth)
}

/// Returns the credits or points that a redemption still spends of its card.
pub fn remaining_spent_units(chain: &[Transfer], redemption_id: &str) -> Option<SpentUnits> {
    chain.iter().filter(|transfer| is_of(transfer, redemption_id)).find_map(spent_units_of)
}
