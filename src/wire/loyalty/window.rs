//! Decides how it is read when a document of a loyalty program holds: from when to when, and in which hours. It must not know what holds.
//!
//! loyalty-v2.md sections 4 and 7.

use crate::model::incentive::Validity;
use crate::time::DailyHours;
use crate::wire::cursor::{Cursor, Read, Words, read};
use crate::wire::loyalty::expiration::read_count;

const HOURS: Words<bool> = &[("ANY_TIME", false), ("DAILY", true)];

/// Reads when a document holds. The older form of its hours has no type.
pub fn read_window(at: &Cursor<'_>) -> Validity {
    at.object();
    let mut window = Validity::default();
    at.fill_some("start_date", &mut window.start_date, read::instant);
    at.fill_some("end_date", &mut window.expiration_date, read::instant);
    window.hours = at.option("validity_hours", read_hours).flatten();
    window
}

fn read_hours(at: &Cursor<'_>) -> Option<Vec<DailyHours>> {
    at.object();
    let is_daily = at.option("type", |kind| kind.one_of(HOURS)).unwrap_or(true);
    is_daily.then(|| at.list("daily", read_daily))
}

fn read_daily(at: &Cursor<'_>) -> DailyHours {
    let clock: Read<u16> = |at| at.parsed(DailyHours::parse_clock, "must be a time HH:mm");
    at.object();
    let days = at.need("days_of_week", |days| days.all(read_count));
    let days = days.into_iter().filter_map(|day| u8::try_from(day).ok()).collect();
    DailyHours { start: at.need("start_time", clock), end: at.need("end_time", clock), days }
}
