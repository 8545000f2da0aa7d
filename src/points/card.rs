//! Decides what a card of points is: its lots, what waits, what it owes, and the figures of its life. It must not know what
//! changes them.
//!
//! Every point is in one place of the card, and moves from there to another. Figures of what came (`Earned`, `Added`, ...)
//! give, figures of what went (`Spent`, `Expired`, ...) take, so that what came is what went and what is there.

use super::expiry::{Expiration, Expiry};
use super::pending::Wait;
use crate::money::LARGEST;
use crate::text::Text;
use crate::time::{Day, Instant, TimeZone};
use std::collections::BTreeMap;

/// The most points that one number of a card may say: 2^53 - 1.
pub const MOST: u64 = LARGEST.unsigned_abs();

/// The moment at which something is done, and the project's zone.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// The moment.
    pub at: Instant,
    /// The zone.
    pub zone: &'a TimeZone,
}

/// Points that lapse together. What arrives on a card joins the lot that lapses as it does, so that a card has at most a lot
/// for each day on which points lapse, however much was earned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lot {
    /// Its id.
    pub id: Text,
    /// How many points are in it.
    pub points: u64,
    /// When the first of them arrived.
    pub arrived_at: Instant,
    /// When they lapse.
    pub expiry: Expiry,
    /// Whether they have, by time or by hand: what comes back to it lapses at once.
    pub is_closed: bool,
    /// How many lapsed in it for which no earning was revoked yet: the buyer lost them already.
    pub lapsed: u64,
}

impl Lot {
    /// Whether there is something in it that can be spent, as far as is known: what is due by now must be settled.
    pub fn is_open(&self) -> bool {
        self.points > 0 && !self.is_closed
    }
}

/// Points that were earned and cannot be spent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its id.
    pub id: Text,
    /// How many points.
    pub points: u64,
    /// When they were earned.
    pub earned_at: Instant,
    /// What they wait for.
    pub wait: Wait,
    /// The lot that they will be, unless another one lapses as they will.
    pub lot: Text,
    /// How they lapse, counted from when they arrive.
    pub expiration: Expiration,
}

/// A number that tells of a card's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Came: by rules, as far as they could be spent.
    Earned,
    /// Came: by hand.
    Added,
    /// Came: bought with points of another card.
    Purchased,
    /// Came back: had been spent.
    Refunded,
    /// Went: on rewards and orders.
    Spent,
    /// Went: by hand.
    Subtracted,
    /// Went: by time, or because somebody expired a lot.
    Expired,
    /// Went: had been earned with what was given back.
    Returned,
    /// Went: had been bought with points that were given back.
    PurchaseReversed,
    /// Came: had to wait.
    PendingTotal,
    /// Waited, and can be spent; these are among `Earned` from then on.
    PendingActivated,
    /// Waited, and was cancelled or given back.
    PendingCanceled,
}

impl Figure {
    /// All there are.
    pub const ALL: [Figure; 12] = [
        Figure::Earned,
        Figure::Added,
        Figure::Purchased,
        Figure::Refunded,
        Figure::Spent,
        Figure::Subtracted,
        Figure::Expired,
        Figure::Returned,
        Figure::PurchaseReversed,
        Figure::PendingTotal,
        Figure::PendingActivated,
        Figure::PendingCanceled,
    ];

    /// Whether points come from here; to the others they go.
    pub fn gives(self) -> bool {
        match self {
            Figure::Earned | Figure::Added | Figure::Purchased | Figure::Refunded | Figure::PendingTotal => true,
            Figure::Spent
            | Figure::Subtracted
            | Figure::Expired
            | Figure::Returned
            | Figure::PurchaseReversed
            | Figure::PendingActivated
            | Figure::PendingCanceled => false,
        }
    }
}

/// The figures of a card's life. None ever becomes less.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures([u64; Figure::ALL.len()]);

impl Figures {
    /// Figures as somebody has them, such as the balances of their accounts, whatever their sign.
    pub fn read(of: impl Fn(Figure) -> i64) -> Figures {
        Figures(Figure::ALL.map(|figure| of(figure).unsigned_abs()))
    }

