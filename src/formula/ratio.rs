//! Computes with the numbers of a formula as exact fractions, so that no precision is lost before the one rounding at
//! the end. Results out of bounds are `None`, never wrong.
//!
//! docs/spec/calculation.md#1.7.

use std::cmp::Ordering;
use std::fmt;

use crate::count::Countable;
use crate::money::Money;
use crate::text::{Decimal, Text};

/// A fraction in lowest terms; both parts fit in 127 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    /// The numerator, with the sign.
    top: i128,
    /// The denominator, above 0.
    bottom: i128,
}

/// Returns the greatest common divisor; 1 if it exceeds a signed number.
fn common(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one.unsigned_abs(), other.unsigned_abs());
    while let Some(rest) = one.checked_rem(other) {
        (one, other) = (other, rest);
    }
    i128::try_from(one).unwrap_or(1).max(1)
}

/// The maximum number of decimals for rounding, and of digits before the decimal point.
const DIGITS_MAX: i128 = 18;

impl Ratio {
    /// Zero.
    pub const ZERO: Ratio = Ratio { top: 0, bottom: 1 };
    const HALF: Ratio = Ratio { top: 1, bottom: 2 };

    /// Returns a whole number.
    pub fn integer(number: i128) -> Ratio {
        Ratio { top: number, bottom: 1 }
    }

    /// Returns `top / bottom`; `None` if `bottom` is 0.
    #[inline(never)]
    pub fn new(top: i128, bottom: i128) -> Option<Ratio> {
        let shared = common(top, bottom);
        let (top, bottom) = (top.checked_div(shared)?, bottom.checked_div(shared)?);
        match bottom.signum() {
            0 => None,
            1 => Some(Ratio { top, bottom }),
            _ => Some(Ratio { top: top.checked_neg()?, bottom: bottom.checked_neg()? }),
        }
    }

    /// Returns an amount in major units: `ORDER_AMOUNT` of 11499 minor units is 114.99.
    pub fn of_money(money: Money) -> Ratio {
        Ratio::new(i128::from(money.minor()), 100).unwrap_or(Ratio::ZERO)
    }

    /// Parses a decimal in the format of JSON or a formula: `12`, `-0.5`, `1e3`.
    ///
    /// ```
    /// use scrip::formula::Ratio;
    /// assert_eq!(Ratio::parse("0.10"), Ratio::new(1, 10));
    /// assert_eq!(Ratio::parse("-1.5e1"), Some(Ratio::integer(-15)));
    /// for wrong in ["", "-", ".5", "5.", "+1", "1e", "0x1", " 1", "1 ", "1e99"] {
    ///     assert_eq!(Ratio::parse(wrong), None);
    /// }
    /// ```
    pub fn parse(text: &str) -> Option<Ratio> {
        let decimal = Decimal::read(text)?;
        let power = i8::try_from(decimal.exponent).ok()?;
        // Trailing zeros are dropped: they would only use up the bounds.
        let positions = i64::try_from(decimal.decimals()).ok()?.checked_sub(i64::from(power))?;
        let size = decimal.times_ten_to(positions)?;
        let top = if decimal.negative { 0_i128.checked_sub_unsigned(size)? } else { i128::try_from(size).ok()? };
        Ratio::integer(top).shifted(i128::from(positions.checked_neg()?))
    }

    /// Returns this times 10 to a power.
    fn shifted(self, power: i128) -> Option<Ratio> {
        self.times(Ratio::integer(10).power(Ratio::integer(power))?)
    }

    /// Returns the sum.
    pub fn checked_add(self, other: Ratio) -> Option<Ratio> {
        let Ratio { top: own, bottom: others } = Ratio::new(self.bottom, other.bottom)?;
        let top = self.top.checked_mul(others)?.checked_add(other.top.checked_mul(own)?)?;
        Ratio::new(top, self.bottom.checked_mul(others)?)
    }

    /// Returns the negated number.
    pub fn negated(self) -> Option<Ratio> {
        Some(Ratio { top: self.top.checked_neg()?, bottom: self.bottom })
    }

    /// Returns the difference.
    pub fn minus(self, other: Ratio) -> Option<Ratio> {
        self.checked_add(other.negated()?)
    }

    /// Returns the product.
    pub fn times(self, other: Ratio) -> Option<Ratio> {
        // Reduced crosswise first, so that only results that are really too large fail.
        let (left, right) = (Ratio::new(self.top, other.bottom)?, Ratio::new(other.top, self.bottom)?);
        Some(Ratio { top: left.top.checked_mul(right.top)?, bottom: left.bottom.checked_mul(right.bottom)? })
    }

