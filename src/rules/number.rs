//! Decides how a number of custom data is held and compared: exactly, with nine decimals. It must not know what the
//! number counts, and no float comes near it.

use std::fmt;

use crate::text::{Decimal, decimal};

/// A number times 10^9.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(i128);

const ONE: i128 = 1_000_000_000;
const DECIMALS: i64 = 9;

impl Number {
    /// A whole number.
    #[inline]
    pub fn whole(number: i64) -> Number {
        // 64 bits times 30 bits always fit.
        Number(i128::from(number).wrapping_mul(ONE))
    }

    /// A count or an amount of minor units.
    #[inline]
    pub fn count(number: u64) -> Number {
        Number(i128::from(number).wrapping_mul(ONE))
    }

    /// Reads a decimal number, perhaps with an exponent; decimals after the ninth are cut off.
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

    /// The whole number that it is, if it is one.
    pub fn as_whole(self) -> Option<i64> {
        let whole = self.0.checked_div(ONE)?;
        i64::try_from(whole).ok().filter(|_| whole.checked_mul(ONE) == Some(self.0))
    }

    /// How much more the other one is.
    #[inline(never)]
    pub fn to(self, other: Number) -> Number {
        Number(other.0.saturating_sub(self.0))
    }

    /// This many and the least that a count can grow by.
    #[inline(never)]
    pub fn next(self) -> Number {
        Number(self.0.saturating_add(ONE))
    }

    /// Whether it is below nothing.
    pub fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Without its sign.
    pub fn size(self) -> Number {
        Number(self.0.saturating_abs())
    }
}

impl Number {
    /// The shortest decimal.
    pub fn text(self) -> String {
        [if self.is_negative() { "-" } else { "" }, &decimal(self.0.unsigned_abs(), 9)].concat()
    }
}

/// As [`Number::text`].
impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())
    }
}
