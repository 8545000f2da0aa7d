//! Decides how points move between places of a card: the only file that changes one. It must not know why they move.

use super::card::{Card, Cause, Figure, Lot, Movement, Now, Outcome, Part, Place, Refused, Step, sum};
use super::expiry::{Activity, Expiration, Expiry};
use crate::text::Text;
use crate::time::{Instant, TimeZone};

/// A card that is being changed. It becomes the card when everything succeeded.
pub(super) struct Draft<'a> {
    pub card: Card,
    pub due: Vec<Step>,
    pub steps: Vec<Step>,
    pub zone: &'a TimeZone,
    /// The moment of what happens.
    pub at: Instant,
    movements: Vec<Movement>,
}

impl<'a> Draft<'a> {
    pub fn new(card: &Card, now: &Now<'a>) -> Draft<'a> {
        let (due, steps, movements) = (Vec::new(), Vec::new(), Vec::new());
        Draft { card: card.clone(), due, steps, zone: now.zone, at: now.at, movements }
    }

    /// Moves points, in the card and in what is told of it.
    pub fn shift(&mut self, from: Place, to: Place, points: u64) -> Result<(), Refused> {
        if points == 0 {
            return Ok(());
        }
        match &from {
            Place::Lot(id) => {
                let lot = self.lot(id)?;
                lot.points = lot.points.checked_sub(points).ok_or(Refused::Short { available: lot.points })?;
            }
            Place::Pending(id) => {
                let waiting = self.card.pending.iter_mut().find(|pending| pending.id == *id);
                let waiting = waiting.ok_or_else(|| Refused::NoSuchPending(id.clone()))?;
                waiting.points =
                    waiting.points.checked_sub(points).ok_or(Refused::Short { available: waiting.points })?;
            }
            Place::Debt => self.card.debt = sum(self.card.debt, points)?,
            Place::Figure(figure) => self.card.figures.add(*figure, points)?,
        }
        match &to {
            Place::Lot(id) => {
                let lot = self.lot(id)?;
                lot.points = sum(lot.points, points)?;
            }
            Place::Pending(id) => {
                let waiting = self.card.pending.iter_mut().find(|pending| pending.id == *id);
                let waiting = waiting.ok_or_else(|| Refused::NoSuchPending(id.clone()))?;
                waiting.points = sum(waiting.points, points)?;
            }
            Place::Debt => {
                let owed = self.card.debt;
                self.card.debt = owed.checked_sub(points).ok_or(Refused::Short { available: owed })?;
            }
            Place::Figure(figure) => self.card.figures.add(*figure, points)?,
        }
        self.movements.push(Movement { from, to, points });
        Ok(())
    }

    /// A lot that is in hand.
    pub fn lot(&mut self, id: &Text) -> Result<&mut Lot, Refused> {
        self.card.lots.iter_mut().find(|lot| lot.id == *id).ok_or_else(|| Refused::NoSuchLot(id.clone()))
    }

    /// What has moved becomes a step of the operation.
    pub fn step(&mut self, cause: Cause) {
        if let Some(step) = self.told(cause) {
            self.steps.push(step);
        }
    }

    /// What has moved becomes a step of what was due.
    pub fn due_step(&mut self, cause: Cause) {
        if let Some(step) = self.told(cause) {
            self.due.push(step);
        }
    }

    fn told(&mut self, cause: Cause) -> Option<Step> {
        let movements = std::mem::take(&mut self.movements);
        (!movements.is_empty()).then_some(Step { at: self.at, cause, movements })
    }

    /// Brings points that came from somewhere: what the card owes is paid first, the rest joins the lot that lapses as they do,
    /// or is a lot of this id.
    pub fn bring(&mut self, from: Figure, points: u64, lot: &Text, expiration: &Expiration) -> Result<(), Refused> {
        let rest = self.pay_debt(from, points)?;
        if rest == 0 {
            return Ok(());
        }
        let expiry = expiration.arriving(self.at, self.zone);
        let same = self.card.lots.iter().filter(|lot| lot.is_open() && lot.expiry == expiry);
        let id = match same.min_by(|one, other| (one.arrived_at, &one.id).cmp(&(other.arrived_at, &other.id))) {
            Some(known) => known.id.clone(),
            None => {
                self.open(lot, expiry)?;
                lot.clone()
            }
        };
        self.shift(Place::Figure(from), Place::Lot(id), rest)
    }

    fn open(&mut self, id: &Text, expiry: Expiry) -> Result<(), Refused> {
        if self.card.lots.iter().any(|lot| lot.id == *id) {
            return Err(Refused::SameId(id.clone()));
        }
        let (id, arrived_at) = (id.clone(), self.at);
        self.card.lots.push(Lot { id, points: 0, arrived_at, expiry, is_closed: false, lapsed: 0 });
        Ok(())
    }

    /// Pays what the card owes, and says how many points are left.
    pub fn pay_debt(&mut self, from: Figure, points: u64) -> Result<u64, Refused> {
        let paid = points.min(self.card.debt);
        self.shift(Place::Figure(from), Place::Debt, paid)?;
        Ok(points.saturating_sub(paid))
    }

    /// Takes points from lots in an order, as many as there are; says how many are missing.
    pub fn take(&mut self, from: Vec<Part>, to: Figure, points: u64) -> Result<u64, Refused> {
        let mut left = points;
        for Part { lot, points } in from {
            let taken = points.min(left);
            self.shift(Place::Lot(lot), Place::Figure(to), taken)?;
            left = left.saturating_sub(taken);
        }
        Ok(left)
    }

    /// The open lots: what lapses first is spent first, then what is oldest.
    pub fn spending_order(&self) -> Vec<Part> {
        let mut open: Vec<&Lot> = self.card.lots.iter().filter(|lot| lot.is_open()).collect();
        let end = |lot: &Lot| (lot.expiry.lapses_at().is_none(), lot.expiry.lapses_at(), lot.arrived_at);
        open.sort_by(|one, other| end(one).cmp(&end(other)).then_with(|| one.id.cmp(&other.id)));
        open.into_iter().map(|lot| Part { lot: lot.id.clone(), points: lot.points }).collect()
    }

    /// Closes a lot: all that is in it lapses.
    pub fn close(&mut self, id: &Text) -> Result<(), Refused> {
        let lot = self.lot(id)?;
        let points = lot.points;
        lot.is_closed = true;
        lot.lapsed = sum(lot.lapsed, points)?;
        self.shift(Place::Lot(id.clone()), Place::Figure(Figure::Expired), points)
    }

    /// Somebody did something: lots that lapse when nothing happens lapse later.
    pub fn slide(&mut self, activity: Activity<'_>) {
        for lot in self.card.lots.iter_mut().filter(|lot| lot.is_open()) {
            lot.expiry.slide(activity, self.at, self.zone);
        }
    }

    /// Whether a number of what came may ever be beyond what a card can say: what waits counts, because it will come.
    pub fn finish(mut self) -> Result<Outcome, Refused> {
        let back = self.card.figures.of(Figure::Refunded);
        sum(sum(self.card.figures.total(), back)?, self.card.waiting())?;
        self.card.pending.retain(|pending| pending.points > 0);
        Ok(Outcome { card: self.card, due: self.due, steps: self.steps })
    }
}
