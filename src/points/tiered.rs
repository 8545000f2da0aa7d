//! Decides which tier of a loyalty campaign of the older interface points lead to, which points those are, and what a tier makes of
//! what is earned and of what a reward costs. It must not know cards, orders or JSON documents.
//!
//! endpoints.md, loyalties. Nothing is remembered of such a tier: the points of the moment say it, or those of a period of the
//! calendar that is running or over.

use crate::text::Text;
use crate::time::{Day, Instant, TimeZone};

/// A tier of a campaign.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CampaignTier {
    /// Its id.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// The least points that lead to it.
    pub from: u64,
    /// The most, if there is an end.
    pub to: Option<u64>,
    /// What it makes of the points of earning rules, by their ids.
    pub earning_rules: Vec<(Text, Mapping)>,
    /// What it makes of the prices of rewards, by the ids of the rewards or of their assignments.
    pub rewards: Vec<(Text, Mapping)>,
}

/// What becomes of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    /// So many millionths of them, to the nearest whole number, half up.
    Multiply(u64),
    /// So many instead.
    Custom(u64),
}

impl Default for Mapping {
    fn default() -> Mapping {
        Mapping::Multiply(MILLION)
    }
}

const MILLION: u64 = 1_000_000;

impl Mapping {
    /// What becomes of so many.
    ///
    /// ```
    /// use scrip::points::tiered::Mapping;
    /// assert_eq!(Mapping::Multiply(1_500_000).of(5), 8);
    /// assert_eq!(Mapping::Multiply(100_000).of(4), 0);
    /// assert_eq!(Mapping::Custom(7).of(5), 7);
    /// ```
    pub fn of(self, points: u64) -> u64 {
        match self {
            Mapping::Custom(points) => points,
            Mapping::Multiply(millionths) => {
                let all = u128::from(points).saturating_mul(u128::from(millionths));
                let nearest = all.saturating_add(u128::from(MILLION / 2)).checked_div(u128::from(MILLION)).unwrap_or(0);
                u64::try_from(nearest).unwrap_or(u64::MAX).min(super::MOST)
            }
        }
    }
}

impl CampaignTier {
    /// Whether points lead to it.
    pub fn takes(&self, points: u64) -> bool {
        points >= self.from && self.to.is_none_or(|to| points <= to)
    }

    /// What it makes of the points of an earning rule.
    pub fn earned(&self, rule: &str, points: u64) -> u64 {
        mapped(&self.earning_rules, &[rule], points)
    }

    /// What it makes of the price of a reward, that of the assignment before that of the reward itself.
    pub fn price(&self, assignment: &str, reward: &str, points: u64) -> u64 {
        mapped(&self.rewards, &[assignment, reward], points)
    }
}

fn mapped(mappings: &[(Text, Mapping)], names: &[&str], points: u64) -> u64 {
    let known = names.iter().find_map(|name| mappings.iter().find(|(id, _)| id == *name));
    known.map_or(points, |(_, mapping)| mapping.of(points))
}

/// The tier that points lead to; where ranges overlap, the highest.
pub fn reached(tiers: &[CampaignTier], points: u64) -> Option<&CampaignTier> {
    tiers.iter().filter(|tier| tier.takes(points)).max_by_key(|tier| tier.from)
}

/// Which points lead to a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counted {
    /// What is on the card now.
    #[default]
    Balance,
    /// What came in a period.
    InPeriod {
        /// How many months it has, from January on.
        months: u32,
        /// Whether the tier begins with the period after.
        starts_next: bool,
        /// Whether it is kept through one period more.
        lasts_next: bool,
    },
}

impl Counted {
    /// The periods of which any may lead to a tier now, each from its first moment to the first that is not in it; nothing where the
    /// balance does.
    pub fn periods(self, now: Instant, zone: &TimeZone) -> Vec<(Instant, Instant)> {
        let Counted::InPeriod { months, starts_next, lasts_next } = self else { return Vec::new() };
        let Some(first) = zone.day(now).and_then(|today| first_of(today, months)) else { return Vec::new() };
        let nearest = u32::from(starts_next);
        let farthest = nearest.saturating_add(u32::from(lasts_next));
        let of = |back: u32| {
            let begin = before(first, months.saturating_mul(back))?;
            Some((zone.start_of(begin)?, zone.start_of(begin.plus_months(months)?)?))
        };
        (nearest..=farthest).filter_map(of).collect()
    }
}

/// The first day of the period of so many months that a day lies in.
fn first_of(day: Day, months: u32) -> Option<Day> {
    let (year, month, _) = day.date();
    let place = month.checked_sub(1)?.checked_rem(months)?;
    Day::of(year, month.checked_sub(place)?, 1)
}

/// The first day of the month so many months before.
fn before(first: Day, months: u32) -> Option<Day> {
    let (year, month, _) = first.date();
    let all = year.checked_mul(12)?.checked_add(i64::from(month))?.checked_sub(1)?.checked_sub(i64::from(months))?;
    Day::of(all.div_euclid(12), u32::try_from(all.rem_euclid(12)).ok()?.checked_add(1)?, 1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    #[test]
    fn periods_are_those_of_the_calendar() {
        let zone = TimeZone::default();
        let now = Instant::parse("2026-02-10T12:00:00Z").unwrap();
        let text = |counted: Counted| {
            let periods = counted.periods(now, &zone).into_iter();
            periods.map(|(from, to)| format!("{from} {to}")).collect::<Vec<_>>()
        };
        let quarter = |starts_next, lasts_next| Counted::InPeriod { months: 3, starts_next, lasts_next };
        let [this, last, other] = [
            "2026-01-01T00:00:00.000Z 2026-04-01T00:00:00.000Z",
            "2025-10-01T00:00:00.000Z 2026-01-01T00:00:00.000Z",
            "2025-07-01T00:00:00.000Z 2025-10-01T00:00:00.000Z",
        ];
        assert_eq!(text(quarter(false, false)), [this]);
        assert_eq!(text(quarter(false, true)), [this, last]);
        assert_eq!(text(quarter(true, false)), [last]);
        assert_eq!(text(quarter(true, true)), [last, other]);
        assert!(text(Counted::Balance).is_empty());
    }
}
