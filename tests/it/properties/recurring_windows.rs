//! Tests invariant 27: recurring windows are half-open, leave no gap and do not overlap, also across a change of clocks.

use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveDateTime, Timelike};
use proptest::prelude::*;
use scrip::time::{DailyHours, Day, Duration, Instant, TimeZone, Timeframe};

use crate::properties::holds;

const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;
/// 2026-03-29 01:00 and 2026-10-25 01:00, when the clocks of Warsaw change, and the same a year later.
const CHANGES: [(i64, i32); 4] =
    [(1_774_746_000_000, 7200), (1_792_890_000_000, 3600), (1_806_195_600_000, 7200), (1_824_944_400_000, 3600)];

fn at(millis: i64) -> Instant {
    Instant::from_millis(millis).unwrap()
}

fn warsaw() -> TimeZone {
    TimeZone {
        name: "Europe/Warsaw".into(),
        offset: 3600,
        transitions: CHANGES.iter().map(|(instant, offset)| (at(*instant), *offset)).collect(),
    }
}

fn zone() -> impl Strategy<Value = TimeZone> {
    let fixed = (-12..=14_i32).prop_map(|hours| TimeZone {
        name: "fixed".into(),
        offset: hours * 3600,
        transitions: Vec::new(),
    });
    prop_oneof![2 => Just(warsaw()), 1 => Just(TimeZone::default()), 1 => fixed]
}

/// Generates any instant of two years, often near a change of clocks.
fn instant() -> impl Strategy<Value = i64> {
    let near = (0..4_usize, -3 * 60 * MINUTE..3 * 60 * MINUTE).prop_map(|(position, by)| CHANGES[position].0 + by);
    prop_oneof![2 => 1_767_225_600_000..1_830_297_600_000_i64, 3 => near]
}

/// Returns the local time in the simple way: the latest change that has happened counts.
fn wall(zone: &TimeZone, millis: i64) -> NaiveDateTime {
    let mut offset = zone.offset;
    for (change, next) in &zone.transitions {
        if change.millis() <= millis {
            offset = *next;
        }
    }
    DateTime::from_timestamp_millis(millis + i64::from(offset) * 1000).unwrap().naive_utc()
}

/// Returns the first instant with this local time or, when the change skips it, the instant of the change.
fn first_instant(zone: &TimeZone, local: NaiveDateTime) -> i64 {
    let local_millis = local.and_utc().timestamp_millis();
    let mut offsets: Vec<i32> = zone.transitions.iter().map(|(_, offset)| *offset).collect();
    offsets.push(zone.offset);
    let candidates = offsets.iter().map(|offset| local_millis - i64::from(*offset) * 1000);
    let exact = candidates.filter(|millis| wall(zone, *millis) == local).min();
    exact.unwrap_or_else(|| {
        let skipping = zone
            .transitions
            .iter()
            .find(|(change, _)| wall(zone, change.millis() - 1) < local && local < wall(zone, change.millis()));
        skipping.unwrap().0.millis()
    })
}

#[test]
fn local_time_equals_the_second_model() {
    holds(3_000, (zone(), instant()), |(zone, millis)| {
        let local = wall(&zone, millis);
        prop_assert_eq!(zone.wall_clock(at(millis)), Some(local));
        prop_assert_eq!(zone.weekday(at(millis)).map(u32::from), Some(local.weekday().num_days_from_sunday()));
        prop_assert_eq!(zone.minute_of_day(at(millis)).map(u32::from), Some(local.hour() * 60 + local.minute()));
        prop_assert_eq!(zone.instant_of(local).map(Instant::millis), Some(first_instant(&zone, local)));
        Ok(())
    });
}

#[test]
fn the_calendar_equals_the_second_model() {
    let dates = (0..=9999_i32, 0..=13_u32, 0..=32_u32);
    holds(20_000, dates, |(year, month, day)| {
        // No calendar in use has a year 0.
        let known = NaiveDate::from_ymd_opt(year, month, day).filter(|_| year > 0);
        let read = Day::parse(&format!("{year:04}-{month:02}-{day:02}"));
        prop_assert_eq!(read.is_some(), known.is_some());
        let (Some(read), Some(known)) = (read, known) else { return Ok(()) };
        prop_assert_eq!(read.number(), known.signed_duration_since(DateTime::UNIX_EPOCH.date_naive()).num_days());
        prop_assert_eq!(read.date(), (i64::from(year), month, day));
        prop_assert_eq!(u32::from(read.weekday()), known.weekday().num_days_from_sunday());
        prop_assert_eq!(read.to_string(), known.to_string());
        Ok(())
    });
}

