//! Normalises numbers that are not integers: equal numbers have equal digits. Positions of digits saturate only in
//! form: exponents are cut at 2^40, and no text is that long.

use crate::count::Countable;

/// The largest number of a double, which other readers of JSON use: `0.17976931348623157` times ten to this.
const LARGEST: (&str, i64) = ("17976931348623157", 309);

/// Returns the normal form of a JSON number with a fraction or an exponent; `None` if it exceeds a double.
///
/// The form is plain when that is short, `1.5e-7` otherwise, as JavaScript and the JSON library write them.
pub(super) fn decimal(number: &str) -> Option<Box<str>> {
    let (sign, number) = match number.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", number),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [integer, fraction].concat();
    let leading = all.bytes().take_while(|byte| *byte == b'0').count();
    let last = all.bytes().rposition(|byte| byte != b'0').map_or(leading, |last| last.plus_one());
    let significant = all.get(leading..last).unwrap_or_default();
    // The number is `0.` and its significant digits, times ten to the `point`.
    // Exponents are cut at 2^40 and no text is that long, so that nothing saturates.
    let point = length(integer).saturating_sub(length_of(leading)).saturating_add(read_exponent(exponent));
    if significant.is_empty() {
        return Some([sign, "0.0"].concat().into());
    }
    if point > LARGEST.1 || (point == LARGEST.1 && significant > LARGEST.0) {
        return None;
    }
    let zeros = |count: i64| ZEROS.get(..usize::try_from(count).ok()?);
    // The length of a text bounds the place of its point.
    let after = point.saturating_sub(length(significant));
    // Likewise.
    let exponent = point.saturating_sub(1).unsigned_abs().to_string();
    let [one, two, three, four, five] = match point {
        17.. | ..=-5 => {
            let (first, rest) = significant.split_at_checked(1)?;
            let dot = if rest.is_empty() { "" } else { "." };
            [first, dot, rest, if point < 1 { "e-" } else { "e+" }, &exponent]
        }
        1.. if after >= 0 => [significant, zeros(after)?, ".0", "", ""],
        1.. => {
            let (before, after) = significant.split_at_checked(usize::try_from(point).ok()?)?;
            [before, ".", after, "", ""]
        }
        // At most four zeros.
        _ => ["0.", zeros(point.saturating_neg())?, significant, "", ""],
    };
    Some([sign, one, two, three, four, five].concat().into())
}

/// The maximum number of zeros in a number written in full.
const ZEROS: &str = "0000000000000000";

fn length(text: &str) -> i64 {
    length_of(text.len())
}

fn length_of(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// Parses an exponent, limited to a range that no text is long enough to compensate.
fn read_exponent(text: &str) -> i64 {
    const LARGEST: i64 = 1 << 40;
    let beyond = if text.starts_with('-') { -LARGEST } else { LARGEST };
    text.parse().unwrap_or(beyond).clamp(-LARGEST, LARGEST)
}
