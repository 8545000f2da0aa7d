//! Decides what a clock on the wall of a zone shows, and when it shows that. It must not know where a zone's transitions come
//! from.

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
    /// Moments and the offsets in seconds that hold from then on, in order.
    pub transitions: Vec<(Instant, i32)>,
}

fn millis(offset: i32) -> i64 {
    i64::from(offset).saturating_mul(1_000)
}

impl TimeZone {
    fn offset_at(&self, moment: Instant) -> i32 {
        let passed = self.transitions.partition_point(|(at, _)| *at <= moment);
        passed.checked_sub(1).and_then(|last| self.transitions.get(last)).map_or(self.offset, |(_, offset)| *offset)
    }

    /// What a clock on the wall shows.
    pub fn wall_clock(&self, moment: Instant) -> Option<NaiveDateTime> {
        let shown = moment.millis().checked_add(millis(self.offset_at(moment)))?;
        DateTime::from_timestamp_millis(shown).map(|shown| shown.naive_utc())
    }

    /// The first moment at which a clock on the wall shows this or, where it was put forward past it, the moment of that.
    pub fn moment_of(&self, wall: NaiveDateTime) -> Option<Instant> {
        let shown = wall.and_utc().timestamp_millis();
        let at = |offset: i32| shown.checked_sub(millis(offset));
        let mut previous = self.offset;
        for (moment, offset) in &self.transitions {
            let candidate = at(previous)?;
            if candidate < moment.millis() {
                return Instant::from_millis(candidate);
            }
            if at(*offset)? < moment.millis() {
                return Some(*moment);
            }
            previous = *offset;
        }
        Instant::from_millis(at(previous)?)
    }

    /// The weekday, 0 for Sunday to 6 for Saturday.
    pub fn weekday(&self, moment: Instant) -> Option<u8> {
        self.day(moment).map(Day::weekday)
    }

    /// Minutes since midnight.
    pub fn minute_of_day(&self, moment: Instant) -> Option<u16> {
        let wall = self.wall_clock(moment)?;
        u16::try_from(wall.hour().checked_mul(60)?.checked_add(wall.minute())?).ok()
    }

    /// The day that a calendar on the wall shows.
    pub fn day(&self, moment: Instant) -> Option<Day> {
        self.wall_clock(moment).map(Day::shown)
    }

    /// The first moment of a day.
    pub fn start_of(&self, day: Day) -> Option<Instant> {
        self.moment_of(day.at(NaiveTime::MIN))
    }
}

impl Instant {
    /// The moment a duration later, months counted on the calendar of the zone.
    pub fn after(self, duration: &Duration, zone: &TimeZone) -> Option<Instant> {
        let mut moment = self;
        if duration.months > 0 {
            let shown = zone.wall_clock(self)?.checked_add_months(Months::new(duration.months))?;
            moment = zone.moment_of(shown)?;
        }
        Instant::from_millis(moment.millis().checked_add(duration.millis)?)
    }

    /// The moment so many days later at which a clock on the wall shows the same: a day is not always 24 hours.
    pub fn days_later(self, days: u32, zone: &TimeZone) -> Option<Instant> {
        zone.moment_of(zone.wall_clock(self)?.checked_add_days(Days::new(days.into()))?)
    }
}
