//! Decides how many points may be earned or spent now, and whether a rule may fire again. It must not know what has happened:
//! whoever asks says how many points and how many times.
//!
//! loyalty-v2.md sections 3 and 4. Periods are those of the calendar in the project's zone; what was earned includes what
//! still waits. An earning is cut to what fits; a spending is not, it is refused.

use super::calendar::CurrentPeriod;
use crate::time::{Duration, Instant, TimeZone};

/// What a card may earn at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GlobalLimit {
    /// Whatever.
    #[default]
    None,
    /// Of points on the card for an earning, of points that were spent for a spending.
    Total(u64),
    /// In the current period.
    Current(CurrentPeriod, u64),
}

/// Limits on what is earned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EarningLimits {
    /// Of the card: `BALANCE_BASED` or `TIME_BASED`.
    pub global: GlobalLimit,
    /// Of one earning, at most.
    pub most: Option<u64>,
    /// What must be paid at least, in minor units, to earn something.
    pub min_amount: Option<u64>,
}

/// What a card has when something is to be earned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EarnedSoFar {
    /// The balance.
    pub balance: i64,
    /// What waits.
    pub pending: u64,
    /// What was earned since [`GlobalLimit::since`].
    pub in_period: u64,
}

/// Limits on what is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpendingLimits {
    /// Of the card: `SPENDING_BASED` or `TIME_BASED`.
    pub global: GlobalLimit,
    /// Of one spending, at most.
    pub most: Option<u64>,
}

/// What a card has when something is to be spent; what came back does not count as spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpentSoFar {
    /// The balance.
    pub balance: i64,
    /// What was spent in the card's life.
    pub total: u64,
    /// What was spent since [`GlobalLimit::since`].
    pub in_period: u64,
}

impl GlobalLimit {
    /// The moment since which points count; nothing where no period does.
    pub fn since(self, now: Instant, zone: &TimeZone) -> Option<Instant> {
        match self {
            GlobalLimit::None | GlobalLimit::Total(_) => None,
            GlobalLimit::Current(period, _) => Some(period.begin(now, zone)),
        }
    }
}

impl EarningLimits {
    /// How many of these points are earned. `paid` is the amount of the order; an earning without an order has none, and no least
    /// amount. A balance limit holds for what can be spent and what waits together, so that it also holds when that arrives.
    pub fn earned(&self, points: u64, paid: Option<u64>, so_far: EarnedSoFar) -> u64 {
        if self.min_amount.zip(paid).is_some_and(|(least, paid)| paid < least) {
            return 0;
        }
        let room = match self.global {
            GlobalLimit::None => u64::MAX,
            GlobalLimit::Total(most) => {
                let there = i128::from(so_far.balance).saturating_add(so_far.pending.into());
                let room = i128::from(most).saturating_sub(there).max(0);
                u64::try_from(room).unwrap_or(u64::MAX)
            }
            GlobalLimit::Current(_, most) => most.saturating_sub(so_far.in_period),
        };
        points.min(room).min(self.most.unwrap_or(u64::MAX))
    }
}

impl SpendingLimits {
    /// How many points may be spent at once.
    pub fn spendable(&self, so_far: SpentSoFar) -> u64 {
        let room = match self.global {
            GlobalLimit::None => u64::MAX,
            GlobalLimit::Total(most) => most.saturating_sub(so_far.total),
            GlobalLimit::Current(_, most) => most.saturating_sub(so_far.in_period),
        };
        let there = u64::try_from(so_far.balance).unwrap_or(0);
        there.min(room).min(self.most.unwrap_or(u64::MAX))
    }

