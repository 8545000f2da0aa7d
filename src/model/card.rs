//! Decides what is on a loyalty card of the older interface at a moment. It must not know what is spent of it, which the ledger counts, nor
//! how points come to lapse.
//!
//! objects.md section 6. The card says what was ever on it, what was taken off and what was lost; of the points that lapse it says
//! when. What is left over never lapses.

use crate::text::Text;
use crate::time::Instant;

/// A loyalty card's points.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Card {
    /// All that were ever earned.
    pub points: u64,
    /// What was taken off by hand.
    pub subtracted_points: u64,
    /// What was lost to time.
    pub expired_points: u64,
    /// The points that lapse, those first that lapse first, no two at the same moment.
    pub lots: Vec<CardLot>,
    /// The points that wait.
    pub waiting: Vec<Waiting>,
}

/// When points lapse.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lapse {
    /// The moment from which on they cannot be spent.
    pub at: Instant,
    /// The day before: the last on which they can, as it is shown.
    pub last_day: Text,
}

/// Points that lapse together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CardLot {
    /// When.
    pub lapse: Lapse,
    /// How many are left of them.
    pub points: u64,
    /// When the first of them came.
    pub arrived_at: Instant,
    /// When there were more or fewer of them, if there ever were.
    pub changed_at: Option<Instant>,
}

/// Points that can be spent from a moment on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Waiting {
    /// Their id.
    pub id: Text,
    /// How many.
    pub points: u64,
    /// From when on.
    pub activates_at: Instant,
    /// When they lapse then.
    pub lapse: Option<Lapse>,
}

impl Card {
    /// What may be spent in the card's whole life.
    pub fn allotment(&self) -> u64 {
        self.points.saturating_sub(self.subtracted_points).saturating_sub(self.expired_points)
    }

    /// Goes on to a moment: what waited so long is there, and what has lapsed is lost.
    pub fn go_on(&mut self, now: Instant) {
        self.waiting.sort_by_key(|one| one.activates_at);
        for one in self.waiting.extract_if(.., |one| one.activates_at <= now) {
            self.points = self.points.saturating_add(one.points);
            let Some(lapse) = one.lapse else { continue };
            match self.lots.iter_mut().find(|lot| lot.lapse.at == lapse.at) {
                Some(lot) => {
                    lot.points = lot.points.saturating_add(one.points);
                    lot.changed_at = Some(one.activates_at);
                }
                None => {
                    let (points, arrived_at) = (one.points, one.activates_at);
                    self.lots.push(CardLot { lapse, points, arrived_at, changed_at: None });
                }
            }
        }
        for lot in self.lots.extract_if(.., |lot| lot.lapse.at <= now) {
            self.expired_points = self.expired_points.saturating_add(lot.points);
        }
        self.lots.sort_by_key(|lot| lot.lapse.at);
    }

    /// The card after points were spent: what lapses first goes first.
    pub fn spend(&mut self, points: u64) {
        let mut left = points;
        for lot in &mut self.lots {
            let taken = lot.points.min(left);
            lot.points = lot.points.saturating_sub(taken);
            left = left.saturating_sub(taken);
        }
    }

    /// The last day of the points that lapse next, and how many these are.
    pub fn next_expiration(&self) -> Option<(&Text, u64)> {
        let next = self.lots.iter().find(|lot| lot.points > 0)?;
        let same = self.lots.iter().filter(|lot| lot.lapse.at == next.lapse.at);
        Some((&next.lapse.last_day, same.fold(0, |sum: u64, lot| sum.saturating_add(lot.points))))
    }

    /// All that waits.
    pub fn waiting_points(&self) -> u64 {
        self.waiting.iter().fold(0, |sum: u64, one| sum.saturating_add(one.points))
    }

    /// Whether something on it comes or goes by time.
    pub fn is_timed(&self) -> bool {
        !self.lots.is_empty() || !self.waiting.is_empty()
    }
}
