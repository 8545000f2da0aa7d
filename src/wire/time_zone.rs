//! Decides how a time zone is read: by its name, or as data, with its offset and its transitions. It must not know whose it is.

use crate::shape::{Kind, may, must, shape};
use crate::time::TimeZone;
use crate::wire::cursor::{Cursor, read};
use crate::zones;

/// A zone with the moments at which its clocks change.
pub const TIME_ZONE: Kind = shape!(
    "TimeZone",
    "A zone with the moments at which its clocks change",
    &[
        must("name", Kind::Text),
        may("offset", OFFSET).says("Seconds ahead of UTC before the first transition"),
        may("transitions", Kind::List(&TRANSITION, 0, usize::MAX)).says("When its clocks change"),
    ]
);

const OFFSET: Kind = Kind::Int(-86_399, 86_399);
const TRANSITION: Kind = Kind::Object(&[
    must("at", Kind::DateTime).says("From when"),
    must("offset", OFFSET).says("Seconds ahead of UTC from then on"),
]);

/// Reads a zone.
pub fn read_time_zone(at: &Cursor<'_>) -> TimeZone {
    if let Some(name) = at.node.as_str() {
        return at.or_wrong(zones::named(name), zones::NAMES);
    }
    at.object();
    let transitions = at.list("transitions", |at| (at.need("at", read::instant), at.need("offset", read_offset)));
    if !transitions.is_sorted_by_key(|(moment, _)| *moment) {
        at.problem("must have its transitions in the order of time");
    }
    TimeZone { name: at.need("name", read::text), offset: at.option("offset", read_offset).unwrap_or(0), transitions }
}

fn read_offset(at: &Cursor<'_>) -> i32 {
    let seconds = at.node.as_i64().and_then(|seconds| i32::try_from(seconds).ok());
    let seconds = seconds.filter(|seconds| seconds.unsigned_abs() < 86_400);
    at.or_wrong(seconds, "must be an integer of seconds, less than a day")
}
