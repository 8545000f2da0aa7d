//! Tests time zones by name against the library's own arithmetic, and writes the expected values for other runtimes
//! (`tests/packaging/zones.json`, refreshed by `UPDATE=1`).

use chrono::{DateTime, NaiveDateTime, Offset, TimeZone as _};
use chrono_tz::{TZ_VARIANTS, Tz};
use proptest::prelude::*;
use scrip::time::{Instant, TimeZone};
use scrip::zones::named;
use serde_json::{Map, Value as Json, json};

use crate::properties::holds;

/// Zones of every kind: with and without summer time, with halves and quarters of hours, in the south, across the date line.
const SOME: [&str; 18] = [
    "Africa/Casablanca",
    "America/Caracas",
    "America/New_York",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Australia/Lord_Howe",
    "Etc/GMT+5",
    "Europe/Dublin",
    "Europe/London",
    "Europe/Moscow",
    "Europe/Warsaw",
    "Pacific/Apia",
    "Pacific/Chatham",
    "UTC",
];
const FROM: &str = "2000-01-01T00:00:00Z";
const TO: &str = "2038-01-01T00:00:00Z";

fn at(second: i64) -> Instant {
    Instant::from_millis(second * 1_000).unwrap()
}

fn local(zone: Tz, second: i64) -> NaiveDateTime {
    DateTime::from_timestamp(second, 0).unwrap().with_timezone(&zone).naive_local()
}

/// Compares every zone on every fifth day until 2100, and on each side of every change.
#[test]
fn every_time_zone_equals_the_library() {
    for zone in TZ_VARIANTS.iter().filter(|zone| zone.name().contains('/')) {
        let read = named(zone.name()).unwrap();
        let changes = read.transitions.iter().map(|(instant, _)| instant.millis() / 1_000);
        let beside = changes.flat_map(|second| [second - 1, second]).collect::<Vec<i64>>();
        for second in (0..4_102_444_800).step_by(5 * 86_400 + 25_200).chain(beside) {
            assert_eq!(read.wall_clock(at(second)), Some(local(*zone, second)), "{} at {second}", zone.name());
        }
    }
}

/// A local time is the first instant that has it, or the instant of the change that skips it.
#[test]
fn local_times_equal_the_library() {
    let zones: Vec<(TimeZone, Tz)> = SOME.iter().map(|name| (named(name).unwrap(), name.parse().unwrap())).collect();
    holds(
        20_000,
        (0..SOME.len(), 0..4_000_000_000_i64, any::<bool>(), -90_000..90_000_i64),
        |(zone, second, near, by)| {
            let (read, zone) = &zones[zone];
            let change = read.transitions.get(second as usize % read.transitions.len().max(1)).filter(|_| near);
            let second = change.map_or(second, |(change, _)| change.millis() / 1_000 + by).max(200_000);
            let local_time = DateTime::from_timestamp(second, 0).unwrap().naive_utc();
            let found = read.instant_of(local_time).unwrap().millis() / 1_000;
            match zone.from_local_datetime(&local_time).earliest() {
                Some(known) => prop_assert_eq!(found, known.timestamp()),
                None => prop_assert!(local(*zone, found - 1) < local_time && local_time < local(*zone, found)),
            }
            Ok(())
        },
    );
}

#[test]
fn only_zone_names_are_accepted() {
    for name in [
        "",
        "Mars",
        "Europe/",
        "/Warsaw",
        "Europe/Warsaw ",
        " Europe/Warsaw",
        "Europe/Atlantis",
        "CET",
        "EST5EDT",
        "+01:00",
        "Europe/Warsaw/",
        "Europe\u{2044}Warsaw",
        "utc",
    ] {
        assert_eq!(named(name), None, "{name}");
    }
    assert_eq!(
        named("europe/warsaw").map(|zone| zone.transitions),
        named("Europe/Warsaw").map(|zone| zone.transitions)
    );
    assert_eq!(named("GMT"), named("UTC"));
}

/// A few zones, as the package and the Worker must have them too.
#[test]
fn the_file_for_other_runtimes_is_current() {
    let (from, to) = (Instant::parse(FROM).unwrap(), Instant::parse(TO).unwrap());
    let mut zones = Map::new();
    for name in SOME {
        let zone: Tz = name.parse().unwrap();
        let begin = DateTime::from_timestamp_millis(from.millis()).unwrap().naive_utc();
        let offset = zone.offset_from_utc_datetime(&begin).fix().local_minus_utc();
        let read = named(name).unwrap();
        let within = read.transitions.iter().filter(|(instant, _)| (from..to).contains(instant));
        let within: Vec<Json> = within.map(|(instant, offset)| json!([instant.text(), offset])).collect();
        zones.insert(name.to_owned(), json!({ "offset": offset, "transitions": within }));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/packaging/zones.json");
    let text = serde_json::to_string(&zones).unwrap().replace("},\"", "},\n\"") + "\n";
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
}
