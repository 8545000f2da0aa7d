//! Decides what may be done with the points of a card: earn, add, spend, give back, revoke, expire, activate, adjust, cancel. It must
//! not know what for, nor how an account is called.
//!
//! loyalty-v2.md sections 3 and 7. What was due is settled first. An operation that is refused does nothing. Nothing is cut to
//! fit but where a method says so (`Revocation`), and the steps say what moved.

use super::card::{Card, Cause, Figure, Lot, Now, Outcome, Part, Pending, Place, Refused, sum};
use super::draft::Draft;
use super::expiry::{Activity, Expiration, Expiry};
use super::pending::Delay;
use crate::text::Text;

/// How points come to a card.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// The id of their lot, if they need one of their own.
    pub lot: &'a Text,
    /// How they lapse.
    pub expiration: &'a Expiration,
}

/// What points are taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// A member spends them; never more than there are.
    Spend,
    /// Somebody takes them off by hand: more than there are only where the card may owe.
    Subtract {
        /// Whether it may.
        below_zero: bool,
    },
    /// They had been bought with what is given back; never more than there are.
    ReversePurchase,
}

/// Points that were spent at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spent {
    /// From which lots, in order.
    pub parts: Vec<Part>,
    /// How many of them came back already.
    pub refunded: u64,
}

/// Points that were earned at once and not revoked yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earned {
    /// Where they had to wait.
    pub pending: Option<Text>,
    /// The lot that they came to, at once or later.
    pub lot: Option<Text>,
    /// How many.
    pub points: u64,
}

/// From where earned points are revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revocation {
    /// Of what still waits; what can be spent already is left.
    FromPending,
    /// Of what still waits, then of the balance as far as there is one.
    ToZero,
    /// Of what still waits, then of the balance; the card owes what is missing.
    BelowZero,
}

impl Card {
    /// Points are earned: they wait, under an id, or arrive at once. Earning is an activity, also of what has to wait.
    pub fn earn(
        &self,
        points: u64,
        arrival: Arrival<'_>,
        (delay, pending): (&Delay, &Text),
        now: &Now<'_>,
    ) -> Result<Outcome, Refused> {
        let mut draft = Draft::settled(self, now)?;
        if points > 0 {
            draft.slide(Activity::Earning);
        }
        match delay.earned(now.at, now.zone).filter(|_| points > 0) {
            None => {
                draft.bring(Figure::Earned, points, arrival.lot, arrival.expiration)?;
                draft.step(Cause::Arrived(Figure::Earned));
            }
            Some(wait) => {
                if draft.card.pending.iter().any(|known| known.id == *pending) {
                    return Err(Refused::SameId(pending.clone()));
                }
                let (id, lot, expiration) = (pending.clone(), arrival.lot.clone(), arrival.expiration.clone());
                draft.card.pending.push(Pending { id, points: 0, earned_at: now.at, wait, lot, expiration });
                draft.shift(Place::Figure(Figure::PendingTotal), Place::Pending(pending.clone()), points)?;
                draft.step(Cause::Waits(pending.clone()));
            }
        }
        draft.finish()
    }

    /// Points are added by hand: they arrive at once, and it is no activity of the member.
    pub fn add(&self, points: u64, arrival: Arrival<'_>, now: &Now<'_>) -> Result<Outcome, Refused> {
        self.arrive(Figure::Added, points, arrival, now)
    }

    /// Points arrive that were bought with points of another card; there it was an activity.
    pub fn purchase(&self, points: u64, arrival: Arrival<'_>, now: &Now<'_>) -> Result<Outcome, Refused> {
        self.arrive(Figure::Purchased, points, arrival, now)
    }

    fn arrive(&self, from: Figure, points: u64, arrival: Arrival<'_>, now: &Now<'_>) -> Result<Outcome, Refused> {
        let mut draft = Draft::settled(self, now)?;
        draft.bring(from, points, arrival.lot, arrival.expiration)?;
        draft.step(Cause::Arrived(from));
        draft.finish()
    }

