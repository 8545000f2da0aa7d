//! Decides how a number that is not whole is held: its exact digits in one form, so that equal numbers are equal texts.
//! It must not compute with them.

use crate::text::parted;

/// The largest number of a double, which is what other readers of JSON have: `0.17976931348623157` times ten to this.
const LARGEST: (&str, i64) = ("17976931348623157", 309);

/// The form of a JSON number with a fraction or an exponent; nothing when it is larger than a double can be.
///
/// Plain when that is short, `1.5e-7` otherwise, as JavaScript and the JSON library write them.
pub(super) fn decimal(number: &str) -> Option<Box<str>> {
    let (sign, number) = match number.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", number),
    };
    let (mantissa, exponent) = parted(number, b"eE").unwrap_or((number, "0"));
    let (whole, fraction) = parted(mantissa, b".").unwrap_or((mantissa, ""));
    let mut digits = String::from(whole);
    digits.push_str(fraction);
    let leading = digits.bytes().take_while(|byte| *byte == b'0').count();
    let last = digits.bytes().rposition(|byte| byte != b'0').map_or(leading, |last| last.saturating_add(1));
    let significant = digits.get(leading..last).unwrap_or_default();
    // The number is `0.` and its significant digits, times ten to the `point`.
    let point = length(whole).saturating_sub(length_of(leading)).saturating_add(read_exponent(exponent));
    let mut form = String::from(sign);
    if significant.is_empty() {
        form.push_str("0.0");
        return Some(form.into());
    }
    if point > LARGEST.1 || (point == LARGEST.1 && significant > LARGEST.0) {
        return None;
    }
    let count = length(significant);
    match point {
        17.. | ..=-5 => {
            let (first, rest) = significant.split_at_checked(1)?;
            form.push_str(first);
            if !rest.is_empty() {
                form.push('.');
                form.push_str(rest);
            }
            let exponent = point.saturating_sub(1);
            form.push_str(if exponent < 0 { "e-" } else { "e+" });
            form.push_str(&crate::text::digits(exponent.unsigned_abs()));
        }
        1.. if point >= count => {
            form.push_str(significant);
            zeros(&mut form, point.saturating_sub(count));
            form.push_str(".0");
        }
        1.. => {
            let (before, after) = significant.split_at_checked(usize::try_from(point).ok()?)?;
            form.push_str(before);
            form.push('.');
            form.push_str(after);
        }
        _ => {
            form.push_str("0.");
            zeros(&mut form, point.saturating_neg());
            form.push_str(significant);
        }
    }
    Some(form.into())
}

fn length(text: &str) -> i64 {
    length_of(text.len())
}

fn length_of(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// An exponent; one that no text is long enough to make up for is as good as the largest.
fn read_exponent(text: &str) -> i64 {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digit = |sum: i64, byte: u8| sum.saturating_mul(10).saturating_add(i64::from(byte.wrapping_sub(b'0')));
    let exponent = digits.bytes().fold(0, digit).min(1 << 40);
    if negative { exponent.saturating_neg() } else { exponent }
}

fn zeros(form: &mut String, count: i64) {
    for _ in 0..count {
        form.push('0');
    }
}