    /// One of them.
    pub fn of(&self, figure: Figure) -> u64 {
        self.0.get(figure as usize).copied().unwrap_or(0)
    }

    /// All points that ever came to be spent, those apart that came back: `lifetime_bucket.points.total`.
    pub fn total(&self) -> u64 {
        let came = [Figure::Earned, Figure::Added, Figure::Purchased];
        came.into_iter().fold(0, |sum: u64, figure| sum.saturating_add(self.of(figure)))
    }

    pub(super) fn add(&mut self, figure: Figure, points: u64) -> Result<(), Refused> {
        let known = self.0.get_mut(figure as usize).ok_or(Refused::Beyond)?;
        *known = sum(*known, points)?;
        Ok(())
    }
}

/// A card as it is stored: every open lot, everything that waits and, of what is closed or empty, the lots that an operation
/// names. More lots that are closed or empty change nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Card {
    /// Its lots.
    pub lots: Vec<Lot>,
    /// What waits.
    pub pending: Vec<Pending>,
    /// How many points the card owes: its balance is less than nothing, and what comes is taken off first.
    pub debt: u64,
    /// The figures of its life.
    pub figures: Figures,
}

/// What is told of the points that come or go next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// How many.
    pub points: u64,
    /// The last day on which they can be spent, or the first; nothing while they wait for an event.
    pub date: Option<Day>,
    /// The last day on which that event may come.
    pub cancel_date: Option<Day>,
}

impl Card {
    /// What can be spent; less than nothing where the card owes. What is due must be settled.
    pub fn balance(&self) -> i64 {
        let there =
            self.lots.iter().filter(|lot| lot.is_open()).fold(0, |sum: u64, lot| sum.saturating_add(lot.points));
        let (there, owed) = (i64::try_from(there).unwrap_or(i64::MAX), i64::try_from(self.debt).unwrap_or(i64::MAX));
        there.saturating_sub(owed)
    }

    /// What may be spent at most.
    pub fn available(&self) -> u64 {
        u64::try_from(self.balance()).unwrap_or(0)
    }

    /// All that waits.
    pub fn waiting(&self) -> u64 {
        self.pending.iter().fold(0, |sum: u64, pending| sum.saturating_add(pending.points))
    }

    /// The points that lapse next, all of the same day.
    pub fn next_expiration(&self, zone: &TimeZone) -> Option<Next> {
        let open = || self.lots.iter().filter(|lot| lot.is_open());
        let first = open().filter(|lot| lot.expiry.lapses_at().is_some()).min_by_key(|lot| lot.expiry.lapses_at())?;
        let same = open().filter(|lot| lot.expiry.lapses_at() == first.expiry.lapses_at());
        let points = same.fold(0, |sum: u64, lot| sum.saturating_add(lot.points));
        Some(Next { points, date: first.expiry.last_day(zone), cancel_date: None })
    }

    /// The points that can be spent next, all of the same day, and what they wait for: those with a date before those that wait
    /// for an event.
    pub fn next_activation(&self, zone: &TimeZone) -> Option<(&Wait, Next)> {
        let when = |wait: &Wait| (wait.activates_at().is_none(), wait.activates_at(), wait.cancels_at());
        let first = &self.pending.iter().min_by_key(|pending| when(&pending.wait))?.wait;
        let same = self.pending.iter().filter(|pending| when(&pending.wait) == when(first));
        let points = same.fold(0, |sum: u64, pending| sum.saturating_add(pending.points));
        let date = first.activates_at().and_then(|at| zone.day(at));
        let cancel_date = first.cancels_at().and_then(|at| zone.day(at.later(-1)));
        Some((first, Next { points, date, cancel_date }))
    }

    /// The moment at which something lapses, becomes active or is cancelled by itself next: nothing is due before.
    pub fn next_due(&self) -> Option<Instant> {
        let lots = self.lots.iter().filter(|lot| lot.is_open()).filter_map(|lot| lot.expiry.lapses_at());
        let pending = self.pending.iter().flat_map(|one| [one.wait.activates_at(), one.wait.cancels_at()]);
        lots.chain(pending.flatten()).min()
    }

