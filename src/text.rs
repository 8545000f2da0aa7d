//! Decides how short texts (codes, ids, names) are held and how a code is hashed.
//! It must not know what any of them stand for.

use sha2::{Digest, Sha256};

mod number;
pub use number::{Decimal, are_digits, decimal, digits, put_decimal, signed, whole};

/// A short text; up to 24 bytes are held without an allocation, which is every id of this API but the longest.
///
/// Say `Text::from` and [`joined`], not `Text::new` or `format_compact!`: in the package it is another type.
#[cfg(not(feature = "package"))]
pub type Text = compact_str::CompactString;

#[cfg(feature = "package")]
pub use kept::Text;

#[cfg(feature = "package")]
mod kept;

/// Letters of a text, at most, wherever one is read: a description, a formula, a value of custom data.
pub const LONGEST_TEXT: usize = 20_000;

/// Letters of a name, at most: a code, an id, a key. An index holds it, and every caller's names are shorter.
pub const LONGEST_NAME: usize = 1_000;

/// Whether a text has more letters than these. Those of a short one are not counted.
///
/// ```
/// use scrip::text::is_longer;
/// assert!(is_longer("abc", 2) && !is_longer("ab", 2) && !is_longer("éé", 2));
/// ```
#[inline]
pub fn is_longer(text: &str, most: usize) -> bool {
    text.len() > most && text.chars().count() > most
}

/// A text as a number, made once so that comparing costs one instruction: equal texts have equal symbols, and texts
/// of equal symbols are nearly always equal, which whoever must be sure looks up in the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Symbol(u64);

impl Symbol {
    /// The symbol of a text within a kind of names: the same text of another kind has another one.
    ///
    /// ```
    /// use scrip::text::Symbol;
    /// assert_eq!(Symbol::of(1, "SKU-1"), Symbol::of(1, "SKU-1"));
    /// assert_ne!(Symbol::of(1, "SKU-1"), Symbol::of(2, "SKU-1"));
    /// assert_ne!(Symbol::of(1, "SKU-1"), Symbol::of(1, "SKU-2"));
    /// ```
    pub fn of(kind: u8, text: &str) -> Symbol {
        // Eight bytes at a time, mixed by multiplying with an odd constant and folding the upper half down.
        let step = |number: u64, word: u64| {
            let mixed = (number ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ (mixed >> 29)
        };
        let mut rest = text.as_bytes();
        let mut number = (u64::from(kind) << 56) | u64::try_from(rest.len()).unwrap_or(0);
        while let Some((word, after)) = rest.split_first_chunk::<8>() {
            number = step(number, u64::from_le_bytes(*word));
            rest = after;
        }
        // Of four bytes to seven the first four and the last four: they overlap, and say everything.
        let word = match (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
            }
            _ => rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        let mixed = step(number, word).wrapping_mul(0xd6e8_feb8_6659_fd93);
        // The last letters of a text are in the upper bits, and tables look at the lower ones.
        Symbol(mixed ^ (mixed >> 32))
    }

    /// The number.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Whether two texts are seen to be the same by two words of each, which overlap. Most names have four bytes to sixteen,
/// and are told so without a call; whoever hears no has to compare the texts.
///
/// ```
/// use scrip::text::by_words;
/// let texts = ["abcd", "abcx", "abcdefg", "abcdefgh", "abcdefgh-jklmnop", "abcdefgh_jklmnop", "abcdefghijklmnop"];
/// for one in texts {
///     assert!(texts.iter().all(|other| by_words(one, other) == (one == *other)));
/// }
/// assert!(!by_words("abc", "abc") && !by_words("abcdefgh-jklmnopq", "abcdefgh-jklmnopq"));
/// ```
#[inline]
pub fn by_words(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() || one.len() > 16 {
        return false;
    }
    if let (Some(first), Some(last)) = (one.first_chunk::<8>(), one.last_chunk::<8>()) {
        return other.first_chunk() == Some(first) && other.last_chunk() == Some(last);
    }
    let (Some(first), Some(last)) = (one.first_chunk::<4>(), one.last_chunk::<4>()) else { return false };
    other.first_chunk() == Some(first) && other.last_chunk() == Some(last)
}

/// The SHA-256 of a text in lower-case hexadecimal: how a bundle names a code without telling it.
///
/// ```
/// assert!(scrip::text::sha256_hex(b"A").starts_with("559aead08264d5795d39"));
/// ```
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&sha256(&[bytes]))
}

