//! Converts between instants and the local time of a zone.

use chrono::{DateTime, Days, Months, NaiveDateTime, NaiveTime, Timelike};

use super::{Day, Duration, Instant};
use crate::text::Text;

/// A time zone as data: its offset before the first transition, and every transition after that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TimeZone {
    /// Its IANA name, for people.
    pub name: Text,
    /// Seconds east of UTC before the first transition.
    pub offset: i32,
    /// Instants, and the offsets in seconds that apply from then on, in order.
    pub transitions: Vec<(Instant, i32)>,
}

fn millis(offset: i32) -> i64 {
    // Seconds of 32 bits are far below the end of 64.
    i64::from(offset).saturating_mul(1_000)
}

impl TimeZone {
    fn offset_at(&self, instant: Instant) -> i32 {
        let passed = self.transitions.partition_point(|(at, _)| *at <= instant);
        passed.checked_sub(1).and_then(|last| self.transitions.get(last)).map_or(self.offset, |(_, offset)| *offset)
    }

    /// Returns the local time of an instant.
    pub fn wall_clock(&self, instant: Instant) -> Option<NaiveDateTime> {
        let local = instant.millis().checked_add(millis(self.offset_at(instant)))?;
        DateTime::from_timestamp_millis(local).map(|local| local.naive_utc())
    }

    /// Returns the first instant with this local time or, if clocks skip it, the instant of that transition.
    pub fn instant_of(&self, wall: NaiveDateTime) -> Option<Instant> {
        let local = wall.and_utc().timestamp_millis();
        let at = |offset: i32| local.checked_sub(millis(offset));
        let mut previous = self.offset;
        for (instant, offset) in &self.transitions {
            let candidate = at(previous)?;
            if candidate < instant.millis() {
                return Instant::from_millis(candidate);
            }
            if at(*offset)? < instant.millis() {
                return Some(*instant);
            }
            previous = *offset;
        }
        Instant::from_millis(at(previous)?)
    }

    /// Returns the weekday, 0 for Sunday to 6 for Saturday.
    pub fn weekday(&self, instant: Instant) -> Option<u8> {
        self.day(instant).map(Day::weekday)
    }

    /// Returns the minutes since midnight.
    pub fn minute_of_day(&self, instant: Instant) -> Option<u16> {
        let wall = self.wall_clock(instant)?;
        u16::try_from(wall.hour().checked_mul(60)?.checked_add(wall.minute())?).ok()
    }

    /// Returns the local day of an instant.
    pub fn day(&self, instant: Instant) -> Option<Day> {
        self.wall_clock(instant).map(Day::local)
    }

    /// Returns the start of a day.
    pub fn start_of(&self, day: Day) -> Option<Instant> {
        self.instant_of(day.at(NaiveTime::MIN))
    }

    /// Returns the last millisecond of a day.
    pub fn end_of(&self, day: Day) -> Option<Instant> {
        let next = self.start_of(day.plus(1)?)?;
        Instant::from_millis(next.millis().checked_sub(1)?)
    }

    /// Parses an instant as callers send it: a date without a time of day is that bound of the day
    /// (docs/spec/calculation.md#19, D23).
    ///
    /// ```
    /// use scrip::time::DayBound;
    /// let warsaw = scrip::zones::named("Europe/Warsaw").unwrap();
    /// let read = |text, bound| warsaw.read_instant(text, bound).unwrap().to_string();
    /// assert_eq!(read("2026-03-01", DayBound::Start), "2026-02-28T23:00:00.000Z");
    /// assert_eq!(read("2026-03-29", DayBound::End), "2026-03-29T21:59:59.999Z");
    /// assert_eq!(read("2026-03-29T12:00:00Z", DayBound::End), "2026-03-29T12:00:00.000Z");
    /// ```
    pub fn read_instant(&self, text: &str, bound: DayBound) -> Option<Instant> {
        let instant = Instant::parse(text)?;
        let Some(day) = Day::parse(text) else { return Some(instant) };
        // In some zones the bound of the first or the last day is outside the calendar.
        Some(match bound {
            DayBound::Start => self.start_of(day).unwrap_or_default(),
            DayBound::End => self.end_of(day).unwrap_or(Instant::LATEST),
        })
    }
}

/// The bound of a day that a date without a time of day stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayBound {
    /// The start of the day, for a start.
    Start,
    /// The last millisecond of the day, for an end.
    End,
}

impl Instant {
    /// Returns the instant after a duration, with months counted on the calendar of the zone.
    pub fn after(self, duration: &Duration, zone: &TimeZone) -> Option<Instant> {
        let mut instant = self;
        if duration.months > 0 {
            let local = zone.wall_clock(self)?.checked_add_months(Months::new(duration.months))?;
            instant = zone.instant_of(local)?;
        }
        Instant::from_millis(instant.millis().checked_add(duration.millis)?)
    }

    /// Returns the instant a number of days later at an equal local time: a day is not always 24 hours.
    pub fn days_later(self, days: u32, zone: &TimeZone) -> Option<Instant> {
        zone.instant_of(zone.wall_clock(self)?.checked_add_days(Days::new(days.into()))?)
    }
}
