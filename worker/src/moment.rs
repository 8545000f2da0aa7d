//! Moments as the wire writes them: ISO 8601 text and milliseconds since 1970. It must not know the present moment.

use chrono::{DateTime, NaiveDate, NaiveDateTime, SecondsFormat};

/// The text of a moment, in UTC with milliseconds; empty for a moment outside the calendar.
pub fn text(at_ms: i64) -> String {
    DateTime::from_timestamp_millis(at_ms).map_or_else(String::new, |at| at.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// The moment that a date or date-time means; a date alone is its midnight in UTC.
pub fn parse(text: &str) -> Option<i64> {
    let at = DateTime::parse_from_rfc3339(text).map(|at| at.timestamp_millis()).ok();
    let at = at.or_else(|| DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z").map(|at| at.timestamp_millis()).ok());
    let at = at.or_else(|| NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").map(|at| at.and_utc().timestamp_millis()).ok());
    let at = at.or_else(|| NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M").map(|at| at.and_utc().timestamp_millis()).ok());
    let at = at.or_else(|| parse_date(text));
    // The wire's moments have four digits of year; anything further could not be written back.
    at.filter(|at| (-62_135_596_800_000..=253_402_300_799_999).contains(at))
}

/// Midnight of a date alone.
pub fn parse_date(text: &str) -> Option<i64> {
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    if text.len() != 10 {
        return None;
    }
    Some(date.and_hms_opt(0, 0, 0)?.and_utc().timestamp_millis())
}

/// Whether a text is a time of day, `HH:mm` or `HH:mm:ss`.
pub fn is_clock(text: &str) -> bool {
    let mut parts = text.split(':');
    let fits = |part: Option<&str>, below: u32| {
        part.is_some_and(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit()) && part.parse::<u32>().is_ok_and(|n| n < below))
    };
    fits(parts.next(), 24) && fits(parts.next(), 60) && parts.next().is_none_or(|seconds| fits(Some(seconds), 60)) && parts.next().is_none()
}

/// The milliseconds of an ISO 8601 duration such as `P24D` or `PT1H30M`; years and months have no fixed length and are refused.
pub fn duration_ms(text: &str) -> Option<i64> {
    let (days, clock) = match text.strip_prefix('P')?.split_once('T') {
        Some((_, "")) => return None,
        Some((days, clock)) => (days, clock),
        None => (text.strip_prefix('P')?, ""),
    };
    if days.is_empty() && clock.is_empty() {
        return None;
    }
    let days_ms = units_ms(days, &[('W', 604_800_000), ('D', 86_400_000)])?;
    days_ms.checked_add(units_ms(clock, &[('H', 3_600_000), ('M', 60_000), ('S', 1_000)])?)
}

fn units_ms(mut text: &str, units: &[(char, i64)]) -> Option<i64> {
    let mut sum: i64 = 0;
    for (unit, length_ms) in units {
        if let Some((count, rest)) = text.split_once(*unit) {
            if count.is_empty() || !count.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            sum = sum.checked_add(count.parse::<i64>().ok()?.checked_mul(*length_ms)?)?;
            text = rest;
        }
    }
    text.is_empty().then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_and_written() {
        let cases = [
            ("2026-03-01T12:00:00Z", Some("2026-03-01T12:00:00.000Z")),
            ("2026-03-01T12:00:00.5+01:00", Some("2026-03-01T11:00:00.500Z")),
            ("2026-03-01", Some("2026-03-01T00:00:00.000Z")),
            ("2026-02-30", None),
            ("yesterday", None),
            ("", None),
        ];
        for (wire, written) in cases {
            assert_eq!(parse(wire).map(text).as_deref(), written, "{wire}");
        }
    }

    #[test]
    fn durations_and_clocks() {
        assert_eq!(duration_ms("P24D"), Some(24 * 86_400_000));
        assert_eq!(duration_ms("P1DT1H30M"), Some(86_400_000 + 5_400_000));
        for wrong in ["", "P", "PT", "24D", "P1.5D", "P-1D", "P1H", "P99999999999999999D"] {
            assert_eq!(duration_ms(wrong), None, "{wrong}");
        }
        assert!(is_clock("09:30") && is_clock("23:59:59"));
        assert!(!is_clock("24:00") && !is_clock("9:30") && !is_clock("09:30:00:00") && !is_clock("ab:cd"));
    }
}
