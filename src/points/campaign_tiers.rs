//! Decides the tier of a v1 loyalty campaign that points reach, which points count, and how a tier maps earned points
//! and prices of rewards.
//!
//! docs/spec/endpoints.md, loyalties. No tier state is stored: the present points decide, or those of a current or past
//! calendar period.

use crate::count::{Countable, product};
use crate::money::round_half_up;
use crate::text::Text;
use crate::time::{Day, Instant, TimeZone};

/// A tier of a campaign.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CampaignTier {
    /// Its id.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// The lowest points of the tier.
    pub from: u64,
    /// The highest points, if limited.
    pub to: Option<u64>,
    /// The mappings of points of earning rules, by their ids.
    pub earning_rules: Vec<(Text, Mapping)>,
    /// The mappings of prices of rewards, by the ids of the rewards or of their assignments.
    pub rewards: Vec<(Text, Mapping)>,
}

/// A mapping of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    /// Multiplies by millionths, rounded half up to the nearest whole number.
    Multiply(u64),
    /// Replaces by a fixed number.
    Custom(u64),
}

impl Default for Mapping {
    fn default() -> Mapping {
        Mapping::Multiply(MILLION)
    }
}

const MILLION: u64 = 1_000_000;

impl Mapping {
    /// Returns the mapped points.
    ///
    /// ```
    /// use scrip::points::campaign_tiers::Mapping;
    /// assert_eq!(Mapping::Multiply(1_500_000).of(5), 8);
    /// assert_eq!(Mapping::Multiply(100_000).of(4), 0);
    /// assert_eq!(Mapping::Custom(7).of(5), 7);
    /// ```
    pub fn of(self, points: u64) -> u64 {
        match self {
            Mapping::Custom(points) => points,
            Mapping::Multiply(millionths) => {
                let nearest = round_half_up(product(points, millionths), MILLION.into());
                // No card has more points than that.
                nearest
                    .and_then(|points| u64::try_from(points).ok())
                    .map_or(super::POINTS_MAX, |points| points.min(super::POINTS_MAX))
            }
        }
    }
}

impl CampaignTier {
    /// Returns whether points are within the tier.
    pub fn contains(&self, points: u64) -> bool {
        points >= self.from && self.to.is_none_or(|to| points <= to)
    }

    /// Returns the mapping of the points of an earning rule, if there is one.
    pub fn mapping(&self, rule: &str) -> Option<Mapping> {
        self.earning_rules.iter().find(|(id, _)| id == rule).map(|(_, mapping)| *mapping)
    }

    /// Returns the mapped points of an earning rule.
    pub fn earned(&self, rule: &str, points: u64) -> u64 {
        mapped(&self.earning_rules, &[rule], points)
    }

    /// Returns the mapped price of a reward; the mapping of the assignment comes before that of the reward itself.
    pub fn price(&self, assignment: &str, reward: &str, points: u64) -> u64 {
        mapped(&self.rewards, &[assignment, reward], points)
    }
}

fn mapped(mappings: &[(Text, Mapping)], names: &[&str], points: u64) -> u64 {
    let known = names.iter().find_map(|name| mappings.iter().find(|(id, _)| id == *name));
    known.map_or(points, |(_, mapping)| mapping.of(points))
}

/// Returns the tier that points reach; if ranges overlap, the highest.
pub fn find_reached_tier(tiers: &[CampaignTier], points: u64) -> Option<&CampaignTier> {
    tiers.iter().filter(|tier| tier.contains(points)).max_by_key(|tier| tier.from)
}

/// The points that decide the tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TierPointsBase {
    /// The present balance of the card.
    #[default]
    Balance,
    /// The points credited in a period.
    InPeriod {
        /// The length in months, counted from January.
        months: u32,
        /// `true` if the tier begins with the following period.
        starts_next: bool,
        /// `true` if it stays valid for one more period.
        lasts_next: bool,
    },
}

impl TierPointsBase {
    /// Returns the periods that may decide the present tier, each from its start to its exclusive end; empty for the
    /// balance.
    pub fn periods(self, now: Instant, zone: &TimeZone) -> Vec<(Instant, Instant)> {
        let TierPointsBase::InPeriod { months, starts_next, lasts_next } = self else { return Vec::new() };
        let Some(first) = zone.day(now).and_then(|today| first_of(today, months)) else { return Vec::new() };
        let skipped = usize::from(starts_next);
        let of = |back: u32| {
            let start = before(first, months.checked_mul(back)?)?;
            Some((zone.start_of(start)?, zone.start_of(start.plus_months(months)?)?))
        };
        (0..).skip(skipped).take(usize::from(lasts_next).plus_one()).filter_map(of).collect()
    }
}

/// Returns the first day of the period of `months` months that contains a day.
fn first_of(day: Day, months: u32) -> Option<Day> {
    let (year, month, _) = day.date();
    let position = month.checked_sub(1)?.checked_rem(months)?;
    Day::of(year, month.checked_sub(position)?, 1)
}

/// Returns the first day of the month `months` months earlier.
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
        let text = |counted: TierPointsBase| {
            let periods = counted.periods(now, &zone).into_iter();
            periods.map(|(from, to)| format!("{from} {to}")).collect::<Vec<_>>()
        };
        let quarter = |starts_next, lasts_next| TierPointsBase::InPeriod { months: 3, starts_next, lasts_next };
        let [this, last, other] = [
            "2026-01-01T00:00:00.000Z 2026-04-01T00:00:00.000Z",
            "2025-10-01T00:00:00.000Z 2026-01-01T00:00:00.000Z",
            "2025-07-01T00:00:00.000Z 2025-10-01T00:00:00.000Z",
        ];
        assert_eq!(text(quarter(false, false)), [this]);
        assert_eq!(text(quarter(false, true)), [this, last]);
        assert_eq!(text(quarter(true, false)), [last]);
        assert_eq!(text(quarter(true, true)), [last, other]);
        assert!(text(TierPointsBase::Balance).is_empty());
    }
}
