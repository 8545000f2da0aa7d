//! Implements the calendar in the simple way: it walks from one day to the next until it reaches the requested day, with the time zones of
//! the library.

use std::cell::RefCell;
use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, Days, LocalResult, Months, NaiveDate, TimeZone as _};
use chrono_tz::Tz;
use scrip::time::TimeZone;
use scrip::zones::named;

use super::operations::{Dates, Hold, Plan, Round, Span};

/// Zones whose clocks change by day, at midnight, by half an hour, over a whole day, and never; east and west.
const ZONES: [&str; 8] = [
    "Europe/Warsaw",
    "America/New_York",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Asia/Kathmandu",
    "Asia/Beirut",
    "UTC",
];
pub const ZONE_COUNT: usize = ZONES.len();

/// A zone as the engine has it and as the library does.
pub struct CalendarModel {
    pub zone: TimeZone,
    tz: Tz,
    begins: RefCell<BTreeMap<NaiveDate, i64>>,
    /// Cache of recent results, because walking through a year is slow.
    expiries_cache: RefCell<Vec<(Plan, NaiveDate, Option<i64>)>>,
    pending_dates_cache: RefCell<Vec<(Hold, NaiveDate, PendingDates)>>,
    /// First days of tracking periods, by unit and number.
    tracks: RefCell<BTreeMap<(char, u32), Vec<NaiveDate>>>,
}

/// The instants at which points become active or are cancelled.
pub type PendingDates = (Option<i64>, Option<i64>);

/// Returns the cached result of a day, or finds it.
fn recalled<P: Clone + PartialEq, T: Copy>(
    known: &RefCell<Vec<(P, NaiveDate, T)>>,
    plan: &P,
    day: NaiveDate,
    find: impl Fn() -> T,
) -> T {
    let mut known = known.borrow_mut();
    if let Some((.., found)) = known.iter().find(|(other, on, _)| *on == day && other == plan) {
        return *found;
    }
    if known.len() > 60 {
        known.clear();
    }
    let found = find();
    known.push((plan.clone(), day, found));
    found
}

pub fn almanacs() -> Vec<CalendarModel> {
    let calendar = |name: &&str| CalendarModel {
        zone: named(name).unwrap(),
        tz: name.parse().unwrap(),
        begins: RefCell::default(),
        expiries_cache: RefCell::default(),
        pending_dates_cache: RefCell::default(),
        tracks: RefCell::default(),
    };
    ZONES.iter().map(calendar).collect()
}

fn next(day: NaiveDate) -> NaiveDate {
    day.succ_opt().unwrap()
}

impl CalendarModel {
    pub fn day(&self, millis: i64) -> NaiveDate {
        DateTime::from_timestamp_millis(millis).unwrap().with_timezone(&self.tz).date_naive()
    }

    /// Returns the first instant whose local date is this day or a later one.
    pub fn start(&self, day: NaiveDate) -> i64 {
        if let Some(known) = self.begins.borrow().get(&day) {
            return *known;
        }
        let noon = day.and_hms_opt(12, 0, 0).unwrap().and_utc().timestamp_millis();
        let (mut before, mut after) = (noon - 40 * 3_600_000, noon + 40 * 3_600_000);
        while after - before > 1 {
            let between = (before + after) / 2;
            if self.day(between) < day { before = between } else { after = between }
        }
        self.begins.borrow_mut().insert(day, after);
        after
    }

    fn end(&self, day: NaiveDate) -> i64 {
        self.start(next(day))
    }

    fn later(day: NaiveDate, (value, unit): Span) -> NaiveDate {
        match unit {
            'D' => (0..value).fold(day, |day, _| next(day)),
            'M' => {
                let month = day.month0() + value;
                let (year, month) = (day.year() + i32::try_from(month / 12).unwrap(), month % 12 + 1);
                (1..=day.day()).rev().find_map(|day| NaiveDate::from_ymd_opt(year, month, day)).unwrap()
            }
            _ => CalendarModel::later(day, (value * 12, 'M')),
        }
    }

    fn first(dates: &Dates, mut day: NaiveDate) -> NaiveDate {
        let is = |day: NaiveDate, (date, month): (u32, u32)| {
            day.month() == month && (day.day() == date || (day.day() < date && next(day).day() == 1))
        };
        while !dates.iter().any(|date| is(day, *date)) {
            day = next(day);
        }
        day
    }

    fn rounded(mut day: NaiveDate, round: Option<Round>) -> NaiveDate {
        let is_last = |day: NaiveDate| match round {
            None => true,
            Some(Round::Months(months)) => next(day).day() == 1 && next(day).month0().is_multiple_of(months),
            Some(Round::To(month)) => day.month() == month && next(day).day() == 1,
        };
        while !is_last(day) {
            day = next(day);
        }
        day
    }

