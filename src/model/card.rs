//! Defines the points of a v1 loyalty card at an instant.
//!
//! docs/spec/objects.md#6. The card has the points ever credited, subtracted and expired; points with an expiration are
//! in lots. The rest never expires. The ledger counts the spent points.

use crate::count::{Countable, total};
use crate::money::LARGEST;
use crate::text::Text;
use crate::time::Instant;

/// A loyalty card's points.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoyaltyCard {
    /// All points ever credited.
    pub points: u64,
    /// Points subtracted manually.
    pub subtracted_points: u64,
    /// Points expired by time.
    pub expired_points: u64,
    /// The points with an expiration, in order of expiration, at most one lot for each instant.
    pub lots: Vec<CardLot>,
    /// The pending points.
    pub pending: Vec<PendingLot>,
}

/// The expiration of points.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LotExpiry {
    /// The instant from which they cannot be spent.
    pub at: Instant,
    /// The day before: the last on which they can, as answers have it.
    pub last_day: Text,
}

/// Points that expire together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CardLot {
    /// The expiration.
    pub expiry: LotExpiry,
    /// The remaining points.
    pub points: u64,
    /// The instant of the first credit.
    pub credited_at: Instant,
    /// The instant of the last change, if any.
    pub changed_at: Option<Instant>,
}

/// Pending points.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PendingLot {
    /// Their id.
    pub id: Text,
    /// The number of points.
    pub points: u64,
    /// The instant of activation.
    pub activates_at: Instant,
    /// Their expiration after activation.
    pub expiry: Option<LotExpiry>,
}

impl LoyaltyCard {
    /// Returns the points that may be spent in the card's lifetime.
    pub fn credited_total(&self) -> u64 {
        self.points.remaining_after(self.subtracted_points).remaining_after(self.expired_points)
    }

    /// Returns whether the sums of the card's points, pending ones included, stay within the bounds of an amount.
    pub fn is_within_bounds(&self) -> bool {
        let parts = |lost: u64| {
            let lots = self.lots.iter().map(|lot| lot.points);
            [lost].into_iter().chain(lots).chain(self.pending.iter().map(|one| one.points))
        };
        let most = LARGEST.unsigned_abs();
        let earned = self.pending.iter().try_fold(self.points, |sum, one| sum.checked_add(one.points));
        [earned, total(parts(self.expired_points))].iter().all(|sum| sum.is_some_and(|sum| sum <= most))
    }

    /// Advances to an instant: activates pending points and removes expired ones.
    #[expect(clippy::arithmetic_side_effects, reason = "`is_within_bounds` holds of a card that was read")]
    pub fn advance_to(&mut self, now: Instant) {
        self.pending.sort_by_key(|one| one.activates_at);
        for one in self.pending.extract_if(.., |one| one.activates_at <= now) {
            self.points += one.points;
            let Some(expiry) = one.expiry else { continue };
            match self.lots.iter_mut().find(|lot| lot.expiry.at == expiry.at) {
                Some(lot) => {
                    lot.points += one.points;
                    lot.changed_at = Some(one.activates_at);
                }
                None => {
                    let (points, credited_at) = (one.points, one.activates_at);
                    self.lots.push(CardLot { expiry, points, credited_at, changed_at: None });
                }
            }
        }
        for lot in self.lots.extract_if(.., |lot| lot.expiry.at <= now) {
            self.expired_points += lot.points;
        }
        self.lots.sort_by_key(|lot| lot.expiry.at);
    }

    /// Spends points: those that expire first are taken first.
    pub fn spend(&mut self, points: u64) {
        let mut left = points;
        for lot in &mut self.lots {
            let taken = lot.points.min(left);
            lot.points = lot.points.remaining_after(taken);
            left = left.remaining_after(taken);
        }
    }

    /// Returns the last day of the points that expire next, and their number.
    pub fn next_expiration(&self) -> Option<(&Text, u64)> {
        let next = self.lots.iter().find(|lot| lot.points > 0)?;
        let same = self.lots.iter().filter(|lot| lot.expiry.at == next.expiry.at);
        // `is_within_bounds` holds of a card that was read.
        Some((&next.expiry.last_day, same.map(|lot| lot.points).sum()))
    }

    /// Returns all pending points.
    pub fn pending_points(&self) -> u64 {
        // `is_within_bounds` holds of a card that was read.
        self.pending.iter().map(|one| one.points).sum()
    }

    /// Returns whether any points are pending or expire.
    pub fn is_timed(&self) -> bool {
        !self.lots.is_empty() || !self.pending.is_empty()
    }
}
