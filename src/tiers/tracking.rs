//! Decides the start and the end of a tracking period, in which earned points are added up.
//!
//! Periods are those of the calendar and equal for all members, so that a month starts with its first day. Periods of
//! several hours, days, weeks, months or years are counted from 1970, weeks from Monday.

use crate::points::calendar::start_of;
use crate::time::{Day, Instant, TimeZone};

const HOUR_MS: i64 = 3_600_000;

/// The unit of a tracking period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TrackingUnit {
    /// Hours of 60 minutes.
    Hour,
    /// Days of the project's zone.
    Day,
    /// Weeks, from Monday.
    Week,
    /// Months.
    #[default]
    Month,
    /// Years.
    Year,
}

/// The length of a tracking period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrackingPeriod {
    /// The number, at least 1.
    pub value: u32,
    /// The unit.
    pub unit: TrackingUnit,
}

impl TrackingPeriod {
    /// Returns the start of the period that contains an instant, and its exclusive end.
    ///
    /// ```
    /// use scrip::tiers::{TrackingPeriod, TrackingUnit};
    /// use scrip::time::{Instant, TimeZone};
    /// let quarter = TrackingPeriod { value: 3, unit: TrackingUnit::Month };
    /// let (begin, end) = quarter.period(Instant::parse("2026-05-17").unwrap(), &TimeZone::default());
    /// assert_eq!((begin, end), (Instant::parse("2026-04-01").unwrap(), Instant::parse("2026-07-01").unwrap()));
    /// ```
    pub fn period(self, at: Instant, zone: &TimeZone) -> (Instant, Instant) {
        if self.unit == TrackingUnit::Hour {
            // Hours of 32 bits fit, and what is since then is not below zero: nothing wraps.
            let length = i64::from(self.value.max(1)).wrapping_mul(HOUR_MS);
            // The period has at least an hour.
            let since = at.millis().checked_rem_euclid(length).unwrap_or(0);
            // The remainder is at least 0 and below the period.
            let start = at.later(since.wrapping_neg());
            return (start, start.later(length));
        }
        let (first, next) = zone.day(at).and_then(|today| self.days(today)).unzip();
        let start = first.and_then(|day| zone.start_of(day)).unwrap_or_default();
        (start, start_of(next, zone))
    }

    /// Returns the first day of the period that contains a day, and of the next one.
    fn days(self, today: Day) -> Option<(Day, Day)> {
        let value = i64::from(self.value.max(1));
        let months = match self.unit {
            TrackingUnit::Hour | TrackingUnit::Day => return spans(today, today.number(), value, 1),
            TrackingUnit::Week => {
                let monday = today.first_of_week()?;
                // 1970 began on a Thursday, in the week of Monday, 29 December 1969.
                return spans(monday, monday.number().checked_add(3)?.checked_div(7)?, value, 7);
            }
            TrackingUnit::Month => value,
            TrackingUnit::Year => value.checked_mul(12)?,
        };
        let (year, month, _) = today.date();
        let since = year.checked_sub(1970)?.checked_mul(12)?.checked_add(month.into())?.checked_sub(1)?;
        let started = since.checked_sub(since.checked_rem_euclid(months)?)?;
        let (year, month) = (started.checked_div_euclid(12)?, started.checked_rem_euclid(12)?);
        let first = Day::of(year.checked_add(1970)?, u32::try_from(month).ok()?.checked_add(1)?, 1)?;
        Some((first, first.plus_months(u32::try_from(months).ok()?)?))
    }
}

/// Returns the period of days or weeks that contains a day. The day starts a day or week, which has this number.
fn spans(day: Day, number: i64, value: i64, days: i64) -> Option<(Day, Day)> {
    let first = day.plus(number.checked_rem_euclid(value)?.checked_mul(days)?.checked_neg()?)?;
    Some((first, first.plus(value.checked_mul(days)?)?))
}