    /// Whether the limits let so many points be spent, whatever there is; else the first that does not.
    pub fn check(&self, points: u64, so_far: SpentSoFar) -> Result<(), Exceeded> {
        let global = match self.global {
            GlobalLimit::None => None,
            GlobalLimit::Total(most) => Some((Spending::Total, most, so_far.total)),
            GlobalLimit::Current(_, most) => Some((Spending::Current, most, so_far.in_period)),
        };
        let once = self.most.map(|most| (Spending::Once, most, 0));
        let beyond = |(_, most, spent): &(Spending, u64, u64)| points > most.saturating_sub(*spent);
        match once.into_iter().chain(global).find(beyond) {
            Some((limit, most, spent)) => Err(Exceeded { limit, most, spent }),
            None => Ok(()),
        }
    }
}

/// Which limit on what is spent does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spending {
    /// Of the card's whole life: `SPENDING_BASED`.
    Total,
    /// Of the current period: `TIME_BASED`.
    Current,
    /// Of one spending: `POINTS`.
    Once,
}

/// A limit that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    /// Which.
    pub limit: Spending,
    /// What it lets be spent.
    pub most: u64,
    /// What was spent of that.
    pub spent: u64,
}

/// How long a rule rests after it has fired for a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cooldown {
    /// So many times 60 minutes.
    Hours(u32),
    /// So many days, to the same time on the clock.
    Days(u32),
    /// So many weeks, likewise.
    Weeks(u32),
    /// So many months, likewise; from a 31st to the last day of a shorter one.
    Months(u32),
    /// So many years, likewise.
    Years(u32),
}

impl Cooldown {
    /// The moment from which on it may fire again.
    pub fn end(self, fired: Instant, zone: &TimeZone) -> Instant {
        let end = match self {
            Cooldown::Hours(hours) => Some(fired.later(i64::from(hours).saturating_mul(3_600_000))),
            Cooldown::Days(days) => fired.days_later(days, zone),
            Cooldown::Weeks(weeks) => weeks.checked_mul(7).and_then(|days| fired.days_later(days, zone)),
            Cooldown::Months(months) => fired.after(&Duration::of_months(months), zone),
            Cooldown::Years(years) => {
                years.checked_mul(12).and_then(|months| fired.after(&Duration::of_months(months), zone))
            }
        };
        end.unwrap_or(Instant::LATEST)
    }
}

/// How often a rule may fire for a member, or a member may buy a reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TriggerLimits {
    /// How long it rests.
    pub cooldown: Option<Cooldown>,
    /// How often in the current period.
    pub frequency: Option<(CurrentPeriod, u64)>,
}

/// How often it has fired for the member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fired {
    /// When it did last.
    pub last: Option<Instant>,
    /// How often since [`TriggerLimits::since`].
    pub in_period: u64,
}

/// Why a rule may not fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resting {
    /// Until a moment.
    Until(Instant),
    /// Until the next period: it has fired as often as it may.
    Exhausted,
}

impl TriggerLimits {
    /// The moment since which firings are counted; nothing where none are.
    pub fn since(&self, now: Instant, zone: &TimeZone) -> Option<Instant> {
        self.frequency.map(|(period, _)| period.begin(now, zone))
    }

    /// What these moments are to the limits.
    pub fn fired(&self, earlier: &[Instant], now: Instant, zone: &TimeZone) -> Fired {
        let since = self.since(now, zone);
        let counted = earlier.iter().filter(|at| since.is_some_and(|since| **at >= since)).count();
        Fired { last: earlier.iter().max().copied(), in_period: u64::try_from(counted).unwrap_or(u64::MAX) }
    }

    /// Whether it may fire now.
    pub fn allow(&self, fired: Fired, now: Instant, zone: &TimeZone) -> Result<(), Resting> {
        let rests = self.cooldown.zip(fired.last).map(|(cooldown, last)| cooldown.end(last, zone));
        match (rests.filter(|end| now < *end), self.frequency) {
            (Some(end), _) => Err(Resting::Until(end)),
            (None, Some((_, most))) if fired.in_period >= most => Err(Resting::Exhausted),
            (None, _) => Ok(()),
        }
    }
}
