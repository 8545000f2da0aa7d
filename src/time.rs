//! Decides what moments, durations and time zones are, and whether a moment lies in a recurring window.
//! It must not know vouchers, and it never asks what time it is: a moment always comes from outside.
//!
//! validation-rules.md section 10.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::text::{Text, are_digits};

mod day;
pub use day::Day;
use day::MILLIS_PER_DAY;

const MILLIS_PER_SECOND: i64 = 1_000;
const SECONDS_PER_DAY: i64 = 86_400;
/// The year 9999 ends here; later moments could not be written as four-digit years.
const LATEST_MILLIS: i64 = 253_402_300_799_999;

/// A moment in UTC, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Instant(i64);

impl Instant {
    /// The moment, when it lies within the years 1970 to 9999.
    pub fn from_millis(millis: i64) -> Option<Instant> {
        (0..=LATEST_MILLIS).contains(&millis).then_some(Instant(millis))
    }

    /// Milliseconds since 1970.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Reads ISO 8601: a date-time with an offset or `Z`, a date-time without (UTC), or a date (its first moment in UTC).
    ///
    /// ```
    /// use scrip::time::Instant;
    /// let noon = Instant::parse("2026-03-01T13:00:00+01:00").unwrap();
    /// assert_eq!(noon.to_string(), "2026-03-01T12:00:00.000Z");
    /// ```
    pub fn parse(text: &str) -> Option<Instant> {
        let (date, time) = match text.split_once(['T', 't', ' ']) {
            Some((date, clock)) => (date, read_clock(clock)?),
            None => (text, 0),
        };
        Instant::from_millis(Day::parse(date)?.number().checked_mul(MILLIS_PER_DAY)?.checked_add(time)?)
    }

    /// The moment `millis` later, or the latest one there is.
    pub fn later(self, millis: i64) -> Instant {
        Instant(self.0.saturating_add(millis).clamp(0, LATEST_MILLIS))
    }

    /// The moment a duration later, months counted on the calendar of the zone.
    pub fn after(self, duration: &Duration, zone: &TimeZone) -> Option<Instant> {
        let mut moment = self;
        if duration.months > 0 {
            let day = zone.day(self)?.plus_months(duration.months)?;
            let time = zone.wall_clock(self)?.rem_euclid(MILLIS_PER_DAY);
            moment = zone.moment_of(day.number().checked_mul(MILLIS_PER_DAY)?.checked_add(time)?)?;
        }
        Instant::from_millis(moment.0.checked_add(duration.millis)?)
    }
}

/// A whole number of exactly so many digits.
#[inline(never)]
fn digits(text: &str, count: usize) -> Option<u32> {
    let fits = text.len() == count && are_digits(text);
    text.parse().ok().filter(|_| fits)
}

/// Reads `12:00`, `12:00:00` or `12:00:00.000`, followed by `Z`, `+01:00` or nothing: how many milliseconds after the
/// first moment of the day in UTC that is.
fn read_clock(text: &str) -> Option<i64> {
    let time = text.split_once(['Z', 'z', '+', '-']).map_or(text, |(time, _)| time);
    let offset = text.get(time.len()..)?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let parts: Vec<&str> = time.split(':').collect();
    let [hours, minutes, seconds] = match *parts.as_slice() {
        [hours, minutes] => [hours, minutes, "00"],
        [hours, minutes, seconds] => [hours, minutes, seconds],
        _ => return None,
    };
    let mut sum = 0_i64;
    for (part, most) in [(hours, 23), (minutes, 59), (seconds, 59)] {
        let part = digits(part, 2).filter(|part| *part <= most)?;
        sum = sum.checked_mul(60)?.checked_add(i64::from(part))?;
    }
    if !fraction.is_empty() && !are_digits(fraction) {
        return None;
    }
    let mut millis = sum;
    for place in 0..3 {
        let digit = fraction.as_bytes().get(place).map_or(0, |byte| byte.saturating_sub(b'0'));
        millis = millis.checked_mul(10)?.checked_add(i64::from(digit))?;
    }
    millis.checked_sub(read_offset(offset)?)
}

fn read_offset(text: &str) -> Option<i64> {
    if text.is_empty() || text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, ahead) = text.split_at_checked(1)?;
    let (hours, minutes) = ahead.split_once(':').or_else(|| ahead.split_at_checked(2))?;
    let minutes = digits(hours, 2)?.checked_mul(60)?.checked_add(digits(minutes, 2)?)?;
    let millis = i64::from(minutes).checked_mul(60 * MILLIS_PER_SECOND)?;
    Some(if sign == "-" { millis.saturating_neg() } else { millis })
}

