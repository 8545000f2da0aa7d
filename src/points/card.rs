//! Defines a card of points: its lots, pending points, debt and lifetime totals.
//!
//! Every point is in one account of the card and moves to another. Totals of credits (`Earned`, `Added`, ...) are
//! sources, totals of debits (`Spent`, `Expired`, ...) are targets. So credits equal debits plus the present points.

use super::expiry::{Expiration, Expiry};
use super::pending::PendingUntil;
use crate::count;
use crate::money::LARGEST;
use crate::text::Text;
use crate::time::{Day, Instant, TimeZone};
use std::collections::BTreeMap;

/// The maximum of each number of a card: 2^53 - 1.
pub const POINTS_MAX: u64 = LARGEST.unsigned_abs();

/// The instant of an operation, and the project's zone.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// The instant.
    pub at: Instant,
    /// The zone.
    pub zone: &'a TimeZone,
}

/// Points that expire together. Credited points join the lot with an equal expiration. So a card has at most one lot
/// for each day of expiration, however much was earned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lot {
    /// Its id.
    pub id: Text,
    /// The number of points in it.
    pub points: u64,
    /// The instant when the first of them were credited.
    pub credited_at: Instant,
    /// Their expiration.
    pub expiry: Expiry,
    /// `true` if it has expired, by time or manually: points refunded to it expire at once.
    pub is_closed: bool,
    /// The expired points of the lot of which no earning was revoked yet: the customer lost them already.
    pub expired: u64,
}

impl Lot {
    /// Returns whether it has points that can be spent, provided that due events are settled.
    pub fn is_open(&self) -> bool {
        self.points > 0 && !self.is_closed
    }
}

/// Earned points that cannot be spent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingPoints {
    /// Its id.
    pub id: Text,
    /// The number of points.
    pub points: u64,
    /// The instant of earning.
    pub earned_at: Instant,
    /// The condition for their activation.
    pub condition: PendingUntil,
    /// The id of their lot, unless they join one with an equal expiration.
    pub lot: Text,
    /// Their expiration, counted from their activation.
    pub expiration: Expiration,
}

/// A lifetime total of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LifetimeTotal {
    /// Credit: earned by rules and spendable.
    Earned,
    /// Credit: added manually.
    Added,
    /// Credit: bought with points of another card.
    Purchased,
    /// Credit: refunded after spending.
    Refunded,
    /// Debit: spent on rewards and orders.
    Spent,
    /// Debit: subtracted manually.
    Subtracted,
    /// Debit: expired by time or manually.
    Expired,
    /// Debit: earning that was revoked.
    Returned,
    /// Debit: purchase that was refunded.
    PurchaseReversed,
    /// Credit: earned as pending.
    PendingTotal,
    /// Pending points that were activated; from then on they are in `Earned` as well.
    PendingActivated,
    /// Pending points that were cancelled or revoked.
    PendingCanceled,
}

impl LifetimeTotal {
    /// All totals.
    pub const ALL: [LifetimeTotal; 12] = [
        LifetimeTotal::Earned,
        LifetimeTotal::Added,
        LifetimeTotal::Purchased,
        LifetimeTotal::Refunded,
        LifetimeTotal::Spent,
        LifetimeTotal::Subtracted,
        LifetimeTotal::Expired,
        LifetimeTotal::Returned,
        LifetimeTotal::PurchaseReversed,
        LifetimeTotal::PendingTotal,
        LifetimeTotal::PendingActivated,
        LifetimeTotal::PendingCanceled,
    ];

    /// Returns whether points come from this total; otherwise they go to it.
    pub fn gives(self) -> bool {
        match self {
            LifetimeTotal::Earned
            | LifetimeTotal::Added
            | LifetimeTotal::Purchased
            | LifetimeTotal::Refunded
            | LifetimeTotal::PendingTotal => true,
            LifetimeTotal::Spent
            | LifetimeTotal::Subtracted
            | LifetimeTotal::Expired
            | LifetimeTotal::Returned
            | LifetimeTotal::PurchaseReversed
            | LifetimeTotal::PendingActivated
            | LifetimeTotal::PendingCanceled => false,
        }
    }
}

/// The lifetime totals of a card. None ever decreases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LifetimeTotals([u64; LifetimeTotal::ALL.len()]);

impl LifetimeTotals {
    /// Reads the totals with `of`, such as the balances of their accounts, ignoring the sign.
    pub fn read(of: impl Fn(LifetimeTotal) -> i64) -> LifetimeTotals {
        LifetimeTotals(LifetimeTotal::ALL.map(|total| of(total).unsigned_abs()))
    }

    /// Returns one of the totals.
    pub fn of(&self, total: LifetimeTotal) -> u64 {
        // The array has a place for each total.
        self.0.get(total as usize).copied().unwrap_or(0)
    }

