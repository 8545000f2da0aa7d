//! Defines short texts (codes, ids, names) and hashes of texts.

use sha2::{Digest, Sha256};

mod fold;
mod number;
pub use fold::fold;
pub use number::{Decimal, are_digits, decimal};

/// A short text: a pointer to shared, reference-counted characters, so that a clone copies none of them.
pub type Text = arcstr::ArcStr;

/// The maximum length of any text in characters: a description, a formula, a metadata value.
pub const LONGEST_TEXT: usize = 20_000;

/// The maximum length of a name in characters: a code, an id, a key. It fits an index, and every caller's names are
/// shorter.
pub const LONGEST_NAME: usize = 1_000;

/// Returns whether a text has more characters than `most`. Those of a short text are not counted.
///
/// ```
/// use scrip::text::is_longer;
/// assert!(is_longer("abc", 2) && !is_longer("ab", 2) && !is_longer("éé", 2));
/// ```
#[inline]
pub fn is_longer(text: &str, most: usize) -> bool {
    text.len() > most && text.chars().count() > most
}

/// Returns the SHA-256 of a text in lower-case hexadecimal, which identifies a code in a bundle without revealing it.
///
/// ```
/// assert!(scrip::text::sha256_hex(b"A").starts_with("559aead08264d5795d39"));
/// ```
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&sha256(&[bytes]))
}

/// Returns the SHA-256 of concatenated parts.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part);
    }
    digest.finalize().into()
}

/// Returns bytes in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(bytes)
}

/// Returns the concatenated parts as a short text.
///
/// ```
/// assert_eq!(scrip::text::joined(&["voucher/", "v_1", "/credits"]), "voucher/v_1/credits");
/// ```
pub fn joined(parts: &[&str]) -> Text {
    parts.concat().into()
}

/// Decodes a hexadecimal text; `None` for an odd length or other characters.
///
/// ```
/// use scrip::text::decode_hex;
/// assert_eq!(decode_hex("01fF"), Some(vec![1, 255]));
/// assert_eq!(decode_hex("1"), None);
/// ```
pub fn decode_hex(text: &str) -> Option<Vec<u8>> {
    base16ct::mixed::decode_vec(text).ok()
}

/// Decodes a hexadecimal text of at most `N` bytes, padded with zeros on the right. Returns `None` for an empty or odd
/// length, for more bytes, or for other characters.
///
/// ```
/// use scrip::text::decode_hex_array;
/// assert_eq!(decode_hex_array::<3>("01fF"), Some([1, 255, 0]));
/// for wrong in ["", "1", "0g", "+1", "é", "00000000"] {
///     assert_eq!(decode_hex_array::<3>(wrong), None);
/// }
/// ```
pub fn decode_hex_array<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0_u8; N];
    let read = base16ct::mixed::decode(text, &mut bytes).ok()?;
    (!read.is_empty()).then_some(bytes)
}
