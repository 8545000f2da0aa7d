//! Decides what a day of the calendar is, and on which one a moment falls. It must not know hours.
//!
//! validation-rules.md section 3: dates compare by calendar day, and days are counted, in the project's time zone.

use std::fmt;

use chrono::{DateTime, Datelike, NaiveDate, NaiveTime};

use super::{Instant, TimeZone, read_date};

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(NaiveDate);

impl Day {
    /// Reads `2026-03-01`.
    pub fn parse(text: &str) -> Option<Day> {
        read_date(text).map(Day)
    }

    /// Days since 1970-01-01.
    pub fn number(self) -> i64 {
        self.0.signed_duration_since(DateTime::UNIX_EPOCH.date_naive()).num_days()
    }

    /// The day so many days later.
    pub fn plus(self, days: i64) -> Option<Day> {
        self.0.checked_add_signed(chrono::Duration::try_days(days)?).map(Day)
    }

    /// 0 for Sunday to 6 for Saturday.
    pub fn weekday(self) -> u8 {
        u8::try_from(self.0.weekday().num_days_from_sunday()).unwrap_or(0)
    }

    /// The year, and the month from 1 to 12.
    pub fn month(self) -> (i32, u32) {
        (self.0.year(), self.0.month())
    }

    /// The Monday of its week.
    pub fn first_of_week(self) -> Option<Day> {
        self.plus(i64::from(self.0.weekday().num_days_from_monday()).saturating_neg())
    }

    /// The first of its month.
    pub fn first_of_month(self) -> Option<Day> {
        self.0.with_day(1).map(Day)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month) = self.month();
        write!(formatter, "{year:04}-{month:02}-{:02}", self.0.day())
    }
}

impl TimeZone {
    /// The day that a calendar on the wall shows.
    pub fn day(&self, moment: Instant) -> Option<Day> {
        self.wall_clock(moment).map(|local| Day(local.date()))
    }

    /// The first moment of a day.
    pub fn start_of(&self, day: Day) -> Option<Instant> {
        self.moment_of(day.0.and_time(NaiveTime::MIN))
    }
}
