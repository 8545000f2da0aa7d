//! Tests when points expire and become active, against the calendar that is walked through day by day.

use proptest::prelude::*;
use scrip::points::{CurrentPeriod, PendingUntil};
use scrip::time::Instant;

use super::calendar_model::{CalendarModel, ZONE_COUNT, almanacs};
use super::operations::{hold, plan};
use crate::properties::holds;

fn at(millis: i64) -> Instant {
    Instant::from_millis(millis).unwrap()
}

/// Returns an instant within thirty years, often close to a change of clocks or the end of a year.
pub fn near(calendar: &CalendarModel, millis: i64, sort: u8, by: i64) -> i64 {
    match sort {
        0 => calendar.next_change(millis).map_or(millis, |change| change + by),
        1 => calendar.next_year(millis) + by,
        _ => millis,
    }
}

fn instant() -> impl Strategy<Value = (usize, i64, u8, i64)> {
    (0..ZONE_COUNT, 1_262_304_000_000..2_200_000_000_000_i64, 0..4_u8, -100_000_000..100_000_000_i64)
}

#[test]
fn points_expire_at_the_end_of_the_expected_day() {
    let almanacs = almanacs();
    holds(20_000, (instant(), plan()), |((zone, millis, sort, by), plan)| {
        let calendar = &almanacs[zone];
        let millis = near(calendar, millis, sort, by);
        let expiry = plan.expiration().expiry_at(at(millis), &calendar.zone);
        let expected = calendar.expiry_of(&plan, millis);
        prop_assert_eq!(expiry.expires_at().map(Instant::millis), expected);
        prop_assert!(!expiry.is_over(at(millis)), "it had lapsed when it arrived");
        if let Some(expected) = expected {
            prop_assert!(expiry.is_over(at(expected)) && !expiry.is_over(at(expected - 1)));
            let last_day = expiry.last_day(&calendar.zone).map(|day| day.text());
            prop_assert_eq!(last_day, Some(calendar.day(expected - 1).to_string()));
        }
        Ok(())
    });
}

#[test]
fn points_are_pending_until_the_expected_day() {
    let almanacs = almanacs();
    holds(20_000, (instant(), hold()), |((zone, millis, sort, by), hold)| {
        let calendar = &almanacs[zone];
        let millis = near(calendar, millis, sort, by);
        let pending_until = hold.delay().earned(at(millis), &calendar.zone);
        let found = pending_until
            .as_ref()
            .map_or((None, None), |pending_until| (pending_until.activates_at(), pending_until.cancels_at()));
        let found = (found.0.map(Instant::millis), found.1.map(Instant::millis));
        prop_assert_eq!(found, calendar.pending_until(&hold, millis));
        prop_assert!(found.0.or(found.1).is_none_or(|end| end > millis), "it waits for what has been");
        if let Some(PendingUntil::Event { types, .. }) = &pending_until {
            prop_assert_eq!(types.iter().any(|known| *known == "ms_a"), pending_until.as_ref().unwrap().is_for("ms_a"));
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
    holds(10_000, (instant(), 0..units.len()), |((zone, millis, sort, by), unit)| {
        let calendar = &almanacs[zone];
        let millis = near(calendar, millis, sort, by);
        let (code, period) = units[unit];
        prop_assert_eq!(period.start(at(millis), &calendar.zone).millis(), calendar.period_begin(code, millis));
        Ok(())
    });
}
