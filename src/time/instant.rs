//! Decides what a moment is and how it is read. It must not know zones.
//!
//! validation-rules.md section 10.

use std::fmt;

use chrono::{DateTime, NaiveTime, SecondsFormat, TimeDelta};
use serde::{Serialize, Serializer};

use super::day::{Day, digits};

/// The year 9999 ends here; later moments could not be written as four-digit years.
const LATEST_MILLIS: i64 = 253_402_300_799_999;

/// A moment in UTC, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Instant(i64);

impl Instant {
    /// The last moment that there is.
    pub const LATEST: Instant = Instant(LATEST_MILLIS);

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
        let (date, clock) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00"));
        let (time, offset) = clock.split_at_checked(clock.find(['Z', 'z', '+', '-']).unwrap_or(clock.len()))?;
        let shown = Day::parse(date)?.at(read_time(time)?);
        let moment = shown.checked_sub_signed(read_offset(offset)?)?;
        Instant::from_millis(moment.and_utc().timestamp_millis())
    }

    /// The moment `millis` later, or the latest one there is.
    pub fn later(self, millis: i64) -> Instant {
        Instant(self.0.saturating_add(millis).clamp(0, LATEST_MILLIS))
    }

    /// As ISO 8601 in UTC, with milliseconds.
    pub fn text(self) -> String {
        DateTime::from_timestamp_millis(self.0)
            .map_or_else(String::new, |moment| moment.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

/// Reads `12:00`, `12:00:00` or `12:00:00.000`. What is finer than a millisecond is left out.
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

/// Reads `Z`, `+01:00`, `+0100` or nothing: how far the clock is ahead of UTC.
fn read_offset(text: &str) -> Option<TimeDelta> {
    if text.is_empty() || text.eq_ignore_ascii_case("z") {
        return Some(TimeDelta::zero());
    }
    let (sign, ahead) = text.split_at_checked(1)?;
    let (hours, minutes) = ahead.split_once(':').or_else(|| ahead.split_at_checked(2))?;
    let minutes = i64::from(digits(hours, 2)?).checked_mul(60)?.checked_add(digits(minutes, 2)?.into())?;
    TimeDelta::try_minutes(if sign == "-" { minutes.checked_neg()? } else { minutes })
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
