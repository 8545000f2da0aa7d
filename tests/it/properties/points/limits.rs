//! Tests limits against second models: the possible earning is tried point by point, and rest periods are found in local time.

use chrono::{Datelike, NaiveDate, NaiveDateTime};
use proptest::prelude::*;
use scrip::points::limits::{
    Cooldown, EarnedSoFar, EarningLimits, FireCount, GlobalLimit, LimitRefusal, SpendingLimits, SpentTotals,
    TriggerLimits,
};
use scrip::points::{CurrentPeriod, POINTS_MAX, proportional};
use scrip::text::Decimal;
use scrip::time::{Instant, TimeZone};
use scrip::zones::named;

use super::calendar_model::{ZONE_COUNT, almanacs};
use super::dates::near;
use crate::properties::holds;

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

fn global() -> impl Strategy<Value = GlobalLimit> {
    prop_oneof![
        Just(GlobalLimit::None),
        (1..40_u64).prop_map(GlobalLimit::Total),
        (1..40_u64).prop_map(|most| GlobalLimit::Current(CurrentPeriod::Month, most)),
    ]
}

#[test]
fn limits_admit_the_same_points_as_one_by_one() {
    let so_far = (-20..50_i64, 0..20_u64, 0..50_u64);
    let limits = (global(), prop::option::of(1..20_u64), prop::option::of(1..100_u64));
    holds(10_000, (0..30_u64, prop::option::of(0..100_u64), limits, so_far), |(points, paid, limits, so_far)| {
        let (global, most, min_amount) = limits;
        let (balance, pending, in_period) = so_far;
        let limits = EarningLimits { global, most, min_amount };
        let mut expected = 0;
        let enough = match (paid, min_amount) {
            (Some(paid), Some(least)) => paid >= least,
            _ => true,
        };
        for next in 1..=points {
            let fits = match global {
                GlobalLimit::None => true,
                GlobalLimit::Total(max) => balance + i64::try_from(pending + next).unwrap() <= max as i64,
                GlobalLimit::Current(_, max) => in_period + next <= max,
            };
            if enough && fits && most.is_none_or(|most| next <= most) {
                expected = next;
            }
        }
        prop_assert_eq!(limits.earned(points, paid, EarnedSoFar { balance, pending, in_period }), expected);
        let spending = SpendingLimits { global, most };
        let spendable = spending.spendable(SpentTotals { balance, total: pending, in_period });
        let may = |next: u64| {
            let fits = match global {
                GlobalLimit::None => true,
                GlobalLimit::Total(max) => pending + next <= max,
                GlobalLimit::Current(_, max) => in_period + next <= max,
            };
            fits && most.is_none_or(|most| next <= most) && next as i64 <= balance
        };
        prop_assert_eq!(spendable, (1..=60).filter(|next| may(*next)).max().unwrap_or(0));
        Ok(())
    });
}

#[test]
fn extreme_limits_and_balances_do_not_overflow() {
    let so_far = EarnedSoFar { balance: i64::MIN, pending: 0, in_period: 0 };
    let limits = EarningLimits { global: GlobalLimit::Total(u64::MAX), ..EarningLimits::default() };
    assert_eq!(limits.earned(POINTS_MAX, None, so_far), POINTS_MAX);
    assert_eq!(EarningLimits::default().earned(POINTS_MAX, Some(0), EarnedSoFar::default()), POINTS_MAX);
    let full = EarnedSoFar { balance: i64::MAX, pending: u64::MAX, in_period: u64::MAX };
    assert_eq!(limits.earned(POINTS_MAX, None, full), 0);
}

/// Returns the local time this much later, counting days and months one by one.
fn wall_later(from: NaiveDateTime, count: u32, unit: char) -> NaiveDateTime {
    let date = match unit {
        'D' => (0..count).fold(from.date(), |day, _| day.succ_opt().unwrap()),
        _ => {
            let month = from.month0() + count * if unit == 'Y' { 12 } else { 1 };
            let (year, month) = (from.year() + i32::try_from(month / 12).unwrap(), month % 12 + 1);
            (1..=from.day()).rev().find_map(|day| NaiveDate::from_ymd_opt(year, month, day)).unwrap()
        }
    };
    date.and_time(from.time())
}

#[test]
fn a_cooldown_ends_at_the_local_time() {
    let almanacs = almanacs();
    let generated_instant =
        (0..ZONE_COUNT, 1_262_304_000_000..2_200_000_000_000_i64, 0..3_u8, -9_000_000..9_000_000_i64);
    holds(5_000, (generated_instant, 1..50_u32, 0..5_u8), |((zone, millis, sort, by), count, unit)| {
        let calendar = &almanacs[zone];
        let fired = Instant::from_millis(near(calendar, millis, sort, by)).unwrap();
        let local = calendar.zone.wall_clock(fired).unwrap();
        let (cooldown, until) = match unit {
            0 => (Cooldown::Hours(count), None),
            1 => (Cooldown::Days(count), Some(wall_later(local, count, 'D'))),
            2 => (Cooldown::Weeks(count), Some(wall_later(local, count * 7, 'D'))),
            3 => (Cooldown::Months(count), Some(wall_later(local, count, 'M'))),
            _ => (Cooldown::Years(count), Some(wall_later(local, count, 'Y'))),
        };
        let end = cooldown.end(fired, &calendar.zone);
        match until {
            None => prop_assert_eq!(end.millis() - fired.millis(), i64::from(count) * 3_600_000),
            Some(until) => prop_assert_eq!(Some(end), calendar.zone.instant_of(until)),
        }
        let limits = TriggerLimits { cooldown: Some(cooldown), frequency: None };
        let once = limits.fired(&[fired], end, &calendar.zone);
        prop_assert_eq!(limits.allow(once, end, &calendar.zone), Ok(()));
        let early = end.later(-1);
        prop_assert_eq!(limits.allow(once, early, &calendar.zone), Err(LimitRefusal::Until(end)));
        Ok(())
    });
}

