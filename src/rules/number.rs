//! Decides how a number of custom data is held and compared: exactly, with nine decimals. It must not know what the
//! number counts, and no float comes near it.

use std::fmt;

use crate::money::decimal;

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
        let (unsigned, negative) = text.strip_prefix('-').map_or((text, false), |rest| (rest, true));
        let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i16>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        // The digit after so many others is worth 10 to the power of `place`.
        let mut place = i64::try_from(whole.len()).ok()?.checked_add(i64::from(exponent))?.checked_add(DECIMALS)?;
        let mut value: i128 = 0;
        for byte in whole.bytes().chain(fraction.bytes()) {
            place = place.checked_sub(1)?;
            let digit = i128::from(byte.wrapping_sub(b'0'));
            if place >= 0 && digit > 0 {
                value = value.checked_add(digit.checked_mul(10_i128.checked_pow(u32::try_from(place).ok()?)?)?)?;
            }
        }
        Some(Number(if negative { value.checked_neg()? } else { value }))
    }

    /// The whole number that it is, if it is one.
    pub fn as_whole(self) -> Option<i64> {
        let whole = self.0.checked_div(ONE)?;
        i64::try_from(whole).ok().filter(|_| whole.checked_mul(ONE) == Some(self.0))
    }

    /// How much more the other one is.
    pub fn to(self, other: Number) -> Number {
        Number(other.0.saturating_sub(self.0))
    }

    /// This many and the least that a count can grow by.
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
