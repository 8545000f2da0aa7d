//! Decides what happens to a member's facts where points of the card move. It must not know why they moved, nor what follows.

use super::standing::{Change, Facts};
use super::structure::{Expiration, Structure};
use crate::points::card::{Card, Cause, Figure, Now, Place, Step};
use crate::points::expiry::Activity;
use crate::text::Text;
use crate::time::Instant;

impl Facts {
    /// The facts of a card, for a member of these segments.
    pub fn of(card: &Card, segments: Vec<Text>) -> Facts {
        let figure = |figure| i64::try_from(card.figures.of(figure)).unwrap_or(i64::MAX);
        let earned = figure(Figure::Earned).saturating_sub(figure(Figure::Returned));
        Facts { balance: card.balance(), earned, segments }
    }

    /// The facts after a step. Points that are given back with what they were earned by were not earned.
    fn after(&mut self, step: &Step) {
        for movement in &step.movements {
            let points = i64::try_from(movement.points).unwrap_or(i64::MAX);
            let is_there = |place: &Place| matches!(place, Place::Lot(_) | Place::Debt);
            match (is_there(&movement.from), is_there(&movement.to)) {
                (false, true) => self.balance = self.balance.saturating_add(points),
                (true, false) => self.balance = self.balance.saturating_sub(points),
                (true, true) | (false, false) => {}
            }
            match (&movement.from, &movement.to) {
                (Place::Figure(Figure::Earned), _) => self.earned = self.earned.saturating_add(points),
                (_, Place::Figure(Figure::Returned)) => self.earned = self.earned.saturating_sub(points),
                _ => {}
            }
        }
    }
}

impl Structure {
    /// What steps of a card change, one after the other, from these facts on.
    pub fn changes(&self, before: &Facts, steps: &[Step]) -> Vec<Change> {
        let mut facts = before.clone();
        let change = |step: &Step| {
            facts.after(step);
            Change { at: step.at, facts: facts.clone(), is_active: self.is_moved_by(&step.cause) }
        };
        steps.iter().map(change).collect()
    }

    /// What becomes of a card by itself, from these facts on, as far as it is known.
    pub fn coming(&self, card: &Card, facts: &Facts, now: &Now<'_>) -> Vec<Change> {
        let end = Now { at: Instant::LATEST.later(-1), zone: now.zone };
        card.settle(&end).map(|outcome| self.changes(facts, &outcome.due)).unwrap_or_default()
    }

    /// Whether something that a member does puts off the end of a tier.
    pub fn is_put_off_by(&self, activity: Activity<'_>) -> bool {
        match &self.expiration {
            Expiration::Sliding(sliding) => sliding.is_moved_by(activity),
            Expiration::Never | Expiration::Rolling(_) | Expiration::Calendar(_) => false,
        }
    }

    /// Whether something that happened to a card does.
    fn is_moved_by(&self, cause: &Cause) -> bool {
        let activity = match cause {
            Cause::Arrived(Figure::Earned) | Cause::Waits(_) => Activity::Earning,
            Cause::Taken(Figure::Spent) => Activity::Spending,
            Cause::Arrived(_)
            | Cause::Taken(_)
            | Cause::Activated(_)
            | Cause::Canceled(_)
            | Cause::Lapsed(_)
            | Cause::Expired(_)
            | Cause::Refunded
            | Cause::Returned => return false,
        };
        self.is_put_off_by(activity)
    }
}