/// The SHA-256 of parts written one after the other.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
    }
    digest.finalize().into()
}

/// Bytes in lower-case hexadecimal.
#[inline(never)]
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

/// Whether a text stands in another one. The library's search is quicker in long texts; with the message of the panic that
/// it is written around it is 4 kB of the package, and the texts here are short.
///
/// ```
/// use scrip::text::is_within;
/// assert!(is_within("ell", "hello") && is_within("", "") && !is_within("elo", "hello"));
/// ```
#[inline(never)]
pub fn is_within(part: &str, text: &str) -> bool {
    part.is_empty() || text.as_bytes().windows(part.len()).any(|window| window == part.as_bytes())
}

/// What stands before and after the first of these marks, which are plain ones; nothing where there is none.
///
/// ```
/// use scrip::text::parted;
/// assert_eq!(parted("1.5e7", b"eE"), Some(("1.5", "7")));
/// assert_eq!(parted("15", b"eE"), None);
/// ```
#[inline(never)]
pub fn parted<'a>(text: &'a str, marks: &[u8]) -> Option<(&'a str, &'a str)> {
    let place = marks.iter().filter_map(|mark| text.bytes().position(|byte| byte == *mark)).min()?;
    Some((text.get(..place)?, text.get(place.saturating_add(1)..)?))
}

/// The parts between marks; one more than there are marks.
pub fn parts(text: &str, mark: u8) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((part, after)) = parted(rest, &[mark]) {
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// The words between blanks; each of these marks, which are plain ones, is a word for itself.
///
/// ```
/// assert_eq!(scrip::text::words(" (1 and 2)", b"()"), ["(", "1", "and", "2", ")"]);
/// ```
pub fn words<'a>(text: &'a str, marks: &[u8]) -> Vec<&'a str> {
    let (mut words, mut start) = (Vec::new(), 0);
    let mut add = |from: usize, to: usize| words.extend(text.get(from..to).filter(|word| !word.is_empty()));
    for (place, letter) in text.char_indices() {
        let is_mark = marks.iter().any(|mark| char::from(*mark) == letter);
        if is_mark || letter.is_whitespace() {
            let after = place.saturating_add(letter.len_utf8());
            add(start, place);
            add(place, if is_mark { after } else { place });
            start = after;
        }
    }
    add(start, text.len());
    words
}

/// The parts as one short text: account names and the like are made on the way of every decision, and the machinery
/// of `format!` is long.
///
/// ```
/// assert_eq!(scrip::text::joined(&["voucher/", "v_1", "/credits"]), "voucher/v_1/credits");
/// ```
#[inline(never)]
pub fn joined(parts: &[&str]) -> Text {
    Text::from(parts.concat())
}

/// The bytes that a hexadecimal text stands for, at most `N`, padded with zeros on the right; nothing for what is empty,
/// odd, too long or no hexadecimal.
///
/// ```
/// use scrip::text::unhex;
/// assert_eq!(unhex::<3>("01fF"), Some([1, 255, 0]));
/// for wrong in ["", "1", "0g", "+1", "é", "00000000"] {
///     assert_eq!(unhex::<3>(wrong), None);
/// }
/// ```
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.is_empty() || !digits.len().is_multiple_of(2) || digits.len() > N.checked_mul(2)? {
        return None;
    }
    let mut bytes = [0_u8; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let digit = |place: usize| char::from(*pair.get(place)?).to_digit(16);
        *byte = u8::try_from(digit(0)? << 4 | digit(1)?).ok()?;
    }
    Some(bytes)
}
