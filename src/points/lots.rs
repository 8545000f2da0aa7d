//! Provides the operations on the points of a card: earn, add, spend, refund, revoke, expire, activate, adjust, cancel.
//!
//! docs/spec/loyalty.md sections 3 and 7. Due events are settled first. A refused operation changes nothing. Amounts
//! are reduced only if a method states it (`Revocation`), and the steps contain the movements.

use super::card::{
    CardOutcome, CardRefusal, LifetimeTotal, Lot, LotPart, MovementCause, Now, PendingPoints, PointsAccount,
    PointsCard, sum,
};
use super::draft::CardEdit;
use super::expiry::{Activity, Expiration, Expiry};
use super::pending::Delay;
use crate::count::Countable;
use crate::text::Text;

/// The lot and expiration of credited points.
#[derive(Debug, Clone, Copy)]
pub struct Credit<'a> {
    /// The id of their lot, if they need one of their own.
    pub lot: &'a Text,
    /// Their expiration.
    pub expiration: &'a Expiration,
}

/// The reason of a debit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DebitReason {
    /// A member spends them; never more than available.
    Spend,
    /// They are subtracted manually: more than available only if the card may owe.
    Subtract {
        /// `true` if the card may owe.
        below_zero: bool,
    },
    /// A purchase that credited them is refunded; never more than available.
    ReversePurchase,
}

/// Points of one spending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpentPoints {
    /// The lots they were taken from, in order.
    pub parts: Vec<LotPart>,
    /// The points refunded so far.
    pub refunded: u64,
}

/// Points of one earning that were not revoked yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarnedPoints {
    /// The id of the pending points, if they were delayed.
    pub pending: Option<Text>,
    /// The lot that they were credited to, at once or later.
    pub lot: Option<Text>,
    /// The number of points.
    pub points: u64,
}

/// The source from which earned points are revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revocation {
    /// Pending points only; spendable ones stay on the card.
    FromPending,
    /// Pending points, then the balance down to zero.
    ToZero,
    /// Pending points, then the balance; the card owes the rest.
    BelowZero,
}

impl PointsCard {
    /// Earns points: they become pending under an id, or are credited at once. Earning is an activity, also of pending
    /// points.
    pub fn earn(
        &self,
        points: u64,
        credit: Credit<'_>,
        delay: &Delay,
        pending: &Text,
        now: &Now<'_>,
    ) -> Result<CardOutcome, CardRefusal> {
        let mut draft = CardEdit::settled(self, now)?;
        if points > 0 {
            draft.slide(Activity::Earning);
        }
        match delay.earned(now.at, now.zone).filter(|_| points > 0) {
            None => {
                draft.credit_lot(LifetimeTotal::Earned, points, credit.lot, credit.expiration)?;
                draft.step(MovementCause::Credited(LifetimeTotal::Earned));
            }
            Some(condition) => {
                if draft.card.pending.iter().any(|known| known.id == *pending) {
                    return Err(CardRefusal::SameId(pending.clone()));
                }
                let (id, lot, expiration) = (pending.clone(), credit.lot.clone(), credit.expiration.clone());
                draft.card.pending.push(PendingPoints { id, points: 0, earned_at: now.at, condition, lot, expiration });
                draft.shift(
                    PointsAccount::LifetimeTotal(LifetimeTotal::PendingTotal),
                    PointsAccount::Pending(pending.clone()),
                    points,
                )?;
                draft.step(MovementCause::Pending(pending.clone()));
            }
        }
        draft.finish()
    }

    /// Adds points manually: they are credited at once, and it is no activity of the member.
    pub fn add(&self, points: u64, credit: Credit<'_>, now: &Now<'_>) -> Result<CardOutcome, CardRefusal> {
        self.credit_points(LifetimeTotal::Added, points, credit, now)
    }

    /// Credits points that were bought with points of another card, where the spending was an activity.
    pub fn purchase(&self, points: u64, credit: Credit<'_>, now: &Now<'_>) -> Result<CardOutcome, CardRefusal> {
        self.credit_points(LifetimeTotal::Purchased, points, credit, now)
    }

