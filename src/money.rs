//! Stores, adds and rounds amounts of money and percentages without floats. A formula rounds its own result (`formula/ratio.rs`); all other rounding of money is here.
//!
//! docs/spec/calculation.md#1: integers of minor units, half-up to a whole minor unit.

use std::fmt;

use crate::count::Countable;
use crate::text::{Decimal, decimal};

/// The largest integer that JSON readers and SQLite rows in a Durable Object keep exactly: 2^53 - 1.
pub const LARGEST: i64 = 9_007_199_254_740_991;

/// A non-negative amount in minor units (hundredths of the currency unit), at most [`LARGEST`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(u64);

impl Default for Money {
    fn default() -> Money {
        Money::ZERO
    }
}

impl Money {
    /// Zero.
    pub const ZERO: Money = Money::held(0);

    /// One minor unit.
    pub const UNIT: Money = Money::held(1);

    /// The largest amount, [`LARGEST`].
    pub const MAX: Money = Money::held(LARGEST.unsigned_abs());

    /// Returns an amount that is known to be within bounds.
    const fn held(minor: u64) -> Money {
        Money(minor)
    }

    /// Returns the amount, if it is within bounds.
    ///
    /// ```
    /// use scrip::money::Money;
    /// assert!(Money::new(9_007_199_254_740_991).is_some());
    /// assert!(Money::new(9_007_199_254_740_992).is_none());
    /// assert!(Money::new(-1).is_none());
    /// ```
    pub fn new(minor: i64) -> Option<Money> {
        if minor > LARGEST {
            return None;
        }
        u64::try_from(minor).ok().map(Money::held)
    }

    /// Returns an amount of minor units, if it is within bounds.
    #[inline]
    pub fn of(minor: u64) -> Option<Money> {
        (minor <= LARGEST.unsigned_abs()).then_some(Money::held(minor))
    }

    /// Returns the amount in minor units.
    #[inline]
    pub const fn minor(self) -> u64 {
        self.0
    }

    /// Returns the sum; `None` beyond [`LARGEST`].
    pub fn checked_add(self, other: Money) -> Option<Money> {
        Money::of(self.minor().checked_add(other.minor())?)
    }

    /// Returns what remains of the amount after `taken`, and nothing when that is more.
    #[must_use]
    pub fn remaining_after(self, taken: Money) -> Money {
        Money::held(self.minor().remaining_after(taken.minor()))
    }

    /// Returns the amount with a sign; [`LARGEST`] fits.
    #[inline]
    pub const fn signed(self) -> i64 {
        self.0.cast_signed()
    }

    /// Returns how much more this is than another amount, negative when it is less.
    #[inline]
    pub const fn difference_from(self, other: Money) -> i64 {
        // Both are from 0 to 2^53-1, so that 64 bits hold the difference.
        self.signed().wrapping_sub(other.signed())
    }

    /// Returns the amount multiplied by `count`; `None` beyond [`LARGEST`].
    pub fn checked_mul(self, count: u64) -> Option<Money> {
        Money::of(self.minor().checked_mul(count)?)
    }

    /// Returns this amount in the proportion `part / total`, rounded half up; `None` if `total` is 0 or the result is
    /// too large.
    #[inline]
    pub fn portion(self, part: u64, total: u64) -> Option<Money> {
        match self.minor().checked_mul(part).and_then(|numerator| round_half_up_narrow(numerator, total)) {
            Some(minor) => Money::of(minor),
            None => self.wide_portion(part, total),
        }
    }

    #[cold]
    fn wide_portion(self, part: u64, total: u64) -> Option<Money> {
        let numerator = u128::from(self.minor()).checked_mul(u128::from(part))?;
        Money::from_wide(round_half_up(numerator, u128::from(total))?)
    }

    /// Returns whether this is zero.
    pub fn is_zero(self) -> bool {
        self == Money::ZERO
    }

    /// Returns the amount of a wide intermediate result, if it is within bounds.
    pub fn from_wide(minor: u128) -> Option<Money> {
        i64::try_from(minor).ok().and_then(Money::new)
    }

    /// Returns the amount multiplied by `count`, at most [`Money::MAX`]. Only for a limit of another amount: a limit
    /// beyond the bounds excludes none.
    ///
    /// ```
    /// use scrip::money::Money;
    /// assert_eq!((Money::UNIT.capped_mul(2), Money::MAX.capped_mul(2)), (Money::new(2).unwrap(), Money::MAX));
    /// ```
    #[must_use]
    pub fn capped_mul(self, count: u64) -> Money {
        // A limit beyond the bounds excludes no amount.
        self.checked_mul(count).unwrap_or(Money::MAX)
    }

    /// Returns the sum of many amounts, at most [`Money::MAX`]. Only for a limit of another amount, as with
    /// [`Money::capped_mul`].
    ///
    /// ```
    /// use scrip::money::Money;
    /// assert_eq!(Money::capped_sum([Money::MAX, Money::UNIT]), Money::MAX);
    /// ```
    #[must_use]
    pub fn capped_sum(amounts: impl IntoIterator<Item = Money>) -> Money {
        // A limit beyond the bounds excludes no amount.
        Money::sum(amounts).unwrap_or(Money::MAX)
    }