/// Writes numbers by their last two digits, each after a text: padding is the largest part of the formatter's machinery.
fn write_pairs(text: &mut String, pairs: &[(&str, u32)]) {
    for (before, pair) in pairs {
        text.push_str(before);
        text.push(digit(pair.div_euclid(10)));
        text.push(digit(*pair));
    }
}

/// The last digit of a number.
fn digit(number: u32) -> char {
    char::from_digit(number % 10, 10).unwrap_or('0')
}

impl Instant {
    /// As ISO 8601 in UTC, with milliseconds.
    pub fn text(self) -> String {
        let mut text = Day::of_moment(self).text();
        let time = u32::try_from(self.0.rem_euclid(MILLIS_PER_DAY)).unwrap_or(0);
        let seconds = time.div_euclid(1000);
        let (minutes, millis) = (seconds.div_euclid(60), time % 1000);
        let pairs =
            [("T", minutes.div_euclid(60)), (":", minutes % 60), (":", seconds % 60), (".", millis.div_euclid(10))];
        write_pairs(&mut text, &pairs);
        text.push(digit(millis));
        text.push('Z');
        text
    }
}

/// As [`Instant::text`].
impl fmt::Display for Instant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An ISO 8601 duration such as `P1M`, `P2D` or `PT1H30M`. Years and months follow the calendar, the rest is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Duration {
    months: u32,
    millis: i64,
}

impl Duration {
    /// An exact duration.
    pub fn of_millis(millis: i64) -> Duration {
        Duration { months: 0, millis }
    }

    /// Reads a duration that is longer than nothing.
    ///
    /// ```
    /// use scrip::time::Duration;
    /// assert!(Duration::parse("P24D").is_some());
    /// assert!(Duration::parse("PT0S").is_none());
    /// assert!(Duration::parse("24 days").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Duration> {
        let (dates, times) = {
            let body = text.strip_prefix('P')?;
            body.split_once('T').map_or((body, None), |(dates, times)| (dates, Some(times)))
        };
        if times == Some("") {
            return None;
        }
        let mut duration = Duration { months: 0, millis: 0 };
        duration.add_parts(
            dates,
            &[(b'Y', 0), (b'M', 0), (b'W', 7 * SECONDS_PER_DAY), (b'D', SECONDS_PER_DAY)],
            true,
        )?;
        duration.add_parts(times.unwrap_or(""), &[(b'H', 3600), (b'M', 60), (b'S', 1)], false)?;
        (duration.months > 0 || duration.millis > 0).then_some(duration)
    }

    /// Adds the numbered parts of one half, each designator at most once and in this order.
    fn add_parts(&mut self, text: &str, designators: &[(u8, i64)], dates: bool) -> Option<()> {
        let mut rest = text;
        for (designator, seconds) in designators {
            let Some((number, after)) = rest.split_once(char::from(*designator)) else { continue };
            if !are_digits(number) {
                return None;
            }
            let count = number.parse::<u32>().ok()?;
            if dates && *seconds == 0 {
                let months = if *designator == b'Y' { count.checked_mul(12)? } else { count };
                self.months = self.months.checked_add(months)?;
            } else {
                let millis = i64::from(count).checked_mul(*seconds)?.checked_mul(MILLIS_PER_SECOND)?;
                self.millis = self.millis.checked_add(millis)?;
            }
            rest = after;
        }
        rest.is_empty().then_some(())
    }

    /// This duration `count` times over.
    fn times(&self, count: i64) -> Option<Duration> {
        Some(Duration {
            months: self.months.checked_mul(u32::try_from(count).ok()?)?,
            millis: self.millis.checked_mul(count)?,
        })
    }
}

/// A time zone as data: its offset before the first transition, and every transition after that.
/// The host supplies the transitions, so that the engine carries no table of the world's zones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeZone {
    /// Its IANA name, for people.
    pub name: Text,
    /// Seconds east of UTC before the first transition.
    pub offset: i32,
    /// Moments and the offsets in seconds that hold from then on, in order.
    pub transitions: Vec<(Instant, i32)>,
}

impl TimeZone {
    fn offset_at(&self, moment: Instant) -> i32 {
        let passed = self.transitions.partition_point(|(at, _)| *at <= moment);
        passed.checked_sub(1).and_then(|last| self.transitions.get(last)).map_or(self.offset, |(_, offset)| *offset)
    }

    /// What a clock on the wall shows: the milliseconds since it showed the beginning of 1970.
    pub fn wall_clock(&self, moment: Instant) -> Option<i64> {
        let shift = i64::from(self.offset_at(moment)).checked_mul(MILLIS_PER_SECOND)?;
        moment.0.checked_add(shift)
    }