    /// Points are taken: what lapses first, then what is oldest. Spending is an activity: it puts off what is left and, should
    /// they come back, what is spent.
    pub fn take(&self, take: Take, points: u64, now: &Now<'_>) -> Result<Outcome, Refused> {
        let mut draft = Draft::settled(self, now)?;
        let (to, below_zero) = match take {
            Take::Spend => (Figure::Spent, false),
            Take::Subtract { below_zero } => (Figure::Subtracted, below_zero),
            Take::ReversePurchase => (Figure::PurchaseReversed, false),
        };
        let available = draft.card.available();
        if points > available && !below_zero {
            return Err(Refused::Short { available });
        }
        let order = draft.spending_order();
        if take == Take::Spend && points > 0 {
            draft.slide(Activity::Spending);
        }
        let missing = draft.take(order, to, points)?;
        draft.shift(Place::Debt, Place::Figure(to), missing)?;
        draft.step(Cause::Taken(to));
        draft.finish()
    }

    /// Points that were spent come back to the lots that they came from, those first that were taken last: the card is as if
    /// fewer had been spent. What the card owes is paid first. What comes back to a lot that has lapsed meanwhile lapses at
    /// once, because it would have, unspent; a lot that activities put off has moved with those that lapse by the same rule.
    pub fn refund(&self, spent: &Spent, points: u64, now: &Now<'_>) -> Result<Outcome, Refused> {
        let mut draft = Draft::settled(self, now)?;
        let all = spent.parts.iter().try_fold(0, |all, part| sum(all, part.points))?;
        let left = all.saturating_sub(spent.refunded);
        if points > left {
            return Err(Refused::MoreThanSpent { left });
        }
        let (mut skipped, mut rest, mut back) = (spent.refunded, points, Vec::new());
        for part in spent.parts.iter().rev() {
            let already = part.points.min(skipped);
            let now_back = part.points.saturating_sub(already).min(rest);
            skipped = skipped.saturating_sub(already);
            rest = rest.saturating_sub(now_back);
            let to_lot = draft.pay_debt(Figure::Refunded, now_back)?;
            if to_lot > 0 {
                draft.follow(&part.lot)?;
            }
            draft.shift(Place::Figure(Figure::Refunded), Place::Lot(part.lot.clone()), to_lot)?;
            back.push(part.lot.clone());
        }
        draft.step(Cause::Refunded);
        for lot in back {
            let known = draft.lot(&lot)?;
            if known.points > 0 && (known.is_closed || known.expiry.is_over(now.at)) {
                draft.close(&lot)?;
                draft.step(Cause::Lapsed(lot));
            }
        }
        draft.finish()
    }

    /// Points that were earned are given back with what they were earned for. Those that lapsed meanwhile were lost already, and
    /// are not taken a second time; else they are taken from their own lot, and then as points are spent. How many were
    /// revoked say the steps.
    pub fn revoke(&self, earned: &Earned, method: Revocation, now: &Now<'_>) -> Result<Outcome, Refused> {
        let mut draft = Draft::settled(self, now)?;
        let mut rest = earned.points;
        let waits = |id: &&Text| draft.card.pending.iter().any(|pending| pending.id == **id);
        if let Some(pending) = earned.pending.as_ref().filter(waits) {
            rest = rest.saturating_sub(draft.cancel(pending, rest)?);
            draft.step(Cause::Canceled(pending.clone()));
        }
        if method == Revocation::FromPending {
            return draft.finish();
        }
        if let Some(id) = &earned.lot {
            let lot = draft.lot(id)?;
            let lost = lot.lapsed.min(rest);
            lot.lapsed = lot.lapsed.saturating_sub(lost);
            rest = rest.saturating_sub(lost);
            let own = if lot.is_open() { lot.points.min(rest) } else { 0 };
            draft.shift(Place::Lot(id.clone()), Place::Figure(Figure::Returned), own)?;
            rest = rest.saturating_sub(own);
        }
        let missing = draft.take(draft.spending_order(), Figure::Returned, rest)?;
        if method == Revocation::BelowZero {
            draft.shift(Place::Debt, Place::Figure(Figure::Returned), missing)?;
        }
        draft.step(Cause::Returned);
        draft.finish()
    }