    /// Returns the sum of many amounts; `None` beyond [`LARGEST`].
    pub fn sum(amounts: impl IntoIterator<Item = Money>) -> Option<Money> {
        amounts.into_iter().try_fold(Money::ZERO, Money::checked_add)
    }
}

/// Returns `numerator / denominator` as an integer, halves upwards; `None` if the denominator is 0.
///
/// ```
/// use scrip::money::round_half_up;
/// // docs/spec/calculation.md#1: 3 % of 50350 is 1510.5 and gives 1511.
/// assert_eq!(round_half_up(3 * 50_350, 100), Some(1511));
/// ```
pub fn round_half_up(numerator: u128, denominator: u128) -> Option<u128> {
    let doubled = numerator.checked_mul(2)?.checked_add(denominator)?;
    doubled.checked_div(denominator.checked_mul(2)?)
}

/// Rounds in 64 bits, if they suffice: wide division costs ten times as much. `None` makes the caller use the wide
/// form.
#[inline]
fn round_half_up_narrow(numerator: u64, denominator: u64) -> Option<u64> {
    let doubled = numerator.checked_mul(2)?.checked_add(denominator)?;
    doubled.checked_div(denominator.checked_mul(2)?)
}

/// The number of millionths in one percent.
const MILLIONTHS: u32 = 1_000_000;

/// All, in millionths of a percent.
const HUNDRED_PERCENT: u32 = 100 * MILLIONTHS;

/// A percentage from 0 to 100 with at most six decimals, stored as millionths of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Percent(u32);

impl Percent {
    /// Parses a percentage written as a plain decimal such as `12.5`; `None` out of bounds or with more than six
    /// decimals.
    ///
    /// ```
    /// use scrip::money::{Money, Percent};
    /// let ten = Percent::parse("10").unwrap();
    /// assert_eq!(ten.of(Money::new(11_499).unwrap()), Money::new(1150));
    /// assert!(Percent::parse("100.1").is_none());
    /// assert!(Percent::parse("-1").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Percent> {
        let decimal = Decimal::plain(text).filter(|decimal| decimal.decimals() <= 6)?;
        let millionths = u32::try_from(decimal.times_ten_to(6)?).ok()?;
        (millionths <= HUNDRED_PERCENT).then_some(Percent(millionths))
    }

    /// Returns a percentage in millionths of a percent, at most 100 percent.
    pub fn of_millionths(millionths: u128) -> Percent {
        Percent(u32::try_from(millionths).unwrap_or(HUNDRED_PERCENT).min(HUNDRED_PERCENT))
    }

    /// Returns this percentage of an amount, rounded half up; never more than the amount.
    #[inline]
    pub fn of(self, base: Money) -> Option<Money> {
        base.portion(u64::from(self.0), u64::from(HUNDRED_PERCENT))
    }

    /// Returns this percentage of the share of `part` of `total` units in an amount, rounded half up once at the end.
    ///
    /// ```
    /// use scrip::money::{Money, Percent};
    /// // Half of 101 is not rounded to 51 before half of it is taken: 25.25, not 25.5.
    /// assert_eq!(Percent::parse("50").unwrap().of_share(Money::new(101).unwrap(), 1, 2), Money::new(25));
    /// ```
    #[inline]
    pub fn of_share(self, base: Money, part: u64, total: u64) -> Option<Money> {
        if part >= total { self.of(base) } else { self.of_part(base, part, total) }
    }

    #[cold]
    fn of_part(self, base: Money, part: u64, total: u64) -> Option<Money> {
        let (percent, hundred) = (u128::from(self.0), u128::from(HUNDRED_PERCENT));
        // The share is `units + rest / total`; its parts are multiplied separately, so that no product exceeds 128
        // bits.
        let wide = u128::from(base.minor()).checked_mul(u128::from(part))?;
        let (units, rest) = (wide.checked_div(u128::from(total))?, wide.checked_rem(u128::from(total))?);
        let product = percent.checked_mul(units)?;
        let (sure, open) = (product.checked_div(hundred)?, product.checked_rem(hundred)?);
        let open = open.checked_mul(u128::from(total))?.checked_add(percent.checked_mul(rest)?)?;
        Money::from_wide(sure.checked_add(round_half_up(open, hundred.checked_mul(u128::from(total))?)?)?)
    }

    /// Returns this percentage multiplied by `count`, at most 100.
    pub fn checked_mul(self, count: u64) -> Percent {
        let millionths = u64::from(self.0).checked_mul(count).and_then(|all| u32::try_from(all).ok());
        Percent(millionths.map_or(HUNDRED_PERCENT, |all| all.min(HUNDRED_PERCENT)))
    }
}

impl Percent {
    /// Returns the shortest decimal.
    pub fn text(self) -> String {
        decimal(u128::from(self.0), 6)
    }
}

/// Prints [`Percent::text`].
impl fmt::Display for Percent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}