    /// The first moment at which a clock on the wall shows this or, where it was put forward past it, the moment of that.
    pub fn moment_of(&self, wall: i64) -> Option<Instant> {
        let at =
            |offset: i32| i64::from(offset).checked_mul(MILLIS_PER_SECOND).and_then(|shift| wall.checked_sub(shift));
        let mut previous = self.offset;
        for (moment, offset) in &self.transitions {
            let candidate = at(previous)?;
            if candidate < moment.0 {
                return Instant::from_millis(candidate);
            }
            if at(*offset)? < moment.0 {
                return Some(*moment);
            }
            previous = *offset;
        }
        Instant::from_millis(at(previous)?)
    }

    /// The weekday, 0 for Sunday to 6 for Saturday.
    pub fn weekday(&self, moment: Instant) -> Option<u8> {
        self.day(moment).map(Day::weekday)
    }

    /// Minutes since midnight.
    pub fn minute_of_day(&self, moment: Instant) -> Option<u16> {
        let millis = self.wall_clock(moment)?.rem_euclid(MILLIS_PER_DAY);
        u16::try_from(millis.div_euclid(60 * MILLIS_PER_SECOND)).ok()
    }
}

/// Recurring periods: from the start, every `interval`, for `duration`. The end of a period is outside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Timeframe {
    /// From the start of one period to the start of the next.
    pub interval: Duration,
    /// How long a period lasts.
    pub duration: Duration,
}

impl Timeframe {
    /// Whether the moment lies in a period that began at or after `start`.
    pub fn covers(&self, start: Instant, moment: Instant, zone: &TimeZone) -> bool {
        self.end_of_period(start, moment, zone).is_some_and(|end| moment < end)
    }

    /// The end of the last period that has begun. Beginnings and ends are counted from `start`, never from one
    /// another, so that a short month neither moves the periods after it nor leaves a gap before them.
    fn end_of_period(&self, start: Instant, moment: Instant, zone: &TimeZone) -> Option<Instant> {
        let elapsed = moment.0.checked_sub(start.0)?;
        if elapsed < 0 {
            return None;
        }
        // No month is longer than 31 days, so this many periods have begun at least.
        let month = 31_i64.checked_mul(SECONDS_PER_DAY)?.checked_mul(MILLIS_PER_SECOND)?;
        let longest = i64::from(self.interval.months).checked_mul(month)?.checked_add(self.interval.millis)?;
        let mut count = elapsed.checked_div(longest)?;
        loop {
            let next = count.checked_add(1)?;
            match start.after(&self.interval.times(next)?, zone) {
                Some(begin) if begin <= moment => count = next,
                _ => break,
            }
        }
        let whole = self.interval.times(count)?;
        let until_end = Duration {
            months: whole.months.checked_add(self.duration.months)?,
            millis: whole.millis.checked_add(self.duration.millis)?,
        };
        start.after(&until_end, zone)
    }
}

/// Whether a weekday is one of a few; the library's search is one for long lists.
pub fn is_among(day: u8, days: &[u8]) -> bool {
    days.iter().fold(false, |found, own| found | (*own == day))
}

/// Hours of the day on some weekdays: from the first minute to the last, both included.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DailyHours {
    /// Minutes since midnight.
    pub start: u16,
    /// Minutes since midnight; this minute is still inside.
    pub end: u16,
    /// 0 for Sunday to 6 for Saturday.
    pub days: Vec<u8>,
}

impl DailyHours {
    /// Whether the moment lies within these hours on one of these days.
    pub fn covers(&self, moment: Instant, zone: &TimeZone) -> bool {
        let (Some(day), Some(minute)) = (zone.weekday(moment), zone.minute_of_day(moment)) else {
            return false;
        };
        is_among(day, &self.days) && (self.start..=self.end).contains(&minute)
    }

    /// For people, such as `09:00 to 17:30 on [1, 2]`.
    pub fn text(&self) -> String {
        let (start, end) = (u32::from(self.start), u32::from(self.end));
        let mut text = String::new();
        write_pairs(&mut text, &[("", start / 60), (":", start % 60), (" to ", end / 60), (":", end % 60)]);
        text.push_str(" on [");
        for (place, day) in self.days.iter().enumerate() {
            text.push_str(if place > 0 { ", " } else { "" });
            text.push(digit(u32::from(*day)));
        }
        text.push(']');
        text
    }

    /// Minutes since midnight of `HH:mm`.
    pub fn parse_clock(text: &str) -> Option<u16> {
        let (hours, minutes) = text.split_once(':')?;
        let hours = digits(hours, 2).filter(|hours| *hours < 24)?;
        let minutes = digits(minutes, 2).filter(|minutes| *minutes < 60)?;
        u16::try_from(hours.checked_mul(60)?.checked_add(minutes)?).ok()
    }
}