    /// Somebody makes a lot lapse. An empty one stays as it is.
    pub fn expire(&self, lot: &Text, now: &Now<'_>) -> Result<Outcome, Refused> {
        let mut draft = Draft::settled(self, now)?;
        let known = draft.lot(lot)?;
        if known.is_closed || known.expiry.is_over(now.at) {
            return Err(Refused::Closed);
        }
        if known.expiry.lapses_at().is_none() {
            return Err(Refused::NeverLapses);
        }
        if known.points > 0 {
            draft.close(lot)?;
            draft.step(Cause::Expired(lot.clone()));
        }
        draft.finish()
    }

    /// Somebody makes active what waits.
    pub fn activate(&self, pending: &Text, now: &Now<'_>) -> Result<Outcome, Refused> {
        let mut draft = Draft::settled(self, now)?;
        draft.activate(pending)?;
        draft.step(Cause::Activated(pending.clone()));
        draft.finish()
    }

    /// Somebody cancels what waits.
    pub fn cancel(&self, pending: &Text, now: &Now<'_>) -> Result<Outcome, Refused> {
        let mut draft = Draft::settled(self, now)?;
        draft.cancel(pending, u64::MAX)?;
        draft.step(Cause::Canceled(pending.clone()));
        draft.finish()
    }

    /// Somebody makes more points wait, or fewer: some of them never will be spent.
    pub fn adjust(&self, pending: &Text, by: i64, now: &Now<'_>) -> Result<Outcome, Refused> {
        let mut draft = Draft::settled(self, now)?;
        let (waiting, points) = (Place::Pending(pending.clone()), by.unsigned_abs());
        if by < 0 {
            draft.shift(waiting, Place::Figure(Figure::PendingCanceled), points)?;
            draft.step(Cause::Canceled(pending.clone()));
        } else {
            draft.shift(Place::Figure(Figure::PendingTotal), waiting, points)?;
            draft.step(Cause::Waits(pending.clone()));
        }
        draft.finish()
    }

    /// A custom event names the member: what waited for it becomes active, in the order in which it was earned, after lots that
    /// it puts off were put off.
    pub fn event(&self, event: &str, now: &Now<'_>) -> Result<Outcome, Refused> {
        let mut draft = Draft::settled(self, now)?;
        draft.slide(Activity::Custom(event));
        let mut waiting: Vec<&Pending> = draft.card.pending.iter().filter(|one| one.wait.is_for(event)).collect();
        waiting.sort_by(|one, other| (one.earned_at, &one.id).cmp(&(other.earned_at, &other.id)));
        for id in waiting.into_iter().map(|pending| pending.id.clone()).collect::<Vec<Text>>() {
            draft.activate(&id)?;
            draft.step(Cause::Activated(id));
        }
        draft.finish()
    }
}

impl Draft<'_> {
    /// A lot that activities put off did not move while it was empty: it lapses with the last open one that has its rule.
    fn follow(&mut self, id: &Text) -> Result<(), Refused> {
        let Expiry::Sliding(own, rule) = self.lot(id)?.expiry.clone() else { return Ok(()) };
        let end = |lot: &Lot| match &lot.expiry {
            Expiry::Sliding(end, known) if *known == rule => Some(*end),
            Expiry::Sliding(..) | Expiry::Never | Expiry::Rolling(_) | Expiry::Calendar(_) => None,
        };
        let last = self.card.lots.iter().filter(|lot| lot.is_open()).filter_map(end).max();
        let lot = self.lot(id)?;
        if lot.points == 0 && !lot.is_closed {
            lot.expiry = Expiry::Sliding(last.unwrap_or(own).max(own), rule);
        }
        Ok(())
    }
}