#[test]
fn a_local_time_that_the_change_skips_is_the_change() {
    let zone = warsaw();
    holds(500, 1..60_i64, |minute| {
        // 02:00 to 03:00 does not exist on that day.
        let skipped = CHANGES[0].0 + 60 * MINUTE + minute * MINUTE;
        let skipped = DateTime::from_timestamp_millis(skipped).unwrap().naive_utc();
        prop_assert_eq!(zone.instant_of(skipped).map(Instant::millis), Some(CHANGES[0].0));
        Ok(())
    });
}

fn exact(millis: i64) -> Duration {
    Duration::of_millis(millis)
}

#[test]
fn an_exact_timeframe_is_a_remainder() {
    let lengths = (1..200_i64, 1..200_i64).prop_map(|(first, second)| (first.max(second), first.min(second)));
    holds(4_000, (instant(), -DAY..400 * DAY, lengths, zone()), |(start, later, (interval, duration), zone)| {
        let (interval, duration) = (interval * 7 * MINUTE, duration * 7 * MINUTE);
        let frame = Timeframe { interval: exact(interval), duration: exact(duration) };
        let expected = later >= 0 && later % interval < duration;
        prop_assert_eq!(frame.covers(at(start), at(start + later), &zone), expected);
        Ok(())
    });
}

/// The edges of a window: its first millisecond is inside, the first after it is outside.
#[test]
fn a_timeframe_is_half_open() {
    let lengths = (2..200_i64, 0..200_i64).prop_map(|(interval, part)| (interval, 1 + part % (interval - 1)));
    holds(2_000, (instant(), 0..50_i64, lengths, zone()), |(start, count, (interval, duration), zone)| {
        let (interval, duration) = (interval * MINUTE, duration * MINUTE);
        let frame = Timeframe { interval: exact(interval), duration: exact(duration) };
        let begin = start + count * interval;
        let covers = |millis| frame.covers(at(start), at(millis), &zone);
        prop_assert!(covers(begin) && covers(begin + duration - 1));
        prop_assert!(!covers(begin + duration) && !covers(begin - 1));
        Ok(())
    });
}

/// Months and years: every start is counted from the first one, in the calendar of the zone.
#[test]
fn a_calendar_timeframe_begins_on_the_calendar() {
    let months = prop_oneof![4 => 1..14_u32, 1 => Just(12_u32)];
    let days = 1..40_i64;
    holds(2_000, (zone(), instant(), 0..700 * DAY, months, days), |(zone, start, later, months, days)| {
        let text = if months == 12 { "P1Y".to_owned() } else { format!("P{months}M") };
        let frame = Timeframe { interval: Duration::parse(&text).unwrap(), duration: exact(days * DAY) };
        let local = wall(&zone, start);
        let begins = (0..720_u32).map(|count| match count {
            0 => start,
            _ => first_instant(&zone, local.checked_add_months(Months::new(count * months)).unwrap()),
        });
        let last = begins.take_while(|begin| *begin <= start + later).last().unwrap();
        let expected = start + later < last + days * DAY;
        prop_assert_eq!(frame.covers(at(start), at(start + later), &zone), expected);
        Ok(())
    });
}

/// An interval as long as its window covers every instant from its start on.
#[test]
fn adjacent_recurrences_leave_no_gap() {
    let interval = prop_oneof![Just("P1M"), Just("P1D"), Just("P1W"), Just("PT7H"), Just("P1Y"), Just("P3M")];
    holds(3_000, (zone(), instant(), 0..500 * DAY, interval), |(zone, start, later, interval)| {
        let length = Duration::parse(interval).unwrap();
        let frame = Timeframe { interval: length, duration: length };
        prop_assert!(frame.covers(at(start), at(start + later), &zone), "a gap");
        prop_assert!(!frame.covers(at(start), at(start - 1), &zone), "before its start");
        Ok(())
    });
}

/// Two halves of the day make the day: every instant is in exactly one of them.
#[test]
fn adjacent_hours_neither_overlap_nor_leave_a_gap() {
    holds(4_000, (zone(), instant(), 1..1439_u16), |(zone, millis, cut)| {
        let days: Vec<u8> = (0..7).collect();
        let morning = DailyHours { start: 0, end: cut - 1, days: days.clone() };
        let rest = DailyHours { start: cut, end: 1439, days };
        prop_assert!(morning.covers(at(millis), &zone) != rest.covers(at(millis), &zone));
        let local = wall(&zone, millis);
        prop_assert_eq!(rest.covers(at(millis), &zone), local.hour() * 60 + local.minute() >= u32::from(cut));
        Ok(())
    });
}

/// The seven weekdays form the week.
#[test]
fn weekdays_divide_the_week() {
    holds(2_000, (zone(), instant()), |(zone, millis)| {
        let on = |day: u8| DailyHours { start: 0, end: 1439, days: vec![day] }.covers(at(millis), &zone);
        prop_assert_eq!((0..7).filter(|day| on(*day)).count(), 1);
        Ok(())
    });
}
