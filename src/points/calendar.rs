//! Computes days, months and years for points: a period, a date of the year, the current week or quarter, and the end
//! of a day.
//!
//! docs/spec/loyalty.md sections 3, 4 and 8. Days are those of the project's zone. A date that its month does not have
//! is the last day of that month. One month after the 31st is the last day of a shorter month, as everywhere in `time`.

use crate::time::{Day, Instant, TimeZone};

/// The unit of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Days of the calendar.
    Day,
    /// Months.
    Month,
    /// Years.
    Year,
}

/// A number of days, months or years.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// The number, at least 1.
    pub value: u32,
    /// The unit.
    pub unit: Unit,
}

impl Period {
    /// Returns the day after this period; `None` beyond the calendar.
    pub fn after(self, day: Day) -> Option<Day> {
        match self.unit {
            Unit::Day => day.plus(self.value.into()),
            Unit::Month => day.plus_months(self.value),
            Unit::Year => day.plus_months(self.value.checked_mul(12)?),
        }
    }
}

/// A yearly date, such as 31 December.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateOfYear {
    day: u32,
    month: u32,
}

impl DateOfYear {
    /// Returns a date from a day from 1 to 31 and a month from 1 to 12; `None` outside of these.
    ///
    /// ```
    /// use scrip::points::DateOfYear;
    /// assert!(DateOfYear::new(31, 2).is_some() && DateOfYear::new(0, 2).is_none() && DateOfYear::new(1, 13).is_none());
    /// ```
    pub fn new(day: u32, month: u32) -> Option<DateOfYear> {
        ((1..=31).contains(&day) && (1..=12).contains(&month)).then_some(DateOfYear { day, month })
    }

    /// The day of its month, 1 to 31.
    pub fn day(self) -> u32 {
        self.day
    }

    /// Its month, 1 to 12.
    pub fn month(self) -> u32 {
        self.month
    }

    /// Returns the first of some dates on or after this day; 31 February is the last day of February.
    pub fn next(dates: &[DateOfYear], day: Day) -> Option<Day> {
        let year = day.date().0;
        let of = |year: i64| dates.iter().filter_map(move |date| Day::of(year, date.month, date.day));
        of(year).chain(of(year.checked_add(1)?)).filter(|date| *date >= day).min()
    }
}

/// A current period of the calendar: it starts for all cards at the same instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurrentPeriod {
    /// The present day.
    Day,
    /// The present week, from Monday.
    Week,
    /// The present month.
    Month,
    /// The present quarter, from January, April, July or October.
    Quarter,
    /// The present year.
    Year,
}

impl CurrentPeriod {
    /// Returns the start of the period in a zone; the start of 1970 for an earlier one.
    pub fn start(self, now: Instant, zone: &TimeZone) -> Instant {
        let first = zone.day(now).and_then(|today| self.first_day(today));
        first.and_then(|day| zone.start_of(day)).unwrap_or_default()
    }

    fn first_day(self, today: Day) -> Option<Day> {
        let (year, month, _) = today.date();
        match self {
            CurrentPeriod::Day => Some(today),
            CurrentPeriod::Week => today.first_of_week(),
            CurrentPeriod::Month => today.first_of_month(),
            CurrentPeriod::Quarter => Day::of(year, month.checked_sub(months_into(month, 3))?, 1),
            CurrentPeriod::Year => Day::of(year, 1, 1),
        }
    }
}

/// Returns the index of a month, from 0, in its quarter, half year or year.
pub(super) fn months_into(month: u32, months: u32) -> u32 {
    // Months begin at 1, and no period has 0 of them.
    month.checked_sub(1).and_then(|elapsed| elapsed.checked_rem(months)).unwrap_or(0)
}

/// Returns the end of a day: the start of the next day, and at most the last instant of the calendar.
pub fn end_of(day: Option<Day>, zone: &TimeZone) -> Instant {
    let next = day.and_then(|day| day.plus(1));
    next.and_then(|day| zone.start_of(day)).unwrap_or(Instant::LATEST)
}

/// Returns the start of a day, or the last instant of the calendar.
pub fn start_of(day: Option<Day>, zone: &TimeZone) -> Instant {
    day.and_then(|day| zone.start_of(day)).unwrap_or(Instant::LATEST)
}
