//! Parses and prints decimal numbers exactly. Positions in a text saturate only in form: memory bounds them.

/// Returns whether a text has only digits, and at least one.
pub fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A decimal number: its digits before and after the decimal point, and the power of ten that it is multiplied by.
#[derive(Debug, Clone, Copy)]
pub struct Decimal<'a> {
    /// `true` if it has a minus sign.
    pub negative: bool,
    integer: &'a str,
    fraction: &'a str,
    /// The power of ten.
    pub exponent: i16,
}

impl<'a> Decimal<'a> {
    /// Parses digits, optionally with further ones after a decimal point.
    pub fn plain(text: &'a str) -> Option<Decimal<'a>> {
        let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fits = are_digits(integer) && (fraction.is_empty() || are_digits(fraction));
        fits.then_some(Decimal { negative: false, integer, fraction, exponent: 0 })
    }

    /// Parses a number of JSON: optionally with a sign and an exponent, and with a digit after a decimal point.
    pub fn read(text: &'a str) -> Option<Decimal<'a>> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (digits, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let exponent = exponent.parse().ok()?;
        let plain = Decimal::plain(digits).filter(|_| !digits.ends_with('.'))?;
        Some(Decimal { negative: unsigned.len() < text.len(), exponent, ..plain })
    }

    /// Returns the number of significant digits after the decimal point.
    pub fn decimals(&self) -> usize {
        // A place within the text.
        self.fraction.bytes().rposition(|byte| byte != b'0').map_or(0, |last| last.saturating_add(1))
    }

    /// Returns the number without its sign, multiplied by a power of ten and truncated; `None` on overflow.
    pub fn times_ten_to(&self, power: i64) -> Option<u128> {
        // The next digit is worth 10 to the power of `position`.
        let mut position =
            i64::try_from(self.integer.len()).ok()?.checked_add(i64::from(self.exponent))?.checked_add(power)?;
        let mut number = 0_u128;
        for byte in self.integer.bytes().chain(self.fraction.bytes()) {
            position = position.checked_sub(1)?;
            // The byte is a digit.
            let digit = u128::from(byte.wrapping_sub(b'0'));
            if position >= 0 && digit > 0 {
                let worth = 10_u128.checked_pow(u32::try_from(position).ok()?)?;
                number = number.checked_add(digit.checked_mul(worth)?)?;
            }
        }
        Some(number)
    }
}

/// Prints a number with a number of decimals, without trailing zeros.
///
/// ```
/// use scrip::text::decimal;
/// assert_eq!([decimal(1500, 3), decimal(2000, 3), decimal(1, 3)], ["1.5", "2", "0.001"]);
/// ```
pub fn decimal(number: u128, decimals: usize) -> String {
    // Decimals are few.
    let digits = format!("{number:0>width$}", width = decimals.saturating_add(1));
    // There are more digits than decimals.
    let (integer, fraction) = digits.split_at_checked(digits.len().saturating_sub(decimals)).unwrap_or((&digits, ""));
    match fraction.trim_end_matches('0') {
        "" => integer.to_owned(),
        fraction => [integer, ".", fraction].concat(),
    }
}
