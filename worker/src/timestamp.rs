//! Timestamps: milliseconds in rows, text in the API. It does not read a clock.

use scrip::time::{DailyHours, Day, Duration, Instant};

/// Returns the text of an instant, in UTC with milliseconds; empty outside of the calendar.
pub fn text(at_ms: i64) -> String {
    Instant::from_millis(at_ms).map_or_else(String::new, |at| at.to_string())
}

/// Returns the instant that is `span` after another one, in one unit; the end of time if it lies beyond.
pub const fn later(at: i64, span: i64) -> i64 {
    // No instant lies beyond the end of time.
    at.saturating_add(span)
}

/// Returns the instant that is `span` before another one, in one unit; the begin of time if it lies beyond.
pub const fn earlier(at: i64, span: i64) -> i64 {
    // No instant lies beyond the begin of time.
    at.saturating_sub(span)
}

/// Returns the time from one instant to another one, in their unit; negative if the other one is earlier.
pub const fn elapsed(since: i64, until: i64) -> i64 {
    // The longest time stands for a longer one.
    until.saturating_sub(since)
}

/// Returns the seconds from one instant to a later one, rounded up: the value of `Retry-After`.
pub fn seconds_until(now_ms: i64, then_ms: i64) -> i64 {
    later(elapsed(now_ms, then_ms), 999).checked_div(1_000).unwrap_or(0)
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

#[cfg(test)]
mod tests {
    use super::{earlier, elapsed, later, seconds_until};

    #[test]
    fn times_end_at_both_ends_of_time() {
        assert_eq!((later(1, 2), earlier(1, 2), elapsed(1, 3)), (3, -1, 2));
        assert_eq!((later(i64::MAX, 1), earlier(i64::MIN, 1)), (i64::MAX, i64::MIN));
        assert_eq!((elapsed(i64::MIN, i64::MAX), elapsed(i64::MAX, i64::MIN)), (i64::MAX, i64::MIN));
        assert_eq!((seconds_until(0, 1), seconds_until(0, 1_000), seconds_until(1_000, 0)), (1, 1, 0));
    }
}
