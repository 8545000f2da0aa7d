//! Timestamps: milliseconds in rows, text in the API. It does not read a clock.

use scrip::time::{DailyHours, Day, Duration, Instant};

/// Returns the text of an instant, in UTC with milliseconds; empty outside of the calendar.
pub fn text(at_ms: i64) -> String {
    Instant::from_millis(at_ms).map_or_else(String::new, |at| at.to_string())
}

/// Returns the seconds from one instant to a later one, rounded up: the value of `Retry-After`.
pub fn seconds_until(now_ms: i64, then_ms: i64) -> i64 {
    // Saturates at both ends of time.
    then_ms.saturating_sub(now_ms).saturating_add(999).checked_div(1_000).unwrap_or(0)
}

/// Returns the instant of a date or date-time; a date is its midnight in UTC.
pub fn parse(text: &str) -> Option<i64> {
    Instant::parse(text).map(Instant::millis)
}

/// Tests if a text is a date without a time, of any year: birthdays may be before 1970.
pub fn is_date(text: &str) -> bool {
    Day::parse(text).is_some()
}

/// Tests if a text is a time of day, `HH:mm`.
pub fn is_clock(text: &str) -> bool {
    DailyHours::parse_clock(text).is_some()
}

/// Tests if a text is an ISO 8601 duration.
pub fn is_duration(text: &str) -> bool {
    Duration::parse(text).is_some()
}