    /// Returns the quotient; `None` for a division by zero.
    pub fn divided_by(self, other: Ratio) -> Option<Ratio> {
        self.times(Ratio::new(other.bottom, other.top)?)
    }

    /// Returns the remainder of a division to a whole number, with the sign of this: 5.5 by 2 leaves 1.5.
    pub fn remainder(self, other: Ratio) -> Option<Ratio> {
        let quotient = self.divided_by(other)?;
        let integer = quotient.top.checked_div(quotient.bottom)?;
        self.minus(other.times(Ratio::integer(integer))?)
    }

    /// Returns this to a whole power; a negative one gives the reciprocal.
    pub fn power(self, power: Ratio) -> Option<Ratio> {
        let mut left = power.as_integer()?.unsigned_abs();
        let mut base = if power.top < 0 { Ratio::integer(1).divided_by(self)? } else { self };
        let mut result = Ratio::integer(1);
        while left > 0 {
            if left & 1 == 1 {
                result = result.times(base)?;
            }
            left >>= 1;
            if left > 0 {
                base = base.times(base)?;
            }
        }
        Some(result)
    }

    /// Returns the integer, if this is whole.
    pub fn as_integer(self) -> Option<i128> {
        (self.bottom == 1).then_some(self.top)
    }

    /// Returns whether this is negative.
    pub fn is_negative(self) -> bool {
        self.top < 0
    }

    /// Compares with another number; `None` if their difference is out of bounds.
    pub fn compare(self, other: Ratio) -> Option<Ordering> {
        Some(self.minus(other)?.top.cmp(&0))
    }

    /// Returns the largest whole number that is at most this.
    fn floored(self) -> i128 {
        // No ratio has 0 below.
        self.top.checked_div_euclid(self.bottom).unwrap_or(0)
    }

    /// Returns the nearest whole number, halves upwards.
    pub fn half_up(self) -> Option<i128> {
        Some(self.checked_add(Ratio::HALF)?.floored())
    }

    /// Rounds half up to a number of decimals; a negative number rounds to tens, hundreds and so on.
    ///
    /// ```
    /// use scrip::formula::Ratio;
    /// let number = |text| Ratio::parse(text).unwrap();
    /// assert_eq!(number("75.55").round(1), Ratio::parse("75.6"));
    /// assert_eq!(number("75.55").round(-1), Ratio::parse("80"));
    /// assert_eq!(number("-2.5").round(0), Ratio::parse("-2"));
    /// ```
    pub fn round(self, digits: i128) -> Option<Ratio> {
        self.at(digits, Ratio::HALF)
    }

    /// Rounds down to a number of decimals.
    pub fn floor(self, digits: i128) -> Option<Ratio> {
        self.at(digits, Ratio::ZERO)
    }

    /// Rounds up to a number of decimals.
    pub fn ceil(self, digits: i128) -> Option<Ratio> {
        self.negated()?.floor(digits)?.negated()
    }

    /// Rounds down to a number of decimals, after adding `more` of the last one.
    fn at(self, digits: i128, more: Ratio) -> Option<Ratio> {
        if digits.unsigned_abs() > DIGITS_MAX.unsigned_abs() {
            return None;
        }
        Ratio::integer(self.shifted(digits)?.checked_add(more)?.floored()).shifted(digits.checked_neg()?)
    }
}

/// The maximum number of decimals to write.
const DECIMALS_MAX: usize = 38;

impl Ratio {
    /// Returns the shortest decimal; a number without an exact decimal of 38 places is written as a fraction, `1/3`.
    pub fn text(self) -> Text {
        let mut text = String::new();
        if self.top < 0 {
            text.push('-');
        }
        let (top, bottom) = (self.top.unsigned_abs(), self.bottom.unsigned_abs());
        let signed = text.len();
        // No ratio has 0 below.
        text.push_str(&top.checked_div(bottom).unwrap_or(0).to_string());
        // Likewise.
        let mut rest = top.checked_rem(bottom).unwrap_or(0);
        let point = text.len();
        while rest > 0 {
            if text.len() == point {
                text.push('.');
            }
            let positions = text.len().remaining_after(point);
            match rest.checked_mul(10) {
                Some(tenths) if positions <= DECIMALS_MAX => {
                    // Likewise.
                    text.push_str(&tenths.checked_div(bottom).unwrap_or(0).to_string());
                    // Likewise.
                    rest = tenths.checked_rem(bottom).unwrap_or(0);
                }
                _ => {
                    text.truncate(signed);
                    text.push_str(&top.to_string());
                    text.push('/');
                    text.push_str(&bottom.to_string());
                    break;
                }
            }
        }
        Text::from(text)
    }
}

/// Prints [`Ratio::text`].
impl fmt::Display for Ratio {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}
