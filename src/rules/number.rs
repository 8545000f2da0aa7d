//! Stores and compares numbers of metadata exactly, with nine decimals and without floats. Differences saturate at 128
//! bits, which no compared number reaches.

use std::fmt;

use crate::text::{Decimal, decimal};

/// A number times 10^9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(i128);

const ONE: i128 = 1_000_000_000;
const DECIMALS: i64 = 9;

impl Number {
    /// Returns a whole number.
    #[inline]
    pub fn integer(number: i64) -> Number {
        // The product of 64 bits and 30 bits always fits.
        Number(i128::from(number).wrapping_mul(ONE))
    }

    /// Returns a count or an amount of minor units.
    #[inline]
    pub fn count(number: u64) -> Number {
        // 128 bits hold each number of 64 in these units.
        Number(i128::from(number).wrapping_mul(ONE))
    }

    /// Parses a decimal number, optionally with an exponent; decimals after the ninth are cut off.
    ///
    /// ```
    /// use scrip::rules::Number;
    /// assert_eq!(Number::parse("4.50"), Number::parse("45e-1"));
    /// assert!(Number::parse("-1") < Number::parse("0"));
    /// assert!(Number::parse("1e-9") > Number::parse("0"));
    /// for wrong in ["", "-", ".", "1.", ".5", "1,5", "1e", "1e99", "0x1", " 1", "+1"] {
    ///     assert_eq!(Number::parse(wrong), None);
    /// }
    /// ```
    pub fn parse(text: &str) -> Option<Number> {
        let decimal = Decimal::read(text)?;
        let size = i128::try_from(decimal.times_ten_to(DECIMALS)?).ok()?;
        Some(Number(if decimal.negative { size.checked_neg()? } else { size }))
    }

    /// Returns the number as an integer, if it is whole.
    pub fn as_integer(self) -> Option<i64> {
        let integer = self.0.checked_div(ONE)?;
        i64::try_from(integer).ok().filter(|_| integer.checked_mul(ONE) == Some(self.0))
    }

    /// Returns the difference to the other number.
    #[inline(never)]
    pub fn to(self, other: Number) -> Number {
        // No compared number comes near the end of 128 bits.
        Number(other.0.saturating_sub(self.0))
    }

    /// Returns the next higher count.
    #[inline(never)]
    pub fn next(self) -> Number {
        // Counts are far from the end of 128 bits.
        Number(self.0.saturating_add(ONE))
    }

    /// Returns whether it is negative.
    pub fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Returns the absolute value.
    pub fn size(self) -> Number {
        // No compared number is the least of 128 bits.
        Number(self.0.saturating_abs())
    }
}

impl Number {
    /// Returns the shortest decimal.
    pub fn text(self) -> String {
        [if self.is_negative() { "-" } else { "" }, &decimal(self.0.unsigned_abs(), 9)].concat()
    }
}

/// Prints [`Number::text`].
impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}
