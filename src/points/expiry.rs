//! Decides when points lapse that arrive at a moment, and what puts that off. It must not know lots or how many points
//! there are.
//!
//! loyalty-v2.md section 8. A date of expiry is the last day on which points can be spent: they lapse at its end, which is
//! the first moment of the next day in the project's zone, whether that day has 23, 24 or 25 hours. What would lapse beyond
//! the year 9999 lapses at its end.

use super::calendar::{DateOfYear, Period, end_of, place_in};
use crate::text::Text;
use crate::time::{Day, Instant, TimeZone};

/// How points lapse: what a card definition says, or an earning in its place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Expiration {
    /// Never.
    #[default]
    Never,
    /// So long after they arrived, perhaps put off to the end of a month, quarter, half year or year.
    Rolling {
        /// How long they can be spent: to the end of the day that is so much after that of their arrival.
        period: Period,
        /// What that day is put off to.
        rounding: Option<Rounding>,
    },
    /// With the first of these dates, the day of their arrival included: a date that is listed empties the card.
    Calendar(Vec<DateOfYear>),
    /// So long after the last activity.
    Sliding(Sliding),
}

/// Which last day a day is put off to: the end of what it lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Its month.
    Month,
    /// Its quarter.
    Quarter,
    /// Its half year.
    HalfYear,
    /// Its year.
    Year,
    /// The next month of this number, 1 to 12, which may be its own.
    ParticularMonth(u32),
}

/// Points that lapse when nothing happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sliding {
    /// Whether earning puts it off: also what has to wait before it can be spent.
    pub earning: bool,
    /// Whether spending does.
    pub spending: bool,
    /// Which custom events do.
    pub custom: Custom,
    /// How long nothing may happen: to the end of the day that is so much after that of the last activity.
    pub period: Period,
}

/// Custom events that are an activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Custom {
    /// None.
    No,
    /// All.
    Any,
    /// Those of these types.
    Of(Vec<Text>),
}

/// What a member does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity<'a> {
    /// Earns points.
    Earning,
    /// Spends points.
    Spending,
    /// Is named by a custom event of this type.
    Custom(&'a str),
}

/// When the points of a lot lapse: the moment from which on they cannot be spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expiry {
    /// Never.
    Never,
    /// So long after their arrival.
    Rolling(Instant),
    /// With a date of the year.
    Calendar(Instant),
    /// When nothing happens before.
    Sliding(Instant, Sliding),
}

impl Expiration {
    /// When points lapse that arrive now.
    pub fn arriving(&self, now: Instant, zone: &TimeZone) -> Expiry {
        let today = zone.day(now);
        match self {
            Expiration::Never => Expiry::Never,
            Expiration::Rolling { period, rounding } => {
                let last = today.and_then(|today| period.after(today));
                let last = last.and_then(|last| rounding.map_or(Some(last), |rounding| rounding.last_day(last)));
                Expiry::Rolling(end_of(last, zone))
            }
            Expiration::Calendar(dates) => {
                Expiry::Calendar(end_of(today.and_then(|today| DateOfYear::next(dates, today)), zone))
            }
            Expiration::Sliding(sliding) => Expiry::Sliding(sliding.end(now, zone), sliding.clone()),
        }
    }
}

impl Rounding {
    /// The last day of what a day lies in.
    ///
    /// ```
    /// use scrip::points::Rounding;
    /// use scrip::time::Day;
    /// let day = Day::parse("2026-05-17").unwrap();
    /// assert_eq!(Rounding::Quarter.last_day(day), Day::parse("2026-06-30"));
    /// assert_eq!(Rounding::ParticularMonth(2).last_day(day), Day::parse("2027-02-28"));
    /// ```
    pub fn last_day(self, day: Day) -> Option<Day> {
        let month = day.date().1;
        let last_of = |months: u32| months.checked_sub(1)?.checked_sub(place_in(month, months));
        let ahead = match self {
            Rounding::Month => Some(0),
            Rounding::Quarter => last_of(3),
            Rounding::HalfYear => last_of(6),
            Rounding::Year => last_of(12),
            Rounding::ParticularMonth(number) => number.checked_add(12)?.checked_sub(month)?.checked_rem(12),
        };
        // From the first on, because a 31st is not in every month.
        day.first_of_month()?.plus_months(ahead?)?.last_of_month()
    }
}

impl Sliding {
    /// When points lapse of which this is the last activity.
    pub fn end(&self, now: Instant, zone: &TimeZone) -> Instant {
        end_of(zone.day(now).and_then(|today| self.period.after(today)), zone)
    }

    /// Whether an activity puts it off.
    pub fn is_moved_by(&self, activity: Activity<'_>) -> bool {
        match (activity, &self.custom) {
            (Activity::Earning, _) => self.earning,
            (Activity::Spending, _) => self.spending,
            (Activity::Custom(_), Custom::No) => false,
            (Activity::Custom(_), Custom::Any) => true,
            (Activity::Custom(event), Custom::Of(types)) => types.iter().any(|known| known == event),
        }
    }
}

impl Expiry {
    /// The moment from which on points cannot be spent.
    pub fn lapses_at(&self) -> Option<Instant> {
        match self {
            Expiry::Never => None,
            Expiry::Rolling(at) | Expiry::Calendar(at) | Expiry::Sliding(at, _) => Some(*at),
        }
    }

    /// The last day on which they can: what is shown as the date of expiry.
    pub fn last_day(&self, zone: &TimeZone) -> Option<Day> {
        zone.day(self.lapses_at()?.later(-1))
    }

    /// Whether that is over.
    pub fn is_over(&self, now: Instant) -> bool {
        self.lapses_at().is_some_and(|at| at <= now)
    }

    /// Puts the end off, if an activity does that here. It never comes earlier.
    pub fn slide(&mut self, activity: Activity<'_>, now: Instant, zone: &TimeZone) {
        if let Expiry::Sliding(at, sliding) = self
            && sliding.is_moved_by(activity)
        {
            *at = sliding.end(now, zone).max(*at);
        }
    }
}
