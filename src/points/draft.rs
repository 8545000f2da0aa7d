//! Moves points between accounts of a card: only this file changes a card.

use super::card::{
    CardOutcome, CardRefusal, CardStep, LifetimeTotal, Lot, LotPart, MovementCause, Now, PointsAccount, PointsCard,
    PointsMovement, sum,
};
use super::expiry::{Activity, Expiration, Expiry};
use crate::count::Countable;
use crate::text::Text;
use crate::time::{Instant, TimeZone};

/// A card while it is changed. It becomes the card when every step succeeded.
pub(super) struct CardEdit<'a> {
    pub card: PointsCard,
    pub due: Vec<CardStep>,
    pub steps: Vec<CardStep>,
    pub zone: &'a TimeZone,
    /// The instant of the operation.
    pub at: Instant,
    movements: Vec<PointsMovement>,
}

impl<'a> CardEdit<'a> {
    pub fn new(card: &PointsCard, now: &Now<'a>) -> CardEdit<'a> {
        let (due, steps, movements) = (Vec::new(), Vec::new(), Vec::new());
        CardEdit { card: card.clone(), due, steps, zone: now.zone, at: now.at, movements }
    }

    /// Moves points, in the card and in the recorded movements.
    pub fn shift(&mut self, from: PointsAccount, to: PointsAccount, points: u64) -> Result<(), CardRefusal> {
        if points == 0 {
            return Ok(());
        }
        match &from {
            PointsAccount::Lot(id) => {
                let lot = self.lot(id)?;
                lot.points = lot.points.checked_sub(points).ok_or(CardRefusal::Short { available: lot.points })?;
            }
            PointsAccount::Pending(id) => {
                let pending = self.card.pending.iter_mut().find(|pending| pending.id == *id);
                let pending = pending.ok_or_else(|| CardRefusal::NoSuchPending(id.clone()))?;
                pending.points =
                    pending.points.checked_sub(points).ok_or(CardRefusal::Short { available: pending.points })?;
            }
            PointsAccount::Debt => self.card.debt = sum(self.card.debt, points)?,
            PointsAccount::LifetimeTotal(total) => self.card.lifetime_totals.add(*total, points)?,
        }
        match &to {
            PointsAccount::Lot(id) => {
                let lot = self.lot(id)?;
                lot.points = sum(lot.points, points)?;
            }
            PointsAccount::Pending(id) => {
                let pending = self.card.pending.iter_mut().find(|pending| pending.id == *id);
                let pending = pending.ok_or_else(|| CardRefusal::NoSuchPending(id.clone()))?;
                pending.points = sum(pending.points, points)?;
            }
            PointsAccount::Debt => {
                let owed = self.card.debt;
                self.card.debt = owed.checked_sub(points).ok_or(CardRefusal::Short { available: owed })?;
            }
            PointsAccount::LifetimeTotal(total) => self.card.lifetime_totals.add(*total, points)?,
        }
        self.movements.push(PointsMovement { from, to, points });
        Ok(())
    }

    /// Returns a loaded lot.
    pub fn lot(&mut self, id: &Text) -> Result<&mut Lot, CardRefusal> {
        self.card.lots.iter_mut().find(|lot| lot.id == *id).ok_or_else(|| CardRefusal::NoSuchLot(id.clone()))
    }

    /// Records the movements so far as a step of the operation.
    pub fn step(&mut self, cause: MovementCause) {
        if let Some(step) = self.record_step(cause) {
            self.steps.push(step);
        }
    }

    /// Records the movements so far as a step of the due events.
    pub fn due_step(&mut self, cause: MovementCause) {
        if let Some(step) = self.record_step(cause) {
            self.due.push(step);
        }
    }

    fn record_step(&mut self, cause: MovementCause) -> Option<CardStep> {
        let movements = std::mem::take(&mut self.movements);
        (!movements.is_empty()).then_some(CardStep { at: self.at, cause, movements })
    }

    /// Credits points: the debt is paid first. The rest joins the lot with an equal expiration, or becomes a lot with
    /// this id.
    pub fn credit_lot(
        &mut self,
        from: LifetimeTotal,
        points: u64,
        lot: &Text,
        expiration: &Expiration,
    ) -> Result<(), CardRefusal> {
        let rest = self.pay_debt(from, points)?;
        if rest == 0 {
            return Ok(());
        }
        let expiry = expiration.expiry_at(self.at, self.zone);
        let same = self.card.lots.iter().filter(|lot| lot.is_open() && lot.expiry == expiry);
        let id = match same.min_by(|one, other| (one.credited_at, &one.id).cmp(&(other.credited_at, &other.id))) {
            Some(known) => known.id.clone(),
            None => {
                self.open(lot, expiry)?;
                lot.clone()
            }
        };
        self.shift(PointsAccount::LifetimeTotal(from), PointsAccount::Lot(id), rest)
    }

    fn open(&mut self, id: &Text, expiry: Expiry) -> Result<(), CardRefusal> {
        if self.card.lots.iter().any(|lot| lot.id == *id) {
            return Err(CardRefusal::SameId(id.clone()));
        }
        let (id, credited_at) = (id.clone(), self.at);
        self.card.lots.push(Lot { id, points: 0, credited_at, expiry, is_closed: false, expired: 0 });
        Ok(())
    }

    /// Pays the debt of the card, and returns the points that are left.
    pub fn pay_debt(&mut self, from: LifetimeTotal, points: u64) -> Result<u64, CardRefusal> {
        let paid = points.min(self.card.debt);
        self.shift(PointsAccount::LifetimeTotal(from), PointsAccount::Debt, paid)?;
        Ok(points.remaining_after(paid))
    }

    /// Takes points from lots in an order, as many as they have; returns the missing points.
    pub fn take(&mut self, from: Vec<LotPart>, to: LifetimeTotal, points: u64) -> Result<u64, CardRefusal> {
        let mut left = points;
        for LotPart { lot, points } in from {
            let taken = points.min(left);
            self.shift(PointsAccount::Lot(lot), PointsAccount::LifetimeTotal(to), taken)?;
            left = left.remaining_after(taken);
        }
        Ok(left)
    }

    /// Returns the open lots: those that expire first are spent first, then the oldest.
    pub fn spending_order(&self) -> Vec<LotPart> {
        let mut open: Vec<&Lot> = self.card.lots.iter().filter(|lot| lot.is_open()).collect();
        let end = |lot: &Lot| (lot.expiry.expires_at().is_none(), lot.expiry.expires_at(), lot.credited_at);
        open.sort_by(|one, other| end(one).cmp(&end(other)).then_with(|| one.id.cmp(&other.id)));
        open.into_iter().map(|lot| LotPart { lot: lot.id.clone(), points: lot.points }).collect()
    }

    /// Closes a lot: all its points expire.
    pub fn close(&mut self, id: &Text) -> Result<(), CardRefusal> {
        let lot = self.lot(id)?;
        let points = lot.points;
        lot.is_closed = true;
        lot.expired = sum(lot.expired, points)?;
        self.shift(PointsAccount::Lot(id.clone()), PointsAccount::LifetimeTotal(LifetimeTotal::Expired), points)
    }

    /// Records an activity: sliding lots expire later.
    pub fn slide(&mut self, activity: Activity<'_>) {
        for lot in self.card.lots.iter_mut().filter(|lot| lot.is_open()) {
            lot.expiry.slide(activity, self.at, self.zone);
        }
    }

    /// Returns the result. Fails if the credited points, including pending ones, exceed the maximum of a card.
    pub fn finish(mut self) -> Result<CardOutcome, CardRefusal> {
        let back = self.card.lifetime_totals.of(LifetimeTotal::Refunded);
        let credited = self.card.lifetime_totals.total().ok_or(CardRefusal::Beyond)?;
        sum(sum(credited, back)?, self.card.pending_points())?;
        self.card.pending.retain(|pending| pending.points > 0);
        Ok(CardOutcome { card: self.card, due: self.due, steps: self.steps })
    }
}
