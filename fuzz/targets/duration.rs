//! Reads any text as a duration, a timestamp or a time of day. The text is refused or read, a timestamp is read back from its printed form,
//! and arithmetic with the result terminates.

use scrip::formula::Date;
use scrip::time::{DailyHours, Duration, Instant, TimeZone, Timeframe};

/// Checks the properties of one text.
pub fn run(text: &str) {
    let zone = TimeZone {
        name: "Europe/Warsaw".into(),
        offset: 3600,
        transitions: vec![(Instant::from_millis(1_774_746_000_000).unwrap_or_default(), 7200)],
    };
    let now = Instant::from_millis(1_773_444_600_000).unwrap_or_default();
    if let Some(instant) = Instant::parse(text) {
        assert_eq!(Instant::parse(&instant.to_string()), Some(instant));
        assert!(Date::parse(text).is_some());
        let (day, minute) = (zone.weekday(instant), zone.minute_of_day(instant));
        assert!(day.is_none_or(|day| day < 7) && minute.is_none_or(|minute| minute < 1440));
    }
    if let Some(minute) = DailyHours::parse_clock(text) {
        assert_eq!(format!("{:02}:{:02}", minute / 60, minute % 60), text);
        let hours = DailyHours { start: minute, end: minute, days: vec![0, 1, 2, 3, 4, 5, 6] };
        assert_eq!(hours.covers(now, &zone), zone.minute_of_day(now) == Some(minute));
    }
    if let Some(duration) = Duration::parse(text) {
        let after = now.after(&duration, &zone);
        assert!(after.is_none_or(|after| after > now), "a duration is longer than nothing");
        let week = Duration::of_millis(7 * 86_400_000);
        for (interval, duration) in [(duration, week), (week, duration), (duration, duration)] {
            let frame = Timeframe { interval, duration };
            assert!(!frame.covers(now, Instant::default(), &zone), "nothing begins before its start");
            let _ = frame.covers(now, now.later(1), &zone);
            let _ = frame.covers(Instant::default(), now, &zone);
        }
    }
}
