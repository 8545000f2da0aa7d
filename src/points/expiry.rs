//! Decides when credited points expire, and which activities postpone that.
//!
//! docs/spec/loyalty.md#8. An expiration date is the last day on which points can be spent. They expire at its end, the
//! start of the next day in the project's zone, whether that day has 23, 24 or 25 hours. Points that would expire after
//! the year 9999 expire at its end.

use super::calendar::{DateOfYear, Period, end_of, months_into};
use crate::text::Text;
use crate::time::{Day, Instant, TimeZone};

/// The expiration of points, from a card definition or from an earning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Expiration {
    /// Never.
    #[default]
    Never,
    /// A period after the credit, optionally postponed to the end of a month, quarter, half year or year.
    Rolling {
        /// The period in which they can be spent, to the end of its last day.
        period: Period,
        /// The rounding of that day.
        rounding: Option<Rounding>,
    },
    /// On the first of these dates, including the day of the credit: a listed date empties the card.
    Calendar(Vec<DateOfYear>),
    /// A period after the last activity.
    Sliding(SlidingExpiry),
}

/// The last day of the calendar unit to which a day is postponed.
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
    /// The next month with this number, 1 to 12, which may be its own.
    ParticularMonth(u32),
}

/// The expiration of points after inactivity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlidingExpiry {
    /// `true` if earning postpones it, including pending points.
    pub earning: bool,
    /// `true` if spending postpones it.
    pub spending: bool,
    /// The custom events that postpone it.
    pub custom: CustomActivity,
    /// The period of inactivity, to the end of its last day.
    pub period: Period,
}

/// The custom events that count as activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CustomActivity {
    /// None.
    No,
    /// All.
    Any,
    /// Custom events of these types.
    Of(Vec<Text>),
}

/// An activity of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity<'a> {
    /// Earning points.
    Earning,
    /// Spending points.
    Spending,
    /// A custom event of this type for the member.
    Custom(&'a str),
}

/// The expiration of a lot: the instant from which its points cannot be spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expiry {
    /// Never.
    Never,
    /// A period after the credit.
    Rolling(Instant),
    /// On a yearly date.
    Calendar(Instant),
    /// After inactivity.
    Sliding(Instant, SlidingExpiry),
}

impl Expiration {
    /// Returns the expiration of points that are credited now.
    pub fn expiry_at(&self, now: Instant, zone: &TimeZone) -> Expiry {
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
    /// Returns the last day of the unit that contains a day.
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
        let last_of = |months: u32| months.checked_sub(1)?.checked_sub(months_into(month, months));
        let ahead = match self {
            Rounding::Month => Some(0),
            Rounding::Quarter => last_of(3),
            Rounding::HalfYear => last_of(6),
            Rounding::Year => last_of(12),
            Rounding::ParticularMonth(number) => number.checked_add(12)?.checked_sub(month)?.checked_rem(12),
        };
        // Starts at the first of the month, because not every month has a 31st.
        day.first_of_month()?.plus_months(ahead?)?.last_of_month()
    }
}

impl SlidingExpiry {
    /// Returns the expiration of points whose last activity is now.
    pub fn end(&self, now: Instant, zone: &TimeZone) -> Instant {
        end_of(zone.day(now).and_then(|today| self.period.after(today)), zone)
    }

    /// Returns whether an activity postpones it.
    pub fn is_postponed_by(&self, activity: Activity<'_>) -> bool {
        match (activity, &self.custom) {
            (Activity::Earning, _) => self.earning,
            (Activity::Spending, _) => self.spending,
            (Activity::Custom(_), CustomActivity::No) => false,
            (Activity::Custom(_), CustomActivity::Any) => true,
            (Activity::Custom(event), CustomActivity::Of(types)) => types.iter().any(|known| known == event),
        }
    }
}

impl Expiry {
    /// Returns the instant from which points cannot be spent.
    pub fn expires_at(&self) -> Option<Instant> {
        match self {
            Expiry::Never => None,
            Expiry::Rolling(at) | Expiry::Calendar(at) | Expiry::Sliding(at, _) => Some(*at),
        }
    }

    /// Returns the last day on which they can be spent: the published expiration date.
    pub fn last_day(&self, zone: &TimeZone) -> Option<Day> {
        zone.day(self.expires_at()?.later(-1))
    }

    /// Returns whether they have expired.
    pub fn is_over(&self, now: Instant) -> bool {
        self.expires_at().is_some_and(|at| at <= now)
    }

    /// Postpones the expiration, if the activity does that here. It never comes earlier.
    pub fn slide(&mut self, activity: Activity<'_>, now: Instant, zone: &TimeZone) {
        if let Expiry::Sliding(at, sliding) = self
            && sliding.is_postponed_by(activity)
        {
            *at = sliding.end(now, zone).max(*at);
        }
    }
}
