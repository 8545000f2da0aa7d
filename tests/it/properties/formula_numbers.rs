//! Tests the numbers of formulas against a slow second model: exact for all operands, and never wrong at their limits.

use proptest::prelude::*;
use scrip::formula::Ratio;

use crate::properties::exact_fractions::{Big, Fraction};
use crate::properties::holds;

fn part() -> impl Strategy<Value = i128> {
    prop_oneof![
        4 => -1_000..1_000_i128,
        3 => any::<i64>().prop_map(i128::from),
        2 => any::<i128>(),
        1 => prop_oneof![Just(i128::MAX), Just(i128::MIN), Just(i128::MAX - 1), Just(i128::MIN + 1)],
    ]
}

/// Two numbers, each with its model.
fn pairs() -> impl Strategy<Value = [(Ratio, Fraction); 2]> {
    let number = || {
        (part(), part()).prop_filter_map("a number within bounds", |(top, bottom)| {
            Some((Ratio::new(top, bottom)?, Fraction::new(Big::of(top), Big::of(bottom))?))
        })
    };
    [number(), number()]
}

/// The found number is exactly the expected one, or the expected one may be too large.
fn agrees(found: Option<Ratio>, expected: Option<Fraction>) -> Result<(), TestCaseError> {
    match (found, expected) {
        (None, None) => Ok(()),
        (Some(found), Some(expected)) => {
            prop_assert!(Fraction::read(&found.to_string()).compare(&expected).is_eq(), "{found} is not {expected:?}");
            Ok(())
        }
        (None, Some(expected)) => {
            prop_assert!(!expected.is_small(), "{expected:?} was given up");
            Ok(())
        }
        (Some(found), None) => {
            prop_assert!(false, "{found} of a division by zero");
            Ok(())
        }
    }
}

#[test]
fn sums_products_and_quotients_are_exact() {
    holds(6_000, pairs(), |[(one, slow_one), (two, slow_two)]| {
        agrees(one.checked_add(two), Some(slow_one.plus(&slow_two)))?;
        agrees(one.minus(two), Some(slow_one.minus(&slow_two)))?;
        agrees(one.times(two), Some(slow_one.times(&slow_two)))?;
        agrees(one.divided_by(two), slow_one.divided_by(&slow_two))?;
        match one.compare(two) {
            Some(order) => prop_assert_eq!(order, slow_one.compare(&slow_two)),
            None => prop_assert!(!slow_one.minus(&slow_two).is_small()),
        }
        prop_assert_eq!(one == two, slow_one.compare(&slow_two).is_eq());
        prop_assert_eq!(one.is_negative(), slow_one.compare(&Fraction::integer(0)).is_lt());
        Ok(())
    });
}

#[test]
fn a_remainder_is_left_after_whole_multiples() {
    let small = || (-100_000..100_000_i128, 1..1_000_i128).prop_map(|(top, bottom)| Ratio::new(top, bottom).unwrap());
    holds(3_000, (small(), small()), |(one, two)| {
        let Some(rest) = one.remainder(two) else {
            prop_assert_eq!(two, Ratio::ZERO);
            return Ok(());
        };
        let size = |number: Ratio| if number.is_negative() { number.negated().unwrap() } else { number };
        prop_assert!(size(rest).compare(size(two)) == Some(std::cmp::Ordering::Less));
        prop_assert!(rest == Ratio::ZERO || rest.is_negative() == one.is_negative());
        prop_assert!(one.minus(rest).unwrap().divided_by(two).unwrap().as_integer().is_some());
        Ok(())
    });
}

