//! Decides how a number is read from a text and written as one, exactly. It must not know what the number counts.

use crate::text::parted;

/// A whole number that is not negative, perhaps with a plus sign, as the library's reader has it, whose copies for each
/// kind of number are longer.
#[inline(never)]
pub fn whole(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    if !are_digits(digits) {
        return None;
    }
    let mut number = 0_u64;
    for byte in digits.bytes() {
        number = number.checked_mul(10)?.checked_add(u64::from(byte.wrapping_sub(b'0')))?;
    }
    Some(number)
}

/// A whole number with a sign or without one.
///
/// ```
/// use scrip::text::signed;
/// assert_eq!(["7", "+7", "-7"].map(signed), [Some(7), Some(7), Some(-7)]);
/// assert_eq!(signed("-9223372036854775808"), Some(i64::MIN));
/// assert_eq!(["", "-", "--7", "-+7", "7 ", "9223372036854775808"].map(signed), [None; 6]);
/// ```
#[inline(never)]
pub fn signed(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(digits) if are_digits(digits) => 0_i64.checked_sub_unsigned(whole(digits)?),
        Some(_) => None,
        None => i64::try_from(whole(text)?).ok(),
    }
}

/// Whether there is nothing but digits, and one at least.
#[inline(never)]
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
    #[inline(never)]
    pub fn plain(text: &'a str) -> Option<Decimal<'a>> {
        let (whole, fraction) = parted(text, b".").unwrap_or((text, ""));
        let fits = are_digits(whole) && (fraction.is_empty() || are_digits(fraction));
        fits.then_some(Decimal { negative: false, whole, fraction, exponent: 0 })
    }

    /// Reads what JSON calls a number: perhaps with a sign and an exponent, and with a digit after a point.
    #[inline(never)]
    pub fn read(text: &'a str) -> Option<Decimal<'a>> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (digits, exponent) = parted(unsigned, b"eE").unwrap_or((unsigned, "0"));
        let exponent = i16::try_from(signed(exponent)?).ok()?;
        let plain = Decimal::plain(digits).filter(|_| !digits.ends_with('.'))?;
        Some(Decimal { negative: unsigned.len() < text.len(), exponent, ..plain })
    }

    /// How many digits after the point there are that say something.
    pub fn decimals(&self) -> usize {
        self.fraction.bytes().rposition(|byte| byte != b'0').map_or(0, |last| last.saturating_add(1))
    }

    /// The number without its sign times ten to a power; what is less than one then is cut off.
    #[inline(never)]
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

/// A whole number as it is written, and the largest there is for one below 0; the library's formatter is 2 kB of the
/// package.
///
/// ```
/// assert_eq!([scrip::text::digits(0_u64), scrip::text::digits(1203_usize)], ["0", "1203"]);
/// ```
pub fn digits(number: impl TryInto<u64>) -> String {
    decimal(u128::from(number.try_into().unwrap_or(u64::MAX)), 0)
}

/// A number of so many decimals as it is written, without zeros at its end; the library's own way for wide numbers is
/// three times the code.
///
/// ```
/// use scrip::text::decimal;
/// assert_eq!([decimal(1500, 3), decimal(2000, 3), decimal(1, 3)], ["1.5", "2", "0.001"]);
/// ```
#[inline(never)]
pub fn decimal(mut number: u128, mut decimals: usize) -> String {
    while decimals > 0 && number.is_multiple_of(10) {
        number /= 10;
        decimals = decimals.saturating_sub(1);
    }
    let mut text = String::new();
    put_decimal(&mut text, number, decimals);
    text
}

/// Adds a number of so many decimals, all of them.
#[inline(never)]
pub fn put_decimal(text: &mut String, number: u128, decimals: usize) {
    let (before, last) = (number / 10, number % 10);
    if before > 0 || decimals > 0 {
        put_decimal(text, before, decimals.saturating_sub(1));
    }
    if decimals == 1 {
        text.push('.');
    }
    text.push(char::from(b'0' | u8::try_from(last).unwrap_or(0)));
}
