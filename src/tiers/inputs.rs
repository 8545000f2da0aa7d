//! Derives the inputs of a tier state from movements of points on the card.

use super::state::{TierFacts, TierInputChange};
use super::structure::{TierExpiration, TierStructure};
use crate::points::card::{CardStep, LifetimeTotal, MovementCause, Now, PointsAccount, PointsCard};
use crate::points::expiry::Activity;
use crate::text::Text;
use crate::time::Instant;

#[expect(
    clippy::arithmetic_side_effects,
    reason = "what a card has and has had stays within `points::card::POINTS_MAX`"
)]
impl TierFacts {
    /// Returns the inputs from a card, for a member of these segments.
    pub fn of(card: &PointsCard, segments: Vec<Text>) -> TierFacts {
        let total = |total| card.lifetime_totals.of(total).cast_signed();
        let earned = total(LifetimeTotal::Earned) - total(LifetimeTotal::Returned);
        TierFacts { balance: card.balance(), earned, segments }
    }

    /// Applies a step of the card. Points that are revoked with their earning count as not earned.
    fn after(&mut self, step: &CardStep) {
        for movement in &step.movements {
            let points = movement.points.cast_signed();
            let is_there = |account: &PointsAccount| matches!(account, PointsAccount::Lot(_) | PointsAccount::Debt);
            match (is_there(&movement.from), is_there(&movement.to)) {
                (false, true) => self.balance += points,
                (true, false) => self.balance -= points,
                (true, true) | (false, false) => {}
            }
            match (&movement.from, &movement.to) {
                (PointsAccount::LifetimeTotal(LifetimeTotal::Earned), _) => self.earned += points,
                (_, PointsAccount::LifetimeTotal(LifetimeTotal::Returned)) => self.earned -= points,
                _ => {}
            }
        }
    }
}

impl TierStructure {
    /// Returns the changes of the inputs after each of these steps, starting from `before`.
    pub fn changes(&self, before: &TierFacts, steps: &[CardStep]) -> Vec<TierInputChange> {
        let mut facts = before.clone();
        let change = |step: &CardStep| {
            facts.after(step);
            TierInputChange { at: step.at, facts: facts.clone(), is_active: self.is_moved_by(&step.cause) }
        };
        steps.iter().map(change).collect()
    }

    /// Returns the future changes of the inputs by time only, if they are known.
    pub fn future_changes(&self, card: &PointsCard, facts: &TierFacts, now: &Now<'_>) -> Vec<TierInputChange> {
        let end = Now { at: Instant::LATEST.later(-1), zone: now.zone };
        card.settle(&end).map(|outcome| self.changes(facts, &outcome.due)).unwrap_or_default()
    }

    /// Returns whether an activity of a member postpones the end of a tier.
    pub fn is_postponed_by(&self, activity: Activity<'_>) -> bool {
        match &self.expiration {
            TierExpiration::Sliding(sliding) => sliding.is_postponed_by(activity),
            TierExpiration::Never | TierExpiration::Rolling(_) | TierExpiration::Calendar(_) => false,
        }
    }

    /// Returns whether a step of a card postpones it.
    fn is_moved_by(&self, cause: &MovementCause) -> bool {
        let activity = match cause {
            MovementCause::Credited(LifetimeTotal::Earned) | MovementCause::Pending(_) => Activity::Earning,
            MovementCause::Debited(LifetimeTotal::Spent) => Activity::Spending,
            MovementCause::Credited(_)
            | MovementCause::Debited(_)
            | MovementCause::Activated(_)
            | MovementCause::Canceled(_)
            | MovementCause::ExpiredByTime(_)
            | MovementCause::Expired(_)
            | MovementCause::Refunded
            | MovementCause::Returned => return false,
        };
        self.is_postponed_by(activity)
    }
}