    /// Returns all points ever credited for spending, without refunds: `lifetime_bucket.points.total`. `None` beyond 64
    /// bits.
    pub fn total(&self) -> Option<u64> {
        let credits = [LifetimeTotal::Earned, LifetimeTotal::Added, LifetimeTotal::Purchased];
        count::total(credits.into_iter().map(|total| self.of(total)))
    }

    pub(super) fn add(&mut self, total: LifetimeTotal, points: u64) -> Result<(), CardRefusal> {
        let known = self.0.get_mut(total as usize).ok_or(CardRefusal::Beyond)?;
        *known = sum(*known, points)?;
        Ok(())
    }
}

/// A stored card: every open lot, all pending points, and those closed or empty lots that an operation names. Further
/// closed or empty lots change nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointsCard {
    /// The lots.
    pub lots: Vec<Lot>,
    /// The pending points.
    pub pending: Vec<PendingPoints>,
    /// The points that the card owes: its balance is negative, and credits pay the debt first.
    pub debt: u64,
    /// The lifetime totals.
    pub lifetime_totals: LifetimeTotals,
}

/// The points that expire or are activated next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upcoming {
    /// The number of points.
    pub points: u64,
    /// The last day to spend expiring points, or the first day to spend pending ones; `None` while they wait for an
    /// event.
    pub date: Option<Day>,
    /// The last day for that event.
    pub cancel_date: Option<Day>,
}

impl PointsCard {
    /// Refuses a card whose points cannot be counted together: no step leaves one behind.
    pub(super) fn check(&self) -> Result<(), CardRefusal> {
        let lots = self.lots.iter().map(|lot| lot.points);
        lots.chain(self.pending.iter().map(|one| one.points)).try_fold(0, sum)?;
        let lifetime_totals = LifetimeTotal::ALL.into_iter().map(|total| self.lifetime_totals.of(total));
        lifetime_totals.chain([self.debt]).try_for_each(|points| sum(points, 0).map(drop))
    }

    /// Returns the spendable balance; negative if the card owes points. Due events must be settled.
    pub fn balance(&self) -> i64 {
        // The settlement refuses a card whose points exceed `POINTS_MAX` together.
        let there: u64 = self.lots.iter().filter(|lot| lot.is_open()).map(|lot| lot.points).sum();
        // Each is at most `POINTS_MAX`, so that 64 bits hold the difference.
        there.cast_signed().wrapping_sub(self.debt.cast_signed())
    }

    /// Returns the points that may be spent at most.
    pub fn available(&self) -> u64 {
        // A card in debt has no points to spend.
        u64::try_from(self.balance()).unwrap_or(0)
    }

    /// Returns all pending points.
    pub fn pending_points(&self) -> u64 {
        // The settlement refuses a card whose points exceed `POINTS_MAX` together.
        self.pending.iter().map(|pending| pending.points).sum()
    }

    /// Returns the points that expire next, all on one day.
    pub fn next_expiration(&self, zone: &TimeZone) -> Option<Upcoming> {
        let open = || self.lots.iter().filter(|lot| lot.is_open());
        let first = open().filter(|lot| lot.expiry.expires_at().is_some()).min_by_key(|lot| lot.expiry.expires_at())?;
        let same = open().filter(|lot| lot.expiry.expires_at() == first.expiry.expires_at());
        // These are some of the points of `balance`.
        let points = same.map(|lot| lot.points).sum();
        Some(Upcoming { points, date: first.expiry.last_day(zone), cancel_date: None })
    }

    /// Returns the points that are activated next, all on one day, and their condition: those with a date before those
    /// that wait for an event.
    pub fn next_activation(&self, zone: &TimeZone) -> Option<(&PendingUntil, Upcoming)> {
        let when = |condition: &PendingUntil| {
            (condition.activates_at().is_none(), condition.activates_at(), condition.cancels_at())
        };
        let first = &self.pending.iter().min_by_key(|pending| when(&pending.condition))?.condition;
        let same = self.pending.iter().filter(|pending| when(&pending.condition) == when(first));
        // These are some of the points of `pending_points`.
        let points = same.map(|pending| pending.points).sum();
        let date = first.activates_at().and_then(|at| zone.day(at));
        let cancel_date = first.cancels_at().and_then(|at| zone.day(at.later(-1)));
        Some((first, Upcoming { points, date, cancel_date }))
    }

    /// Returns the next instant when points expire, are activated or are cancelled by time: nothing is due before.
    pub fn next_due(&self) -> Option<Instant> {
        let lots = self.lots.iter().filter(|lot| lot.is_open()).filter_map(|lot| lot.expiry.expires_at());
        let pending = self.pending.iter().flat_map(|one| [one.condition.activates_at(), one.condition.cancels_at()]);
        lots.chain(pending.flatten()).min()
    }

