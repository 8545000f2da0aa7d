//! Settles a card: expires lots, activates and cancels pending points by time, in order of time and each at its
//! own instant.
//!
//! Of the events due at one instant, expirations come first, then cancellations, then activations; among equal ones the
//! ids decide. The expiration of activated points counts from that instant, and may be due as well.

use std::collections::BTreeSet;

use super::card::{
    CardOutcome, CardRefusal, CardStep, LifetimeTotal, Lot, MovementCause, Now, PendingPoints, PointsAccount,
    PointsCard,
};
use super::draft::CardEdit;
use crate::text::Text;
use crate::time::Instant;

/// A due event, in the order within one instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum DueEvent {
    Expires,
    IsCanceled,
    IsActivated,
}

impl PointsCard {
    /// Returns the card at an instant, and the events due by that instant.
    pub fn settle(&self, now: &Now<'_>) -> Result<CardOutcome, CardRefusal> {
        CardEdit::settled(self, now)?.finish()
    }

    /// Returns the card after at most `most` due events, and its instant. If there were fewer, that is now; otherwise
    /// the instant of the last event, at which more may follow.
    pub fn settle_first(&self, most: usize, now: &Now<'_>) -> Result<(CardOutcome, Instant), CardRefusal> {
        let mut draft = CardEdit::new(self, now);
        draft.settle(most)?;
        let at = if draft.due.len() < most { now.at } else { draft.at };
        Ok((draft.finish()?, at))
    }
}

impl<'a> CardEdit<'a> {
    /// Returns a card for changes now, after all due events.
    pub fn settled(card: &PointsCard, now: &Now<'a>) -> Result<CardEdit<'a>, CardRefusal> {
        let mut draft = CardEdit::new(card, now);
        draft.settle(usize::MAX)?;
        draft.at = now.at;
        Ok(draft)
    }

    /// Applies at most `most` due events.
    fn settle(&mut self, most: usize) -> Result<(), CardRefusal> {
        self.card.check()?;
        let now = self.at;
        let pending = self.card.pending.iter().filter(|pending| pending.points > 0);
        let mut events: BTreeSet<(Instant, DueEvent, Text)> = pending.filter_map(of_pending).collect();
        events.extend(self.card.lots.iter().filter_map(of_lot));
        while self.due.len() < most
            && let Some((at, event, id)) = events.pop_first().filter(|(at, ..)| *at <= now)
        {
            self.at = at;
            match event {
                DueEvent::Expires => {
                    self.close(&id)?;
                    self.due_step(MovementCause::ExpiredByTime(id));
                }
                DueEvent::IsCanceled => {
                    self.cancel(&id, u64::MAX)?;
                    self.due_step(MovementCause::Canceled(id));
                }
                DueEvent::IsActivated => {
                    self.activate(&id)?;
                    self.due_step(MovementCause::Activated(id));
                    events.extend(
                        self.due
                            .last()
                            .map(CardStep::credited)
                            .unwrap_or_default()
                            .iter()
                            .filter_map(|part| self.card.lots.iter().find(|lot| lot.id == part.lot).and_then(of_lot)),
                    );
                }
            }
        }
        self.card.pending.retain(|pending| pending.points > 0);
        Ok(())
    }

    /// Activates pending points.
    pub fn activate(&mut self, id: &Text) -> Result<(), CardRefusal> {
        let PendingPoints { points, lot, expiration, .. } = self.pending_points(id)?;
        self.shift(
            PointsAccount::Pending(id.clone()),
            PointsAccount::LifetimeTotal(LifetimeTotal::PendingActivated),
            points,
        )?;
        self.credit_lot(LifetimeTotal::Earned, points, &lot, &expiration)
    }

    /// Cancels at most `most` pending points; returns how many were cancelled.
    pub fn cancel(&mut self, id: &Text, most: u64) -> Result<u64, CardRefusal> {
        let points = self.pending_points(id)?.points.min(most);
        self.shift(
            PointsAccount::Pending(id.clone()),
            PointsAccount::LifetimeTotal(LifetimeTotal::PendingCanceled),
            points,
        )?;
        Ok(points)
    }

    fn pending_points(&self, id: &Text) -> Result<PendingPoints, CardRefusal> {
        let found = self.card.pending.iter().find(|pending| pending.id == *id && pending.points > 0);
        found.cloned().ok_or_else(|| CardRefusal::NoSuchPending(id.clone()))
    }
}

fn of_lot(lot: &Lot) -> Option<(Instant, DueEvent, Text)> {
    let at = lot.expiry.expires_at().filter(|_| lot.is_open())?;
    Some((at, DueEvent::Expires, lot.id.clone()))
}

fn of_pending(pending: &PendingPoints) -> Option<(Instant, DueEvent, Text)> {
    let (at, event) = match (pending.condition.activates_at(), pending.condition.cancels_at()) {
        (Some(at), _) => (at, DueEvent::IsActivated),
        (None, Some(at)) => (at, DueEvent::IsCanceled),
        (None, None) => return None,
    };
    Some((at, event, pending.id.clone()))
}
