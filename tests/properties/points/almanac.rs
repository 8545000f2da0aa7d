//! The calendar in the obvious way: from one day to the next, until a day is the one that was meant, with the library's own
//! zones. It must not know points.

use std::cell::RefCell;
use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, Days, LocalResult, Months, NaiveDate, TimeZone as _};
use chrono_tz::Tz;
use scrip::time::TimeZone;
use scrip::zones::named;

use super::plan::{Dates, Hold, Plan, Round, Span};

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
pub struct Almanac {
    pub zone: TimeZone,
    tz: Tz,
    begins: RefCell<BTreeMap<NaiveDate, i64>>,
    /// What was found lately: to walk through a year takes its time.
    lapses: RefCell<Vec<(Plan, NaiveDate, Option<i64>)>>,
    waits: RefCell<Vec<(Hold, NaiveDate, Waited)>>,
    /// The first days of tracking periods, by unit and how many.
    tracks: RefCell<BTreeMap<(char, u32), Vec<NaiveDate>>>,
}

/// When points become active, or else are cancelled.
pub type Waited = (Option<i64>, Option<i64>);

/// What was found for a day, or is found now.
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

pub fn almanacs() -> Vec<Almanac> {
    let almanac = |name: &&str| Almanac {
        zone: named(name).unwrap(),
        tz: name.parse().unwrap(),
        begins: RefCell::default(),
        lapses: RefCell::default(),
        waits: RefCell::default(),
        tracks: RefCell::default(),
    };
    ZONES.iter().map(almanac).collect()
}

fn next(day: NaiveDate) -> NaiveDate {
    day.succ_opt().unwrap()
}

impl Almanac {
    pub fn day(&self, millis: i64) -> NaiveDate {
        DateTime::from_timestamp_millis(millis).unwrap().with_timezone(&self.tz).date_naive()
    }

    /// The first moment at which a calendar on the wall shows this day or one that comes after it.
    pub fn begin(&self, day: NaiveDate) -> i64 {
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
        self.begin(next(day))
    }

    fn later(day: NaiveDate, (value, unit): Span) -> NaiveDate {
        match unit {
            'D' => (0..value).fold(day, |day, _| next(day)),
            'M' => {
                let month = day.month0() + value;
                let (year, month) = (day.year() + i32::try_from(month / 12).unwrap(), month % 12 + 1);
                (1..=day.day()).rev().find_map(|day| NaiveDate::from_ymd_opt(year, month, day)).unwrap()
            }
            _ => Almanac::later(day, (value * 12, 'M')),
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

    /// When points lapse that arrive at a moment, or whose last activity that was.
    pub fn lapse(&self, plan: &Plan, millis: i64) -> Option<i64> {
        let today = self.day(millis);
        recalled(&self.lapses, plan, today, || match plan {
            Plan::Never => None,
            Plan::Rolling(span, round) => Some(self.end(Almanac::rounded(Almanac::later(today, *span), *round))),
            Plan::Calendar(dates) => Some(self.end(Almanac::first(dates, today))),
            Plan::Sliding(span, ..) => Some(self.end(Almanac::later(today, *span))),
        })
    }

    /// When points become active, or else are cancelled, that are earned at a moment.
    pub fn wait(&self, hold: &Hold, millis: i64) -> Waited {
        let today = self.day(millis);
        recalled(&self.waits, hold, today, || match hold {
            Hold::No => (None, None),
            Hold::For(span) => (Some(self.begin(Almanac::later(today, *span))), None),
            Hold::Dates(dates) => (Some(self.begin(Almanac::first(dates, next(today)))), None),
            Hold::Event(_, span) => (None, Some(self.end(Almanac::later(today, *span)))),
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
        self.begin(day)
    }

    /// The tracking period of a moment, and the first moment after it, found among all periods since 1970: `H`, `D`, `W`, `M` or `Y`.
    pub fn tracked(&self, (value, unit): Span, millis: i64) -> (i64, i64) {
        if unit == 'H' {
            let length = i64::from(value) * 3_600_000;
            let begin = millis / length * length;
            return (begin, begin + length);
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
                    _ => Almanac::later(first, (value, unit)),
                };
                firsts.push(first);
            }
            firsts
        });
        let today = self.day(millis);
        let after = firsts.partition_point(|first| *first <= today);
        (self.begin(firsts[after - 1]), self.begin(firsts[after]))
    }

    /// When a time of grace ends that begins at a moment.
    pub fn grace(&self, (value, unit): Span, round_up: bool, millis: i64) -> i64 {
        let shown = DateTime::from_timestamp_millis(millis).unwrap().with_timezone(&self.tz).naive_local();
        let wanted = match unit {
            'D' => shown + Days::new(value.into()),
            'M' => shown + Months::new(value),
            _ => shown + Months::new(value * 12),
        };
        let exact = match self.tz.from_local_datetime(&wanted) {
            LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => at.timestamp_millis(),
            LocalResult::None => {
                let utc = wanted.and_utc().timestamp_millis();
                self.next_change(utc - 30 * 3_600_000).unwrap()
            }
        };
        let round = match unit {
            'D' => None,
            'M' => Some(Round::Months(1)),
            _ => Some(Round::Months(12)),
        };
        if round_up { self.end(Almanac::rounded(self.day(exact), round)) } else { exact }
    }

    /// The next change of clocks after a moment.
    pub fn next_change(&self, millis: i64) -> Option<i64> {
        self.zone.transitions.iter().map(|(at, _)| at.millis()).find(|at| *at > millis)
    }

    /// The next year's first moment.
    pub fn next_year(&self, millis: i64) -> i64 {
        self.begin(NaiveDate::from_ymd_opt(self.day(millis).year() + 1, 1, 1).unwrap())
    }
}
