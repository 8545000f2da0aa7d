//! Decides whether an instant is in a recurring window.

use super::day::digits;
use super::{Duration, Instant, TimeZone};

/// Recurring periods: from the start, every `interval`, for `duration`. The end of a period is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Timeframe {
    /// The time from the start of one period to the start of the next.
    pub interval: Duration,
    /// The length of a period.
    pub duration: Duration,
}

impl Timeframe {
    /// Returns whether an instant is in a period that began at or after `start`.
    pub fn covers(&self, start: Instant, instant: Instant, zone: &TimeZone) -> bool {
        self.end_of_period(start, instant, zone).is_some_and(|end| instant < end)
    }

    /// Returns the end of the last period that has begun. Starts and ends are counted from `start`, never from one
    /// another. So a short month neither moves the periods after it nor leaves a gap before them.
    fn end_of_period(&self, start: Instant, instant: Instant, zone: &TimeZone) -> Option<Instant> {
        let elapsed = instant.millis().checked_sub(start.millis()).filter(|elapsed| *elapsed >= 0)?;
        // At least this number of periods have begun.
        let mut count = elapsed.checked_div(self.interval.at_most()?)?;
        loop {
            let next = count.checked_add(1)?;
            match start.after(&self.interval.times(next)?, zone) {
                Some(next_start) if next_start <= instant => count = next,
                _ => break,
            }
        }
        start.after(&self.interval.times(count)?.and(&self.duration)?, zone)
    }
}

/// Hours of the day on some weekdays: from the first minute to the last, both inclusive.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DailyHours {
    /// Minutes since midnight.
    pub start: u16,
    /// Minutes since midnight, inclusive.
    pub end: u16,
    /// Weekdays, 0 for Sunday to 6 for Saturday.
    pub days: Vec<u8>,
}

impl DailyHours {
    /// The last minute of a day, in minutes since midnight: the end of hours without one.
    pub const LAST_MINUTE: u16 = 1_439;

    /// Returns whether an instant is within these hours on one of these days.
    pub fn covers(&self, instant: Instant, zone: &TimeZone) -> bool {
        let (Some(day), Some(minute)) = (zone.weekday(instant), zone.minute_of_day(instant)) else {
            return false;
        };
        self.days.contains(&day) && (self.start..=self.end).contains(&minute)
    }

    /// Returns the text for people, such as `09:00 to 17:30 on [1, 2]`.
    pub fn text(&self) -> String {
        let clock = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        format!("{} to {} on {:?}", clock(self.start), clock(self.end), self.days)
    }

    /// Parses `HH:mm` and returns the minutes since midnight.
    pub fn parse_clock(text: &str) -> Option<u16> {
        let (hours, minutes) = text.split_once(':')?;
        let hours = digits(hours, 2).filter(|hours| *hours < 24)?;
        let minutes = digits(minutes, 2).filter(|minutes| *minutes < 60)?;
        u16::try_from(hours.checked_mul(60)?.checked_add(minutes)?).ok()
    }
}
