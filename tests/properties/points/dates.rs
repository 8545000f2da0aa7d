//! When points lapse and become active, beside the calendar walked through day by day.

use proptest::prelude::*;
use scrip::points::{CurrentPeriod, Wait};
use scrip::time::Instant;

use super::almanac::{Almanac, ZONE_COUNT, almanacs};
use super::plan::{hold, plan};
use crate::holds;

fn at(millis: i64) -> Instant {
    Instant::from_millis(millis).unwrap()
}

/// A moment of thirty years, often beside a change of clocks or the end of a year.
pub fn near(almanac: &Almanac, millis: i64, sort: u8, by: i64) -> i64 {
    match sort {
        0 => almanac.next_change(millis).map_or(millis, |change| change + by),
        1 => almanac.next_year(millis) + by,
        _ => millis,
    }
}

fn moment() -> impl Strategy<Value = (usize, i64, u8, i64)> {
    (0..ZONE_COUNT, 1_262_304_000_000..2_200_000_000_000_i64, 0..4_u8, -100_000_000..100_000_000_i64)
}

#[test]
fn points_lapse_at_the_end_of_the_day_that_is_meant() {
    let almanacs = almanacs();
    holds(20_000, (moment(), plan()), |((zone, millis, sort, by), plan)| {
        let almanac = &almanacs[zone];
        let millis = near(almanac, millis, sort, by);
        let expiry = plan.expiration().arriving(at(millis), &almanac.zone);
        let expected = almanac.lapse(&plan, millis);
        prop_assert_eq!(expiry.lapses_at().map(Instant::millis), expected);
        prop_assert!(!expiry.is_over(at(millis)), "it had lapsed when it arrived");
        if let Some(expected) = expected {
            prop_assert!(expiry.is_over(at(expected)) && !expiry.is_over(at(expected - 1)));
            let shown = expiry.last_day(&almanac.zone).map(|day| day.text());
            prop_assert_eq!(shown, Some(almanac.day(expected - 1).to_string()));
        }
        Ok(())
    });
}

#[test]
fn points_wait_until_the_day_that_is_meant() {
    let almanacs = almanacs();
    holds(20_000, (moment(), hold()), |((zone, millis, sort, by), hold)| {
        let almanac = &almanacs[zone];
        let millis = near(almanac, millis, sort, by);
        let wait = hold.delay().earned(at(millis), &almanac.zone);
        let found = wait.as_ref().map_or((None, None), |wait| (wait.activates_at(), wait.cancels_at()));
        let found = (found.0.map(Instant::millis), found.1.map(Instant::millis));
        prop_assert_eq!(found, almanac.wait(&hold, millis));
        prop_assert!(found.0.or(found.1).is_none_or(|end| end > millis), "it waits for what has been");
        if let Some(Wait::Event { types, .. }) = &wait {
            prop_assert_eq!(types.iter().any(|known| *known == "ms_a"), wait.as_ref().unwrap().is_for("ms_a"));
        }
        Ok(())
    });
}

#[test]
fn periods_begin_on_the_calendar() {
    let almanacs = almanacs();
    let units = [
        ('D', CurrentPeriod::Day),
        ('W', CurrentPeriod::Week),
        ('M', CurrentPeriod::Month),
        ('Q', CurrentPeriod::Quarter),
        ('Y', CurrentPeriod::Year),
    ];
    holds(10_000, (moment(), 0..units.len()), |((zone, millis, sort, by), unit)| {
        let almanac = &almanacs[zone];
        let millis = near(almanac, millis, sort, by);
        let (letter, period) = units[unit];
        prop_assert_eq!(period.begin(at(millis), &almanac.zone).millis(), almanac.period_begin(letter, millis));
        Ok(())
    });
}
