//! Decides how many points may be earned or spent now, and whether a rule may fire again. The caller provides the past
//! points and of fired rules.
//!
//! docs/spec/loyalty.md sections 3 and 4. Periods are those of the calendar in the project's zone. Earned points
//! include pending ones. An earning is reduced to the limit; a spending beyond it is refused.

use super::calendar::CurrentPeriod;
use crate::count::Countable;
use crate::time::{Duration, Instant, TimeZone};

/// The limit of a whole card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GlobalLimit {
    /// No limit.
    #[default]
    None,
    /// The points on the card for an earning, the points spent so far for a spending.
    Total(u64),
    /// The points in the current period.
    Current(CurrentPeriod, u64),
}

/// The limits of earning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EarningLimits {
    /// The limit of the card: `BALANCE_BASED` or `TIME_BASED`.
    pub global: GlobalLimit,
    /// The maximum of one earning.
    pub most: Option<u64>,
    /// The minimum payment to earn, in minor units.
    pub min_amount: Option<u64>,
}

/// The points of a card before an earning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EarnedSoFar {
    /// The balance.
    pub balance: i64,
    /// The pending points.
    pub pending: u64,
    /// The points earned since [`GlobalLimit::since`].
    pub in_period: u64,
}

/// The limits of spending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpendingLimits {
    /// The limit of the card: `SPENDING_BASED` or `TIME_BASED`.
    pub global: GlobalLimit,
    /// The maximum of one spending.
    pub most: Option<u64>,
}

/// The points of a card before a spending; refunded points do not count as spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpentTotals {
    /// The balance.
    pub balance: i64,
    /// The points spent in the card's lifetime.
    pub total: u64,
    /// The points spent since [`GlobalLimit::since`].
    pub in_period: u64,
}

impl GlobalLimit {
    /// Returns the instant since which points count; `None` without a period.
    pub fn since(self, now: Instant, zone: &TimeZone) -> Option<Instant> {
        match self {
            GlobalLimit::None | GlobalLimit::Total(_) => None,
            GlobalLimit::Current(period, _) => Some(period.start(now, zone)),
        }
    }

    /// Returns how many more points may be earned.
    #[expect(clippy::arithmetic_side_effects, reason = "three numbers of 64 bits stay far within 128")]
    pub fn capacity(self, so_far: EarnedSoFar) -> u64 {
        match self {
            GlobalLimit::None => u64::MAX,
            GlobalLimit::Total(most) => {
                let capacity = i128::from(most) - i128::from(so_far.balance) - i128::from(so_far.pending);
                // A negative balance increases the capacity; beyond 64 bits it limits no number of points.
                u64::try_from(capacity.max(0)).unwrap_or(u64::MAX)
            }
            GlobalLimit::Current(_, most) => most.remaining_after(so_far.in_period),
        }
    }
}

impl EarningLimits {
    /// Returns how many of these points are earned. `paid` is the amount of the order in minor units; an earning
    /// without an order has none, and no minimum. A balance limit applies to spendable and pending points together, so
    /// that it still applies after their activation.
    pub fn earned(&self, points: u64, paid: Option<u64>, so_far: EarnedSoFar) -> u64 {
        if self.min_amount.zip(paid).is_some_and(|(least, paid)| paid < least) {
            return 0;
        }
        // Without a maximum, `most`, no single earning is limited.
        points.min(self.global.capacity(so_far)).min(self.most.unwrap_or(u64::MAX))
    }
}

impl SpendingLimits {
    /// Returns how many points may be spent at once.
    pub fn spendable(&self, so_far: SpentTotals) -> u64 {
        let capacity = match self.global {
            GlobalLimit::None => u64::MAX,
            GlobalLimit::Total(most) => most.remaining_after(so_far.total),
            GlobalLimit::Current(_, most) => most.remaining_after(so_far.in_period),
        };
        // A card in debt has no points to spend.
        let there = u64::try_from(so_far.balance).unwrap_or(0);
        // Without a maximum, `most`, no single spending is limited.
        there.min(capacity).min(self.most.unwrap_or(u64::MAX))
    }

