//! Decides how a number is read from a text and written as one, exactly. It must not know what the number counts.

/// Whether there is nothing but digits, and one at least.
pub fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A decimal number: its digits before and after the point, and the power of ten that it is multiplied with.
#[derive(Debug, Clone, Copy)]
pub struct Decimal<'a> {
    /// Whether it is below 0, or would be.
    pub negative: bool,
    whole: &'a str,
    fraction: &'a str,
    /// The power of ten.
    pub exponent: i16,
}

impl<'a> Decimal<'a> {
    /// Reads digits, and more of them after a point.
    pub fn plain(text: &'a str) -> Option<Decimal<'a>> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fits = are_digits(whole) && (fraction.is_empty() || are_digits(fraction));
        fits.then_some(Decimal { negative: false, whole, fraction, exponent: 0 })
    }

    /// Reads what JSON calls a number: perhaps with a sign and an exponent, and with a digit after a point.
    pub fn read(text: &'a str) -> Option<Decimal<'a>> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (digits, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let exponent = exponent.parse().ok()?;
        let plain = Decimal::plain(digits).filter(|_| !digits.ends_with('.'))?;
        Some(Decimal { negative: unsigned.len() < text.len(), exponent, ..plain })
    }

    /// How many digits after the point there are that say something.
    pub fn decimals(&self) -> usize {
        self.fraction.bytes().rposition(|byte| byte != b'0').map_or(0, |last| last.saturating_add(1))
    }

    /// The number without its sign times ten to a power; what is less than one then is cut off.
    pub fn times_ten_to(&self, power: i64) -> Option<u128> {
        // The digit after so many others is worth 10 to the power of `place`.
        let mut place =
            i64::try_from(self.whole.len()).ok()?.checked_add(i64::from(self.exponent))?.checked_add(power)?;
        let mut number = 0_u128;
        for byte in self.whole.bytes().chain(self.fraction.bytes()) {
            place = place.checked_sub(1)?;
            let digit = u128::from(byte.wrapping_sub(b'0'));
            if place >= 0 && digit > 0 {
                let worth = 10_u128.checked_pow(u32::try_from(place).ok()?)?;
                number = number.checked_add(digit.checked_mul(worth)?)?;
            }
        }
        Some(number)
    }
}

/// A number of so many decimals as it is written, without zeros at its end.
///
/// ```
/// use scrip::text::decimal;
/// assert_eq!([decimal(1500, 3), decimal(2000, 3), decimal(1, 3)], ["1.5", "2", "0.001"]);
/// ```
pub fn decimal(number: u128, decimals: usize) -> String {
    let digits = format!("{number:0>width$}", width = decimals.saturating_add(1));
    let (whole, fraction) = digits.split_at_checked(digits.len().saturating_sub(decimals)).unwrap_or((&digits, ""));
    match fraction.trim_end_matches('0') {
        "" => whole.to_owned(),
        fraction => [whole, ".", fraction].concat(),
    }
}
