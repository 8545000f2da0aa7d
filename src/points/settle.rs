//! Decides what happened to a card by time alone: which lots lapsed, what became active, what was cancelled, in order of
//! time and each at its own moment. It must not know what anybody did.
//!
//! Of what is due at one moment, what lapses comes first, then what is cancelled, then what becomes active; among equals
//! the order is that of the ids. Points that become active lapse counted from that moment, and may have lapsed as well.

use std::collections::BTreeSet;

use super::card::{Card, Cause, Figure, Lot, Now, Outcome, Pending, Place, Refused, Step};
use super::draft::Draft;
use crate::text::Text;
use crate::time::Instant;

/// What time does, in the order of one moment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Lapses,
    IsCanceled,
    IsActivated,
}

impl Card {
    /// The card at a moment, and what was due before or at it.
    pub fn settle(&self, now: &Now<'_>) -> Result<Outcome, Refused> {
        Draft::settled(self, now)?.finish()
    }

    /// The card after the first things that are due by now, so many at most: as it is now when there were fewer, else as it was at the
    /// moment of the last one, at which more may follow. Gives that moment too.
    pub fn settle_first(&self, most: usize, now: &Now<'_>) -> Result<(Outcome, Instant), Refused> {
        let mut draft = Draft::new(self, now);
        draft.settle(most)?;
        let at = if draft.due.len() < most { now.at } else { draft.at };
        Ok((draft.finish()?, at))
    }
}

impl<'a> Draft<'a> {
    /// A card that is being changed now, after everything that was due.
    pub fn settled(card: &Card, now: &Now<'a>) -> Result<Draft<'a>, Refused> {
        let mut draft = Draft::new(card, now);
        draft.settle(usize::MAX)?;
        draft.at = now.at;
        Ok(draft)
    }

    /// Does the first things that are due, so many at most.
    fn settle(&mut self, most: usize) -> Result<(), Refused> {
        let now = self.at;
        let waiting = self.card.pending.iter().filter(|pending| pending.points > 0);
        let mut turns: BTreeSet<(Instant, Turn, Text)> = waiting.filter_map(of_pending).collect();
        turns.extend(self.card.lots.iter().filter_map(of_lot));
        while self.due.len() < most
            && let Some((at, turn, id)) = turns.pop_first().filter(|(at, ..)| *at <= now)
        {
            self.at = at;
            match turn {
                Turn::Lapses => {
                    self.close(&id)?;
                    self.due_step(Cause::Lapsed(id));
                }
                Turn::IsCanceled => {
                    self.cancel(&id, u64::MAX)?;
                    self.due_step(Cause::Canceled(id));
                }
                Turn::IsActivated => {
                    self.activate(&id)?;
                    self.due_step(Cause::Activated(id));
                    turns.extend(
                        self.due
                            .last()
                            .map(Step::brought)
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

    /// What waited can be spent.
    pub fn activate(&mut self, id: &Text) -> Result<(), Refused> {
        let Pending { points, lot, expiration, .. } = self.waiting(id)?;
        self.shift(Place::Pending(id.clone()), Place::Figure(Figure::PendingActivated), points)?;
        self.bring(Figure::Earned, points, &lot, &expiration)
    }

    /// So many points that waited never will be spent; says how many there were of them.
    pub fn cancel(&mut self, id: &Text, most: u64) -> Result<u64, Refused> {
        let points = self.waiting(id)?.points.min(most);
        self.shift(Place::Pending(id.clone()), Place::Figure(Figure::PendingCanceled), points)?;
        Ok(points)
    }

    fn waiting(&self, id: &Text) -> Result<Pending, Refused> {
        let found = self.card.pending.iter().find(|pending| pending.id == *id && pending.points > 0);
        found.cloned().ok_or_else(|| Refused::NoSuchPending(id.clone()))
    }
}

fn of_lot(lot: &Lot) -> Option<(Instant, Turn, Text)> {
    let at = lot.expiry.lapses_at().filter(|_| lot.is_open())?;
    Some((at, Turn::Lapses, lot.id.clone()))
}

fn of_pending(pending: &Pending) -> Option<(Instant, Turn, Text)> {
    let (at, turn) = match (pending.wait.activates_at(), pending.wait.cancels_at()) {
        (Some(at), _) => (at, Turn::IsActivated),
        (None, Some(at)) => (at, Turn::IsCanceled),
        (None, None) => return None,
    };
    Some((at, turn, pending.id.clone()))
}
