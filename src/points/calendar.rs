//! Decides what days, months and years are in which points are counted: a period, a date of the year, the current week or
//! quarter, the end of a day in a zone. It must not know points.
//!
//! loyalty-v2.md sections 3, 4 and 8. Days are those of the project's zone. A date that its month does not have is the last
//! day of that month, and a month later than the 31st is the last day of a shorter one, as everywhere in `time`.

use crate::time::{Day, Instant, TimeZone};

/// What a period is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Days of the calendar.
    Day,
    /// Months.
    Month,
    /// Years.
    Year,
}

/// So many days, months or years.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// How many; 1 at least.
    pub value: u32,
    /// Of what.
    pub unit: Unit,
}

impl Period {
    /// The day that is so much later; nothing beyond the calendar.
    pub fn after(self, day: Day) -> Option<Day> {
        match self.unit {
            Unit::Day => day.plus(self.value.into()),
            Unit::Month => day.plus_months(self.value),
            Unit::Year => day.plus_months(self.value.checked_mul(12)?),
        }
    }
}

/// A date that comes every year, such as 31 December.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateOfYear {
    day: u32,
    month: u32,
}

impl DateOfYear {
    /// A day from 1 to 31 of a month from 1 to 12.
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

    /// The first of some dates that is this day or comes after it; 31 February is the last day of February.
    pub fn next(dates: &[DateOfYear], day: Day) -> Option<Day> {
        let year = day.date().0;
        let of = |year: i64| dates.iter().filter_map(move |date| Day::of(year, date.month, date.day));
        of(year).chain(of(year.checked_add(1)?)).filter(|date| *date >= day).min()
    }
}

/// A period of the calendar that is running: it begins anew for everybody at the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurrentPeriod {
    /// Today.
    Day,
    /// This week, from Monday.
    Week,
    /// This month.
    Month,
    /// This quarter, from January, April, July or October.
    Quarter,
    /// This year.
    Year,
}

impl CurrentPeriod {
    /// The moment at which it began in a zone. What lies before every calendar began in 1970.
    pub fn begin(self, now: Instant, zone: &TimeZone) -> Instant {
        let first = zone.day(now).and_then(|today| self.first_day(today));
        first.and_then(|day| zone.start_of(day)).unwrap_or_default()
    }

    fn first_day(self, today: Day) -> Option<Day> {
        let (year, month, _) = today.date();
        match self {
            CurrentPeriod::Day => Some(today),
            CurrentPeriod::Week => today.first_of_week(),
            CurrentPeriod::Month => today.first_of_month(),
            CurrentPeriod::Quarter => Day::of(year, month.checked_sub(place_in(month, 3))?, 1),
            CurrentPeriod::Year => Day::of(year, 1, 1),
        }
    }
}

/// Which month it is, from 0, of its quarter, half year or year.
pub(super) fn place_in(month: u32, months: u32) -> u32 {
    month.saturating_sub(1).checked_rem(months).unwrap_or(0)
}

/// The moment at which a day is over: the first of the next day. There is no later one than the last of the calendar.
pub fn end_of(day: Option<Day>, zone: &TimeZone) -> Instant {
    let next = day.and_then(|day| day.plus(1));
    next.and_then(|day| zone.start_of(day)).unwrap_or(Instant::LATEST)
}

/// The first moment of a day, or the last of the calendar.
pub fn start_of(day: Option<Day>, zone: &TimeZone) -> Instant {
    day.and_then(|day| zone.start_of(day)).unwrap_or(Instant::LATEST)
}
