//! Reads the validity of documents of loyalty programs: start, end and daily hours.
//!
//! docs/spec/loyalty.md sections 4 and 7.

use crate::model::redeemable::Validity;
use crate::time::DailyHours;
use crate::wire::cursor::{JsonCursor, NameTable, Read, read};
use crate::wire::loyalty::expiration::read_count;

const HOURS: NameTable<bool> = &[("ANY_TIME", false), ("DAILY", true)];

/// Reads the validity of a document. The older format of its hours has no type.
pub fn read_window(at: &JsonCursor<'_>) -> Validity {
    at.object();
    let mut window = Validity::default();
    at.fill_optional("start_date", &mut window.start_date, read::instant);
    at.fill_optional("end_date", &mut window.expiration_date, read::instant);
    window.hours = at.option("validity_hours", read_hours).flatten();
    window
}

fn read_hours(at: &JsonCursor<'_>) -> Option<Vec<DailyHours>> {
    at.object();
    let is_daily = at.option("type", |kind| kind.one_of(HOURS)).unwrap_or(true);
    is_daily.then(|| at.list("daily", read_daily))
}

fn read_daily(at: &JsonCursor<'_>) -> DailyHours {
    let clock: Read<u16> = |at| at.parsed(DailyHours::parse_clock, "must be a time HH:mm");
    at.object();
    let days = at.need("days_of_week", |days| days.all(read_count));
    let days = days.into_iter().filter_map(|day| u8::try_from(day).ok()).collect();
    let end = at.option("end_time", clock).unwrap_or(DailyHours::LAST_MINUTE);
    DailyHours { start: at.need("start_time", clock), end, days }
}
