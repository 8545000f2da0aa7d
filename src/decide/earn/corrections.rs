//! Decides when an order earns and when its points are corrected, and how many of each card. The inputs are the points
//! that the changed order would earn, and the refund policies of card definitions.
//!
//! docs/spec/loyalty.md#3, `refunds.earned_points`. Fulfilled goods and codes stay with the customer: no policy takes them back.

use crate::count::{Countable, total};
use crate::decide::earn::order_points;
use crate::decide::returns::ReturnedShare;
use crate::facts::earning::{EarningFacts, EarningKey, EarningStatus, PointsAmount, PointsBasis, StoredEarning};
use crate::facts::{Facts, Known};
use crate::id::Context;
use crate::model::customer::Customer;
use crate::model::order::{Order, OrderStatus};
use crate::points::Revocation;
use crate::points::limits::{EarnedSoFar, GlobalLimit};
use crate::text::Text;

/// The effect of an order's new status on its earning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderTransition {
    /// The order is paid: it earns, if it has not earned yet.
    Paid,
    /// The order is canceled: its earning is revoked, once.
    Canceled,
}

impl OrderTransition {
    /// Returns the transition of an order that is now in status `is`, and was in another or did not exist. The earning
    /// key prevents a second effect, so a status may be reported twice or out of order.
    pub fn of(was: Option<OrderStatus>, is: OrderStatus) -> Option<OrderTransition> {
        match is {
            _ if was == Some(is) => None,
            OrderStatus::Paid => Some(OrderTransition::Paid),
            OrderStatus::Canceled => Some(OrderTransition::Canceled),
            OrderStatus::Created | OrderStatus::Fulfilled => None,
        }
    }
}

/// The present state of an order that earned points.
#[derive(Debug, Clone, Copy)]
pub struct RemainingOrder<'a> {
    /// The order.
    pub order: &'a Order,
    /// The customer of the order.
    pub customer: &'a Customer,
    /// The share of its amount that was returned since it earned.
    pub share: ReturnedShare,
}

/// The movement of earned points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarningCorrection {
    /// Points are taken from the card.
    Revoke(Revocation),
    /// Points are added to the card again, or for the first time.
    Restore,
}

/// Points by which the earning of an order decreases or increases after a change of the order.
#[derive(Debug, Clone, PartialEq)]
pub struct PointsCorrection {
    /// The stored earning, with the points that move now.
    pub stored_earning: StoredEarning,
    /// The highest number of points that the order has earned by it.
    pub total: u64,
    /// The number of those points that are revoked in total after this movement.
    pub due: u64,
    /// The direction of the movement.
    pub movement: EarningCorrection,
}

/// Decides which points of an earning key are revoked or restored, so that the order has the points that it would
/// earn now. A canceled order keeps none. Nothing moves if it earned nothing or the movement is done already. Returns
/// `None` if a fact that it needs cannot be read.
pub fn decide_corrections(
    facts: &dyn Facts,
    earning: &dyn EarningFacts,
    key: &EarningKey,
    remaining: Option<RemainingOrder<'_>>,
    context: &Context,
) -> Option<Vec<PointsCorrection>> {
    match earning.status(key) {
        Known::Is(EarningStatus::Earned) => {}
        Known::Is(EarningStatus::New | EarningStatus::Revoked) | Known::Absent => return Some(Vec::new()),
        Known::Unknown | Known::Unreadable => return None,
    }
    let stored_earnings = match earning.stored_earnings(key) {
        Known::Is(stored_earnings) => stored_earnings,
        Known::Absent => return Some(Vec::new()),
        Known::Unknown | Known::Unreadable => return None,
    };
    let earned = match remaining {
        None => vec![0; stored_earnings.len()],
        Some(remaining) => {
            PreviousEarning { facts, earning, key, stored_earnings: &stored_earnings, context }.points_of(remaining)?
        }
    };
    let mut corrections = Vec::with_capacity(stored_earnings.len());
    for (stored_earning, earned) in stored_earnings.into_iter().zip(earned) {
        if stored_earning.earned.points.checked_sub(stored_earning.revoked_due) == Some(earned) {
            continue;
        }
        let method = match earning.revocation(&stored_earning.card_definition_id) {
            Known::Is(method) => method,
            Known::Absent => None,
            Known::Unknown | Known::Unreadable => return None,
        };
        corrections.extend(correct_earning(stored_earning, earned, method));
    }
    Some(corrections)
}

/// The past earning of an order, to be decided again.
struct PreviousEarning<'a> {
    facts: &'a dyn Facts,
    earning: &'a dyn EarningFacts,
    key: &'a EarningKey,
    stored_earnings: &'a [StoredEarning],
    context: &'a Context,
}

/// A card that got points of an order, and the points that the order has earned on it so far.
struct CardCapacity {
    id: Text,
    earned: u64,
    /// The points of the order that the card has capacity for, including those that it already has.
    capacity: u64,
}