    /// Returns when points expire that arrive at this instant, or whose last activity was then.
    pub fn expiry_of(&self, plan: &Plan, millis: i64) -> Option<i64> {
        let today = self.day(millis);
        recalled(&self.expiries_cache, plan, today, || match plan {
            Plan::Never => None,
            Plan::Rolling(span, round) => {
                Some(self.end(CalendarModel::rounded(CalendarModel::later(today, *span), *round)))
            }
            Plan::Calendar(dates) => Some(self.end(CalendarModel::first(dates, today))),
            Plan::Sliding(span, ..) => Some(self.end(CalendarModel::later(today, *span))),
        })
    }

    /// Returns when points that are earned at this instant become active or are cancelled.
    pub fn pending_until(&self, hold: &Hold, millis: i64) -> PendingDates {
        let today = self.day(millis);
        recalled(&self.pending_dates_cache, hold, today, || match hold {
            Hold::No => (None, None),
            Hold::For(span) => (Some(self.start(CalendarModel::later(today, *span))), None),
            Hold::Dates(dates) => (Some(self.start(CalendarModel::first(dates, next(today)))), None),
            Hold::Event(_, span) => (None, Some(self.end(CalendarModel::later(today, *span)))),
        })
    }

    /// The beginning of the current period, by walking back: `D`, `W`, `M`, `Q` or `Y`.
    pub fn period_begin(&self, unit: char, millis: i64) -> i64 {
        let mut day = self.day(millis);
        let is_first = |day: NaiveDate| match unit {
            'D' => true,
            'W' => day.weekday() == chrono::Weekday::Mon,
            'M' => day.day() == 1,
            'Q' => day.day() == 1 && day.month0().is_multiple_of(3),
            _ => day.day() == 1 && day.month() == 1,
        };
        while !is_first(day) {
            day = day.pred_opt().unwrap();
        }
        self.start(day)
    }

    /// Returns the tracking period of an instant, and the first instant after it, found among all periods since 1970: `H`, `D`, `W`, `M` or
    /// `Y`.
    pub fn tracked(&self, (value, unit): Span, millis: i64) -> (i64, i64) {
        if unit == 'H' {
            let length = i64::from(value) * 3_600_000;
            let start = millis / length * length;
            return (start, start + length);
        }
        let mut tracks = self.tracks.borrow_mut();
        let firsts = tracks.entry((unit, value)).or_insert_with(|| {
            let mut first = NaiveDate::from_ymd_opt(1970, 1, 1).unwrap();
            if unit == 'W' {
                first = NaiveDate::from_ymd_opt(1969, 12, 29).unwrap();
            }
            let mut firsts = vec![first];
            while first.year() < 2150 {
                first = match unit {
                    'W' => (0..7 * value).fold(first, |day, _| next(day)),
                    _ => CalendarModel::later(first, (value, unit)),
                };
                firsts.push(first);
            }
            firsts
        });
        let today = self.day(millis);
        let after = firsts.partition_point(|first| *first <= today);
        (self.start(firsts[after - 1]), self.start(firsts[after]))
    }

    /// Returns the end of a grace period that begins at this instant.
    pub fn grace(&self, (value, unit): Span, round_up: bool, millis: i64) -> i64 {
        let local = DateTime::from_timestamp_millis(millis).unwrap().with_timezone(&self.tz).naive_local();
        let local_target = match unit {
            'D' => local + Days::new(value.into()),
            'M' => local + Months::new(value),
            _ => local + Months::new(value * 12),
        };
        let exact = match self.tz.from_local_datetime(&local_target) {
            LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => at.timestamp_millis(),
            LocalResult::None => {
                let utc = local_target.and_utc().timestamp_millis();
                self.next_change(utc - 30 * 3_600_000).unwrap()
            }
        };
        let round = match unit {
            'D' => None,
            'M' => Some(Round::Months(1)),
            _ => Some(Round::Months(12)),
        };
        if round_up { self.end(CalendarModel::rounded(self.day(exact), round)) } else { exact }
    }

    /// Returns the next change of clocks after an instant.
    pub fn next_change(&self, millis: i64) -> Option<i64> {
        self.zone.transitions.iter().map(|(at, _)| at.millis()).find(|at| *at > millis)
    }

    /// Returns the first instant of the next year.
    pub fn next_year(&self, millis: i64) -> i64 {
        self.start(NaiveDate::from_ymd_opt(self.day(millis).year() + 1, 1, 1).unwrap())
    }
}
