//! Defines and parses instants, without time zones.
//!
//! docs/spec/validation-rules.md#10.

use std::fmt;

use chrono::{DateTime, NaiveTime, SecondsFormat, TimeDelta};
use serde::{Serialize, Serializer};

use super::day::{Day, digits};

/// The end of the year 9999; later instants could not be written with four-digit years.
const LATEST_MILLIS: i64 = 253_402_300_799_999;

/// An instant in UTC, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Instant(i64);

impl Instant {
    /// The last instant.
    pub const LATEST: Instant = Instant(LATEST_MILLIS);

    /// Returns an instant within the years 1970 to 9999.
    pub fn from_millis(millis: i64) -> Option<Instant> {
        (0..=LATEST_MILLIS).contains(&millis).then_some(Instant(millis))
    }

    /// Returns the milliseconds since 1970.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Parses ISO 8601: a date-time with an offset or `Z`, a date-time without (UTC), or a date (its start in UTC).
    ///
    /// ```
    /// use scrip::time::Instant;
    /// let noon = Instant::parse("2026-03-01T13:00:00+01:00").unwrap();
    /// assert_eq!(noon.to_string(), "2026-03-01T12:00:00.000Z");
    /// ```
    pub fn parse(text: &str) -> Option<Instant> {
        let (date, clock) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00"));
        let (time, offset) = clock.split_at_checked(clock.find(['Z', 'z', '+', '-']).unwrap_or(clock.len()))?;
        let local = Day::parse(date)?.at(read_time(time)?);
        let instant = local.checked_sub_signed(read_offset(offset)?)?;
        Instant::from_millis(instant.and_utc().timestamp_millis())
    }

    /// Returns the instant `millis` later, at most the last one.
    pub fn later(self, millis: i64) -> Instant {
        // Saturates, and is cut to the calendar.
        Instant(self.0.saturating_add(millis).clamp(0, LATEST_MILLIS))
    }

    /// Returns the text in ISO 8601, UTC, with milliseconds.
    pub fn text(self) -> String {
        DateTime::from_timestamp_millis(self.0)
            .map_or_else(String::new, |instant| instant.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

/// Parses `12:00`, `12:00:00` or `12:00:00.000`. Digits beyond milliseconds are dropped.
fn read_time(text: &str) -> Option<NaiveTime> {
    let (time, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = time.split(':').map(|part| digits(part, 2));
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = parts.next().unwrap_or(Some(0))?;
    if parts.next().is_some() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    NaiveTime::from_hms_milli_opt(hours, minutes, seconds, digits(&format!("{fraction:0<3.3}"), 3)?)
}

/// Parses `Z`, `+01:00`, `+0100` or nothing: the offset from UTC.
fn read_offset(text: &str) -> Option<TimeDelta> {
    if text.is_empty() || text.eq_ignore_ascii_case("z") {
        return Some(TimeDelta::zero());
    }
    let (sign, ahead) = text.split_at_checked(1)?;
    let (hours, minutes) = ahead.split_once(':').or_else(|| ahead.split_at_checked(2))?;
    let minutes = i64::from(digits(hours, 2)?).checked_mul(60)?.checked_add(digits(minutes, 2)?.into())?;
    TimeDelta::try_minutes(if sign == "-" { minutes.checked_neg()? } else { minutes })
}

/// Prints [`Instant::text`].
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