    /// Checks whether the limits allow a spending, regardless of the balance; returns the first that does not.
    pub fn check(&self, points: u64, so_far: SpentTotals) -> Result<(), ExceededLimit> {
        let global = match self.global {
            GlobalLimit::None => None,
            GlobalLimit::Total(most) => {
                Some(ExceededLimit { limit: SpendingLimitKind::Total, most, spent: so_far.total })
            }
            GlobalLimit::Current(_, most) => {
                Some(ExceededLimit { limit: SpendingLimitKind::Current, most, spent: so_far.in_period })
            }
        };
        let once = self.most.map(|most| ExceededLimit { limit: SpendingLimitKind::Once, most, spent: 0 });
        let is_exceeded = |limit: &ExceededLimit| points > limit.most.remaining_after(limit.spent);
        once.into_iter().chain(global).find(is_exceeded).map_or(Ok(()), Err)
    }
}

/// The kind of an exceeded spending limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpendingLimitKind {
    /// The card's lifetime: `SPENDING_BASED`.
    Total,
    /// The current period: `TIME_BASED`.
    Current,
    /// One spending: `POINTS`.
    Once,
}

/// A limit that is exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceededLimit {
    /// The kind.
    pub limit: SpendingLimitKind,
    /// The maximum.
    pub most: u64,
    /// The points spent so far.
    pub spent: u64,
}

/// The cooldown of a rule after it has fired for a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cooldown {
    /// A number of hours of 60 minutes.
    Hours(u32),
    /// A number of days, to the same local time.
    Days(u32),
    /// A number of weeks, to the same local time.
    Weeks(u32),
    /// A number of months, to the same local time; from a 31st to the last day of a shorter one.
    Months(u32),
    /// A number of years, to the same local time.
    Years(u32),
}

impl Cooldown {
    /// Returns the instant from which it may fire again.
    pub fn end(self, fired: Instant, zone: &TimeZone) -> Instant {
        let end = match self {
            Cooldown::Hours(hours) => i64::from(hours).checked_mul(3_600_000).map(|millis| fired.later(millis)),
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

/// The limits on how often a rule fires for a member, or of purchases of a reward by a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TriggerLimits {
    /// The cooldown.
    pub cooldown: Option<Cooldown>,
    /// The maximum in the current period.
    pub frequency: Option<(CurrentPeriod, u64)>,
}

/// Number of times that a rule fired for the member so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FireCount {
    /// The instant of the last time.
    pub last: Option<Instant>,
    /// The number since [`TriggerLimits::since`].
    pub in_period: u64,
}

/// The reason why a rule may not fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitRefusal {
    /// Not before this instant.
    Until(Instant),
    /// Not before the next period: the maximum is reached.
    Exhausted,
}

impl TriggerLimits {
    /// Returns the instant since which the fired rules are counted; `None` if they are not counted.
    pub fn since(&self, now: Instant, zone: &TimeZone) -> Option<Instant> {
        self.frequency.map(|(period, _)| period.start(now, zone))
    }

    /// Returns the count for the limits.
    pub fn fired(&self, earlier: &[Instant], now: Instant, zone: &TimeZone) -> FireCount {
        let since = self.since(now, zone);
        let counted = earlier.iter().filter(|at| since.is_some_and(|since| **at >= since)).count();
        // No list is longer than 64 bits.
        FireCount { last: earlier.iter().max().copied(), in_period: u64::try_from(counted).unwrap_or(u64::MAX) }
    }

    /// Checks whether it may fire now.
    pub fn allow(&self, fired: FireCount, now: Instant, zone: &TimeZone) -> Result<(), LimitRefusal> {
        let rests = self.cooldown.zip(fired.last).map(|(cooldown, last)| cooldown.end(last, zone));
        match (rests.filter(|end| now < *end), self.frequency) {
            (Some(end), _) => Err(LimitRefusal::Until(end)),
            (None, Some((_, most))) if fired.in_period >= most => Err(LimitRefusal::Exhausted),
            (None, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_exact_at_the_limits() {
        let capacity = |most, balance, pending| {
            GlobalLimit::Total(most).capacity(EarnedSoFar { balance, pending, ..EarnedSoFar::default() })
        };
        assert_eq!(capacity(10, -5, 3), 12);
        assert_eq!(capacity(10, i64::MAX, u64::MAX), 0);
        assert_eq!(capacity(10, i64::MIN, u64::MAX), 0);
        assert_eq!(capacity(0, i64::MIN, 0), 1 << 63);
    }
}
