//! Moments as rows keep them, in milliseconds, and as the wire writes them. It must not know the present moment.

use scrip::time::{DailyHours, Day, Duration, Instant};

/// The text of a moment, in UTC with milliseconds; empty for a moment outside the calendar.
pub fn text(at_ms: i64) -> String {
    Instant::from_millis(at_ms).map_or_else(String::new, |at| at.to_string())
}

/// Whole seconds from one moment to a later one, the last one begun counted: what `Retry-After` says.
pub fn seconds_until(now_ms: i64, then_ms: i64) -> i64 {
    then_ms.saturating_sub(now_ms).saturating_add(999).checked_div(1_000).unwrap_or(0)
}

/// The moment that a date or date-time means; a date alone is its midnight in UTC.
pub fn parse(text: &str) -> Option<i64> {
    Instant::parse(text).map(Instant::millis)
}

/// Whether a text is a date alone, of any year: birthdays lie before 1970.
pub fn is_date(text: &str) -> bool {
    Day::parse(text).is_some()
}

/// Whether a text is a time of day, `HH:mm`.
pub fn is_clock(text: &str) -> bool {
    DailyHours::parse_clock(text).is_some()
}

/// Whether a text is an ISO 8601 duration.
pub fn is_duration(text: &str) -> bool {
    Duration::parse(text).is_some()
}
