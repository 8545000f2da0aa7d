//! Decides how many points a number is worth: `value` for every whole `every` in it. It must not know what the number says.
//!
//! loyalty-v2.md section 4.1: `floor(base / every) * value`, in integers.

use super::card::MOST;
use crate::text::Decimal;

/// The points of a number, each effect rounded down on its own. Nothing when `every` is 0, or when there were more points than
/// [`MOST`]: who asks refuses then, and nobody gets fewer in silence.
///
/// ```
/// use scrip::points::proportional::points;
/// assert_eq!(points(2_599, 1_000, 5), Some(10));
/// assert_eq!(points(9_007_199_254_740_991, 1, 2), None);
/// ```
pub fn points(base: u64, every: u64, value: u64) -> Option<u64> {
    base.checked_div(every)?.checked_mul(value).filter(|points| *points <= MOST)
}

/// How many points a step is worth, to the ninth decimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Worth(u128);

impl Worth {
    const ONE: u128 = 1_000_000_000;

    /// What a number says; nothing of one below 0, beyond [`MOST`] or with more decimals.
    pub fn read(number: &Decimal<'_>) -> Option<Worth> {
        let decimals = i64::try_from(number.decimals()).ok()?.checked_sub(number.exponent.into())?;
        let worth = number.times_ten_to(9)?;
        let fits = !number.negative && decimals <= 9 && worth <= u128::from(MOST).checked_mul(Worth::ONE)?;
        fits.then_some(Worth(worth))
    }

    /// So many whole points.
    pub fn of(points: u64) -> Worth {
        Worth(u128::from(points).saturating_mul(Worth::ONE))
    }

    /// The points of a number: for every whole `every` in it as much, all together rounded down. Nothing as for [`points`].
    ///
    /// ```
    /// use scrip::points::proportional::Worth;
    /// use scrip::text::Decimal;
    /// let half = Worth::read(&Decimal::read("1.5").unwrap()).unwrap();
    /// assert_eq!([half.points(3_500, 1_000), half.points(999, 1_000)], [Some(4), Some(0)]);
    /// ```
    pub fn points(self, base: u64, every: u64) -> Option<u64> {
        let steps = u128::from(base.checked_div(every)?);
        let points = steps.checked_mul(self.0)?.checked_div(Worth::ONE)?;
        u64::try_from(points).ok().filter(|points| *points <= MOST)
    }
}

/// The whole part of a number of somebody's own, such as metadata: what is below 0 is worth nothing, and what is beyond
/// [`MOST`] is no number. A fraction is less than any `every`, so that it is worth nothing either.
///
/// ```
/// use scrip::points::proportional::whole;
/// use scrip::text::Decimal;
/// let of = |text| whole(&Decimal::read(text).unwrap());
/// assert_eq!([of("12.9"), of("-3"), of("1.25e1"), of("9007199254740992")], [Some(12), Some(0), Some(12), None]);
/// ```
pub fn whole(number: &Decimal<'_>) -> Option<u64> {
    if number.negative {
        return Some(0);
    }
    u64::try_from(number.times_ten_to(0)?).ok().filter(|whole| *whole <= MOST)
}
