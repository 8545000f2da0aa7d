//! Defines the names of the accounts of a points card, and its movements as transfers.

use crate::ledger::{AccountId, Transfer};
use crate::points::{CardStep, LifetimeTotal, LifetimeTotals, PointsAccount, PointsMovement};
use crate::text::{Text, joined};

/// Returns the account of a part of a card. The balance of a lot's account equals its points; that of a source total is
/// negative.
///
/// ```
/// use scrip::facts::cards::card_account;
/// use scrip::points::{LifetimeTotal, PointsAccount};
/// assert_eq!(card_account("lcrd_1", &PointsAccount::Lot("lcpeb_2".into())).as_str(), "card/lcrd_1/lot/lcpeb_2");
/// assert_eq!(card_account("lcrd_1", &PointsAccount::LifetimeTotal(LifetimeTotal::Earned)).as_str(), "card/lcrd_1/earned");
/// ```
pub fn card_account(card_id: &str, points_account: &PointsAccount) -> AccountId {
    let own = |parts: &[&str]| AccountId::new(joined(&[&["card/", card_id], parts].concat()));
    match points_account {
        PointsAccount::Lot(lot) => own(&["/lot/", lot]),
        PointsAccount::Pending(pending) => own(&["/pending/", pending]),
        PointsAccount::Debt => own(&["/debt"]),
        PointsAccount::LifetimeTotal(total) => own(&["/", total_name(*total)]),
    }
}

/// Returns the account of the stock of a reward in one program. An assignment after a removal starts with new stock, so
/// the name contains the instant of assignment.
pub fn program_stock_account(program_id: &str, reward_id: &str, since_ms: i64) -> AccountId {
    let since = since_ms.to_string();
    AccountId::new(joined(&["program/", program_id, "/reward/", reward_id, "/since/", &since, "/stock"]))
}

/// Returns the account that counts the rewards that the members of a program bought.
pub fn purchased_account(program_id: &str) -> AccountId {
    AccountId::new(joined(&["program/", program_id, "/purchased"]))
}

/// Returns the account of the amount of an order paid with points, in minor units.
pub fn paid_account(order_id: &str) -> AccountId {
    AccountId::new(joined(&["order/", order_id, "/paid_with_points"]))
}

/// Returns the source account of payments with points.
pub fn payments_account() -> AccountId {
    AccountId::new("project/paid_with_points")
}

/// Returns the lifetime totals of a card, from the balances of their accounts.
pub fn card_lifetime_totals(card_id: &str, balance: impl Fn(&AccountId) -> i64) -> LifetimeTotals {
    LifetimeTotals::read(|total| balance(&card_account(card_id, &PointsAccount::LifetimeTotal(total))))
}

/// Returns the movements of a step as a chain of transfers.
pub fn card_transfers(card_id: &str, chain: &Text, step: &CardStep) -> Vec<Transfer> {
    let transfer = |count: usize, movement: &PointsMovement| Transfer {
        id: joined(&[chain, ".", &count.to_string()]),
        chain: chain.clone(),
        debit: card_account(card_id, &movement.from),
        credit: card_account(card_id, &movement.to),
        amount: movement.points,
        reverses: None,
        part_of: None,
        at: step.at,
    };
    step.movements.iter().enumerate().map(|(count, movement)| transfer(count, movement)).collect()
}

fn total_name(total: LifetimeTotal) -> &'static str {
    match total {
        LifetimeTotal::Earned => "earned",
        LifetimeTotal::Added => "added",
        LifetimeTotal::Purchased => "purchased",
        LifetimeTotal::Refunded => "refunded",
        LifetimeTotal::Spent => "spent",
        LifetimeTotal::Subtracted => "subtracted",
        LifetimeTotal::Expired => "expired",
        LifetimeTotal::Returned => "returned",
        LifetimeTotal::PurchaseReversed => "purchased_reversed",
        LifetimeTotal::PendingTotal => "pending_total",
        LifetimeTotal::PendingActivated => "pending_activated",
        LifetimeTotal::PendingCanceled => "pending_canceled",
    }
}
