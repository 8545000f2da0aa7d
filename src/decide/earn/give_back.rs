//! Decides when an order earns and when it gives back, and what of each card: by the refund policies of card definitions. It must not
//! know what was earned for what.
//!
//! loyalty-v2.md section 3, `refunds.earned_points`. What is handed over, goods and codes, stays: no policy takes it back.

use crate::decide::returned::Share;
use crate::facts::Known;
use crate::facts::earning::{EarningFacts, Occasion, PastEarning, Standing};
use crate::model::order::OrderStatus;
use crate::points::Revocation;

/// What an order's new status means to what it earns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It is paid: it earns, if it never has.
    Paid,
    /// It is called off: what it earned is given back, if it has not been.
    CalledOff,
}

impl Turn {
    /// What it means that an order is now in a status, and was in another or was not there. The occasion says whether anything
    /// is left to do, so that a status that is told twice, or out of turn, does nothing twice.
    pub fn of(was: Option<OrderStatus>, is: OrderStatus) -> Option<Turn> {
        match is {
            _ if was == Some(is) => None,
            OrderStatus::Paid => Some(Turn::Paid),
            OrderStatus::Canceled => Some(Turn::CalledOff),
            OrderStatus::Created | OrderStatus::Fulfilled => None,
        }
    }
}

/// Points that are taken back from a card: what [`crate::points::Card::revoke`] is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GiveBack {
    /// What was earned, as many points of it as are taken now.
    pub past: PastEarning,
    /// How many of them have been given back then, in all.
    pub due: u64,
    /// From where it is taken.
    pub method: Revocation,
}

/// What of an occasion is given back when such a share of its order has come back, all returns so far together; nothing when it earned
/// nothing or that has been done. `None` when something that it asks
/// is there and cannot be read: then nobody may call it done.
pub fn give_back(facts: &dyn EarningFacts, occasion: &Occasion, share: Share) -> Option<Vec<GiveBack>> {
    match facts.standing(occasion) {
        Known::Is(Standing::Earned) => {}
        Known::Is(Standing::New | Standing::GivenBack) | Known::Absent => return Some(Vec::new()),
        Known::Unknown | Known::Unreadable => return None,
    }
    let past = match facts.past(occasion) {
        Known::Is(past) => past,
        Known::Absent => return Some(Vec::new()),
        Known::Unknown | Known::Unreadable => return None,
    };
    let mut back = Vec::with_capacity(past.len());
    for mut past in past {
        let due = share.of(past.earned.points);
        past.earned.points = due.saturating_sub(past.back);
        if past.earned.points == 0 {
            continue;
        }
        match facts.revocation(&past.card_definition_id) {
            Known::Is(Some(method)) => back.push(GiveBack { past, due, method }),
            Known::Is(None) | Known::Absent => {}
            Known::Unknown | Known::Unreadable => return None,
        }
    }
    Some(back)
}