/// The model describes rounding by its neighbours: down is at most the number and less than a step below it.
#[test]
fn rounding_stays_within_a_step() {
    let number = (any::<i64>(), 1..100_000_i128).prop_map(|(top, bottom)| Ratio::new(i128::from(top), bottom).unwrap());
    holds(4_000, (number, -6..=6_i128), |(number, digits)| {
        let slow = |number: Ratio| Fraction::read(&number.to_string());
        let ten = |power: i128| (0..power).fold(Fraction::integer(1), |step, _| step.times(&Fraction::integer(10)));
        let step = if digits < 0 { ten(-digits) } else { Fraction::integer(1).divided_by(&ten(digits)).unwrap() };
        let (down, up, near) =
            (number.floor(digits).unwrap(), number.ceil(digits).unwrap(), number.round(digits).unwrap());
        for rounded in [down, up, near] {
            let scaled = slow(rounded).divided_by(&step).unwrap();
            let integer = rounded.times(Ratio::parse(&format!("1e{digits}")).unwrap()).unwrap();
            prop_assert!(integer.as_integer().is_some(), "{rounded} is no multiple of {step:?}: {scaled:?}");
        }
        let exact = slow(number);
        let below = exact.minus(&slow(down));
        prop_assert!(below.compare(&Fraction::integer(0)).is_ge() && below.compare(&step).is_lt());
        let above = slow(up).minus(&exact);
        prop_assert!(above.compare(&Fraction::integer(0)).is_ge() && above.compare(&step).is_lt());
        // Half-up: less than half a step above, and at least half a step below the next one up.
        let doubled = exact.minus(&slow(near)).times(&Fraction::integer(2));
        let least = Fraction::integer(0).minus(&step);
        prop_assert!(doubled.compare(&least).is_ge() && doubled.compare(&step).is_lt());
        Ok(())
    });
}

#[test]
fn powers_are_products() {
    let base = (-50..50_i128, 1..50_i128).prop_map(|(top, bottom)| Ratio::new(top, bottom).unwrap());
    holds(1_000, (base, -8..=8_i128), |(base, power)| {
        let product = (0..power.abs()).fold(Ratio::integer(1), |product, _| product.times(base).unwrap());
        let expected = if power < 0 { Ratio::integer(1).divided_by(product) } else { Some(product) };
        prop_assert_eq!(base.power(Ratio::integer(power)), expected);
        Ok(())
    });
}

#[test]
fn a_written_decimal_reads_back_equal() {
    let text = "-?(0|[1-9][0-9]{0,18})(\\.[0-9]{0,17}[1-9])?";
    holds(2_000, text, |text| {
        let number = Ratio::parse(&text).unwrap();
        let plain = if number == Ratio::ZERO { "0" } else { text.as_str() };
        prop_assert_eq!(number.to_string(), plain);
        prop_assert_eq!(Ratio::parse(&format!("{text}e0")), Some(number));
        Ok(())
    });
}

#[test]
fn a_result_out_of_bounds_is_no_number() {
    let largest = Ratio::integer(i128::MAX);
    let one = Ratio::integer(1);
    assert_eq!(largest.checked_add(one), None);
    let smallest = Ratio::integer(i128::MIN);
    assert_eq!(smallest.negated(), None);
    assert_eq!(Ratio::parse(&smallest.to_string()), Some(smallest));
    assert_eq!(Ratio::parse("170141183460469231731687303715884105728"), None);
    assert_eq!(largest.times(Ratio::integer(2)), None);
    assert_eq!(largest.times(largest.divided_by(largest).unwrap()), Some(largest));
    assert_eq!(one.divided_by(Ratio::ZERO), None);
    assert_eq!(one.remainder(Ratio::ZERO), None);
    assert_eq!(Ratio::ZERO.power(Ratio::integer(-1)), None);
    assert_eq!(Ratio::ZERO.power(Ratio::ZERO), Some(one));
    assert_eq!(Ratio::integer(2).power(Ratio::integer(127)), None);
    assert_eq!(Ratio::integer(2).power(Ratio::new(1, 2).unwrap()), None);
    assert_eq!(one.power(largest), Some(one));
    assert_eq!(one.round(19), None);
    assert_eq!(largest.round(2), None);
    assert_eq!(Ratio::integer(25).round(-18), Some(Ratio::ZERO));
}