impl PreviousEarning<'_> {
    /// Returns how many points the order earns by each past earning. A fixed number counts by the remaining share of
    /// the order's amount. Others count as a new order like it would have earned when it was paid. Cards limit both by
    /// their capacity.
    fn points_of(&self, remaining: RemainingOrder<'_>) -> Option<Vec<u64>> {
        if remaining.share.is_full() {
            return Some(vec![0; self.stored_earnings.len()]);
        }
        let bases: Vec<&PointsAmount> = self
            .stored_earnings
            .iter()
            .filter_map(|stored_earning| Some(&stored_earning.basis.as_ref()?.amount))
            .collect();
        if bases.is_empty() {
            return Some(
                self.stored_earnings
                    .iter()
                    .map(|stored_earning| remaining_points(stored_earning, remaining.share))
                    .collect(),
            );
        }
        let decided = order_points(self.facts, remaining.order, remaining.customer, &bases, self.context)?;
        let mut decided_points = decided.points.into_iter();
        let mut cards: Vec<CardCapacity> = Vec::new();
        let mut earned = Vec::with_capacity(self.stored_earnings.len());
        for stored_earning in self.stored_earnings {
            if !cards.iter().any(|card| card.id == stored_earning.card_id) {
                cards.push(self.capacity_of(stored_earning)?);
            }
            let card = cards.iter_mut().find(|card| card.id == stored_earning.card_id)?;
            let points = match &stored_earning.basis {
                Some(basis) => card.points(decided_points.next()?, basis, stored_earning, decided.paid),
                None => remaining_points(stored_earning, remaining.share),
            };
            card.earned = card.earned.checked_add(points)?;
            earned.push(points);
        }
        Some(earned)
    }

    /// Finds the limit of a whole card, and the points that the card has without the order.
    fn capacity_of(&self, of: &StoredEarning) -> Option<CardCapacity> {
        let global = match self.earning.limits(&of.card_definition_id) {
            Known::Is(limits) => limits.global,
            Known::Absent => GlobalLimit::None,
            Known::Unknown | Known::Unreadable => return None,
        };
        let since = global.since(self.context.now, &self.facts.time_zone());
        let so_far = match global {
            GlobalLimit::None => Known::Absent,
            GlobalLimit::Total(_) | GlobalLimit::Current(..) => self.earning.earned(&of.card_id, since),
        };
        let mut so_far = match so_far {
            Known::Is(so_far) => so_far,
            Known::Absent => EarnedSoFar::default(),
            Known::Unknown | Known::Unreadable => return None,
        };
        let in_period = match since.map(|since| self.earning.credited_since(self.key, &of.card_id, since)) {
            Some(Known::Is(points)) => points,
            None | Some(Known::Absent) => 0,
            Some(Known::Unknown | Known::Unreadable) => return None,
        };
        let own = || self.stored_earnings.iter().filter(|stored_earning| stored_earning.card_id == of.card_id);
        let there =
            total(own().map(|stored_earning| stored_earning.earned.points.remaining_after(stored_earning.revoked)))?;
        let remaining = total(
            own().map(|stored_earning| stored_earning.earned.points.remaining_after(stored_earning.revoked_due)),
        )?;
        so_far.balance = so_far.balance.checked_sub_unsigned(there)?;
        so_far.in_period = so_far.in_period.remaining_after(in_period);
        // Points that the order keeps of an earlier period take no capacity in this one.
        let earlier = if since.is_some() { remaining.remaining_after(in_period) } else { 0 };
        Some(CardCapacity {
            id: of.card_id.clone(),
            earned: 0,
            capacity: global.capacity(so_far).checked_add(earlier)?,
        })
    }
}

impl CardCapacity {
    /// Returns how many of the points of an order are earned on the card. Today's limit restricts only new points: a
    /// card that got more meanwhile keeps the points of the order.
    fn points(&self, points: u64, basis: &PointsBasis, stored_earning: &StoredEarning, paid: u64) -> u64 {
        let so_far = EarnedSoFar { pending: self.earned, in_period: self.earned, ..EarnedSoFar::default() };
        let then = basis.limits.earned(points, Some(paid), so_far);
        let now = self.capacity.remaining_after(self.earned);
        then.min(now.max(stored_earning.earned.points.remaining_after(stored_earning.revoked_due)))
    }
}

/// Returns the remaining share of a fixed number of points.
fn remaining_points(stored_earning: &StoredEarning, share: ReturnedShare) -> u64 {
    stored_earning.earned.points.remaining_after(share.of(stored_earning.earned.points))
}

/// Returns the movement of a past earning after which it has earned `earned` points. Points that could not be taken for
/// lack of balance are not restored: the customer had them.
fn correct_earning(
    mut stored_earning: StoredEarning,
    earned: u64,
    method: Option<Revocation>,
) -> Option<PointsCorrection> {
    let more = earned.remaining_after(stored_earning.earned.points);
    let total = stored_earning.earned.points.max(earned);
    (stored_earning.revoked_due, stored_earning.revoked) =
        (stored_earning.revoked_due.checked_add(more)?, stored_earning.revoked.checked_add(more)?);
    let due = total.remaining_after(earned);
    let (points, movement) = match method {
        _ if due < stored_earning.revoked_due => {
            (stored_earning.revoked.remaining_after(due), EarningCorrection::Restore)
        }
        Some(method) => (due.remaining_after(stored_earning.revoked_due), EarningCorrection::Revoke(method)),
        None => return None,
    };
    stored_earning.earned.points = points;
    Some(PointsCorrection { stored_earning, total, due, movement })
}