    /// Returns the lots and pending points that are new or changed since `before`. Steps name the pending points that
    /// were removed.
    pub fn changed_since<'a>(&'a self, before: &PointsCard) -> (Vec<&'a Lot>, Vec<&'a PendingPoints>) {
        let lots: BTreeMap<&Text, &Lot> = before.lots.iter().map(|lot| (&lot.id, lot)).collect();
        let pending: BTreeMap<&Text, &PendingPoints> =
            before.pending.iter().map(|pending| (&pending.id, pending)).collect();
        let changed_lots = self.lots.iter().filter(|lot| lots.get(&lot.id) != Some(lot));
        let changed_pending = self.pending.iter().filter(|one| pending.get(&one.id) != Some(one));
        (changed_lots.collect(), changed_pending.collect())
    }
}

/// An account of a card.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointsAccount {
    /// A lot.
    Lot(Text),
    /// Pending points.
    Pending(Text),
    /// The debt of the card, which counts as negative.
    Debt,
    /// A lifetime total, outside of the card.
    LifetimeTotal(LifetimeTotal),
}

/// A movement of points between two accounts of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointsMovement {
    /// The source.
    pub from: PointsAccount,
    /// The target.
    pub to: PointsAccount,
    /// The number of points; never 0.
    pub points: u64,
}

/// Points of one lot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LotPart {
    /// The lot.
    pub lot: Text,
    /// The number of points.
    pub points: u64,
}

/// The cause of a movement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MovementCause {
    /// Points were earned, added or bought: the total they came from.
    Credited(LifetimeTotal),
    /// Points were earned and are pending.
    Pending(Text),
    /// Pending points were activated.
    Activated(Text),
    /// Pending points were cancelled, by time, manually or because they were revoked.
    Canceled(Text),
    /// A lot expired by time.
    ExpiredByTime(Text),
    /// A lot was expired manually.
    Expired(Text),
    /// Points were spent or taken: the total they went to.
    Debited(LifetimeTotal),
    /// Spent points were refunded.
    Refunded,
    /// Earned points were revoked.
    Returned,
}

/// The movements of one instant with one cause: a transaction of the card, and a chain of transfers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardStep {
    /// The instant.
    pub at: Instant,
    /// The cause.
    pub cause: MovementCause,
    /// The movements; never empty.
    pub movements: Vec<PointsMovement>,
}

impl CardStep {
    /// Returns the points taken from lots, in order.
    pub fn debited(&self) -> Vec<LotPart> {
        parts(self.movements.iter().map(|movement| (&movement.from, movement.points)))
    }

    /// Returns the points credited to lots, in order.
    pub fn credited(&self) -> Vec<LotPart> {
        parts(self.movements.iter().map(|movement| (&movement.to, movement.points)))
    }
}

fn parts<'a>(accounts: impl Iterator<Item = (&'a PointsAccount, u64)>) -> Vec<LotPart> {
    let lot = |account: &PointsAccount, points: u64| match account {
        PointsAccount::Lot(lot) => Some(LotPart { lot: lot.clone(), points }),
        PointsAccount::Pending(_) | PointsAccount::Debt | PointsAccount::LifetimeTotal(_) => None,
    };
    accounts.filter_map(|(account, points)| lot(account, points)).collect()
}

/// The result of an operation on a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardOutcome {
    /// The card after the operation.
    pub card: PointsCard,
    /// The due events before the operation, in order of time. A lot expires by time once, and pending points are
    /// activated or cancelled once, so the cause identifies a step.
    pub due: Vec<CardStep>,
    /// The steps of the operation itself.
    pub steps: Vec<CardStep>,
}

/// The reason why an operation is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardRefusal {
    /// The card has too few points.
    Short {
        /// The available points.
        available: u64,
    },
    /// A number would exceed [`POINTS_MAX`].
    Beyond,
    /// The card has no such lot.
    NoSuchLot(Text),
    /// Another lot, or pending points, have the id of the new lot.
    SameId(Text),
    /// No pending points have this id: they were activated or cancelled, or never existed.
    NoSuchPending(Text),
    /// The lot has expired already.
    Closed,
    /// The points of the lot never expire.
    NeverExpires,
    /// The refund exceeds the spent points that were not refunded yet.
    MoreThanSpent {
        /// The points that can be refunded.
        left: u64,
    },
}

/// Returns the sum. Fails beyond [`POINTS_MAX`].
pub(super) fn sum(points: u64, more: u64) -> Result<u64, CardRefusal> {
    points.checked_add(more).filter(|sum| *sum <= POINTS_MAX).ok_or(CardRefusal::Beyond)
}
