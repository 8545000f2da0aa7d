//! Decides what the accounts of a card of points are called, and which transfers its movements are. It must not know why points
//! move, or whether they may.

use crate::ledger::{AccountId, Transfer};
use crate::points::{Figure, Figures, Movement, Place, Step};
use crate::text::{Text, joined};

/// The account of a place of a card. A lot has as many points as its account; a figure that gives has less than nothing there.
///
/// ```
/// use scrip::facts::cards::card_account;
/// use scrip::points::{Figure, Place};
/// assert_eq!(card_account("lcrd_1", &Place::Lot("lcpeb_2".into())).as_str(), "card/lcrd_1/lot/lcpeb_2");
/// assert_eq!(card_account("lcrd_1", &Place::Figure(Figure::Earned)).as_str(), "card/lcrd_1/earned");
/// ```
pub fn card_account(card_id: &str, place: &Place) -> AccountId {
    let own = |parts: &[&str]| AccountId::new(joined(&[&["card/", card_id], parts].concat()));
    match place {
        Place::Lot(lot) => own(&["/lot/", lot]),
        Place::Pending(pending) => own(&["/pending/", pending]),
        Place::Debt => own(&["/debt"]),
        Place::Figure(figure) => own(&["/", figure_word(*figure)]),
    }
}

/// The account of the goods of a reward that one program has. One that left and came back has new goods, so that the moment of its
/// assignment is part of the name.
pub fn program_stock_account(program_id: &str, reward_id: &str, since_ms: i64) -> AccountId {
    let since = since_ms.to_string();
    AccountId::new(joined(&["program/", program_id, "/reward/", reward_id, "/since/", &since, "/stock"]))
}

/// Where the rewards are counted that the members of a program bought.
pub fn purchased_account(program_id: &str) -> AccountId {
    AccountId::new(joined(&["program/", program_id, "/purchased"]))
}

/// What was paid of an order with points, in minor units.
pub fn paid_account(order_id: &str) -> AccountId {
    AccountId::new(joined(&["order/", order_id, "/paid_with_points"]))
}

/// Where payments with points come from.
pub fn payments_account() -> AccountId {
    AccountId::new("project/paid_with_points")
}

/// The figures of a card's life, from what is on their accounts.
pub fn card_figures(card_id: &str, balance: impl Fn(&AccountId) -> i64) -> Figures {
    Figures::read(|figure| balance(&card_account(card_id, &Place::Figure(figure))))
}

/// What moved in a step, as a chain.
pub fn card_transfers(card_id: &str, chain: &Text, step: &Step) -> Vec<Transfer> {
    let transfer = |(count, movement): (usize, &Movement)| Transfer {
        id: joined(&[chain, ".", &count.to_string()]),
        chain: chain.clone(),
        debit: card_account(card_id, &movement.from),
        credit: card_account(card_id, &movement.to),
        amount: movement.points,
        reverses: None,
        at: step.at,
    };
    step.movements.iter().enumerate().map(transfer).collect()
}

fn figure_word(figure: Figure) -> &'static str {
    match figure {
        Figure::Earned => "earned",
        Figure::Added => "added",
        Figure::Purchased => "purchased",
        Figure::Refunded => "refunded",
        Figure::Spent => "spent",
        Figure::Subtracted => "subtracted",
        Figure::Expired => "expired",
        Figure::Returned => "returned",
        Figure::PurchaseReversed => "purchased_reversed",
        Figure::PendingTotal => "pending_total",
        Figure::PendingActivated => "pending_activated",
        Figure::PendingCanceled => "pending_canceled",
    }
}
