//! Tests invariants 1 and 3: amounts stay within bounds, and percentages are exact.

use proptest::prelude::*;
use scrip::money::{LARGEST, Money, Percent, round_half_up};

use crate::properties::holds;

/// Generates a percentage as its millionths, and in its written form.
fn percent() -> impl Strategy<Value = (u64, String)> {
    let plain = (0_u64..=100).prop_map(|whole| whole * 1_000_000);
    let exact = prop_oneof![2 => plain, 3 => 0..=100_000_000_u64, 1 => Just(500_000_u64)];
    exact.prop_map(|millionths| (millionths, format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)))
}

pub fn amount() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 0..=100_000_i64, 2 => 0..=LARGEST, 1 => LARGEST - 10..=LARGEST, 1 => Just(0)]
}

#[test]
fn money_beyond_its_bound_is_refused() {
    holds(2_000, (any::<i64>(), amount(), amount(), any::<u64>()), |(any, first, second, count)| {
        prop_assert_eq!(Money::new(any).is_some(), (0..=LARGEST).contains(&any));
        let (left, right) = (Money::new(first).unwrap(), Money::new(second).unwrap());
        let within = |exact: i128| (0..=i128::from(LARGEST)).contains(&exact).then_some(exact);
        let exact = |money: Option<Money>| money.map(|money| i128::from(money.minor()));
        prop_assert_eq!(exact(left.checked_add(right)), within(i128::from(first) + i128::from(second)));
        prop_assert_eq!(i128::from(left.remaining_after(right).minor()), i128::from(first - second).max(0));
        let product = i128::from(first).checked_mul(i128::from(count)).and_then(within);
        prop_assert_eq!(exact(left.checked_mul(count)), product);
        Ok(())
    });
}

/// Returns the cap of an optional amount, and its substitute where it is missing.
#[inline(never)]
fn capped(amount: Option<Money>, cap: Money, parts: u64) -> Money {
    let capped = amount.and_then(|amount| amount.checked_mul(parts)).map(|amount| amount.min(cap));
    capped.unwrap_or_else(|| stand_in(cap, parts))
}

#[inline(never)]
fn stand_in(cap: Money, parts: u64) -> Money {
    if parts == 0 { Money::ZERO } else { cap }
}

/// With a type whose value range has gaps, some optimisation levels of the compiler took a missing amount for a present one.
#[test]
fn a_missing_amount_stays_missing_under_a_cap() {
    let cap = Money::new(900).unwrap();
    assert_eq!(capped(std::hint::black_box(None), cap, 0), Money::ZERO);
    assert_eq!(capped(std::hint::black_box(None), cap, 2), cap);
    assert_eq!(capped(Money::new(5), cap, 2), Money::new(10).unwrap());
}

/// Half-up without a division: the result is less than a half below the exact quotient and at most a half above it.
#[test]
fn rounding_is_half_up() {
    // Small numbers, so that ties occur.
    let numerator = prop_oneof![0..1_000_u64, any::<u64>()];
    let denominator = prop_oneof![1..20_u64, 1..=u64::MAX];
    holds(3_000, (numerator, denominator), |(numerator, denominator)| {
        let (exact, whole) = (i128::from(numerator), i128::from(denominator));
        let rounded = i128::try_from(round_half_up(u128::from(numerator), u128::from(denominator)).unwrap()).unwrap();
        let above_doubled = 2 * (rounded * whole - exact);
        prop_assert!(-whole < above_doubled && above_doubled <= whole, "{rounded}");
        Ok(())
    });
}

#[test]
fn a_percentage_never_exceeds_its_share() {
    holds(3_000, (percent(), amount()), |((millionths, text), base)| {
        let percent = Percent::parse(&text).unwrap();
        let off = percent.of(Money::new(base).unwrap()).unwrap();
        let (whole, exact) = (100_000_000_i128, i128::from(base) * i128::from(millionths));
        let above_doubled = 2 * (i128::from(off.minor()) * whole - exact);
        prop_assert!(-whole < above_doubled && above_doubled <= whole, "{off:?}");
        prop_assert!(i128::from(off.minor()) <= i128::from(base));
        prop_assert_eq!(millionths == 100_000_000 && off.minor() != base.unsigned_abs(), false);
        Ok(())
    });
}

#[test]
fn a_larger_percentage_or_base_gives_no_smaller_discount() {
    holds(2_000, (percent(), percent(), amount(), amount()), |(one, other, first, second)| {
        let of = |text: &str, base: i64| Percent::parse(text).unwrap().of(Money::new(base).unwrap()).unwrap();
        let (small, large) = if one.0 <= other.0 { (&one.1, &other.1) } else { (&other.1, &one.1) };
        prop_assert!(of(small, first) <= of(large, first));
        prop_assert!(of(small, first.min(second)) <= of(small, first.max(second)));
        Ok(())
    });
}

#[test]
fn a_written_percentage_reads_back_equal() {
    holds(2_000, percent(), |(_, text)| {
        let read = Percent::parse(&text).unwrap();
        prop_assert_eq!(Percent::parse(&read.to_string()), Some(read));
        prop_assert!(serde_json::from_str::<serde_json::Value>(&read.to_string()).unwrap().is_number());
        Ok(())
    });
}

/// A percentage of a share is rounded once at the end, for all sizes.
#[test]
fn a_percentage_of_a_share_is_rounded_once() {
    let count = || prop_oneof![4 => 1..12_u64, 1 => 1..=LARGEST.unsigned_abs()];
    holds(3_000, (percent(), amount(), count(), count()), |((millionths, text), base, one, other)| {
        let (part, whole) = (one.min(other), one.max(other));
        let percent = Percent::parse(&text).unwrap();
        let off = percent.of_share(Money::new(base).unwrap(), part, whole).unwrap();
        // Small ones are compared exactly; large ones must lie between the neighbours in whole percents.
        if let Some(exact) = (i128::from(base) * i128::from(millionths)).checked_mul(i128::from(part)) {
            let below = 100_000_000_i128 * i128::from(whole);
            if let Some(found) = i128::from(off.minor()).checked_mul(below) {
                let above = found - exact;
                prop_assert!(-below < 2 * above && 2 * above <= below, "{off:?}");
            }
        }
        prop_assert!(i128::from(off.minor()) <= i128::from(base));
        let thrice = percent.checked_mul(3).of_share(Money::new(base).unwrap(), part, whole).unwrap();
        prop_assert!(off <= thrice && i128::from(thrice.minor()) <= i128::from(base));
        Ok(())
    });
}
