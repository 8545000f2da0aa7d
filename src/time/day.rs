//! Decides what a day of the calendar is, and on which one a moment falls. It must not know hours.
//!
//! validation-rules.md section 3: dates compare by calendar day, and days are counted, in the project's time zone.

use std::fmt;

use super::{Instant, TimeZone, digits};

/// Milliseconds of a day.
pub(super) const MILLIS_PER_DAY: i64 = 86_400_000;
/// Days from the first of March of the year 0 to 1970-01-01. Counted from March, the day of a leap year comes last.
const TO_1970: i64 = 719_468;
/// No calendar is counted further than this many days from 1970, in either direction: a quarter of a million years.
const FURTHEST: i64 = 95_000_000;

/// A day of the Gregorian calendar, as days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

/// Days from the first of March of the year 0 to that of this one.
fn first_of_march(year: i64) -> i64 {
    let leaps = year.div_euclid(4).saturating_sub(year.div_euclid(100)).saturating_add(year.div_euclid(400));
    year.saturating_mul(365).saturating_add(leaps)
}

/// Days from the first of March to the first of a later month, counted from March: 31 and 30 by turns, five at a time.
fn first_of(month: i64) -> i64 {
    month.saturating_mul(153).saturating_add(2).div_euclid(5)
}

impl Day {
    /// The day of this date, when there is one.
    pub fn of(year: i64, month: u32, day: u32) -> Option<Day> {
        let found = Day::first(year, month)?.plus(i64::from(day).saturating_sub(1))?;
        (found.date() == (year, month, day)).then_some(found)
    }

    /// The first of a month, from 1 to 12.
    fn first(year: i64, month: u32) -> Option<Day> {
        let since = i64::from(month).saturating_add(9) % 12;
        let year = if since > 9 { year.saturating_sub(1) } else { year };
        Day(first_of_march(year).saturating_sub(TO_1970)).plus(first_of(since))
    }

    /// Reads `2026-03-01`.
    pub fn parse(text: &str) -> Option<Day> {
        let (year, rest) = text.split_once('-')?;
        let (month, day) = rest.split_once('-')?;
        let month = digits(month, 2)?;
        Day::of(i64::from(digits(year, 4)?), month, digits(day, 2)?).filter(|_| (1..=12).contains(&month))
    }

    /// Year, month from 1 to 12, and day of the month from 1.
    pub fn date(self) -> (i64, u32, u32) {
        let days = self.0.saturating_add(TO_1970);
        let mut year = days.saturating_mul(400).div_euclid(146_097);
        if first_of_march(year.saturating_add(1)) <= days {
            year = year.saturating_add(1);
        } else if first_of_march(year) > days {
            year = year.saturating_sub(1);
        }
        let left = days.saturating_sub(first_of_march(year));
        let since = left.saturating_mul(5).saturating_add(2).div_euclid(153);
        let day = left.saturating_sub(first_of(since)).saturating_add(1);
        let month = (since.saturating_add(2) % 12).saturating_add(1);
        let year = if since > 9 { year.saturating_add(1) } else { year };
        (year, u32::try_from(month).unwrap_or(1), u32::try_from(day).unwrap_or(1))
    }

    /// Days since 1970-01-01.
    pub fn number(self) -> i64 {
        self.0
    }

    /// The day so many days later.
    pub fn plus(self, days: i64) -> Option<Day> {
        let number = self.0.checked_add(days)?;
        (-FURTHEST..=FURTHEST).contains(&number).then_some(Day(number))
    }

    /// The same day of a later month or, where that is shorter, its last one.
    pub(super) fn plus_months(self, months: u32) -> Option<Day> {
        let (year, month, day) = self.date();
        let month = i64::from(month).saturating_sub(1).saturating_add(i64::from(months));
        let year = year.saturating_add(month.div_euclid(12));
        let month = u32::try_from((month % 12).saturating_add(1)).ok()?;
        (0..4).find_map(|short| Day::of(year, month, day.saturating_sub(short)))
    }

    /// 0 for Sunday to 6 for Saturday.
    pub fn weekday(self) -> u8 {
        // 1970 began on a Thursday.
        u8::try_from(self.0.saturating_add(4).rem_euclid(7)).unwrap_or(0)
    }

    /// The year, and the month from 1 to 12.
    pub fn month(self) -> (i64, u32) {
        let (year, month, _) = self.date();
        (year, month)
    }

    /// The Monday of its week.
    pub fn first_of_week(self) -> Option<Day> {
        self.plus(self.0.saturating_add(3).rem_euclid(7).saturating_neg())
    }

    /// The first of its month.
    pub fn first_of_month(self) -> Option<Day> {
        let (year, month) = self.month();
        Day::first(year, month)
    }
}

impl Day {
    /// As ISO 8601.
    pub fn text(self) -> String {
        let (year, month, day) = self.date();
        let year = u32::try_from(year).unwrap_or(0);
        let mut text = String::new();
        super::write_pairs(&mut text, &[("", year.div_euclid(100)), ("", year), ("-", month), ("-", day)]);
        text
    }

    /// The day of a moment in UTC.
    pub(super) fn of_moment(moment: Instant) -> Day {
        Day(moment.millis().div_euclid(MILLIS_PER_DAY))
    }
}

/// As [`Day::text`].
impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

impl TimeZone {
    /// The day that a calendar on the wall shows.
    pub fn day(&self, moment: Instant) -> Option<Day> {
        self.wall_clock(moment).and_then(|wall| Day(0).plus(wall.div_euclid(MILLIS_PER_DAY)))
    }

    /// The first moment of a day.
    pub fn start_of(&self, day: Day) -> Option<Instant> {
        self.moment_of(day.0.checked_mul(MILLIS_PER_DAY)?)
    }
}
