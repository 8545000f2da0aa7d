//! Computes points in proportion to a number: `value` for every whole `every` in it.
//!
//! docs/spec/loyalty.md#4.1: `floor(base / every) * value`, in integers.

use super::card::POINTS_MAX;
use crate::count::product;
use crate::text::Decimal;
use std::fmt::{Display, Formatter, Result};

/// Returns the points of a number, each effect rounded down separately. Returns `None` if `every` is 0, or beyond
/// [`POINTS_MAX`]: the caller refuses then, and the points are never reduced silently.
///
/// ```
/// use scrip::points::proportional::points;
/// assert_eq!(points(2_599, 1_000, 5), Some(10));
/// assert_eq!(points(9_007_199_254_740_991, 1, 2), None);
/// ```
pub fn points(base: u64, every: u64, value: u64) -> Option<u64> {
    base.checked_div(every)?.checked_mul(value).filter(|points| *points <= POINTS_MAX)
}

/// The points of one step, with nine decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PointsPerStep(u128);

impl Display for PointsPerStep {
    /// Writes a number that reads back as equal.
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let (integer, rest) = (self.0.checked_div(PointsPerStep::ONE), self.0.checked_rem(PointsPerStep::ONE));
        // The divisor is not zero.
        write!(out, "{}.{:09}", integer.unwrap_or(0), rest.unwrap_or(0))
    }
}

impl PointsPerStep {
    const ONE: u128 = 1_000_000_000;

    /// Reads a number; `None` if it is negative, beyond [`POINTS_MAX`] or has more decimals.
    pub fn read(number: &Decimal<'_>) -> Option<PointsPerStep> {
        let decimals = i64::try_from(number.decimals()).ok()?.checked_sub(number.exponent.into())?;
        let worth = number.times_ten_to(9)?;
        let fits =
            !number.negative && decimals <= 9 && worth <= u128::from(POINTS_MAX).checked_mul(PointsPerStep::ONE)?;
        fits.then_some(PointsPerStep(worth))
    }

    /// Returns a whole number of points.
    pub fn of(points: u64) -> PointsPerStep {
        PointsPerStep(product(points, 1_000_000_000))
    }

    /// Returns the points of a number: its whole `every` steps multiplied by the points of a step, rounded down in
    /// total. Returns `None` as [`points`] does.
    ///
    /// ```
    /// use scrip::points::proportional::PointsPerStep;
    /// use scrip::text::Decimal;
    /// let half = PointsPerStep::read(&Decimal::read("1.5").unwrap()).unwrap();
    /// assert_eq!([half.points(3_500, 1_000), half.points(999, 1_000)], [Some(4), Some(0)]);
    /// ```
    pub fn points(self, base: u64, every: u64) -> Option<u64> {
        let steps = u128::from(base.checked_div(every)?);
        let points = steps.checked_mul(self.0)?.checked_div(PointsPerStep::ONE)?;
        u64::try_from(points).ok().filter(|points| *points <= POINTS_MAX)
    }
}

/// Returns the whole part of a merchant's number, such as metadata. A negative one counts as 0, and one beyond [`POINTS_MAX`]
/// is no number. A fraction is less than any `every`, so it counts as 0 too.
///
/// ```
/// use scrip::points::proportional::integer;
/// use scrip::text::Decimal;
/// let of = |text| integer(&Decimal::read(text).unwrap());
/// assert_eq!([of("12.9"), of("-3"), of("1.25e1"), of("9007199254740992")], [Some(12), Some(0), Some(12), None]);
/// ```
pub fn integer(number: &Decimal<'_>) -> Option<u64> {
    if number.negative {
        return Some(0);
    }
    u64::try_from(number.times_ten_to(0)?).ok().filter(|integer| *integer <= POINTS_MAX)
}