    fn credit_points(
        &self,
        from: LifetimeTotal,
        points: u64,
        credit: Credit<'_>,
        now: &Now<'_>,
    ) -> Result<CardOutcome, CardRefusal> {
        let mut draft = CardEdit::settled(self, now)?;
        draft.credit_lot(from, points, credit.lot, credit.expiration)?;
        draft.step(MovementCause::Credited(from));
        draft.finish()
    }

    /// Takes points: those that expire first, then the oldest. Spending is an activity: it postpones the expiration of
    /// the remaining points and, after a refund, of the spent ones.
    pub fn take(&self, take: DebitReason, points: u64, now: &Now<'_>) -> Result<CardOutcome, CardRefusal> {
        let mut draft = CardEdit::settled(self, now)?;
        let (to, below_zero) = match take {
            DebitReason::Spend => (LifetimeTotal::Spent, false),
            DebitReason::Subtract { below_zero } => (LifetimeTotal::Subtracted, below_zero),
            DebitReason::ReversePurchase => (LifetimeTotal::PurchaseReversed, false),
        };
        let available = draft.card.available();
        if points > available && !below_zero {
            return Err(CardRefusal::Short { available });
        }
        let order = draft.spending_order();
        if take == DebitReason::Spend && points > 0 {
            draft.slide(Activity::Spending);
        }
        let missing = draft.take(order, to, points)?;
        draft.shift(PointsAccount::Debt, PointsAccount::LifetimeTotal(to), missing)?;
        draft.step(MovementCause::Debited(to));
        draft.finish()
    }

    /// Refunds spent points to their lots, those first that were taken last, as if fewer had been spent. The debt of
    /// the card is paid first. Points refunded to an expired lot expire at once, because they would have, unspent. A
    /// sliding lot has moved with those that expire by the same rule.
    pub fn refund(&self, spent: &SpentPoints, points: u64, now: &Now<'_>) -> Result<CardOutcome, CardRefusal> {
        let mut draft = CardEdit::settled(self, now)?;
        let all = spent.parts.iter().try_fold(0, |all, part| sum(all, part.points))?;
        let left = all.remaining_after(spent.refunded);
        if points > left {
            return Err(CardRefusal::MoreThanSpent { left });
        }
        let (mut skipped, mut rest, mut back) = (spent.refunded, points, Vec::new());
        for part in spent.parts.iter().rev() {
            let already = part.points.min(skipped);
            let now_back = part.points.remaining_after(already).min(rest);
            skipped = skipped.remaining_after(already);
            rest = rest.remaining_after(now_back);
            let to_lot = draft.pay_debt(LifetimeTotal::Refunded, now_back)?;
            if to_lot > 0 {
                draft.follow(&part.lot)?;
            }
            draft.shift(
                PointsAccount::LifetimeTotal(LifetimeTotal::Refunded),
                PointsAccount::Lot(part.lot.clone()),
                to_lot,
            )?;
            back.push(part.lot.clone());
        }
        draft.step(MovementCause::Refunded);
        for lot in back {
            let known = draft.lot(&lot)?;
            if known.points > 0 && (known.is_closed || known.expiry.is_over(now.at)) {
                draft.close(&lot)?;
                draft.step(MovementCause::ExpiredByTime(lot));
            }
        }
        draft.finish()
    }

