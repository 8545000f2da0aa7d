//! Defines days of the calendar, and the number of days and months between two.
//!
//! docs/spec/validation-rules.md#3: dates compare by calendar day, and days are counted, in the project's time zone.
//! Numbers of months and days saturate only in form: the calendar bounds them.

use std::fmt;

use chrono::{Datelike, Months, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};

/// A day of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(NaiveDate);

impl Day {
    /// Parses `2026-03-01`. The calendar starts with the year 1: the year 0 does not exist.
    pub fn parse(text: &str) -> Option<Day> {
        let (year, rest) = text.split_once('-')?;
        let (month, day) = rest.split_once('-')?;
        let year = i32::try_from(digits(year, 4)?).ok().filter(|year| *year > 0)?;
        NaiveDate::from_ymd_opt(year, digits(month, 2)?, digits(day, 2)?).map(Day)
    }

    /// Returns the day of a local time.
    pub(super) fn local(wall: NaiveDateTime) -> Day {
        Day(wall.date())
    }

    /// Returns a local time on this day.
    pub(super) fn at(self, time: NaiveTime) -> NaiveDateTime {
        self.0.and_time(time)
    }

    /// Returns year, month from 1 to 12, and day of the month from 1.
    pub fn date(self) -> (i64, u32, u32) {
        (self.0.year().into(), self.0.month(), self.0.day())
    }

    /// Returns the days since 1970-01-01.
    pub fn number(self) -> i64 {
        self.0.to_epoch_days().into()
    }

    /// Returns the day a number of days later.
    pub fn plus(self, days: i64) -> Option<Day> {
        self.0.checked_add_signed(TimeDelta::try_days(days)?).map(Day)
    }

    /// Returns the days from an earlier day to this one; negative if that is later.
    pub fn days_since(self, earlier: Day) -> i64 {
        self.0.signed_duration_since(earlier.0).num_days()
    }

    /// Returns the complete months from an earlier day to this one; negative if that is later. A month is complete on
    /// the equal day of a later month or, if that month is shorter, on its last day.
    pub fn months_since(self, earlier: Day) -> Option<i64> {
        if self < earlier {
            return earlier.months_since(self)?.checked_neg();
        }
        let started = self.calendar_months_since(earlier);
        let complete = earlier.0.checked_add_months(Months::new(u32::try_from(started).ok()?))?;
        // The calendar bounds months and years.
        Some(if complete <= self.0 { started } else { started.saturating_sub(1) })
    }

    /// Returns the difference in calendar months, regardless of the day of the month.
    pub fn calendar_months_since(self, earlier: Day) -> i64 {
        // Likewise.
        let month = |day: NaiveDate| i64::from(day.year()).saturating_mul(12).saturating_add(day.month0().into());
        // Likewise.
        month(self.0).saturating_sub(month(earlier.0))
    }

    /// Returns the weekday, 0 for Sunday to 6 for Saturday.
    pub fn weekday(self) -> u8 {
        u8::try_from(self.0.weekday().num_days_from_sunday()).unwrap_or(0)
    }

    /// Returns the Monday of its week.
    pub fn first_of_week(self) -> Option<Day> {
        // At most six days.
        self.plus(i64::from(self.0.weekday().num_days_from_monday()).saturating_neg())
    }

    /// Returns the first day of its month.
    pub fn first_of_month(self) -> Option<Day> {
        self.0.with_day(1).map(Day)
    }

    /// Returns the last day of its month.
    pub fn last_of_month(self) -> Option<Day> {
        self.first_of_month()?.plus_months(1)?.0.pred_opt().map(Day)
    }

    /// Returns the equal day a number of months later or, if that month is shorter, its last day.
    ///
    /// ```
    /// use scrip::time::Day;
    /// let last = Day::parse("2024-01-31").unwrap();
    /// assert_eq!(last.plus_months(1), Day::parse("2024-02-29"));
    /// assert_eq!(last.plus_months(13), Day::parse("2025-02-28"));
    /// ```
    pub fn plus_months(self, months: u32) -> Option<Day> {
        self.0.checked_add_months(Months::new(months)).map(Day)
    }

    /// Returns a date of a year or, if its month is shorter, the last day of that month.
    ///
    /// ```
    /// use scrip::time::Day;
    /// assert_eq!(Day::of(2026, 2, 31), Day::parse("2026-02-28"));
    /// assert_eq!(Day::of(2026, 13, 1), None);
    /// ```
    pub fn of(year: i64, month: u32, day: u32) -> Option<Day> {
        let first = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, 1).map(Day)?;
        let last = first.last_of_month()?;
        if day >= last.date().2 { Some(last) } else { first.0.with_day(day).map(Day) }
    }

    /// Returns the text in ISO 8601.
    pub fn text(self) -> String {
        self.0.to_string()
    }
}

/// Parses a number of exactly `count` digits. The parser of the library would also accept signs and spaces.
pub(super) fn digits(text: &str, count: usize) -> Option<u32> {
    let fits = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| fits)
}

/// Prints [`Day::text`].
impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