#[test]
fn a_rule_fires_up_to_its_limit_in_a_period_and_cools_down_between() {
    let warsaw = named("Europe/Warsaw").unwrap();
    let limits = TriggerLimits { cooldown: Some(Cooldown::Hours(1)), frequency: Some((CurrentPeriod::Day, 2)) };
    // 2026-03-28T23:00Z is midnight in Warsaw, and the day has 23 hours.
    let earlier = [at("2026-03-28T22:59:59.999Z"), at("2026-03-28T23:00:00Z"), at("2026-03-29T08:00:00Z")];
    let allow = |earlier: &[Instant], now: &str| {
        let fired = limits.fired(earlier, at(now), &warsaw);
        limits.allow(fired, at(now), &warsaw)
    };
    assert_eq!(allow(&earlier, "2026-03-29T08:59:59.999Z"), Err(LimitRefusal::Until(at("2026-03-29T09:00:00Z"))));
    assert_eq!(allow(&earlier, "2026-03-29T09:00:00Z"), Err(LimitRefusal::Exhausted));
    assert_eq!(allow(&earlier, "2026-03-29T21:59:59.999Z"), Err(LimitRefusal::Exhausted));
    assert_eq!(allow(&earlier, "2026-03-29T22:00:00Z"), Ok(()));
    assert_eq!(allow(&earlier[..2], "2026-03-29T09:00:00Z"), Ok(()));
    assert_eq!(limits.since(at("2026-03-29T09:00:00Z"), &warsaw), Some(at("2026-03-28T23:00:00Z")));
    let free = TriggerLimits::default();
    assert_eq!(
        free.allow(FireCount { last: Some(at("2026-01-01")), in_period: u64::MAX }, at("2026-01-01"), &warsaw),
        Ok(())
    );
}

#[test]
fn a_cooldown_from_a_31st_ends_on_the_last_day_of_a_shorter_month() {
    let utc = TimeZone::default();
    let end = |rest: Cooldown, from: &str| rest.end(at(from), &utc).text();
    assert_eq!(end(Cooldown::Months(1), "2026-01-31T10:00:00Z"), "2026-02-28T10:00:00.000Z");
    assert_eq!(end(Cooldown::Years(1), "2024-02-29T10:00:00Z"), "2025-02-28T10:00:00.000Z");
    assert_eq!(end(Cooldown::Weeks(2), "2026-01-31T10:00:00Z"), "2026-02-14T10:00:00.000Z");
    // A rest beyond the calendar never ends.
    for rest in [Cooldown::Years(u32::MAX), Cooldown::Months(u32::MAX), Cooldown::Weeks(u32::MAX)] {
        assert_eq!(rest.end(at("2026-01-01"), &utc), Instant::LATEST);
    }
}

#[test]
fn every_whole_step_of_a_number_is_worth_points() {
    holds(5_000, (0..400_u64, 1..50_u64, 0..9_u64), |(base, every, value)| {
        let mut expected = 0;
        let mut spent = every;
        while spent <= base {
            (expected, spent) = (expected + value, spent + every);
        }
        prop_assert_eq!(proportional::points(base, every, value), Some(expected));
        Ok(())
    });
    assert_eq!(proportional::points(100, 0, 1), None);
    assert_eq!(proportional::points(POINTS_MAX, 1, 1), Some(POINTS_MAX));
    assert_eq!(proportional::points(POINTS_MAX, 2, 2), Some(POINTS_MAX - 1));
    assert_eq!(proportional::points(POINTS_MAX, 1, POINTS_MAX), None);
    assert_eq!(proportional::points(u64::MAX, 1, 1), None);
}

/// A fractional number, as metadata has it, counts with its integer part. No step loses points by that.
#[test]
fn a_fraction_gives_no_step() {
    holds(3_000, (-500..5_000_i64, 0..100_u32, 1..20_u64), |(whole, hundredths, every)| {
        let text = format!("{whole}.{hundredths:02}");
        let base = proportional::integer(&Decimal::read(&text).unwrap()).unwrap();
        let exact = i64::from(hundredths) + whole * 100;
        let steps = exact.max(0) / (every as i64 * 100);
        prop_assert_eq!(proportional::points(base, every, 1), Some(u64::try_from(steps).unwrap()));
        Ok(())
    });
}
