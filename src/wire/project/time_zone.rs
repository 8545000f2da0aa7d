//! Reads a time zone: by its name, or as data with its offset and its transitions.

use crate::shape::{FieldType, may, must, shape};
use crate::time::TimeZone;
use crate::wire::cursor::{JsonCursor, read};
use crate::zones;

/// A time zone with the instants at which its offset changes.
pub const TIME_ZONE: FieldType = shape!(
    "TimeZone",
    "Time zone with the moments at which the UTC offset changes.",
    &[
        must("name", FieldType::Text).description("Name of the time zone in the IANA database."),
        may("offset", OFFSET)
            .description("Seconds ahead of UTC before the first transition, negative for zones behind UTC. Default 0."),
        may("transitions", FieldType::List(&TRANSITION, 0, usize::MAX))
            .description("Changes of the UTC offset, in ascending order of time."),
    ]
);

const OFFSET: FieldType = FieldType::Int(-86_399, 86_399);
const TRANSITION: FieldType = FieldType::Object(&[
    must("at", FieldType::DateTime).description("Moment of the change, in UTC."),
    must("offset", OFFSET).description("Seconds ahead of UTC from this moment on, negative for zones behind UTC."),
]);

/// Reads a zone.
pub fn read_time_zone(at: &JsonCursor<'_>) -> TimeZone {
    if let Some(name) = at.node.as_str() {
        return at.or_wrong(zones::named(name), zones::NAMES);
    }
    at.object();
    let transitions = at.list("transitions", |at| (at.need("at", read::instant), at.need("offset", read_offset)));
    if !transitions.is_sorted_by_key(|(instant, _)| *instant) {
        at.problem("must have its transitions in the order of time");
    }
    TimeZone { name: at.need("name", read::text), offset: at.option("offset", read_offset).unwrap_or(0), transitions }
}

fn read_offset(at: &JsonCursor<'_>) -> i32 {
    let seconds = at.node.as_i64().and_then(|seconds| i32::try_from(seconds).ok());
    let seconds = seconds.filter(|seconds| seconds.unsigned_abs() < 86_400);
    at.or_wrong(seconds, "must be an integer of seconds, less than a day")
}