    /// The lots and what waits that are new or other than before. What waits no longer is named by a step.
    pub fn changed_since<'a>(&'a self, before: &Card) -> (Vec<&'a Lot>, Vec<&'a Pending>) {
        let lots: BTreeMap<&Text, &Lot> = before.lots.iter().map(|lot| (&lot.id, lot)).collect();
        let pending: BTreeMap<&Text, &Pending> = before.pending.iter().map(|pending| (&pending.id, pending)).collect();
        let changed_lots = self.lots.iter().filter(|lot| lots.get(&lot.id) != Some(lot));
        let changed_pending = self.pending.iter().filter(|one| pending.get(&one.id) != Some(one));
        (changed_lots.collect(), changed_pending.collect())
    }
}

/// Where points of a card are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In a lot.
    Lot(Text),
    /// Waiting.
    Pending(Text),
    /// What the card owes: less than nothing is there.
    Debt,
    /// Outside, where a figure counts them.
    Figure(Figure),
}

/// Points that go from one place of a card to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movement {
    /// From where.
    pub from: Place,
    /// Where to.
    pub to: Place,
    /// How many; never 0.
    pub points: u64,
}

/// Points of one lot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The lot.
    pub lot: Text,
    /// How many.
    pub points: u64,
}

/// Why points moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// They were earned, added or bought: the figure that they came from.
    Arrived(Figure),
    /// They were earned and wait.
    Waits(Text),
    /// What waited can be spent.
    Activated(Text),
    /// What waited was cancelled, by time, by hand or because it was given back.
    Canceled(Text),
    /// A lot lapsed by time.
    Lapsed(Text),
    /// Somebody expired a lot.
    Expired(Text),
    /// They were spent or taken: the figure that they went to.
    Taken(Figure),
    /// They had been spent and came back.
    Refunded,
    /// They had been earned and were given back.
    Returned,
}

/// What happened at one moment for one reason: a transaction of the card, and a chain of transfers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When.
    pub at: Instant,
    /// Why.
    pub cause: Cause,
    /// What moved; never empty.
    pub movements: Vec<Movement>,
}

impl Step {
    /// What was taken from which lots, in order.
    pub fn taken(&self) -> Vec<Part> {
        parts(self.movements.iter().map(|movement| (&movement.from, movement.points)))
    }

    /// What came to which lots, in order.
    pub fn brought(&self) -> Vec<Part> {
        parts(self.movements.iter().map(|movement| (&movement.to, movement.points)))
    }
}

fn parts<'a>(places: impl Iterator<Item = (&'a Place, u64)>) -> Vec<Part> {
    let lot = |(place, points): (&Place, u64)| match place {
        Place::Lot(lot) => Some(Part { lot: lot.clone(), points }),
        Place::Pending(_) | Place::Debt | Place::Figure(_) => None,
    };
    places.filter_map(lot).collect()
}

/// What an operation makes of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The card afterwards.
    pub card: Card,
    /// What was due before, in order of time. A lot lapses by time once, and what waits is activated or cancelled once, so that
    /// a step is known by its cause.
    pub due: Vec<Step>,
    /// What the operation did.
    pub steps: Vec<Step>,
}

/// Why an operation does nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// There are fewer points.
    Short {
        /// As many.
        available: u64,
    },
    /// A number would be beyond [`MOST`].
    Beyond,
    /// No such lot was given.
    NoSuchLot(Text),
    /// Another lot, or what waits, has the id that the new one was to have.
    SameId(Text),
    /// Nothing that waits has this id: it was activated or cancelled, or never was.
    NoSuchPending(Text),
    /// The lot has lapsed already.
    Closed,
    /// The points of the lot never lapse.
    NeverLapses,
    /// More is to come back than was spent and has not come back.
    MoreThanSpent {
        /// As many.
        left: u64,
    },
}

/// The sum, as far as a card can say it.
pub(super) fn sum(points: u64, more: u64) -> Result<u64, Refused> {
    points.checked_add(more).filter(|sum| *sum <= MOST).ok_or(Refused::Beyond)
}