    /// Revokes earned points. Those that expired meanwhile were lost already and are not taken again. The others are
    /// taken from their own lot, and then in the order of spending. The steps contain the revoked points.
    pub fn revoke(&self, earned: &EarnedPoints, method: Revocation, now: &Now<'_>) -> Result<CardOutcome, CardRefusal> {
        let mut draft = CardEdit::settled(self, now)?;
        let mut rest = earned.points;
        let is_pending = |id: &&Text| draft.card.pending.iter().any(|pending| pending.id == **id);
        if let Some(pending) = earned.pending.as_ref().filter(is_pending) {
            rest = rest.remaining_after(draft.cancel(pending, rest)?);
            draft.step(MovementCause::Canceled(pending.clone()));
        }
        if method == Revocation::FromPending {
            return draft.finish();
        }
        if let Some(id) = &earned.lot {
            let lot = draft.lot(id)?;
            let lost = lot.expired.min(rest);
            lot.expired = lot.expired.remaining_after(lost);
            rest = rest.remaining_after(lost);
            let own = if lot.is_open() { lot.points.min(rest) } else { 0 };
            draft.shift(PointsAccount::Lot(id.clone()), PointsAccount::LifetimeTotal(LifetimeTotal::Returned), own)?;
            rest = rest.remaining_after(own);
        }
        let missing = draft.take(draft.spending_order(), LifetimeTotal::Returned, rest)?;
        if method == Revocation::BelowZero {
            draft.shift(PointsAccount::Debt, PointsAccount::LifetimeTotal(LifetimeTotal::Returned), missing)?;
        }
        draft.step(MovementCause::Returned);
        draft.finish()
    }

    /// Expires a lot manually. An empty one is not changed.
    pub fn expire(&self, lot: &Text, now: &Now<'_>) -> Result<CardOutcome, CardRefusal> {
        let mut draft = CardEdit::settled(self, now)?;
        let known = draft.lot(lot)?;
        if known.is_closed || known.expiry.is_over(now.at) {
            return Err(CardRefusal::Closed);
        }
        if known.expiry.expires_at().is_none() {
            return Err(CardRefusal::NeverExpires);
        }
        if known.points > 0 {
            draft.close(lot)?;
            draft.step(MovementCause::Expired(lot.clone()));
        }
        draft.finish()
    }

    /// Activates pending points manually.
    pub fn activate(&self, pending: &Text, now: &Now<'_>) -> Result<CardOutcome, CardRefusal> {
        let mut draft = CardEdit::settled(self, now)?;
        draft.activate(pending)?;
        draft.step(MovementCause::Activated(pending.clone()));
        draft.finish()
    }

    /// Cancels pending points manually.
    pub fn cancel(&self, pending: &Text, now: &Now<'_>) -> Result<CardOutcome, CardRefusal> {
        let mut draft = CardEdit::settled(self, now)?;
        draft.cancel(pending, u64::MAX)?;
        draft.step(MovementCause::Canceled(pending.clone()));
        draft.finish()
    }

    /// Increases or decreases pending points manually: some of them will never be spent.
    pub fn adjust(&self, pending: &Text, by: i64, now: &Now<'_>) -> Result<CardOutcome, CardRefusal> {
        let mut draft = CardEdit::settled(self, now)?;
        let (account, points) = (PointsAccount::Pending(pending.clone()), by.unsigned_abs());
        if by < 0 {
            draft.shift(account, PointsAccount::LifetimeTotal(LifetimeTotal::PendingCanceled), points)?;
            draft.step(MovementCause::Canceled(pending.clone()));
        } else {
            draft.shift(PointsAccount::LifetimeTotal(LifetimeTotal::PendingTotal), account, points)?;
            draft.step(MovementCause::Pending(pending.clone()));
        }
        draft.finish()
    }

    /// Applies a custom event of the member: sliding lots are postponed. Then the points that wait for the event are
    /// activated, in the order of earning.
    pub fn event(&self, event: &str, now: &Now<'_>) -> Result<CardOutcome, CardRefusal> {
        let mut draft = CardEdit::settled(self, now)?;
        draft.slide(Activity::Custom(event));
        let mut pending: Vec<&PendingPoints> =
            draft.card.pending.iter().filter(|one| one.condition.is_for(event)).collect();
        pending.sort_by(|one, other| (one.earned_at, &one.id).cmp(&(other.earned_at, &other.id)));
        for id in pending.into_iter().map(|pending| pending.id.clone()).collect::<Vec<Text>>() {
            draft.activate(&id)?;
            draft.step(MovementCause::Activated(id));
        }
        draft.finish()
    }
}

impl CardEdit<'_> {
    /// Postpones an empty sliding lot, which activities did not move: it expires with the last open one that has its
    /// rule.
    fn follow(&mut self, id: &Text) -> Result<(), CardRefusal> {
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
